//! A Trend bit for bit, for whoever goes on with it elsewhere. Documents store less (`stored.rs`).

use serde::{Deserialize, Serialize};

use super::{Side, Trend};
use crate::bucket;

/// All that a Trend holds. Numbers with a fraction are the bits of their `f64`, because text formats round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExactTrend {
    zeros: u64,
    others: u64,
    censored: u64,
    min: u64,
    max: u64,
    /// By ascending magnitude: the key of `bucket`, the count, the sum.
    positive: Vec<(u32, u64, u64)>,
    negative: Vec<(u32, u64, u64)>,
}

impl From<&Trend> for ExactTrend {
    fn from(trend: &Trend) -> ExactTrend {
        let of = |side: &Side| {
            side.iter().map(|(border, inner)| (bucket::key(border), inner.count, inner.sum.to_bits())).collect()
        };
        ExactTrend {
            zeros: trend.zeros,
            others: trend.others,
            censored: trend.censored,
            min: trend.min.to_bits(),
            max: trend.max.to_bits(),
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
            min: f64::from_bits(self.min),
            max: f64::from_bits(self.max),
            ..Trend::default()
        };
        let mut counted = 0_u64;
        for (side, stored) in [(&mut trend.negative, self.negative), (&mut trend.positive, self.positive)] {
            for (key, count, sum) in stored {
                if key > bucket::key(f64::MAX) {
                    return None;
                }
                let inner = side.bucket(bucket::border(key));
                inner.count += count;
                inner.sum += f64::from_bits(sum);
                counted = counted.checked_add(count)?;
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
        stored.positive[0].0 = u32::MAX;
        assert!(stored.into_trend().is_none());
    }
}
