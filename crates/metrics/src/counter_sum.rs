//! The sum of a Counter, exact: in whatever order and on however many workers and machines its values came in.
//!
//! Counters count requests and bytes: whole numbers, whose sum is one. The first fraction, or a number too large to be
//! told from its neighbours, makes an `ExactSum` beside it.

use serde::{Deserialize, Serialize};

use crate::exact_sum::{ExactSum, PackedSum};

/// Whether a value has no fraction, and is not so large that none has.
fn is_whole(value: f64) -> bool {
    /// Numbers next to it are 1 apart: what is added loses its fraction. `trunc` would be a call into the C library.
    const ROUNDS: f64 = 1.5 * LARGE;
    const LARGE: f64 = (1_u64 << (f64::MANTISSA_DIGITS - 1)) as f64;
    value.abs() < LARGE / 2.0 && (value + ROUNDS) - ROUNDS == value
}

/// What has been added so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct CounterSum {
    /// Of whole numbers.
    whole: i64,
    /// Of all others.
    rest: Option<Box<ExactSum>>,
}

impl CounterSum {
    /// Adds a finite value this many times.
    pub(crate) fn add(&mut self, value: f64, times: u64) {
        debug_assert!(value.is_finite(), "the recorder refuses {value}");
        let product = i64::try_from(times).ok().filter(|_| is_whole(value));
        let product = product.and_then(|times| times.checked_mul(value as i64));
        match product.and_then(|product| self.whole.checked_add(product)) {
            Some(sum) => self.whole = sum,
            None => self.rest().add(value, times),
        }
    }

    /// Adds a whole number.
    #[inline]
    pub(crate) fn add_whole(&mut self, number: u64) {
        match self.whole.checked_add_unsigned(number) {
            Some(sum) => self.whole = sum,
            None => self.rest().add(number as f64, 1),
        }
    }

    /// Adds what another one holds.
    pub(crate) fn merge(&mut self, other: &CounterSum) {
        match self.whole.checked_add(other.whole) {
            Some(sum) => self.whole = sum,
            None => add_whole(self.rest(), other.whole),
        }
        if let Some(rest) = &other.rest {
            self.rest().merge(rest);
        }
    }

    /// The `f64` next to it.
    pub(crate) fn value(&self) -> f64 {
        match &self.rest {
            None => self.whole as f64,
            Some(_) => self.all().value(),
        }
    }

    fn rest(&mut self) -> &mut ExactSum {
        self.rest.get_or_insert_default()
    }

    fn all(&self) -> ExactSum {
        let mut all = self.rest.as_deref().cloned().unwrap_or_default();
        add_whole(&mut all, self.whole);
        all
    }
}

/// A whole number may have more bits than an `f64` has room for.
fn add_whole(sum: &mut ExactSum, whole: i64) {
    let unit = crate::exact_sum::units(1.0);
    sum.add_units(u128::from(whole.unsigned_abs()) * u128::from(unit.0), unit.1, whole < 0);
}

/// The same for another process; equal sums are packed alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PackedCounterSum {
    Whole(i64),
    Exact(PackedSum),
}

impl From<&CounterSum> for PackedCounterSum {
    fn from(sum: &CounterSum) -> PackedCounterSum {
        if sum.rest.is_none() {
            return PackedCounterSum::Whole(sum.whole);
        }
        let all = sum.all();
        let value = all.value();
        let mut whole = ExactSum::default();
        if is_whole(value) {
            whole.add(value, 1);
        }
        if whole == all { PackedCounterSum::Whole(value as i64) } else { PackedCounterSum::Exact((&all).into()) }
    }
}

impl PackedCounterSum {
    /// The sum; `None` when there can be none like it.
    pub(crate) fn into_sum(self) -> Option<CounterSum> {
        Some(match self {
            PackedCounterSum::Whole(whole) => CounterSum { whole, rest: None },
            PackedCounterSum::Exact(sum) => CounterSum { whole: 0, rest: Some(Box::new(sum.into_sum()?)) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[f64]) -> CounterSum {
        let mut sum = CounterSum::default();
        values.iter().for_each(|value| sum.add(*value, 1));
        sum
    }

    #[test]
    fn whole_numbers_stay_whole_and_fractions_are_exact() {
        assert_eq!(sum(&[1.0, 2.0, -5.0]).value(), -2.0);
        assert!(sum(&[1.0, 2e15]).rest.is_none());
        assert_eq!(sum(&[0.1, 0.2, -0.3]).value(), 2.775_557_561_562_891_4e-17, "what is left of them");
        assert_eq!(sum(&[1e300, 7.0, 0.5, -1e300]).value(), 7.5);
        let mut often = CounterSum::default();
        often.add(9e15, u64::MAX);
        assert_eq!(often.value(), 9e15 * u64::MAX as f64);
        often.add(-9e15, u64::MAX);
        assert_eq!(often.value(), 0.0);
        let mut full = CounterSum::default();
        [1 << 62, 1 << 62, 1 << 62, 5].into_iter().for_each(|number| full.add_whole(number));
        assert_eq!(full.value(), 3.0 * 2_f64.powi(62) + 5.0);
    }

    #[test]
    fn merging_in_any_order_gives_one_sum_in_one_form() {
        let parts = [sum(&[1e16, 0.25]), sum(&[3.0, -1e16]), sum(&[0.75]), sum(&[2e15; 9000]), sum(&[-2e15; 9000])];
        let merged = |order: &[usize]| {
            let mut all = CounterSum::default();
            order.iter().for_each(|at| all.merge(&parts[*at]));
            (all.value(), PackedCounterSum::from(&all))
        };
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1]] {
            assert_eq!(merged(&order), (4.0, PackedCounterSum::Whole(4)));
        }
        let (value, packed) = merged(&[3, 0, 1]);
        let again = packed.clone().into_sum().expect("its own");
        assert_eq!((again.value(), PackedCounterSum::from(&again)), (value, packed));
    }
}
