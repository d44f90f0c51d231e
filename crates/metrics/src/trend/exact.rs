//! A Trend bit for bit, in few bytes, for whoever goes on with it elsewhere. Documents store less (`stored.rs`).

use serde::{Deserialize, Serialize};

use super::Trend;
use super::side::{Bucket, Side};
use crate::bucket;

/// All that a Trend holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExactTrend {
    zeros: u64,
    others: u64,
    censored: u64,
    min: f64,
    max: f64,
    /// By ascending magnitude.
    positive: Vec<PackedBucket>,
    negative: Vec<PackedBucket>,
}

/// A bucket in small numbers, most of which take a byte or two: times are whole nanoseconds told in milliseconds, so
/// the sum is some millionths above what the bucket's border makes of the count, and a few rounding steps off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PackedBucket {
    /// From the key of the bucket before (`bucket::key`).
    key_step: u32,
    count: u64,
    /// The sum in millionths, from the least that it can be.
    millionths: i128,
    /// From there to the sum, in steps of the last bit of the bucket's values.
    steps: i128,
}

impl PackedBucket {
    fn new(before: u32, key: u32, bucket: Bucket) -> PackedBucket {
        let (scale, count) = (Scale::of(key), bucket.count());
        let (least, sum) = (least(key, count), bucket.significands(key));
        let millionths = scale.map_or(0, |scale| scale.millionths(sum) - scale.millionths(least)) as i128;
        let near = sum_near(scale, least, millionths).expect("the millionths of a sum");
        PackedBucket { key_step: key - before, count, millionths, steps: sum.wrapping_sub(near) as i128 }
    }

    /// `None`: no samples come to this.
    fn into_bucket(self, key: u32) -> Option<Bucket> {
        if self.count >= Bucket::MOST {
            return None;
        }
        let least = least(key, self.count);
        let near = sum_near(Scale::of(key), least, self.millionths)?;
        let rest = near.checked_add_signed(self.steps)?.checked_sub(least)?;
        Bucket::new(self.count, rest).filter(|bucket| !bucket.is_empty())
    }
}

/// The sum of so many values at the border of a bucket, in steps of their last bit.
fn least(key: u32, count: u64) -> u128 {
    u128::from(count) * u128::from(bucket::significand(key))
}

/// The sum that is about so many millionths above the least one.
fn sum_near(scale: Option<Scale>, least: u128, millionths: i128) -> Option<u128> {
    match scale {
        None => Some(least),
        Some(scale) => scale.steps(scale.millionths(least).checked_add_signed(millionths)?),
    }
}

/// How millionths and steps of the last bit go together: a step is 2^-n.
#[derive(Clone, Copy)]
struct Scale(u32);

impl Scale {
    const MILLION: u128 = 1_000_000;
    /// Bits behind the point of a millionth's last bit, and some: where steps are finer, nothing is told in millionths.
    const FINEST: u32 = 74;

    /// `None` for numbers far below a millionth, and for those that have no fractions.
    fn of(key: u32) -> Option<Scale> {
        /// The shift of numbers whose step is 1.
        const WHOLE: u32 = 1074;
        WHOLE.checked_sub(bucket::shift(key)).filter(|behind| (1..=Scale::FINEST).contains(behind)).map(Scale)
    }

    /// Of a sum of steps of one bucket.
    fn millionths(self, steps: u128) -> u128 {
        (steps * Scale::MILLION + (1 << (self.0 - 1))) >> self.0
    }

    fn steps(self, millionths: u128) -> Option<u128> {
        (millionths.leading_zeros() > self.0).then(|| ((millionths << self.0) + Scale::MILLION / 2) / Scale::MILLION)
    }
}

impl From<&Trend> for ExactTrend {
    fn from(trend: &Trend) -> ExactTrend {
        let of = |side: &Side| {
            let mut before = 0;
            let packed =
                side.iter().map(|(key, inner)| PackedBucket::new(std::mem::replace(&mut before, key), key, inner));
            packed.collect()
        };
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
    /// The Trend; `None` when its counts do not add up.
    pub(crate) fn into_trend(self) -> Option<Trend> {
        let mut trend = Trend {
            zeros: self.zeros,
            others: self.others,
            censored: self.censored,
            min: self.min,
            max: self.max,
            ..Trend::default()
        };
        let mut counted = 0_u64;
        for (side, stored) in [(&mut trend.negative, self.negative), (&mut trend.positive, self.positive)] {
            let (mut key, mut is_first) = (0_u32, true);
            for packed in stored {
                let is_behind = packed.key_step > 0 || std::mem::take(&mut is_first);
                key = key
                    .checked_add(packed.key_step)
                    .filter(|key| is_behind && *key <= bucket::key(f64::MAX.to_bits()))?;
                counted = counted.checked_add(packed.count)?;
                *side.bucket(key) = packed.into_bucket(key)?;
            }
        }
        // Whoever reckons with them adds them up.
        let total = self.zeros.checked_add(self.others)?.checked_add(self.censored);
        (counted == self.others && total.is_some() && trend.has_its_extremes()).then_some(trend)
    }
}

impl Trend {
    /// Whether the extremes lie in the outermost buckets.
    fn has_its_extremes(&self) -> bool {
        let mut numbers = self.numbers().map(|(number, _)| number).filter(|number| *number != 0);
        match (numbers.next(), numbers.last()) {
            (None, _) => (self.min, self.max) == (f64::INFINITY, f64::NEG_INFINITY),
            (Some(first), last) => {
                [self.min, self.max].map(bucket::number) == [first, last.unwrap_or(first)] && self.min <= self.max
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{sets, trend};
    use super::*;

    #[test]
    fn a_trend_comes_back_bit_for_bit() {
        for values in sets() {
            let mut before = trend(&values);
            before.add_censored(3);
            let stored = ExactTrend::from(&before);
            let after = stored.clone().into_trend().expect("its own");
            assert_eq!(ExactTrend::from(&after), stored);
            assert_eq!((after.sum(), after.percentile(99.0)), (before.sum(), before.percentile(99.0)));
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let mut stored = ExactTrend::from(&trend(&[1.0, 2.0]));
        stored.others = 3;
        assert!(stored.clone().into_trend().is_none());
        stored.others = 2;
        let refused = |change: &dyn Fn(&mut ExactTrend)| {
            let mut stored = stored.clone();
            change(&mut stored);
            stored.into_trend().is_none()
        };
        assert!(!refused(&|_| ()));
        assert!(refused(&|stored| stored.positive[0].key_step = u32::MAX));
        assert!(refused(&|stored| stored.positive[1].key_step = 0), "twice the same");
        assert!(refused(&|stored| stored.positive[1].count = 0));
        assert!(refused(&|stored| stored.positive[1].steps = -1), "less than its bucket has");
        assert!(refused(&|stored| stored.positive[1].millionths = i128::MAX));
        assert!(refused(&|stored| stored.positive[1].steps = i128::MIN));
        assert!(refused(&|stored| stored.zeros = u64::MAX), "more than can be counted");
        assert!(refused(&|stored| stored.max = 2.1));
        assert!(refused(&|stored| stored.min = f64::NAN));
    }

    #[test]
    fn times_take_few_bytes() {
        let times: Vec<f64> = (0..500_u64).map(|n| (100_000 + n * n) as f64 / 1e6).collect();
        let stored = ExactTrend::from(&trend(&times));
        let bytes = postcard::to_allocvec(&stored).expect("plain data").len();
        let buckets = stored.positive.len();
        assert!(bytes <= 40 + 7 * buckets, "{bytes} bytes for {buckets} buckets");
        assert_eq!(postcard::from_bytes::<ExactTrend>(&postcard::to_allocvec(&stored).unwrap()).unwrap(), stored);
    }

    #[test]
    fn a_nanosecond_more_is_a_byte_and_no_rounding_is_left() {
        for ns in [1_u64, 999, 123_456, 7_654_321, 3_600_000_000_001] {
            let value = ns as f64 / 1e6;
            let mut bucket = Bucket::default();
            (0..3).for_each(|_| bucket.add(bucket::rest(value.to_bits())));
            let packed = PackedBucket::new(0, bucket::key(value.to_bits()), bucket);
            assert!(packed.steps.abs() <= 2, "{ns} ns: {packed:?}");
        }
    }

    #[test]
    fn every_sum_comes_back() {
        for value in [1e-310, 1e-12, 0.1, 1.0 / 3.0, 1e300, f64::MAX, 123.456_789, 5e15, 1e16, 7e21] {
            let (key, most) = (bucket::key(value.to_bits()), u128::from(bucket::rest(u64::MAX)));
            for count in [1, 7, 1_000_003, Bucket::MOST - 1] {
                for rest in [0, 1, u128::from(count) * most / 3, u128::from(count) * most] {
                    let bucket = Bucket::new(count, rest).expect("possible");
                    let packed = PackedBucket::new(0, key, bucket);
                    assert_eq!(packed.clone().into_bucket(key), Some(bucket), "{value} {count} {rest} {packed:?}");
                }
            }
        }
    }
}
