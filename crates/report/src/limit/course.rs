//! How long answers took at the beginning of a run and at its end: whether a queue grew, and whether all answers waited
//! in one. Fed once a second, a few figures are kept.

use std::collections::VecDeque;

/// Response times of a second, in ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnswerTimes {
    /// How many answers came.
    pub count: u64,
    /// A tenth took less.
    pub p10: f64,
    /// Half took less.
    pub p50: f64,
    /// A tenth took longer.
    pub p90: f64,
}

/// The course of a run.
#[derive(Clone, Debug, Default)]
pub struct AnswerCourse {
    first: Option<AnswerTimes>,
    latest: VecDeque<AnswerTimes>,
}

/// Seconds at the end that are looked at.
const LATEST: usize = 5;
/// Seconds with fewer answers say nothing.
const FEWEST: u64 = 10;

impl AnswerCourse {
    /// Adds a second. The last of a run may be a fragment.
    pub fn add(&mut self, times: AnswerTimes) {
        if times.count < FEWEST {
            return;
        }
        self.first.get_or_insert(times);
        self.latest.push_back(times);
        if self.latest.len() > LATEST {
            self.latest.pop_front();
        }
    }

    /// The first second, and the middle one of the latest by its median; none before there are three.
    pub fn ends(&self) -> Option<(AnswerTimes, AnswerTimes)> {
        let mut latest: Vec<AnswerTimes> = self.latest.iter().copied().collect();
        if latest.len() < 3 {
            return None;
        }
        latest.sort_by(|a, b| a.p50.total_cmp(&b.p50));
        Some((self.first?, latest[latest.len() / 2]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_second_and_a_typical_one_of_the_end_are_compared() {
        let times = |p50: f64, count: u64| AnswerTimes { count, p10: p50, p50, p90: p50 };
        let mut course = AnswerCourse::default();
        for p50 in [1.0, 2.0] {
            course.add(times(p50, 100));
        }
        assert_eq!(course.ends(), None);
        course.add(times(900.0, 9));
        for p50 in [3.0, 4.0, 5.0, 60.0, 7.0, 8.0] {
            course.add(times(p50, 100));
        }
        let (first, end) = course.ends().unwrap();
        assert_eq!((first.p50, end.p50), (1.0, 7.0), "a second that stands out is not typical");
    }
}
