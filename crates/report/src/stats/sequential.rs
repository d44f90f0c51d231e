//! Pairs that are looked at after each one: when may a comparison stop?
//!
//! The fixed test may be asked once. This one may be asked after every pair, up to a number that is known beforehand:
//! the chance of a false alarm at any of the looks is at most its level. It assumes what the fixed one does and no
//! more: without a difference either sign of a pair's difference is as likely, whatever its size.
//!
//! The statistic adds the sign of each difference, weighted by its size among those seen so far: full weight from 0.7
//! of their median on, so that a spoiled pair weighs no more than another. Given the sizes, every choice of signs has
//! the same probability, so the law of the sum is counted out exactly, pair by pair, without the ways that were
//! stopped at an earlier look. Each look has the share of the level that is due by then (the root of the share of the
//! pairs) and stops at the lowest sum it can pay for; what it cannot spend is left to the next.
//!
//! Betting on the signs (a test martingale) keeps the same promise without a known end. Simulated on the laws of
//! `cargo xtask stats` it takes 0-20 % more pairs and finds less, because it uses half of its level or less.
//!
//! Levels are nested: what a small level rejects every larger one has rejected too, because the boundary of a smaller
//! level is never below that of a larger. So the smallest level that was crossed is a p-value, and Holm may step down.

use super::median;
use super::paired::{Estimate, estimate};

/// Weight of a large difference; smaller ones weigh 1 at least.
const FULL: i32 = 6;
/// Differences of this share of the median and larger ones have full weight.
const FULL_FROM: f64 = 0.7;
/// Levels beyond those of Holm, so that a p-value says how far it is.
const LARGE_LEVELS: [f64; 3] = [0.5, 0.2, 0.1];
/// The level of the promise.
const LEVEL: f64 = 0.05;
/// Steps in which the interval is searched from the outermost difference to the estimate, and halvings after that.
const STEPS: usize = 64;
const HALVINGS: usize = 24;

/// How many pairs there may be at most, and how many metrics are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    /// The last look is after so many pairs.
    pub most_pairs: usize,
    /// Metrics that are tested together.
    pub tests: usize,
}

impl Looks {
    /// Levels from the largest to the smallest: those of Holm's steps at the end.
    pub fn levels(self) -> Vec<f64> {
        LARGE_LEVELS.into_iter().chain((1..=self.tests.max(1)).map(|step| LEVEL / step as f64)).collect()
    }

    /// The fewest pairs after which the smallest level can stop.
    pub fn fewest_pairs(self) -> Option<usize> {
        let same = vec![1.0; self.most_pairs];
        self.stops(&same, &[LEVEL / self.tests.max(1) as f64])[0].map(|(pairs, _)| pairs)
    }

    /// The p-value that holds at whichever look the pairs are: the smallest level that was crossed, else 1.
    pub fn p_value(self, differences: &[f64]) -> f64 {
        let levels = self.levels();
        let stops = self.stops(differences, &levels);
        levels.iter().zip(stops).filter(|(_, stop)| stop.is_some()).map(|(level, _)| *level).fold(1.0, f64::min)
    }

    /// Estimate and p-value, with the interval of what no look rejected at 5 %: it holds at all looks together.
    pub fn estimate(self, differences: &[f64]) -> Estimate {
        let once = estimate(differences);
        let pairs = differences.len().min(self.most_pairs);
        let interval = (self.with_tests(1).fewest_pairs().is_some_and(|fewest| pairs >= fewest))
            .then(|| (self.bound(differences, once.center, true), self.bound(differences, once.center, false)));
        Estimate { interval, p: self.p_value(differences), ..once }
    }

    /// After which pair each of the levels, given from the largest to the smallest, stopped, and whether B was above.
    pub fn stops(self, differences: &[f64], levels: &[f64]) -> Vec<Option<(usize, bool)>> {
        assert!(levels.is_sorted_by(|a, b| a >= b), "boundaries are nested from the largest level on: {levels:?}");
        let reach = self.most_pairs * FULL as usize;
        let mut boundaries: Vec<Boundary> = levels.iter().map(|level| Boundary::new(*level, reach)).collect();
        let mut stops = vec![None; levels.len()];
        let mut sum: i32 = 0;
        for pairs in 1..=differences.len().min(self.most_pairs) {
            let weight = weight(&differences[..pairs]);
            let is_above = differences[pairs - 1] > 0.0;
            sum += if is_above { weight } else { -weight };
            let due = (pairs as f64 / self.most_pairs as f64).sqrt();
            let mut at_least = 1;
            for (boundary, stop) in boundaries.iter_mut().zip(&mut stops) {
                at_least = boundary.look(weight as usize, due, at_least);
                if stop.is_none() && sum.unsigned_abs() as usize >= at_least {
                    *stop = Some((pairs, sum > 0));
                }
            }
        }
        stops
    }

    fn with_tests(self, tests: usize) -> Looks {
        Looks { tests, ..self }
    }

    /// One end of the interval: from the outermost difference, beyond which everything is rejected, inward to the
    /// first that is not.
    fn bound(self, differences: &[f64], center: f64, is_low: bool) -> f64 {
        let is_rejected = |change: f64| {
            let from: Vec<f64> = differences.iter().map(|difference| difference - change).collect();
            self.stops(&from, &[LEVEL])[0].is_some_and(|(_, is_above)| is_above == is_low)
        };
        let ends = differences.iter().copied();
        let outermost =
            if is_low { ends.fold(f64::INFINITY, f64::min) } else { ends.fold(f64::NEG_INFINITY, f64::max) };
        let at = |step: usize| outermost + (center - outermost) * step as f64 / STEPS as f64;
        let Some(first) = (0..=STEPS).find(|step| !is_rejected(at(*step))) else { return center };
        if first == 0 {
            return outermost;
        }
        let (mut rejected, mut kept) = (at(first - 1), at(first));
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(rejected, kept);
            if is_rejected(middle) { rejected = middle } else { kept = middle }
        }
        rejected
    }
}

/// Of the last of these differences, by its size among them; 0 when it is none.
fn weight(so_far: &[f64]) -> i32 {
    let size = so_far.last().map_or(0.0, |last| last.abs());
    if size == 0.0 {
        return 0;
    }
    let usual = median(so_far.iter().map(|difference| difference.abs()).filter(|size| *size > 0.0)).unwrap_or(size);
    ((size / (FULL_FROM * usual)).min(1.0) * f64::from(FULL)).round().max(1.0) as i32
}

/// The law of the sum under one level, without the ways that it has stopped.
struct Boundary {
    level: f64,
    spent: f64,
    /// Of sums from -reach to reach.
    law: Vec<f64>,
    reach: usize,
    reached: usize,
}

impl Boundary {
    fn new(level: f64, reach: usize) -> Boundary {
        let mut law = vec![0.0; 2 * reach + 1];
        law[reach] = 1.0;
        Boundary { level, spent: 0.0, law, reach, reached: 0 }
    }

    /// Takes a pair of this weight in; the lowest size of a sum that stops here, `at_least` this or larger.
    fn look(&mut self, weight: usize, due: f64, at_least: usize) -> usize {
        self.add(weight);
        let (allowed, middle) = (self.level * due - self.spent, self.reach);
        let (mut stopped, mut lowest) = (0.0, self.reached + 1);
        while lowest > at_least {
            let size = lowest - 1;
            let chance = self.law[middle + size] + self.law[middle - size];
            // Sums of powers of two: what is added here is exact but for the last digits.
            if stopped + chance > allowed + 1e-12 {
                break;
            }
            stopped += chance;
            lowest = size;
        }
        for size in lowest..=self.reached {
            self.law[middle + size] = 0.0;
            self.law[middle - size] = 0.0;
        }
        self.spent += stopped;
        debug_assert!(self.spent <= self.level * due + 1e-9, "a look spends what is due: {} {due}", self.spent);
        lowest
    }

    fn add(&mut self, weight: usize) {
        if weight == 0 {
            return;
        }
        let (first, last) = (self.reach - self.reached, self.reach + self.reached);
        let mut next = vec![0.0; self.law.len()];
        for at in (first..=last).filter(|at| self.law[*at] > 0.0) {
            next[at + weight] += self.law[at] / 2.0;
            next[at - weight] += self.law[at] / 2.0;
        }
        self.law = next;
        self.reached += weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOKS: Looks = Looks { most_pairs: 10, tests: 1 };

    /// All signs of ten differences: stopped at any look in at most the level's share of them, and nested.
    #[test]
    fn of_all_signs_at_most_the_level_stop_at_any_look() {
        let sizes = [0.3, 0.1, 2.0, 0.31, 0.2, 0.0, 0.15, 0.9, 0.4, 0.31];
        let levels = [0.2, 0.05, 0.025, 0.0125];
        let mut stopped = [0_u32; 4];
        for signs in 0..1_u32 << sizes.len() {
            let sign = |at: usize| if signs >> at & 1 == 1 { 1.0 } else { -1.0 };
            let differences: Vec<f64> = sizes.iter().enumerate().map(|(at, size)| size * sign(at)).collect();
            let stops = LOOKS.stops(&differences, &levels);
            stops.iter().zip(&mut stopped).for_each(|(stop, stopped)| *stopped += u32::from(stop.is_some()));
            let pairs: Vec<usize> = stops.iter().map(|stop| stop.map_or(99, |(pairs, _)| pairs)).collect();
            assert!(pairs.is_sorted(), "a smaller level never stops sooner: {pairs:?}");
        }
        let shares = stopped.map(|stopped| f64::from(stopped) / 1024.0);
        for (share, level) in shares.iter().zip(levels) {
            assert!(*share <= level && *share > level / 3.0, "{shares:?}");
        }
    }

    #[test]
    fn pairs_of_one_sign_stop_as_soon_as_the_level_pays_for_them() {
        assert_eq!(LOOKS.stops(&[0.1; 10], &[LEVEL])[0], Some((6, true)));
        assert_eq!(LOOKS.stops(&[-0.1, -0.3, -0.2, -9.0, -0.1, -0.2, -0.1], &[LEVEL])[0], Some((6, false)));
        let fewest = |most_pairs, tests| Looks { most_pairs, tests }.fewest_pairs();
        assert_eq!([fewest(10, 1), fewest(30, 1), fewest(30, 5), fewest(5, 1)], [Some(6), Some(7), Some(9), None]);
    }

    /// More pairs never take a finding back.
    #[test]
    fn what_was_found_stays_found() {
        let mut differences = vec![0.1; 6];
        let found = LOOKS.p_value(&differences);
        differences.extend([-0.2; 4]);
        assert!(found <= LEVEL);
        assert_eq!(LOOKS.p_value(&differences), found);
        differences.extend([-0.2; 40]);
        assert_eq!(LOOKS.p_value(&differences), found, "pairs beyond the last look are no looks");
    }

    #[test]
    fn the_interval_leaves_out_what_a_look_rejected() {
        let of = |differences: &[f64]| LOOKS.estimate(differences);
        let six = of(&[0.05, 0.06, 0.04, 0.055, 0.05, 0.045]);
        assert_eq!((six.interval, six.p), (Some((0.04, 0.06)), LEVEL));
        assert_eq!(of(&[0.05; 5]).interval, None);
        assert_eq!(of(&[0.0; 6]).interval, Some((0.0, 0.0)));
        let (low, high) = of(&[0.05, 0.06, 0.04, 0.055, 0.05, 0.045, 0.052, 0.048, 0.2]).interval.unwrap();
        assert!(low >= 0.04 && high <= 0.06 && low < 0.05 && high > 0.05, "{low} {high}");
    }

    #[test]
    fn a_confidence_and_a_level_are_one_promise() {
        assert!((1.0 - crate::stats::CONFIDENCE - LEVEL).abs() < 1e-12);
    }
}
