//! The numbers of a histogram's buckets: where on the number line a bucket lies.
//!
//! A bucket is the sign, the exponent and the top ten bits of the mantissa of a value, so neighbouring borders differ
//! by at most 1/1024. Bucket 0 holds zeros alone; positive values have the numbers from 1 up, negative values those
//! from -1 down, so numbers ascend with the values. Result documents of schema 2 store these numbers: their meaning
//! cannot change.

use crate::exact_sum::units;

/// Mantissa bits that choose the bucket.
const MANTISSA_BITS: u32 = 10;
/// What is left of a magnitude's bits when its bucket is known.
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - MANTISSA_BITS;

/// The bucket of a magnitude among those of its sign, from 0; of its bits.
#[inline]
pub(crate) fn key(bits: u64) -> u32 {
    (bits >> SHIFT) as u32
}

/// What the bucket does not tell of a magnitude: how many `f64` are between its border and the magnitude.
#[inline]
pub(crate) fn rest(bits: u64) -> u64 {
    bits & ((1 << SHIFT) - 1)
}

/// The significand of the border, without the part that `rest` is.
pub(crate) fn significand(key: u32) -> u64 {
    units(border(key)).0
}

/// By how much a significand in this bucket is shifted (`exact_sum::units`).
pub(crate) fn shift(key: u32) -> u32 {
    units(border(key)).1
}

/// The smallest magnitude in the bucket with this key.
pub(crate) fn border(key: u32) -> f64 {
    f64::from_bits(u64::from(key) << SHIFT)
}

/// The number of the bucket that a finite value is in.
pub fn number(value: f64) -> i32 {
    match value {
        0.0 => 0,
        value if value > 0.0 => key(value.to_bits()) as i32 + 1,
        value => -(key((-value).to_bits()) as i32 + 1),
    }
}

/// The lowest and the highest value in the bucket with this number.
pub(crate) fn bounds(number: i32) -> (f64, f64) {
    let Some(key) = number.unsigned_abs().checked_sub(1) else { return (0.0, 0.0) };
    // Key 0 begins with the smallest number above zero, because zeros have a bucket of their own.
    let (near, far) = (border(key).max(f64::from_bits(1)), border(key + 1).next_down());
    if number > 0 { (near, far) } else { (-far, -near) }
}

/// How finely a place in a bucket is told: a value it stands for is off by one part in a billion at most.
const PLACES: f64 = 524_288.0;

/// Where in its bucket a finite value lies, in steps from the lowest value of the bucket to its highest.
pub fn place(value: f64) -> u32 {
    let (low, high) = bounds(number(value));
    // Zeros have no room in their bucket.
    if high > low { ((value - low) / (high - low) * PLACES).round().min(PLACES - 1.0) as u32 } else { 0 }
}

/// The value at a place of a bucket: the whole number there if there is one, else the millionth, else the middle.
/// Values are counts or times, which are nanoseconds told in milliseconds, so that most come back as they were.
pub(crate) fn value_at(number: i32, place: u32) -> f64 {
    let (low, high) = bounds(number);
    let step = (high - low) / PLACES;
    let value = low + step * f64::from(place);
    // The last place is also that of the highest value. A millionth is for rounding errors.
    let reach = step * if f64::from(place) == PLACES - 1.0 { 1.000_001 } else { 0.5 };
    let rounded = [1.0, 1e6].map(|parts| (value * parts).round() / parts);
    rounded.into_iter().find(|rounded| (rounded - value).abs() <= reach).unwrap_or(value).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_that_documents_hold() {
        let cases = [
            (0.0, 0),
            (-0.0, 0),
            (1.0, 1_047_553),
            (1.0009, 1_047_553),
            (1.001, 1_047_554),
            (2.0, 1_048_577),
            (0.5, 1_046_529),
            (-1.0, -1_047_553),
            (-1.001, -1_047_554),
            (f64::from_bits(1), 1),
            (f64::MAX, 2_096_128),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value), expected, "{value}");
        }
    }

    #[test]
    fn places_are_steps_from_the_lowest_value_of_a_bucket() {
        assert_eq!([place(0.0), place(1.0), place(5.0)], [0, 0, 0]);
        assert_eq!(place(1.0 + 0.5 / 1024.0), 262_144);
        assert_eq!(place(-1.0), 524_287, "the highest value of a negative bucket");
        for value in [1.0005, 416.51, -0.3, 1e-300, f64::MAX, 0.0, 7.0] {
            let again = value_at(number(value), place(value));
            assert!((again - value).abs() <= value.abs() * 2e-9, "{again} != {value}");
            assert_eq!((number(again), place(again)), (number(value), place(value)));
        }
    }

    #[test]
    fn whole_numbers_and_whole_nanoseconds_come_back_as_they_were() {
        let again = |value: f64| value_at(number(value), place(value));
        for count in [7.0, 102_400.0, 5_000_001.0, 123_456_789.0, -140.0] {
            assert_eq!(again(count), count);
        }
        for ns in (1..400_000).step_by(7) {
            let ms = std::time::Duration::from_nanos(ns).as_secs_f64() * 1e3;
            assert!((again(ms) - ms).abs() <= 2.0 * f64::EPSILON * ms, "{ns} ns: {} != {ms}", again(ms));
        }
    }

    #[test]
    fn bounds_enclose_one_bucket() {
        for value in [1.0, 1.5, 0.007, 1e300, f64::MAX, -3.0, -0.2, f64::from_bits(1), 0.0] {
            let at = number(value);
            let (low, high) = bounds(at);
            assert!((low..=high).contains(&value), "{low} {value} {high}");
            assert_eq!((number(low), number(high)), (at, at));
            let after = if at == -1 { -0.0 } else { high.next_up() };
            assert!(value == f64::MAX || number(after) == at + 1, "{value}");
        }
    }
}
