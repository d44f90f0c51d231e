//! Buckets in small numbers, most of which take a byte or two.
//!
//! Times are whole nanoseconds told in milliseconds: the sum of a bucket is some millionths above what its border makes
//! of the count, and a few rounding steps off. A bucket with one value, as most have in a second, has none.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::side::Bucket;
use crate::bucket;
use crate::exact_sum::units;
use crate::varint::{read, unzigzag, write, zigzag};

/// The buckets of one sign by ascending magnitude, each as: its key, from that of the bucket before, and two bits that
/// tell which of the next are there; how many values above one; the sum in millionths, from the least that it can be;
/// from there to the sum, in steps of the last bit of the bucket's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackedBuckets(Vec<u8>);

/// In the lowest bits of what tells the key.
const HAS_MANY: u128 = 1;
const HAS_STEPS: u128 = 2;
const FLAGS: u32 = 2;

impl PackedBuckets {
    /// Of buckets with their keys, by ascending magnitude.
    pub(super) fn of(buckets: impl Iterator<Item = (u32, Bucket)>) -> PackedBuckets {
        let (mut bytes, mut before) = (Vec::new(), 0);
        for (key, bucket) in buckets {
            debug_assert!(bytes.is_empty() || key > before, "buckets come by magnitude: {before}, then {key}");
            let (count, sum) = (bucket.count(), bucket.significands(key));
            debug_assert!(count > 0, "a bucket without samples is left out");
            let base = base(key, count);
            let millionths = (as_f64(sum) * step(key) * 1e6).round();
            let millionths = if millionths < MOST { millionths as i64 - base } else { 0 };
            let near = near(key, base + millionths).expect("no more than the sum");
            let steps = sum.wrapping_sub(near) as i128;
            let flags = if count > 1 { HAS_MANY } else { 0 } | if steps != 0 { HAS_STEPS } else { 0 };
            write(&mut bytes, u128::from(key - std::mem::replace(&mut before, key)) << FLAGS | flags);
            if count > 1 {
                write(&mut bytes, u128::from(count - 2));
            }
            write(&mut bytes, zigzag(millionths.into()));
            if steps != 0 {
                write(&mut bytes, zigzag(steps));
            }
        }
        PackedBuckets(bytes)
    }

    /// The buckets with their keys; `None`: they are none, or not in order.
    pub(super) fn unpacked(&self) -> Option<Vec<(u32, Bucket)>> {
        // Three bytes a bucket at least, most of the time four or five.
        let mut buckets: Vec<(u32, Bucket)> = Vec::with_capacity(self.0.len() / 4);
        let (mut bytes, mut key) = (self.0.as_slice(), 0_u32);
        while !bytes.is_empty() {
            let head = read(&mut bytes)?;
            let step = u32::try_from(head >> FLAGS).ok()?;
            key = key.checked_add(step).filter(|key| *key <= bucket::key(f64::MAX.to_bits()))?;
            if step == 0 && !buckets.is_empty() {
                return None;
            }
            let count = if head & HAS_MANY == 0 { 1 } else { u64::try_from(read(&mut bytes)?).ok()?.checked_add(2)? };
            if count >= Bucket::MOST {
                return None;
            }
            let millionths = i64::try_from(unzigzag(read(&mut bytes)?)).ok()?;
            let steps = if head & HAS_STEPS == 0 { 0 } else { unzigzag(read(&mut bytes)?) };
            let sum = near(key, base(key, count).checked_add(millionths)?)?.checked_add_signed(steps)?;
            buckets.push((key, Bucket::new(count, sum.checked_sub(least(key, count))?)?));
        }
        Some(buckets)
    }
}

/// Up to here every whole number is an `f64`, with room for the sum of two.
const MOST: f64 = (1_u64 << 51) as f64;

/// The sum of so many values at the border of a bucket, in steps of their last bit.
fn least(key: u32, count: u64) -> u128 {
    u128::from(count) * u128::from(bucket::significand(key))
}

/// The same in millionths; 0 where that is no number to reckon with.
fn base(key: u32, count: u64) -> i64 {
    let least = (bucket::border(key) * 1e6 * count as f64).floor();
    if least < MOST { least as i64 } else { 0 }
}

/// What the last bit of a bucket's values is worth, or what can be told of it.
fn step(key: u32) -> f64 {
    let (_, unit) = units(1.0);
    2_f64.powi(bucket::shift(key) as i32 - unit as i32 - (f64::MANTISSA_DIGITS as i32 - 1))
}

/// So many millionths in steps of the last bit of a bucket's values; `None`: more than a bucket can hold.
fn near(key: u32, millionths: i64) -> Option<u128> {
    let (significand, shift) = units(u64::try_from(millionths).ok()? as f64 / 1e6);
    let by = shift as i32 - bucket::shift(key) as i32;
    match by {
        0..64 => Some(u128::from(significand) << by),
        -63..0 => Some(u128::from(significand >> -by)),
        // Far below the values, whose steps then tell all.
        ..-63 => Some(0),
        _ => None,
    }
}

/// The conversion of few bits is an instruction, that of many a call.
fn as_f64(number: u128) -> f64 {
    u64::try_from(number).map_or_else(|_| number as f64, |few| few as f64)
}

impl Serialize for PackedBuckets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for PackedBuckets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Takes bytes as they are, not one by one.
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = PackedBuckets;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("packed buckets")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<PackedBuckets, E> {
                Ok(PackedBuckets(bytes.to_vec()))
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(key: u32, bucket: Bucket) -> PackedBuckets {
        PackedBuckets::of([(key, bucket)].into_iter())
    }

    #[test]
    fn a_time_is_told_in_a_byte_or_two_beside_its_key() {
        for ns in [1_u64, 999, 123_456, 7_654_321, 3_600_000_000_001] {
            let value = ns as f64 / 1e6;
            let (key, rest) = (bucket::key(value.to_bits()), bucket::rest(value.to_bits()));
            let bytes = packed(key, Bucket::new(1, rest.into()).expect("one value")).0;
            let room = bytes.len() - 4;
            assert!(room <= 1 + (64 - (ns >> 10).leading_zeros() as usize) / 6, "{ns} ns: {bytes:?}");
        }
    }

    #[test]
    fn every_sum_comes_back() {
        let values = [1e-310, 1e-12, 0.1, 1.0 / 3.0, 1e300, f64::MAX, 123.456_789, 5e15, 1e16, 7e21, f64::from_bits(9)];
        for value in values {
            let (key, most) = (bucket::key(value.to_bits()), u128::from(bucket::rest(u64::MAX)));
            for count in [1, 2, 7, 1_000_003, Bucket::MOST - 1] {
                for rest in [0, 1, u128::from(count) * most / 3, u128::from(count) * most] {
                    let bucket = Bucket::new(count, rest).expect("possible");
                    let packed = packed(key, bucket);
                    assert_eq!(packed.unpacked(), Some(vec![(key, bucket)]), "{value} {count} {rest} {packed:?}");
                }
            }
        }
    }

    #[test]
    fn what_no_buckets_have_is_refused() {
        let bytes = |numbers: &[u128]| {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| write(&mut bytes, *number));
            bytes
        };
        let one = u128::from(bucket::key(1_f64.to_bits())) << FLAGS;
        let refused = |numbers: &[u128]| PackedBuckets(bytes(numbers)).unpacked().is_none();
        assert!(!refused(&[one, 0]));
        assert!(refused(&[one]), "cut");
        assert!(refused(&[one, 0, 0, 0]), "twice the same");
        assert!(refused(&[one << 9, 0]), "beyond all keys");
        assert!(refused(&[one | HAS_MANY, u128::from(u64::MAX), 0]));
        assert!(refused(&[one | HAS_MANY, u128::from(Bucket::MOST), 0]));
        assert!(refused(&[one, zigzag(-1)]), "less than the border");
        assert!(refused(&[one | HAS_STEPS, 0, zigzag(-1)]), "likewise");
        assert!(refused(&[one, zigzag(2_000)]), "in the next bucket");
        assert!(refused(&[one | HAS_STEPS, 0, u128::MAX]));
        assert!(refused(&[one, u128::MAX]));
        let mut cut = bytes(&[one, 5_000]);
        cut.pop();
        assert!(PackedBuckets(cut).unpacked().is_none());
    }
}
