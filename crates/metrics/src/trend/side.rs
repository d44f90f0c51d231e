//! The buckets of a Trend for one sign, and what is in one.
//!
//! All values of a bucket have the same exponent and begin with the same bits of their significand. What is left of
//! them, 42 bits, is a whole number, and whole numbers have one sum, in whatever order they are added.

use crate::bucket;

/// Buckets in a page, as a power of two.
const PAGE_BITS: u32 = 6;
pub(super) const PAGE: usize = 1 << PAGE_BITS;

/// Samples that fell into one bucket: how many, and what their bucket does not tell of them, added up.
///
/// One number, so that a sample costs one addition: the sum in the lower 85 bits, the count above. There is room for
/// 2^43 samples, a million a second for a hundred days; then it stays at what it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bucket(u128);

/// Where the count begins.
const COUNT_SHIFT: u32 = 85;

impl Bucket {
    /// Fewer samples than this.
    pub(super) const MOST: u64 = 1 << (u128::BITS - COUNT_SHIFT);

    /// So many samples with this sum of `bucket::rest`; `None` when no samples have it.
    pub(super) fn new(count: u64, rest: u128) -> Option<Bucket> {
        let is_possible = count < Bucket::MOST && rest <= u128::from(count) * u128::from(bucket::rest(u64::MAX));
        is_possible.then(|| Bucket(u128::from(count) << COUNT_SHIFT | rest))
    }

    /// Adds a sample.
    #[inline]
    pub(super) fn add(&mut self, rest: u64) {
        debug_assert!(rest <= bucket::rest(u64::MAX), "the rest is what its bucket does not tell: {rest}");
        self.0 = self.0.wrapping_add(1 << COUNT_SHIFT | u128::from(rest));
    }

    /// Adds what another one of the same key holds.
    #[inline]
    pub(super) fn merge(&mut self, other: Bucket) {
        // Saturated sums do not depend on their order either.
        self.0 = self.0.saturating_add(other.0);
    }

    /// Whether there is nothing in it.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many samples.
    pub(super) fn count(self) -> u64 {
        (self.0 >> COUNT_SHIFT) as u64
    }

    /// Sum of `bucket::rest` of its samples.
    pub(super) fn rest(self) -> u128 {
        self.0 & ((1 << COUNT_SHIFT) - 1)
    }

    /// Sum of the magnitudes, in units of the last bit of any of them.
    pub(super) fn significands(self, key: u32) -> u128 {
        u128::from(self.count()) * u128::from(bucket::significand(key)) + self.rest()
    }

    /// The mean of the magnitudes, of a bucket that is not empty: rounded to the next `f64`, exact where all are one.
    pub(super) fn mean(self, key: u32) -> f64 {
        let rest = match u64::try_from(self.rest()) {
            Ok(few) => few as f64,
            Err(_) => self.rest() as f64,
        };
        debug_assert!(self.count() > 0, "an empty bucket has no mean");
        // A bucket's numbers are neighbours: the steps between two of them are all the same.
        let steps = (rest / self.count() as f64 + 0.5) as u64;
        f64::from_bits(bucket::border(key).to_bits() + steps)
    }
}

/// The buckets of one sign, by magnitude.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    /// Number of the page that `directory[0]` stands for.
    first_page: u32,
    /// For each page from `first_page`: where among the buckets it begins, or `ABSENT`.
    directory: Vec<u32>,
    /// The pages one after the other.
    buckets: Vec<Bucket>,
}

/// Where no page is: more buckets than there can be.
const ABSENT: u32 = u32::MAX;

impl Side {
    /// Adds a sample, by the bits of its magnitude.
    #[inline]
    pub(super) fn add(&mut self, bits: u64) {
        match self.find(bucket::key(bits)) {
            Some(bucket) => bucket.add(bucket::rest(bits)),
            None => self.add_to_new_page(bits),
        }
    }

    /// The bucket with this key, made where it does not exist.
    pub(super) fn bucket(&mut self, key: u32) -> &mut Bucket {
        if self.find(key).is_none() {
            self.make_page(key >> PAGE_BITS);
        }
        self.find(key).expect("its page is there now")
    }

    #[inline]
    fn find(&mut self, key: u32) -> Option<&mut Bucket> {
        let slot = (key >> PAGE_BITS).wrapping_sub(self.first_page) as usize;
        let page = *self.directory.get(slot)? as usize;
        self.buckets.get_mut(page + (key as usize & (PAGE - 1)))
    }

    // Takes the whole sample, so that the usual way has nothing to come back to: that saves ten instructions.
    #[cold]
    #[inline(never)]
    fn add_to_new_page(&mut self, bits: u64) {
        self.bucket(bucket::key(bits)).add(bucket::rest(bits));
    }

    fn make_page(&mut self, number: u32) {
        if self.directory.is_empty() {
            self.first_page = number;
        }
        if number < self.first_page {
            let missing = (self.first_page - number) as usize;
            self.directory.splice(0..0, std::iter::repeat_n(ABSENT, missing));
            self.first_page = number;
        }
        let slot = (number - self.first_page) as usize;
        if slot >= self.directory.len() {
            self.directory.resize(slot + 1, ABSENT);
        }
        debug_assert_eq!(self.directory[slot], ABSENT, "a page is made once");
        debug_assert_eq!(self.buckets.len() % PAGE, 0, "pages are whole");
        self.directory[slot] = self.buckets.len() as u32;
        self.buckets.extend_from_slice(&[Bucket(0); PAGE]);
    }

    /// Buckets with samples, from the smallest magnitude up, each with its key.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, Bucket)> {
        self.directory.iter().enumerate().filter(|(_, page)| **page != ABSENT).flat_map(move |(slot, page)| {
            let first_key = (self.first_page + slot as u32) << PAGE_BITS;
            let start = *page as usize;
            self.buckets[start..start + PAGE]
                .iter()
                .enumerate()
                .filter(|(_, bucket)| !bucket.is_empty())
                .map(move |(at, bucket)| (first_key + at as u32, *bucket))
        })
    }

    /// Adds everything that `other` holds.
    pub(super) fn merge(&mut self, other: &Side) {
        other.iter().for_each(|(key, bucket)| self.bucket(key).merge(bucket));
    }

    /// An empty one that grows to the same spread without moving its buckets or their directory.
    pub(super) fn emptied(&self) -> Side {
        let directory = vec![ABSENT; self.directory.len()];
        Side { first_page: self.first_page, directory, buckets: Vec::with_capacity(self.buckets.len()) }
    }

    /// Buckets that memory is allocated for, used or not.
    #[cfg(test)]
    pub(super) fn allocated_buckets(&self) -> usize {
        self.buckets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(values: &[f64]) -> (u32, Bucket) {
        let key = bucket::key(values[0].to_bits());
        let mut all = Bucket::default();
        for value in values {
            assert_eq!(bucket::key(value.to_bits()), key);
            all.add(bucket::rest(value.to_bits()));
        }
        (key, all)
    }

    #[test]
    fn the_mean_of_one_number_is_that_number() {
        for value in [1.0, 0.1, 1.0 / 3.0, f64::MAX, f64::from_bits(1), f64::MIN_POSITIVE.next_down(), 1e-300, 7e222] {
            for times in [1, 3, 7, 1000] {
                let (key, all) = bucket(&vec![value; times]);
                assert_eq!((all.mean(key), all.count()), (value, times as u64));
            }
        }
        let (key, two) = bucket(&[1.0, 1.0_f64.next_up().next_up()]);
        assert_eq!(two.mean(key), 1.0_f64.next_up());
    }

    #[test]
    fn the_sum_is_a_whole_number_of_last_bits() {
        let (key, all) = bucket(&[1.0, 1.0_f64.next_up(), 1.000_5]);
        let expected = (2_u128 << 52) + 1 + (1.000_5_f64 * 2_f64.powi(52)) as u128;
        assert_eq!(all.significands(key), expected);
    }

    #[test]
    fn only_what_samples_can_have_is_made() {
        let most = u128::from(bucket::rest(u64::MAX));
        assert_eq!(Bucket::new(3, 3 * most).map(|bucket| (bucket.count(), bucket.rest())), Some((3, 3 * most)));
        assert_eq!([Bucket::new(3, 3 * most + 1), Bucket::new(0, 1), Bucket::new(Bucket::MOST, 0)], [None; 3]);
        let count = Bucket::MOST - 1;
        let (mut full, more) = (Bucket::new(count, most).expect("fits"), Bucket::new(count, 5).expect("fits"));
        full.merge(more);
        assert_eq!(full.count(), count, "it stays where it is");
    }
}
