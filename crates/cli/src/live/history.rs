//! What a chart shows of the past: the lines of each metric over time, in memory that does not grow with the test.
//!
//! When a track is full, neighbours become one: the mean of rates and counts, and the larger one of percentiles, so
//! that a peak stays visible however long the test is. A figure that a chart shows is therefore of as many seconds as
//! its points are apart; the summary at the end is made of all samples, not of these.

use std::time::Duration;

use serde::Serialize;

use super::glance::Glance;

/// Points of a line at most: as many as a screen or a page can show apart.
const MOST: usize = 960;

/// The past of all charts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct History {
    /// In the order in which they came up.
    pub tracks: Vec<Track>,
}

/// The past of one chart.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Track {
    /// The metric.
    pub name: String,
    /// As in `Chart`.
    pub unit: &'static str,
    /// Names of the lines.
    pub labels: Vec<&'static str>,
    /// When each point ended, in seconds since the scenarios began.
    pub at_s: Vec<f64>,
    /// The lines; each has a value for each point.
    pub lines: Vec<Vec<f64>>,
    /// Seconds that make a point.
    pub every: u32,
    /// Seconds in the last point.
    #[serde(skip)]
    filled: u32,
}

impl History {
    /// Adds a second.
    pub fn add(&mut self, glance: &Glance) {
        for chart in &glance.charts {
            let known = self.tracks.iter().position(|track| track.name == chart.name);
            let at = known.unwrap_or_else(|| {
                let labels: Vec<&'static str> = chart.lines.iter().map(|(label, _)| *label).collect();
                let lines = vec![Vec::new(); labels.len()];
                let (name, unit) = (chart.name.clone(), chart.unit);
                self.tracks.push(Track { name, unit, labels, lines, every: 1, ..Track::default() });
                self.tracks.len() - 1
            });
            let values: Vec<f64> = chart.lines.iter().map(|(_, value)| *value).collect();
            self.tracks[at].add(glance.elapsed, &values);
        }
    }
}

impl Track {
    /// The largest value.
    pub fn top(&self) -> f64 {
        self.lines.iter().flatten().copied().fold(0.0, f64::max)
    }

    fn add(&mut self, elapsed: Duration, values: &[f64]) {
        let at_s = elapsed.as_secs_f64();
        if self.filled > 0 && self.filled < self.every {
            let filled = f64::from(self.filled);
            for (line, (label, value)) in self.lines.iter_mut().zip(self.labels.iter().zip(values)) {
                if let Some(last) = line.last_mut() {
                    *last = together(label, *last, *value, filled);
                }
            }
            self.at_s.iter_mut().last().into_iter().for_each(|last| *last = at_s);
            self.filled += 1;
            return;
        }
        if self.at_s.len() == MOST {
            self.halve();
        }
        debug_assert_eq!(values.len(), self.lines.len(), "a value for each line of {}", self.name);
        self.at_s.push(at_s);
        self.lines.iter_mut().zip(values).for_each(|(line, value)| line.push(*value));
        self.filled = 1;
        debug_assert!(
            self.lines.iter().all(|line| line.len() == self.at_s.len()),
            "each line has a value for each time"
        );
    }

    fn halve(&mut self) {
        for (line, label) in self.lines.iter_mut().zip(&self.labels) {
            *line = line
                .chunks(2)
                .map(|pair| pair.iter().skip(1).fold(pair[0], |a, b| together(label, a, *b, 1.0)))
                .collect();
        }
        self.at_s = self.at_s.chunks(2).filter_map(<[f64]>::last).copied().collect();
        self.every *= 2;
        debug_assert!(self.at_s.len() < MOST && self.at_s.is_sorted(), "{} points in order", self.at_s.len());
    }
}

/// A value of `weight` seconds and one of another second.
fn together(label: &str, value: f64, other: f64, weight: f64) -> f64 {
    match label.starts_with('p') || label == "max" {
        true => value.max(other),
        false => (value * weight + other) / (weight + 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::glance::Chart;
    use super::*;

    fn second(at_s: u64, rate: f64, p99: f64) -> Glance {
        let chart = |name: &str, label, value| Chart { name: name.into(), unit: "/s", lines: vec![(label, value)] };
        let charts = vec![chart("rate", "", rate), chart("time", "p99", p99)];
        Glance { elapsed: Duration::from_secs(at_s), charts, ..Glance::default() }
    }

    #[test]
    fn a_full_track_halves_and_keeps_peaks_and_means() {
        let mut history = History::default();
        for s in 1..=MOST as u64 {
            history.add(&second(s, (s % 2) as f64, if s == 500 { 9.0 } else { 1.0 }));
        }
        assert_eq!((history.tracks[0].at_s.len(), history.tracks[0].every), (MOST, 1));
        for s in [1, 2, 3].map(|s| MOST as u64 + s) {
            history.add(&second(s, 4.0, 2.0));
        }
        let [rate, time] = &history.tracks[..] else { panic!("{history:?}") };
        assert_eq!((rate.at_s.len(), rate.every), (MOST / 2 + 2, 2));
        assert_eq!(rate.at_s[..2], [2.0, 4.0]);
        assert_eq!((rate.lines[0][0], rate.lines[0][MOST / 2], rate.top()), (0.5, 4.0, 4.0));
        assert_eq!((time.lines[0][249], time.top()), (9.0, 9.0), "the peak stays");
        assert_eq!(rate.at_s.last(), Some(&(MOST as f64 + 3.0)));
    }

    #[test]
    fn a_metric_that_comes_up_late_has_a_track_of_its_own() {
        let mut history = History::default();
        history.add(&Glance { charts: Vec::new(), ..second(1, 0.0, 0.0) });
        history.add(&second(2, 1.0, 1.0));
        assert_eq!(history.tracks.len(), 2);
        assert_eq!(history.tracks[0].at_s, [2.0]);
    }
}
