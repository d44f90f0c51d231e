//! How sure a percentile is: the two samples between which the true one lies with 95 %.
//!
//! Of n samples, the number that lie below the true percentile p follows the binomial law of n and p, whatever law the
//! samples have. So the l-th and the u-th of them in order enclose it as surely as that number is at least l and less
//! than u. Each end may be wrong in at most 2.5 % of the runs. Few samples beyond a percentile give no end: then even
//! the largest of them may be too small, and the interval is unbounded.
//!
//! This assumes that samples are independent. Those of a server that is slow for a second at a time are not, and then
//! the true doubt is larger: the interval is the least doubt there is.

use super::Trend;

/// What may lie beyond each end.
const TAIL: f64 = 0.025;
/// The quantile of the normal law that leaves it.
const Z: f64 = 1.959_963_984_540_054;
/// Variance of the binomial law from which on the normal one, with its skewness corrected, gives the same ranks within
/// one.
const EXACT_BELOW: f64 = 10_000.0;
/// A percentile with fewer samples beyond it is the value of a few of them.
const ENOUGH_BEYOND: f64 = 10.0;

/// Where a percentile lies with 95 %, its estimate included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankInterval {
    /// Its lower end; minus infinity when the samples give none.
    pub low: f64,
    /// Its upper end; infinity when the samples give none, or when it is among the values that nobody measured.
    pub high: f64,
}

/// The number, from 1, of the sample in order that is above a percentile with 97.5 %, whatever the samples' law; none
/// where even the largest of so many is not.
pub fn upper_rank(samples: u64, percent: f64) -> Option<u64> {
    let (_, upper) = ranks(samples, percent / 100.0);
    (samples > 0 && upper <= samples).then_some(upper)
}

/// How many samples a percentile needs, so that ten are beyond it on either side.
pub fn samples_needed(percent: f64) -> u64 {
    let beyond = percent.min(100.0 - percent) / 100.0;
    // 1 - 0.95 is a little more than 0.05, and 200 samples are enough all the same.
    (ENOUGH_BEYOND / beyond.max(1e-9) - 1e-6).ceil() as u64
}

impl Trend {
    /// The 95 % interval of a percentile above 0 and below 100; none without samples. What was never measured counts.
    pub fn interval(&self, percent: f64) -> Option<RankInterval> {
        let samples = self.count() + self.censored;
        if self.count() == 0 || percent <= 0.0 || percent >= 100.0 {
            return None;
        }
        let (lower, upper) = ranks(samples, percent / 100.0);
        debug_assert!(lower < upper && upper <= samples + 1, "ranks {lower} to {upper} of {samples}");
        let mut wanted = [(lower.saturating_sub(1), 0.0), (upper - 1, 0.0)];
        self.order_statistics(&mut wanted);
        let value = |rank: u64| match rank {
            0 => f64::NEG_INFINITY,
            beyond if beyond > self.count() => f64::INFINITY,
            rank => wanted.iter().find(|(known, _)| known + 1 == rank).map_or(0.0, |(_, value)| *value),
        };
        // The estimate lies between order statistics, and at the ends of few samples beside the interval.
        let estimate = self.percentile(percent);
        Some(RankInterval { low: value(lower).min(estimate), high: value(upper).max(estimate) })
    }

    /// Whether a percentile has fewer than ten samples beyond it.
    pub fn is_thin(&self, percent: f64) -> bool {
        let samples = self.count() + self.censored;
        samples > 0 && percent > 0.0 && percent < 100.0 && samples < samples_needed(percent)
    }
}

/// Numbers, from 1, of the samples in order that enclose the quantile `p`: 0 and `n + 1` where there is none.
fn ranks(n: u64, p: f64) -> (u64, u64) {
    let variance = n as f64 * p * (1.0 - p);
    if variance < EXACT_BELOW { exact_ranks(n, p) } else { normal_ranks(n, p) }
}

/// From the probabilities of the binomial law, relative to the highest, out to where they vanish.
fn exact_ranks(n: u64, p: f64) -> (u64, u64) {
    const VANISHING: f64 = 1e-20;
    let odds = p / (1.0 - p);
    let mode = (((n + 1) as f64 * p) as u64).min(n);
    let (mut below, mut weight) = (Vec::new(), 1.0);
    for k in (1..=mode).rev() {
        weight *= k as f64 / ((n - k + 1) as f64 * odds);
        if weight < VANISHING {
            break;
        }
        below.push(weight);
    }
    let first = mode - below.len() as u64;
    let mut weights: Vec<f64> = below.into_iter().rev().chain([1.0]).collect();
    weight = 1.0;
    for k in mode..n {
        weight *= (n - k) as f64 * odds / (k + 1) as f64;
        if weight < VANISHING {
            break;
        }
        weights.push(weight);
    }
    let tail = TAIL * weights.iter().sum::<f64>();
    let beyond = |weights: &mut dyn Iterator<Item = &f64>| {
        let mut sum = 0.0;
        weights
            .take_while(|weight| {
                sum += **weight;
                sum <= tail
            })
            .count() as u64
    };
    let lower = first + beyond(&mut weights.iter());
    let upper = first + weights.len() as u64 - beyond(&mut weights.iter().rev());
    (lower, upper)
}

/// By the normal law with a correction for continuity, and Cornish and Fisher's for the skewness.
fn normal_ranks(n: u64, p: f64) -> (u64, u64) {
    let (mean, spread) = (n as f64 * p, (n as f64 * p * (1.0 - p)).sqrt());
    let skewed = mean + (Z * Z - 1.0) / 6.0 * (1.0 - 2.0 * p);
    let lower = (skewed - Z * spread - 0.5).ceil().max(0.0) as u64;
    let upper = (skewed + Z * spread + 0.5).floor() as u64 + 1;
    (lower, upper.min(n + 1))
}

#[cfg(test)]
mod tests {
    use super::super::tests::trend;
    use super::*;

    /// The binomial law term by term, from its definition.
    fn probabilities(n: u64, p: f64) -> Vec<f64> {
        let choose = |k: u64| (1..=k).map(|i| (n - k + i) as f64 / i as f64).product::<f64>();
        (0..=n).map(|k| choose(k) * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32)).collect()
    }

    #[test]
    fn ranks_are_the_tightest_that_the_binomial_law_allows() {
        for n in 1..=120 {
            for percent in [1.0, 10.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9] {
                let law = probabilities(n, percent / 100.0);
                let (lower, upper) = ranks(n, percent / 100.0);
                let below = |rank: u64| law[..rank as usize].iter().sum::<f64>();
                let from = |rank: u64| law[(rank as usize).min(law.len())..].iter().sum::<f64>();
                let told = format!("p({percent}) of {n}: {lower} to {upper}");
                assert!(below(lower) <= TAIL + 1e-12 && from(upper) <= TAIL + 1e-12, "sure enough: {told}");
                assert!(below(lower + 1) > TAIL - 1e-12, "no lower end is tighter: {told}");
                assert!(upper == 0 || from(upper - 1) > TAIL - 1e-12, "no upper end is tighter: {told}");
            }
        }
        // Tables of distribution-free intervals have these: the 2nd and 9th of ten enclose the median.
        assert_eq!((ranks(10, 0.5), ranks(5, 0.5), ranks(6, 0.5)), ((2, 9), (0, 6), (1, 6)));
        // 0.95 to the power of 72 is less than 2.5 %: from there on the largest sample is an upper end.
        assert_eq!((ranks(71, 0.95).1, ranks(72, 0.95).1), (72, 72));
    }

    #[test]
    fn many_samples_have_the_same_ranks_by_the_normal_law_within_one() {
        for percent in [1.0, 50.0, 90.0, 95.0, 99.0, 99.9] {
            let p: f64 = percent / 100.0;
            for factor in [1.0, 1.5, 4.0] {
                let n = (EXACT_BELOW / (p * (1.0 - p)) * factor) as u64;
                let (exact, normal) = (exact_ranks(n, p), normal_ranks(n, p));
                let off = exact.0.abs_diff(normal.0).max(exact.1.abs_diff(normal.1));
                assert!(off <= 1, "p({percent}) of {n}: {exact:?} and {normal:?}");
            }
        }
    }

    #[test]
    fn the_exact_law_is_used_as_far_as_its_variance_allows() {
        let mut differing = 0;
        for percent in [1.0, 99.9] {
            let p: f64 = percent / 100.0;
            let (few, most) = (2 * EXACT_BELOW as u64, (EXACT_BELOW / (p * (1.0 - p))) as u64 - 1);
            for n in (few..most).step_by((most / 40) as usize) {
                assert_eq!(ranks(n, p), exact_ranks(n, p), "p({percent}) of {n}");
                differing += u32::from(exact_ranks(n, p) != normal_ranks(n, p));
            }
        }
        assert!(differing > 0, "the two laws can be told apart here");
    }

    #[test]
    fn an_interval_is_two_of_the_samples() {
        let some = trend(&(1..=1000).map(f64::from).collect::<Vec<_>>());
        let interval = some.interval(50.0).expect("one");
        let (lower, upper) = ranks(1000, 0.5);
        assert_eq!((lower, upper), (469, 532));
        assert!((interval.low - 469.0).abs() < 0.5 && (interval.high - 532.0).abs() < 0.5, "{interval:?}");
        for percent in [0.1, 5.0, 50.0, 99.0, 99.9] {
            let (estimate, interval) = (some.percentile(percent), some.interval(percent).expect("one"));
            assert!(interval.low <= estimate && estimate <= interval.high, "p({percent}): {estimate} {interval:?}");
        }
        assert_eq!((some.interval(0.0), some.interval(100.0), Trend::default().interval(50.0)), (None, None, None));
    }

    #[test]
    fn few_samples_give_no_end_and_those_that_nobody_measured_an_infinite_one() {
        let few = trend(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let ends = |found: Option<RankInterval>| found.map(|found| (found.low, found.high));
        assert_eq!(ends(few.interval(50.0)), Some((f64::NEG_INFINITY, f64::INFINITY)));
        assert_eq!(ends(few.interval(95.0)).expect("one").1, f64::INFINITY);
        let mut dropped = trend(&(1..=90).map(f64::from).collect::<Vec<_>>());
        assert!(dropped.interval(90.0).expect("one").high.is_finite());
        dropped.add_censored(10);
        let interval = dropped.interval(90.0).expect("one");
        assert!(interval.low >= 80.0 && interval.high == f64::INFINITY, "{interval:?}");
        assert!(dropped.interval(50.0).expect("one").high < 65.0);
    }

    #[test]
    fn ten_samples_are_beyond_a_percentile_that_has_enough() {
        assert_eq!([50.0, 90.0, 95.0, 99.0, 99.9, 10.0].map(samples_needed), [20, 100, 200, 1000, 10_000, 100]);
        let some = trend(&(1..=199).map(f64::from).collect::<Vec<_>>());
        assert_eq!([50.0, 90.0, 95.0, 100.0].map(|percent| some.is_thin(percent)), [false, false, true, false]);
        assert!(!Trend::default().is_thin(99.0), "no samples are no few samples");
    }

    /// Samples of a skewed law, a thousand times: 95 of 100 intervals hold the true percentile, or more.
    #[test]
    fn the_interval_holds_the_true_percentile_as_often_as_it_says() {
        let mut random = super::super::tests::Random(11);
        let (mut held, rounds) = ([0; 3], 1000);
        let percents: [f64; 3] = [50.0, 90.0, 95.0];
        for _ in 0..rounds {
            let samples: Vec<f64> = (0..300).map(|_| -(1.0 - random.unit()).ln()).collect();
            let some = trend(&samples);
            for (held, percent) in held.iter_mut().zip(percents) {
                let truth = -(1.0 - percent / 100.0).ln();
                let interval = some.interval(percent).expect("one");
                *held += i32::from(interval.low <= truth && truth <= interval.high);
            }
        }
        assert!(held.iter().all(|held| (935..=990).contains(held)), "{held:?}");
    }
}
