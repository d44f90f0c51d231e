//! A Trend bit for bit, in few bytes, for whoever goes on with it elsewhere. Documents store less (`stored.rs`).

use serde::{Deserialize, Serialize};

use super::{Side, Trend};
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
    millionths: i64,
    /// From there to the sum, in steps of the last bit.
    bits: i64,
}

impl PackedBucket {
    fn new(before: u32, key: u32, count: u64, sum: f64) -> PackedBucket {
        let base = base(key, count);
        let near = (sum * 1e6).round();
        let millionths = if near.abs() < WHOLE { (near as i64).wrapping_sub(base) } else { 0 };
        let bits = sum.to_bits().wrapping_sub(value(base, millionths).to_bits());
        PackedBucket { key_step: key - before, count, millionths, bits: bits as i64 }
    }

    fn sum(&self, key: u32) -> f64 {
        let near = value(base(key, self.count), self.millionths);
        f64::from_bits(near.to_bits().wrapping_add(self.bits as u64))
    }
}

/// Up to here every whole number is an `f64`.
const WHOLE: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

/// The least sum of so many values in a bucket, in millionths; 0 where that is no number to reckon with.
fn base(key: u32, count: u64) -> i64 {
    let least = (bucket::border(key) * count as f64 * 1e6).floor();
    if least < WHOLE { least as i64 } else { 0 }
}

fn value(base: i64, millionths: i64) -> f64 {
    base.wrapping_add(millionths) as f64 / 1e6
}

impl From<&Trend> for ExactTrend {
    fn from(trend: &Trend) -> ExactTrend {
        let of = |side: &Side| {
            let mut before = 0;
            let packed = side.iter().map(|(border, inner)| {
                let key = bucket::key(border);
                PackedBucket::new(std::mem::replace(&mut before, key), key, inner.count, inner.sum)
            });
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
            let mut key = 0_u32;
            for packed in stored {
                key = key.checked_add(packed.key_step).filter(|key| *key <= bucket::key(f64::MAX))?;
                let sum = packed.sum(key);
                if !sum.is_finite() {
                    return None;
                }
                let inner = side.bucket(bucket::border(key));
                inner.count += packed.count;
                inner.sum += sum;
                counted = counted.checked_add(packed.count)?;
            }
        }
        (counted == self.others).then_some(trend)
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
        stored.positive[0].key_step = u32::MAX;
        assert!(stored.into_trend().is_none());
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
    fn every_sum_comes_back() {
        for sum in [0.0, 1e-310, 0.1, 1.0 / 3.0, 1e300, f64::MAX, 123.456_789, 5e15] {
            for (key, count) in [(bucket::key(sum), 1), (bucket::key(0.1), 7), (bucket::key(f64::MAX), u64::MAX)] {
                let packed = PackedBucket::new(0, key, count, sum);
                assert_eq!(packed.sum(key).to_bits(), sum.to_bits(), "{sum} {key} {count}");
            }
        }
    }
}
