//! A sum of any finite numbers, exact: no addition rounds, so that neither the order of the numbers nor how they were
//! dealt out among workers and machines can be seen in it.
//!
//! One fixed-point number that is wide enough for every `f64` and for 2^64 of the largest. It is rounded once, when it
//! is read. Too large for what each sample touches: see `CounterSum` and the buckets of a Trend.

use serde::{Deserialize, Serialize};

/// 64 bits each. From 2^-1074, the unit, to 2^1088, which 2^64 times the largest `f64` is below, and a sign.
const LIMBS: usize = 34;
/// Bits of the significand of an `f64` that its bits show.
const SIGNIFICAND_BITS: u32 = f64::MANTISSA_DIGITS - 1;
/// The exponent of an infinity, as its bits show it.
const INFINITE: u64 = 0x7ff;

/// The sum; 0 at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExactSum {
    /// In units of 2^-1074, two's complement, the lowest limb first.
    limbs: [u64; LIMBS],
}

impl Default for ExactSum {
    fn default() -> Self {
        ExactSum { limbs: [0; LIMBS] }
    }
}

/// A finite number as a whole number of units: `significand << shift`.
pub(crate) fn units(magnitude: f64) -> (u64, u32) {
    let (exponent, rest) =
        (magnitude.to_bits() >> SIGNIFICAND_BITS, magnitude.to_bits() & ((1 << SIGNIFICAND_BITS) - 1));
    match exponent {
        // Subnormal.
        0 => (rest, 0),
        _ => (rest | 1 << SIGNIFICAND_BITS, exponent as u32 - 1),
    }
}

impl ExactSum {
    /// Adds a finite number this many times.
    pub(crate) fn add(&mut self, value: f64, times: u64) {
        debug_assert!(value.is_finite(), "the recorder refuses {value}");
        let (significand, shift) = units(value.abs());
        self.add_units(u128::from(significand) * u128::from(times), shift, value < 0.0);
    }

    /// Adds `units << shift` units, or takes them away. `shift` is that of an `f64`.
    pub(crate) fn add_units(&mut self, units: u128, shift: u32, is_negative: bool) {
        let (at, by) = (shift as usize / 64, shift % 64);
        let (low, high) = (u128::from(units as u64) << by, (units >> 64) << by);
        let middle = (low >> 64) + u128::from(high as u64);
        let parts = [low as u64, middle as u64, ((high >> 64) + (middle >> 64)) as u64];
        let limbs = &mut self.limbs[at..];
        if is_negative {
            chain(limbs, &parts, u64::overflowing_sub)
        } else {
            chain(limbs, &parts, u64::overflowing_add)
        }
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: &ExactSum) {
        chain(&mut self.limbs, &other.limbs, u64::overflowing_add);
    }

    /// The `f64` next to it, of two the even one; infinite beyond their range.
    pub(crate) fn value(&self) -> f64 {
        self.value_shifted(0)
    }

    /// The quotient by a number of samples that is not 0: less than one step of an `f64` off, also where the sum has
    /// left their range.
    pub(crate) fn mean(&self, count: u64) -> f64 {
        debug_assert!(count > 0, "without samples there is no mean");
        /// More than a number of samples can make a sum larger than its values.
        const SHIFT: u32 = 128;
        let sum = self.value();
        if sum.is_finite() {
            return sum / count as f64;
        }
        self.value_shifted(SHIFT) / count as f64 * (2_f64.powi(SHIFT as i32))
    }

    /// The value times 2^-shift, of a sum that is large enough not to be subnormal then.
    fn value_shifted(&self, shift: u32) -> f64 {
        let is_negative = self.is_negative();
        let mut magnitude = self.clone();
        if is_negative {
            magnitude.limbs = [0; LIMBS];
            chain(&mut magnitude.limbs, &self.limbs, u64::overflowing_sub);
        }
        let value = magnitude.rounded(u64::from(shift));
        if is_negative { -value } else { value }
    }

    fn is_negative(&self) -> bool {
        self.limbs[LIMBS - 1] >> 63 == 1
    }

    /// Of a sum that is not negative.
    fn rounded(&self, shift: u64) -> f64 {
        debug_assert!(!self.is_negative(), "a magnitude is rounded, the sign is the caller's");
        let Some(top) = self.limbs.iter().rposition(|limb| *limb != 0) else { return 0.0 };
        let length = 64 * (top as u64 + 1) - u64::from(self.limbs[top].leading_zeros());
        if length <= u64::from(f64::MANTISSA_DIGITS) {
            // So few units are the bits of the number that they make.
            return f64::from_bits(self.limbs[0]);
        }
        // The highest 64 bits, and whether there is anything below.
        let by = self.limbs[top].leading_zeros();
        let below = |limb: usize| top.checked_sub(limb).map_or(0, |at| self.limbs[at]);
        let bits = ((u128::from(self.limbs[top]) << 64 | u128::from(below(1))) << by >> 64) as u64;
        let is_inexact = below(1) << by != 0 || self.limbs[..top.saturating_sub(1)].iter().any(|limb| *limb != 0);
        /// Bits of a limb that an `f64` has no room for.
        const BEYOND: u32 = 64 - f64::MANTISSA_DIGITS;
        let (kept, rest) = (bits >> BEYOND, bits & ((1 << BEYOND) - 1));
        let half = 1 << (BEYOND - 1);
        let is_up = rest > half || rest == half && (is_inexact || kept & 1 == 1);
        let exponent = (length - u64::from(SIGNIFICAND_BITS)).saturating_sub(shift);
        // A carry out of the significand raises the exponent, as it must.
        let bits = (exponent << SIGNIFICAND_BITS) + (kept - (1 << SIGNIFICAND_BITS)) + u64::from(is_up);
        f64::from_bits(bits.min(INFINITE << SIGNIFICAND_BITS))
    }
}

/// Adds or takes away numbers limb by limb; what does not fit goes on to the next limb.
fn chain(limbs: &mut [u64], parts: &[u64], step: fn(u64, u64) -> (u64, bool)) {
    let mut carry = false;
    for (at, limb) in limbs.iter_mut().enumerate() {
        let part = parts.get(at).copied();
        if part.is_none() && !carry {
            break;
        }
        let (sum, first) = step(*limb, part.unwrap_or_default());
        let (sum, second) = step(sum, u64::from(carry));
        (*limb, carry) = (sum, first || second);
    }
}

/// The limbs from the first that is not 0, without those that only repeat the sign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PackedSum {
    first: u8,
    limbs: Vec<u64>,
    is_negative: bool,
}

impl From<&ExactSum> for PackedSum {
    fn from(sum: &ExactSum) -> PackedSum {
        let is_negative = sum.is_negative();
        let filler = if is_negative { u64::MAX } else { 0 };
        let end = sum.limbs.iter().rposition(|limb| *limb != filler).map_or(0, |at| at + 1);
        let first = sum.limbs.iter().position(|limb| *limb != 0).unwrap_or(0).min(end);
        PackedSum { first: first as u8, limbs: sum.limbs[first..end].to_vec(), is_negative }
    }
}

impl PackedSum {
    /// The sum; `None` when it is wider than any.
    pub(crate) fn into_sum(self) -> Option<ExactSum> {
        let (first, end) = (self.first as usize, self.first as usize + self.limbs.len());
        let mut sum = ExactSum::default();
        sum.limbs.get_mut(first..end)?.copy_from_slice(&self.limbs);
        if self.is_negative {
            sum.limbs[end..].fill(u64::MAX);
        }
        // What is not far from the ends could leave them when sums are added.
        let top = sum.limbs[LIMBS - 1] as i64;
        (sum.is_negative() == self.is_negative && top.unsigned_abs() < 1 << 44).then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        values.iter().for_each(|value| sum.add(*value, 1));
        sum
    }

    #[test]
    fn one_number_comes_back() {
        for value in [0.0, 1.0, 0.1, 1e300, f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), 2_f64.powi(64), 1.0 / 3.0] {
            for value in [value, -value] {
                assert_eq!(sum(&[value]).value(), value, "{value}");
                assert_eq!(sum(&[value, value, -value]).value(), value, "{value}");
                assert_eq!(sum(&[value; 4]).mean(4), value, "{value}");
            }
        }
    }

    #[test]
    fn rounding_happens_once_and_to_even() {
        let one_up = 1.0_f64.next_up();
        let half = f64::EPSILON / 2.0;
        assert_eq!(sum(&[1.0, half]).value(), 1.0, "of two that are as near the even one");
        assert_eq!(sum(&[one_up, half]).value(), one_up.next_up());
        assert_eq!(sum(&[1.0, half, f64::from_bits(1)]).value(), one_up, "a little more than half");
        assert_eq!(sum(&[1.0, half, -f64::from_bits(1)]).value(), 1.0);
        assert_eq!(sum(&[2.0, -half]).value(), 2.0, "to the next power of two");
        assert_eq!(sum(&[1e300, 1.0, -1e300, 1e-300]).value(), 1.0);
        assert_eq!(sum(&[-1e300, -1.0, 1e300, 1.5]).value(), 0.5);
    }

    #[test]
    fn what_is_beyond_the_range_is_infinite_and_has_a_mean() {
        let two = sum(&[f64::MAX, f64::MAX]);
        assert_eq!((two.value(), two.mean(2)), (f64::INFINITY, f64::MAX));
        let mut most = ExactSum::default();
        most.add(-f64::MAX, u64::MAX);
        assert_eq!((most.value(), most.mean(u64::MAX)), (f64::NEG_INFINITY, -f64::MAX));
        most.add(f64::MAX, u64::MAX - 1);
        assert_eq!(most.value(), -f64::MAX);
    }

    #[test]
    fn times_are_additions() {
        for value in [0.1, -3e200, f64::from_bits(12_345), 1e-5] {
            let (mut once, mut often) = (ExactSum::default(), ExactSum::default());
            once.add(value, 1000);
            (0..1000).for_each(|_| often.add(value, 1));
            assert_eq!(once, often);
        }
    }

    #[test]
    fn it_is_packed_whole_and_what_is_too_wide_is_refused() {
        for values in [&[][..], &[1.0], &[-1.0], &[1e300, -1e-300], &[-1e300, 1e-300], &[-f64::from_bits(1)], &[-2e-9]]
        {
            let sum = sum(values);
            let packed = PackedSum::from(&sum);
            assert_eq!(packed.clone().into_sum(), Some(sum), "{values:?} {packed:?}");
        }
        assert!(PackedSum::from(&sum(&[0.1; 9])).limbs.len() <= 2);
        let wide = |first, limbs: &[u64]| PackedSum { first, limbs: limbs.to_vec(), is_negative: false };
        for packed in [wide(34, &[1]), wide(200, &[]), wide(33, &[1 << 50]), wide(33, &[1 << 63]), wide(33, &[1, 1])] {
            assert_eq!(packed.clone().into_sum(), None, "{packed:?}");
        }
    }
}
