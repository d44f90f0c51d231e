//! A histogram of any finite numbers, small, mergeable, with percentiles within 0.1 % of the exact ones.
//!
//! `bucket` says which values share a bucket: neighbouring borders differ by at most 1/1024. A bucket keeps the count
//! and the sum of its samples, so that it answers with their mean: a bucket holding one distinct value is exact.
//! Buckets live in pages of 64, made when first needed: memory depends on how widely the values spread, never on how
//! many there are. Minimum, maximum, count and sum are exact: the order of the values, and how they were dealt out
//! among histograms that are merged, changes no bit of any answer.
//!
//! Our own, because HdrHistogram holds whole numbers between limits that are chosen beforehand, and k6's trends take
//! any number. Adding a sample is on the path of every request.
//!
//! Refused: NaN and infinities. Below 2.3e-308 (subnormal numbers) the error is absolute, not relative.

mod censored;
pub(crate) mod exact;
mod interval;
mod packed;
mod side;
mod stored;

pub use interval::{RankInterval, samples_needed, upper_rank};

use side::{Bucket, Side};

use crate::bucket;
use crate::exact_sum::ExactSum;

/// The distribution of the values of a Trend metric.
#[derive(Clone, Debug)]
pub struct Trend {
    negative: Side,
    positive: Side,
    zeros: u64,
    /// Samples other than 0.
    others: u64,
    /// Of the samples other than 0.
    min: f64,
    max: f64,
    /// Samples of which nobody knows more than that they are larger than all others.
    censored: u64,
}

impl Default for Trend {
    fn default() -> Self {
        Trend {
            negative: Side::default(),
            positive: Side::default(),
            zeros: 0,
            others: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            censored: 0,
        }
    }
}

impl Trend {
    /// An empty one that grows to the same spread without moving its buckets.
    pub(crate) fn emptied(&self) -> Trend {
        Trend { negative: self.negative.emptied(), positive: self.positive.emptied(), ..Trend::default() }
    }

    /// Adds one value. NaN and infinities are not counted.
    pub fn add(&mut self, value: f64) {
        if value == 0.0 {
            self.zeros += 1;
        } else if value.is_finite() {
            self.add_other(value);
        }
    }

    /// Adds one finite value that is not 0.
    // Not inlined: in a loop over samples of all kinds the compiler would find the bucket before it asks for the kind.
    #[inline(never)]
    pub(crate) fn add_other(&mut self, value: f64) {
        if value > 0.0 {
            return self.add_above_zero(value);
        }
        self.widen(value);
        self.negative.add(value.abs().to_bits());
    }

    /// Adds one finite value above 0.
    #[inline(always)]
    pub(crate) fn add_above_zero(&mut self, value: f64) {
        self.widen(value);
        self.positive.add(value.to_bits());
    }

    /// Counts a value that is not 0, and moves the extremes to it.
    #[inline(always)]
    fn widen(&mut self, value: f64) {
        debug_assert!(value.is_finite() && value != 0.0, "zeros are counted apart, the rest is refused: {value}");
        self.others += 1;
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
    }

    /// How many values other than 0.
    pub(crate) fn others(&self) -> u64 {
        self.others
    }

    /// Adds the value 0 this many times.
    pub(crate) fn add_zeros(&mut self, count: u64) {
        self.zeros += count;
    }

    /// Adds everything that `other` holds.
    pub fn merge(&mut self, other: &Trend) {
        let count = self.count() + other.count();
        self.negative.merge(&other.negative);
        self.positive.merge(&other.positive);
        self.zeros += other.zeros;
        self.others += other.others;
        self.censored += other.censored;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        debug_assert_eq!(self.count(), count, "no value is lost or counted twice");
        debug_assert!(self.others == 0 || self.min <= self.max, "{} to {}", self.min, self.max);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.zeros + self.others
    }

    /// Lowest value, exact; 0 when empty.
    pub fn min(&self) -> f64 {
        match (self.zeros, self.others) {
            (_, 0) => 0.0,
            (0, _) => self.min,
            _ => self.min.min(0.0),
        }
    }

    /// Highest value, exact; 0 when empty.
    pub fn max(&self) -> f64 {
        match (self.zeros, self.others) {
            (_, 0) => 0.0,
            (0, _) => self.max,
            _ => self.max.max(0.0),
        }
    }

    /// Sum of all values: the `f64` next to the true one, whatever the order in which they came.
    pub fn sum(&self) -> f64 {
        self.exact_sum().value()
    }

    /// Mean, less than one step of an `f64` off; 0 when empty.
    pub fn avg(&self) -> f64 {
        if self.count() == 0 {
            return 0.0;
        }
        self.exact_sum().mean(self.count()).clamp(self.min(), self.max())
    }

    fn exact_sum(&self) -> ExactSum {
        debug_assert!(self.is_whole(), "each value other than 0 is in a bucket");
        let mut sum = ExactSum::default();
        for (side, is_negative) in [(&self.negative, true), (&self.positive, false)] {
            // Neighbouring buckets share their shift: their sums have room in one number.
            let (mut shift, mut significands) = (0, 0_u128);
            for (key, bucket) in side.iter() {
                if bucket::shift(key) != shift {
                    sum.add_units(std::mem::take(&mut significands), shift, is_negative);
                    shift = bucket::shift(key);
                }
                significands += bucket.significands(key);
            }
            sum.add_units(significands, shift, is_negative);
        }
        sum
    }

    /// The value below which `percent` (0-100) of the values lie, infinite where that is one of those that were never
    /// measured: linear between the two nearest order statistics, as
    /// k6 does it. 0 when empty; outside 0-100 the lowest or highest.
    pub fn percentile(&self, percent: f64) -> f64 {
        self.percentiles([percent])[0]
    }

    /// Several percentiles at the cost of one.
    pub fn percentiles<const N: usize>(&self, percents: [f64; N]) -> [f64; N] {
        if self.count() == 0 {
            return [if self.censored > 0 { f64::INFINITY } else { 0.0 }; N];
        }
        let last = self.count() - 1 + self.censored;
        let place = |percent: f64| {
            let rank = (percent / 100.0).clamp(0.0, 1.0) * last as f64;
            let below = (rank.floor() as u64).min(last);
            (below, rank - below as f64)
        };
        let places = percents.map(place);
        debug_assert!(places.iter().all(|(_, share)| (0.0..1.0).contains(share)), "a part of one rank");
        let mut wanted: Vec<(u64, f64)> =
            places.iter().flat_map(|(below, _)| [(*below, 0.0), (below + 1, 0.0)]).collect();
        self.order_statistics(&mut wanted);
        let value = |rank: u64| match rank {
            beyond if beyond >= self.count() => f64::INFINITY,
            rank => wanted.iter().find(|(known, _)| *known == rank).map_or(0.0, |(_, value)| *value),
        };
        places.map(|(below, share)| {
            let low = value(below);
            if share <= 0.0 || below == last {
                return low;
            }
            let high = value(below + 1);
            if high.is_infinite() {
                return high;
            }
            (low + (high - low) * share).clamp(low, high)
        })
    }

    /// Whether the buckets hold as many values as were counted. For assertions: it walks all buckets.
    fn is_whole(&self) -> bool {
        let count = |side: &Side| side.iter().map(|(_, bucket)| bucket.count()).sum::<u64>();
        count(&self.negative) + count(&self.positive) == self.others
    }

    /// Fills in the values at these ranks (from 0) when all are sorted, in one walk.
    fn order_statistics(&self, wanted: &mut [(u64, f64)]) {
        wanted.sort_unstable_by_key(|(rank, _)| *rank);
        let (mut seen, mut open) = (0, 0);
        for filled in self.ascending() {
            seen += filled.count;
            while wanted.get(open).is_some_and(|(rank, _)| *rank < seen) {
                wanted[open].1 = filled.mean().clamp(self.min(), self.max());
                open += 1;
            }
            if open == wanted.len() {
                break;
            }
        }
        debug_assert!(
            open == wanted.len() || seen == self.count() && wanted[open].0 >= seen,
            "each rank below the count is in a bucket"
        );
        for (rank, value) in wanted {
            if *rank == 0 {
                *value = self.min();
            } else if *rank + 1 >= self.count() {
                *value = self.max();
            }
        }
    }

    /// What has samples, from the lowest value to the highest.
    fn ascending(&self) -> impl Iterator<Item = Filled> {
        let filled =
            |sign: f64| move |(key, bucket): (u32, Bucket)| Filled { count: bucket.count(), sign, key, bucket };
        let zeros = Filled { count: self.zeros, sign: 0.0, key: 0, bucket: Bucket::default() };
        let zeros = (self.zeros > 0).then_some(zeros);
        self.negative.iter().rev().map(filled(-1.0)).chain(zeros).chain(self.positive.iter().map(filled(1.0)))
    }

    /// Share of the samples that are at least this much, 0 to 1, as exact as a percentile.
    pub fn share_from(&self, least: f64) -> f64 {
        let reaching = self.buckets().filter(|(value, _)| *value >= least).map(|(_, count)| count).sum::<u64>();
        debug_assert!(reaching <= self.count(), "{reaching} of {}", self.count());
        reaching as f64 / self.count().max(1) as f64
    }

    /// The buckets from the lowest value to the highest: the mean of each one's values, and how many there are.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        self.ascending().map(|filled| (filled.mean(), filled.count))
    }

    /// Buckets that memory is allocated for, used or not.
    #[cfg(test)]
    fn allocated_buckets(&self) -> usize {
        self.negative.allocated_buckets() + self.positive.allocated_buckets()
    }
}

/// A bucket with samples; the zeros have a sign of their own, 0.
struct Filled {
    count: u64,
    sign: f64,
    key: u32,
    bucket: Bucket,
}

impl Filled {
    fn mean(&self) -> f64 {
        if self.sign == 0.0 { 0.0 } else { self.sign * self.bucket.mean(self.key) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SplitMix64: reproducible sets without a dependency.
    pub(super) struct Random(pub(super) u64);

    impl Random {
        fn bits(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }
        pub(super) fn unit(&mut self) -> f64 {
            (self.bits() >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// Sets of very different shapes: latencies, signed, tiny and huge, integers with many ties, arbitrary bit
    /// patterns.
    pub(super) fn sets() -> Vec<Vec<f64>> {
        let mut random = Random(7);
        let mut all = Vec::new();
        for size in [1usize, 2, 3, 10, 1000, 5_000] {
            all.push((0..size).map(|_| 0.2 * (random.unit() * 8.0).exp()).collect());
            all.push((0..size).map(|_| (random.unit() - 0.5) * 1e4).collect());
            all.push((0..size).map(|_| 10f64.powf(random.unit() * 600.0 - 300.0)).collect());
            all.push((0..size).map(|_| (random.bits() % 7) as f64 - 3.0).collect());
            let any = (0..size).map(|_| f64::from_bits(random.bits()));
            all.push(any.map(|v| if v.is_normal() && v.abs() < 1e300 { v } else { 1.0 }).collect());
        }
        all
    }

    pub(super) fn trend(values: &[f64]) -> Trend {
        let mut trend = Trend::default();
        values.iter().for_each(|v| trend.add(*v));
        trend
    }

    pub(super) fn exact_percentile(sorted: &[f64], percent: f64) -> (f64, f64, f64) {
        let rank = percent / 100.0 * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
        (low + (high - low) * (rank - rank.floor()), low, high)
    }

    pub(super) const PERCENTS: [f64; 11] = [0.0, 0.1, 1.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0];

    #[test]
    fn percentiles_are_within_a_thousandth_of_sorting() {
        for values in sets() {
            let trend = trend(&values);
            let mut sorted = values;
            sorted.sort_by(f64::total_cmp);
            for percent in PERCENTS {
                let (exact, low, high) = exact_percentile(&sorted, percent);
                // Between two values of opposite sign the error is relative to them, not to what is between.
                let allowed = 0.001 * low.abs().max(high.abs());
                let found = trend.percentile(percent);
                assert!((found - exact).abs() <= allowed, "p({percent}) of {}: {found} != {exact}", sorted.len());
            }
        }
    }

    #[test]
    fn extremes_count_and_sum_are_exact() {
        for values in sets() {
            let trend = trend(&values);
            assert_eq!(trend.count(), values.len() as u64);
            assert_eq!(trend.min(), values.iter().copied().fold(f64::INFINITY, f64::min));
            assert_eq!(trend.max(), values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            let mut sum = ExactSum::default();
            values.iter().for_each(|value| sum.add(*value, 1));
            assert_eq!((trend.sum(), trend.avg()), (sum.value(), sum.mean(trend.count())));
        }
    }

    #[test]
    fn merging_equals_adding_all() {
        for values in sets() {
            for cut in [0, values.len() / 3, values.len()] {
                let (left, right) = values.split_at(cut);
                let mut merged = trend(left);
                merged.merge(&trend(right));
                let whole = trend(&values);
                assert_eq!(merged.count(), whole.count());
                assert_eq!((merged.min(), merged.max()), (whole.min(), whole.max()));
                for percent in PERCENTS {
                    let (a, b) = (merged.percentile(percent), whole.percentile(percent));
                    assert!((a - b).abs() <= 1e-12 * a.abs().max(b.abs()), "p({percent}): {a} != {b}");
                }
            }
        }
    }

    #[test]
    fn few_distinct_values_are_exact() {
        let trend = trend(&[1.0, 5.0, 5.0, 9.0, 9.0, -3.5, 0.0, -0.0, 1.23456789]);
        assert_eq!(trend.percentile(50.0), 1.23456789);
        assert_eq!(trend.percentile(75.0), 5.0);
        assert_eq!(trend.percentile(12.5), 0.0);
        assert_eq!(trend.min(), -3.5);
    }

    #[test]
    fn empty_answers_zero() {
        let empty = Trend::default();
        assert_eq!([empty.min(), empty.max(), empty.avg(), empty.percentile(95.0), empty.sum()], [0.0; 5]);
        assert_eq!(empty.allocated_buckets(), 0);
    }

    #[test]
    fn refuses_what_is_not_finite() {
        let trend = trend(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2.0]);
        assert_eq!((trend.count(), trend.min(), trend.max()), (1, 2.0, 2.0));
    }

    #[test]
    fn sums_beyond_the_range_do_not_break_the_mean() {
        let trend = trend(&[f64::MAX, f64::MAX, f64::MAX, -f64::MAX]);
        assert!(trend.avg().is_finite() && trend.avg() > 0.0);
        assert!(trend.percentile(50.0) > 1.79e308);
    }

    #[test]
    fn a_bucket_whose_sum_left_the_range_answers_with_its_mean() {
        let buckets: Vec<(f64, u64)> = trend(&[f64::MAX, -f64::MAX, f64::MAX, -f64::MAX]).buckets().collect();
        assert_eq!(buckets, [(-f64::MAX, 2), (f64::MAX, 2)]);
    }

    #[test]
    fn memory_follows_the_spread_not_the_count() {
        let mut random = Random(3);
        let mut trend = Trend::default();
        let mut spread = |trend: &mut Trend, count| (0..count).for_each(|_| trend.add(1.0 + random.unit() * 1000.0));
        spread(&mut trend, 100_000);
        let after_one = trend.allocated_buckets();
        spread(&mut trend, 900_000);
        assert_eq!(trend.allocated_buckets(), after_one);
        // 1-1001 spans ten exponents of 1024 buckets each.
        assert!(after_one <= 10 * 1024, "{after_one}");
    }
    #[test]
    fn zeros_and_signs_are_counted_apart() {
        let with_zero = trend(&[3.0, 0.0]);
        assert_eq!((with_zero.min(), with_zero.max(), with_zero.count(), with_zero.sum()), (0.0, 3.0, 2, 3.0));
        let below = trend(&[-3.0, 0.0]);
        assert_eq!((below.min(), below.max(), below.avg()), (-3.0, 0.0, -1.5));
        let mut zeros = Trend::default();
        zeros.add_zeros(2);
        zeros.add_zeros(3);
        assert_eq!((zeros.count(), zeros.min(), zeros.max(), zeros.percentile(50.0)), (5, 0.0, 0.0, 0.0));
        let mut all = trend(&[-1.0]);
        all.merge(&zeros);
        all.merge(&with_zero);
        assert_eq!((all.count(), all.min(), all.max(), all.sum()), (8, -1.0, 3.0, 2.0));
    }

    /// A page that lies before, behind or between the known ones is found again.
    #[test]
    fn pages_are_made_in_any_order() {
        let trend = trend(&[1e6, 1e-6, 1.0, 1e12, 1e-12, 1.0]);
        let buckets: Vec<(f64, u64)> = trend.buckets().collect();
        assert_eq!(buckets, [(1e-12, 1), (1e-6, 1), (1.0, 2), (1e6, 1), (1e12, 1)]);
        assert_eq!(trend.allocated_buckets(), 5 * side::PAGE);
    }

    #[test]
    fn what_rounding_takes_from_a_sum_is_given_back() {
        assert_eq!(trend(&[-1e16, 1.0, 1e16]).sum(), 1.0);
        assert_eq!(trend(&[-3e16, 1.0, 1e16, 2e16]).sum(), 1.0);
        assert_eq!(trend(&[-1e16, 3.0, 2e16]).sum(), 1e16 + 4.0, "1e16 + 3 has no double of its own");
        assert_eq!(trend(&[1.0, 1e16]).sum(), 1e16);
    }

    #[test]
    fn percentiles_of_extremes_stay_in_their_range() {
        let trend = trend(&[-f64::MAX, f64::MAX]);
        assert_eq!(trend.percentiles([-1.0, 0.0, 100.0, 101.0]), [-f64::MAX, -f64::MAX, f64::MAX, f64::MAX]);
    }
}
