//! A Trend bit for bit, in few bytes, for whoever goes on with it elsewhere. Documents store less (`stored.rs`).

use serde::{Deserialize, Serialize};

use super::Trend;
use super::packed::PackedBuckets;
use super::side::{Bucket, Side};
use crate::bucket;

/// All that a Trend holds, as it is stored and sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExactTrend {
    zeros: u64,
    others: u64,
    censored: u64,
    min: f64,
    max: f64,
    positive: PackedBuckets,
    negative: PackedBuckets,
}

/// All that a Trend holds, checked, bucket by bucket: to be added to a Trend, without becoming one, which takes room
/// for all neighbours of its buckets.
#[derive(Clone, Debug)]
pub(crate) struct SparseTrend {
    zeros: u64,
    others: u64,
    censored: u64,
    min: f64,
    max: f64,
    positive: Vec<(u32, Bucket)>,
    negative: Vec<(u32, Bucket)>,
}

impl From<&Trend> for ExactTrend {
    fn from(trend: &Trend) -> ExactTrend {
        debug_assert!(trend.is_whole(), "each value other than 0 is in a bucket");
        let of = |side: &Side| PackedBuckets::of(side.iter());
        ExactTrend {
            zeros: trend.zeros,
            others: trend.others,
            censored: trend.censored,
            min: trend.min,
            max: trend.max,
            positive: of(&trend.positive),
            negative: of(&trend.negative),
        }
    }
}

impl ExactTrend {
    /// The Trend; `None` when it contradicts itself.
    pub(crate) fn into_trend(self) -> Option<Trend> {
        let mut trend = Trend::default();
        trend.merge_sparse(&self.into_sparse()?);
        Some(trend)
    }

    /// What is in it; `None` when it contradicts itself.
    pub(crate) fn into_sparse(self) -> Option<SparseTrend> {
        let ExactTrend { zeros, others, censored, min, max, positive, negative } = self;
        let (positive, negative) = (positive.unpacked()?, negative.unpacked()?);
        let counts = positive.iter().chain(&negative).map(|(_, bucket)| bucket.count());
        let counted = counts.into_iter().try_fold(0_u64, u64::checked_add)?;
        // Whoever reckons with them adds them up.
        zeros.checked_add(others)?.checked_add(censored)?;
        let sparse = SparseTrend { zeros, others, censored, min, max, positive, negative };
        (counted == others && sparse.has_its_extremes()).then_some(sparse)
    }
}

impl SparseTrend {
    /// Whether the extremes lie in the outermost buckets.
    fn has_its_extremes(&self) -> bool {
        let number = |(key, _): &(u32, Bucket)| *key as i32 + 1;
        let below = [self.negative.last(), self.negative.first()].map(|end| end.map(|end| -number(end)));
        let above = [self.positive.first(), self.positive.last()].map(|end| end.map(number));
        match (below[0].or(above[0]), above[1].or(below[1])) {
            (Some(first), Some(last)) => {
                [self.min, self.max].map(bucket::number) == [first, last] && self.min <= self.max
            }
            _ => (self.min, self.max) == (f64::INFINITY, f64::NEG_INFINITY),
        }
    }
}

impl Trend {
    /// Adds everything that a sparse one holds.
    pub(crate) fn merge_sparse(&mut self, other: &SparseTrend) {
        let count = self.count() + other.zeros + other.others;
        for (side, buckets) in [(&mut self.negative, &other.negative), (&mut self.positive, &other.positive)] {
            buckets.iter().for_each(|(key, bucket)| side.bucket(*key).merge(*bucket));
        }
        self.zeros += other.zeros;
        self.others += other.others;
        self.censored += other.censored;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        debug_assert_eq!(self.count(), count, "no value is lost or counted twice");
        debug_assert!(self.others == 0 || self.min <= self.max, "{} to {}", self.min, self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{sets, trend};
    use super::*;

    fn buckets(trend: &Trend) -> [Vec<(u32, Bucket)>; 2] {
        [trend.positive.iter().collect(), trend.negative.iter().collect()]
    }

    #[test]
    fn a_trend_comes_back_bit_for_bit() {
        for values in sets() {
            let mut before = trend(&values);
            before.add_censored(3);
            let stored = ExactTrend::from(&before);
            let after = stored.clone().into_trend().expect("its own");
            assert_eq!(ExactTrend::from(&after), stored);
            assert_eq!(buckets(&after), buckets(&before));
            assert_eq!((after.sum(), after.percentile(99.0)), (before.sum(), before.percentile(99.0)));
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let refused = |change: &dyn Fn(&mut ExactTrend)| {
            let mut stored = ExactTrend::from(&trend(&[1.0, 2.0, 0.0]));
            change(&mut stored);
            stored.into_trend().is_none()
        };
        assert!(!refused(&|_| ()));
        assert!(refused(&|stored| stored.others = 3));
        assert!(refused(&|stored| stored.zeros = u64::MAX), "more than can be counted");
        assert!(refused(&|stored| stored.max = 2.1));
        assert!(refused(&|stored| stored.min = f64::NAN));
        assert!(refused(&|stored| (stored.min, stored.max) = (stored.max, stored.min)));
        assert!(refused(&|stored| stored.positive = PackedBuckets::of([].into_iter())));
    }

    #[test]
    fn times_take_few_bytes() {
        let times: Vec<f64> = (0..500_u64).map(|n| (100_000 + n * n) as f64 / 1e6).collect();
        let trend = trend(&times);
        let stored = ExactTrend::from(&trend);
        let bytes = postcard::to_allocvec(&stored).expect("plain data").len();
        let buckets = trend.buckets().count();
        assert!(bytes <= 40 + 4 * buckets, "{bytes} bytes for {buckets} buckets");
        assert_eq!(postcard::from_bytes::<ExactTrend>(&postcard::to_allocvec(&stored).unwrap()).unwrap(), stored);
    }
}
