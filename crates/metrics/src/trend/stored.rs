//! A Trend as documents store it: which buckets have values and how many, beside exact sum, minimum and maximum.
//!
//! Where in its bucket a value lies is stored for the buckets in which common percentiles lie: these stay as they were
//! (`bucket::value_at`), so a report prints the number that the summary printed. Elsewhere it is lost, and percentiles
//! have an error of at most 0.1 %.

use std::collections::HashMap;

use super::side::Bucket;
use super::{Trend, bucket};

/// How far a sum may be from what its buckets allow: documents of schema 1 round means to six digits, and borders with
/// them.
const SUM_ERROR: f64 = 1e-5;

/// Percentiles that summaries, reports and tables show.
const COMMON: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 90.0, 95.0, 99.0, 99.9, 99.99];

impl Trend {
    /// The buckets from the lowest value to the highest: the number of each (`bucket::number`), and how many values it
    /// has. With `min`, `max` and `sum` this is what documents store; `from_numbers` makes a Trend of it again.
    pub fn numbers(&self) -> impl Iterator<Item = (i32, u64)> {
        self.ascending().map(|filled| {
            // A zero's sign is 0, and so is its number.
            ((filled.key as i32 + 1) * filled.sign as i32, filled.count)
        })
    }

    /// For the buckets in which common percentiles lie, by ascending number: where the mean of their values lies
    /// (`bucket::place`).
    pub fn places(&self) -> Vec<(i32, u32)> {
        let last = self.count().saturating_sub(1);
        let ranks = COMMON.iter().flat_map(|percent| {
            let below = (percent / 100.0 * last as f64).floor() as u64;
            [below, below + 1]
        });
        let ranks: Vec<u64> = ranks.collect();
        let (mut places, mut seen) = (Vec::new(), 0);
        for ((number, count), (mean, _)) in self.numbers().zip(self.buckets()) {
            let of_bucket = seen..seen + count;
            seen += count;
            if number != 0 && ranks.iter().any(|rank| of_bucket.contains(rank)) {
                places.push((number, bucket::place(mean)));
            }
        }
        debug_assert_eq!(seen, self.count(), "each sample is in a bucket");
        debug_assert!(places.is_sorted_by(|before, after| before.0 < after.0), "buckets come from the lowest up");
        places
    }

    /// A Trend with these `numbers`, extremes, sum and `places`. Of the values in buckets without a place, the lowest
    /// is `min`, the highest `max`, and all others lie at the same share of their bucket, the one that makes the sum
    /// right.
    ///
    /// None when the numbers cannot be those of a Trend: numbers that do not ascend, a bucket outside of `min` to `max`
    /// or without values, more values than can be counted (2^43 in one bucket), a sum that these buckets cannot have.
    pub fn from_numbers(min: f64, max: f64, sum: f64, numbers: &[(i32, u64)], places: &[(i32, u32)]) -> Option<Self> {
        if !is_possible(min, max, numbers) {
            return None;
        }
        let means: HashMap<i32, f64> = places.iter().map(|&(at, place)| (at, bucket::value_at(at, place))).collect();
        let inner = |&(number, count): &(i32, u64)| match means.get(&number) {
            Some(mean) => KnownValues { number, known: vec![(*mean, count)], others: 0 },
            None => KnownValues::new(number, count, min, max),
        };
        let buckets: Vec<KnownValues> = numbers.iter().map(inner).collect();
        let share = share_of_bucket(sum, &buckets)?;
        let mut trend = Trend::default();
        buckets.iter().try_for_each(|bucket| trend.restore(bucket, share))?;
        if trend.others > 0 {
            // Where zeros are the lowest or the highest, the extremes of the others are unknown: 0 then serves as well.
            (trend.min, trend.max) = (min, max);
        }
        Some(trend)
    }

    fn restore(&mut self, inner: &KnownValues, share: f64) -> Option<()> {
        if inner.number == 0 {
            self.zeros += inner.count();
            return Some(());
        }
        self.others += inner.count();
        let (low, high) = bucket::bounds(inner.number);
        let other = (low + (high - low) * share).clamp(low, high);
        let others = [(other, inner.others)];
        let rest = |(value, times): &(f64, u64)| u128::from(bucket::rest(value.abs().to_bits())) * u128::from(*times);
        let rests = inner.known.iter().chain(&others).map(rest);
        let side = if inner.number > 0 { &mut self.positive } else { &mut self.negative };
        *side.bucket(bucket::key(low.abs().to_bits())) = Bucket::new(inner.count(), rests.sum())?;
        Some(())
    }
}

/// Whether a Trend can have these buckets.
fn is_possible(min: f64, max: f64, numbers: &[(i32, u64)]) -> bool {
    let range = bucket::number(min)..=bucket::number(max);
    let fits = |(number, count): &(i32, u64)| *count > 0 && range.contains(number);
    let total = numbers.iter().try_fold(0_u64, |total, (_, count)| total.checked_add(*count));
    numbers.is_sorted_by(|before, after| before.0 < after.0) && numbers.iter().all(fits) && total.is_some()
}

/// What is known of the values of one bucket.
struct KnownValues {
    number: i32,
    /// Those that are known, and how often each is there.
    known: Vec<(f64, u64)>,
    /// Number of the others.
    others: u64,
}

impl KnownValues {
    /// A bucket whose mean is not known: only the lowest and the highest of all values are.
    fn new(number: i32, count: u64, min: f64, max: f64) -> KnownValues {
        let extremes = [min, max].into_iter().filter(|extreme| bucket::number(*extreme) == number);
        let known: Vec<(f64, u64)> =
            extremes.take(usize::try_from(count).unwrap_or(usize::MAX)).map(|value| (value, 1)).collect();
        KnownValues { number, others: count - known.len() as u64, known }
    }

    fn count(&self) -> u64 {
        self.known.iter().map(|(_, times)| times).sum::<u64>() + self.others
    }
}

/// The share of its bucket at which each value lies that is not known; None when no share gives this sum.
fn share_of_bucket(sum: f64, buckets: &[KnownValues]) -> Option<f64> {
    let (mut lowest, mut room, mut magnitude) = (0.0, 0.0, 0.0);
    for inner in buckets {
        let (low, high) = bucket::bounds(inner.number);
        let known: f64 = inner.known.iter().map(|(value, times)| value * *times as f64).sum();
        lowest += known + inner.others as f64 * low;
        room += inner.others as f64 * (high - low);
        magnitude += inner.count() as f64 * low.abs().max(high.abs());
    }
    let beyond = (lowest - sum).max(sum - lowest - room);
    if beyond > magnitude * SUM_ERROR {
        return None;
    }
    let share = (sum - lowest) / room;
    // Not finite when there is no room, or when a sum has left the range of f64.
    Some(if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PERCENTS, exact_percentile, sets, trend};
    use super::*;

    fn restored(trend: &Trend) -> Trend {
        let numbers: Vec<_> = trend.numbers().collect();
        Trend::from_numbers(trend.min(), trend.max(), trend.sum(), &numbers, &trend.places()).expect("its own")
    }

    #[test]
    fn its_numbers_make_it_again() {
        for values in sets() {
            let trend = trend(&values);
            let numbers: Vec<_> = trend.numbers().collect();
            assert!(numbers.is_sorted_by(|a, b| a.0 < b.0), "ascending");
            let again = restored(&trend);
            assert_eq!(again.numbers().collect::<Vec<_>>(), numbers, "in the same buckets");
            assert_eq!((again.count(), again.min(), again.max()), (trend.count(), trend.min(), trend.max()));
            let magnitude: f64 = values.iter().map(|v| v.abs()).sum();
            assert!((again.sum() - trend.sum()).abs() <= magnitude * 1e-9, "{} != {}", again.sum(), trend.sum());
            let mut sorted = values;
            sorted.sort_by(f64::total_cmp);
            for percent in COMMON {
                let (found, expected) = (again.percentile(percent), trend.percentile(percent));
                let allowed = 4e-9 * trend.max().abs().max(trend.min().abs());
                assert!((found - expected).abs() <= allowed, "p({percent}): {found} != {expected}");
            }
            for percent in PERCENTS {
                let (exact, low, high) = exact_percentile(&sorted, percent);
                let found = again.percentile(percent);
                let allowed = 0.001 * low.abs().max(high.abs());
                assert!((found - exact).abs() <= allowed, "p({percent}) of {}: {found} != {exact}", sorted.len());
            }
        }
    }

    #[test]
    fn numbers_keep_whole_numbers_and_the_few_exact() {
        for values in
            [vec![5.0, 9.0, 9.0, 0.0, 7.0, 5.0, 5.0], vec![0.1, 0.7, 0.3], vec![1.23], vec![-2.5, 3.7], vec![0.0]]
        {
            let trend = trend(&values);
            let again = restored(&trend);
            for (a, b) in again.buckets().zip(trend.buckets()) {
                assert!((a.0 - b.0).abs() <= 2e-9 * b.0.abs() && a.1 == b.1, "{a:?} != {b:?} of {values:?}");
            }
        }
    }

    #[test]
    fn numbers_that_contradict_each_other_are_refused() {
        assert_eq!(Trend::from_numbers(0.0, 0.0, 0.0, &[], &[]).expect("empty").count(), 0);
        let (one, two) = (bucket::number(1.0), bucket::number(2.0));
        assert_eq!(Trend::from_numbers(1.0, 2.0, 3.0, &[(one, 1), (two, 1)], &[]).expect("fits").count(), 2);
        for (sum, numbers) in [
            (3.0, vec![(one - 1, 1), (two, 1)]),
            (3.0, vec![(one, 1), (two + 1, 1)]),
            (3.0, vec![(one, 0), (two, 1)]),
            (3.0, vec![(two, 1), (one, 1)]),
            (3.0, vec![(one, u64::MAX), (two, 1)]),
            (3.1, vec![(one, 1), (two, 1)]),
            (2.9, vec![(one, 1), (two, 1)]),
        ] {
            assert!(Trend::from_numbers(1.0, 2.0, sum, &numbers, &[]).is_none(), "{sum} {numbers:?}");
        }
    }
}
