//! When calls are due: each is planned from the one before, never from when that really happened.

use std::time::{Duration, Instant};

/// How the gaps between calls are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// All the same.
    Constant,
    /// Exponential: independent calls.
    Poisson,
}

impl Distribution {
    /// By its name in scripts.
    pub fn parse(text: &str) -> Option<Distribution> {
        match text {
            "constant" => Some(Distribution::Constant),
            "poisson" => Some(Distribution::Poisson),
            _ => None,
        }
    }
}

/// The plan of one series of calls.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    planned: Instant,
    interval: Duration,
    distribution: Distribution,
}

impl Schedule {
    /// Begins now: the first call is due a gap later.
    pub fn new(now: Instant, interval: Duration, distribution: Distribution) -> Schedule {
        Schedule { planned: now, interval, distribution }
    }

    /// When the next call is due; `drawn` is a random number from 0 up to 1, not included.
    pub fn next(&mut self, drawn: f64) -> Instant {
        let gap = match self.distribution {
            Distribution::Constant => self.interval,
            // Of a number so close to 1 that its logarithm has no end, a gap of 37 intervals: rarer than one in 10^16.
            Distribution::Poisson => self.interval.mul_f64((-(1.0 - drawn).max(1e-16).ln()).max(0.0)),
        };
        debug_assert!((0.0..=1.0).contains(&drawn), "a draw lies from 0 to 1: {drawn}");
        self.planned += gap;
        self.planned
    }

    /// How late the call is that was planned last.
    pub fn late(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.planned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_knows_nothing_of_delays() {
        let start = Instant::now();
        let ms = Duration::from_millis;
        let mut schedule = Schedule::new(start, ms(500), Distribution::Constant);
        assert_eq!(schedule.next(0.7), start + ms(500));
        assert_eq!(schedule.late(start + ms(1700)), ms(1200));
        assert_eq!((schedule.next(0.1), schedule.next(0.9)), (start + ms(1000), start + ms(1500)));
        assert_eq!(schedule.late(start), ms(0), "early is not late");
    }

    #[test]
    fn gaps_of_chance_have_the_interval_as_their_mean() {
        let start = Instant::now();
        let mut schedule = Schedule::new(start, Duration::from_millis(10), Distribution::Poisson);
        let mut random = fastrand::Rng::with_seed(1);
        let mut last = start;
        let gaps: Vec<f64> = (0..20_000)
            .map(|_| {
                let due = schedule.next(random.f64());
                (due - std::mem::replace(&mut last, due)).as_secs_f64() * 1e3
            })
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let above = gaps.iter().filter(|gap| **gap > 10.0).count() as f64 / gaps.len() as f64;
        assert!((9.8..10.2).contains(&mean), "{mean}");
        assert!((0.355..0.381).contains(&above), "{above}, e^-1 wanted");
        assert!(schedule.next(1.0) - last < Duration::from_millis(380), "no gap is without end");
    }
}
