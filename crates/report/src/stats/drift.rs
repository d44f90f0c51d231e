//! Whether a series moved all the time: Mann and Kendall's test, and Theil and Sen's slope.
//!
//! Both ask for the sign and the median of what lies between every two values, so that no outlier and no law of the
//! noise matters. The variance of the test is larger by as much as neighbours are alike once the slope is taken away.
//! Long series are put together to a few hundred medians first, because every two of them are looked at.

use super::changes::mean_distance;
use super::median::{median, median_of_sorted};
use super::within::correlation;

/// Two-sided 1 % of the normal law.
const CRITICAL: f64 = 2.575_829;
/// A shorter series has no slope.
const FEWEST: usize = 10;
/// Values that are looked at in pairs.
const MOST: usize = 600;

/// A straight line through a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// By which it moves from one value to the next.
    pub slope: f64,
    /// At the first value.
    pub start: f64,
    /// Whether the movement is proven.
    pub is_proven: bool,
}

/// The line through a series; none of a short one.
pub fn line(values: &[f64]) -> Option<Line> {
    if values.len() < FEWEST {
        return None;
    }
    let each = values.len().div_ceil(MOST);
    let few: Vec<f64> = values.chunks_exact(each).filter_map(|some| median(some.iter().copied())).collect();
    let slope = theil_sen(&few)?;
    let rest: Vec<f64> = few.iter().enumerate().map(|(at, value)| value - slope * at as f64).collect();
    let alike = correlation(&rest);
    let score = mann_kendall(&few) * ((1.0 - alike) / (1.0 + alike)).sqrt();
    let slope = slope / each as f64;
    // A group stands for its middle.
    let start = median(rest)? - slope * (each - 1) as f64 / 2.0;
    Some(Line { slope, start, is_proven: score.abs() >= CRITICAL })
}

impl Line {
    /// Whether the line tells more of the series than levels that change at these places: by the likelihood of
    /// Laplace's law with Schwarz's penalty for each number that is fitted.
    pub fn beats(&self, values: &[f64], changes: &[usize]) -> bool {
        let n = values.len() as f64;
        let from_line = |(at, value): (usize, &f64)| (value - self.start - self.slope * at as f64).abs();
        let of_line = values.iter().enumerate().map(from_line).sum::<f64>() / n;
        let cost = |distance: f64, fitted: usize| 2.0 * n * distance.max(1e-12).ln() + fitted as f64 * n.ln();
        cost(of_line, 2) < cost(mean_distance(values, changes), 2 * changes.len() + 1)
    }
}

/// The median of the slopes between every two values.
fn theil_sen(values: &[f64]) -> Option<f64> {
    let mut slopes: Vec<f64> = Vec::with_capacity(values.len() * (values.len() - 1) / 2);
    for (at, value) in values.iter().enumerate() {
        slopes.extend(values[at + 1..].iter().zip(1..).map(|(later, after)| (later - value) / f64::from(after)));
    }
    slopes.sort_unstable_by(f64::total_cmp);
    median_of_sorted(&slopes)
}

/// How many spreads the rises outnumber the falls by; 0 for a series of one value.
fn mann_kendall(values: &[f64]) -> f64 {
    let mut more = 0_i64;
    for (at, value) in values.iter().enumerate() {
        more += values[at + 1..].iter().map(|later| i64::from(later > value) - i64::from(later < value)).sum::<i64>();
    }
    let variance = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|same| variance(same.len() as f64)).sum();
    let spread = (variance(values.len() as f64) - ties).sqrt();
    // One less, for the step from a count to a law without steps.
    if spread > 0.0 { (more as f64 - more.signum() as f64) / spread } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::changes::change_points;
    use super::super::changes::simulated::Noise;
    use super::*;

    #[test]
    fn the_test_is_that_of_the_textbook() {
        // All of ten rise: 45 pairs, variance 10 · 9 · 25 / 18 = 125.
        let rising: Vec<f64> = (0..10).map(f64::from).collect();
        assert!((mann_kendall(&rising) - 44.0 / 125.0_f64.sqrt()).abs() < 1e-12);
        let found = line(&rising).expect("long enough");
        assert_eq!((found.slope, found.start, found.is_proven), (1.0, 0.0, true));
        let falling: Vec<f64> = rising.iter().map(|value| 3.0 - value * 2.0).collect();
        let found = line(&falling).expect("long enough");
        assert_eq!((found.slope, found.start, found.is_proven), (-2.0, 3.0, true));
        assert_eq!((mann_kendall(&[2.0; 12]), line(&[2.0; 9])), (0.0, None));
        // Ties: of 1 1 2 three pairs, two of them rise; 3 · 2 · 11 / 18 less 2 · 1 · 9 / 18.
        assert!((mann_kendall(&[1.0, 1.0, 2.0]) - 1.0 / (66.0_f64 / 18.0 - 1.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn flat_noise_does_not_move() {
        for alike in [0.0, 0.5, 0.8] {
            let moves = |seed: u64| {
                let mut noise = Noise::new(seed + 1);
                let values: Vec<f64> = (0..120).map(|_| noise.next(alike)).collect();
                line(&values).is_some_and(|line| line.is_proven)
            };
            let alarms = (0..200).filter(|seed| moves(*seed)).count();
            assert!(alarms <= 10, "{alarms} of 200, neighbours alike by {alike}");
        }
    }

    #[test]
    fn a_movement_has_its_sign_and_size_also_when_the_series_is_long() {
        for (count, per_value) in [(60, 0.004), (60, -0.004), (3600, 0.0001), (3600, -0.0001)] {
            let mut noise = Noise::new(count as u64);
            let values: Vec<f64> = (0..count).map(|at| per_value * at as f64 + 0.03 * noise.normal()).collect();
            let found = line(&values).expect("long enough");
            assert!(found.is_proven && (found.slope / per_value - 1.0).abs() < 0.2, "{found:?} for {per_value}");
            assert!(found.beats(&values, &change_points(&values)), "no steps: {:?}", change_points(&values));
        }
        let mut noise = Noise::new(3);
        let step: Vec<f64> = (0..60).map(|at| if at < 12 { 1.0 } else { 0.0 } + 0.05 * noise.normal()).collect();
        let found = line(&step).expect("long enough");
        assert!(!found.beats(&step, &change_points(&step)), "a step is no slope");
    }
}
