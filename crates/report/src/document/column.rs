//! The columns of a series as one text: whole numbers, each told as its difference to the one before.
//!
//! A difference is a number in Base64 VLQ (`vlq`). `.` is an interval without samples, and `*` with a number says how
//! many more intervals are like the one before. Of distributions the numbers are steps: the upper 28 bits of a double,
//! so that a step is within 0.001 % of its value and whole numbers up to 131,072 are exact.

use super::vlq;

/// No samples.
const GAP: char = '.';
/// More like the one before.
const REPEAT: char = '*';

/// Bits of a double below those of a step.
const BELOW: u32 = 36;
/// The step of the highest double.
const HIGHEST: u64 = f64::MAX.to_bits() >> BELOW;

/// The step that is nearest to a value.
pub fn step(value: f64) -> i64 {
    let nearest = (value.abs().to_bits() + (1 << (BELOW - 1))) >> BELOW;
    let step = nearest.min(HIGHEST) as i64;
    if value < 0.0 { -step } else { step }
}

/// The value of a step; none of a number that is no step.
pub fn value(step: i64) -> Option<f64> {
    let magnitude = step.unsigned_abs();
    let value = f64::from_bits((magnitude <= HIGHEST).then_some(magnitude)? << BELOW);
    Some(if step < 0 { -value } else { value })
}

/// The value of the step that is nearest.
pub fn nearest(value: f64) -> f64 {
    self::value(step(value)).unwrap_or(value)
}

/// Numbers as a text.
pub fn packed(numbers: &[Option<i64>]) -> String {
    let (mut text, mut last) = (String::new(), 0);
    for equal in numbers.chunk_by(|a, b| a == b) {
        let mut one = String::new();
        match equal[0] {
            Some(number) => vlq::push(&mut text, number.saturating_sub(std::mem::replace(&mut last, number))),
            None => text.push(GAP),
        }
        match equal[0] {
            Some(_) => vlq::push(&mut one, 0),
            None => one.push(GAP),
        }
        let more = equal.len() - 1;
        let mut repeat = String::from(REPEAT);
        vlq::push(&mut repeat, more as i64);
        // A few are shorter one by one.
        if repeat.len() < more { text.push_str(&repeat) } else { text.push_str(&one.repeat(more)) }
    }
    debug_assert!(unpacked(&text, numbers.len()).is_ok_and(|read| read == numbers), "the reader has the same numbers");
    text
}

/// The numbers of a text that has as many as `expected`; the error says what is wrong with it.
pub fn unpacked(text: &str, expected: usize) -> Result<Vec<Option<i64>>, String> {
    let (mut numbers, mut last, mut at) = (Vec::new(), 0_i64, 0);
    while let Some(byte) = text.as_bytes().get(at) {
        let more = match char::from(*byte) {
            GAP => {
                at += 1;
                numbers.push(None);
                0
            }
            REPEAT => {
                at += 1;
                usize::try_from(vlq::number(text, &mut at)?)
                    .map_err(|_| format!("found a count below 0 before byte {at}"))?
            }
            _ => {
                let difference = vlq::number(text, &mut at)?;
                last =
                    last.checked_add(difference).ok_or_else(|| format!("found a number too large before byte {at}"))?;
                numbers.push(Some(last));
                0
            }
        };
        if more > 0 {
            let before = *numbers.last().ok_or("found nothing that could be repeated at byte 0")?;
            // What is too long is refused below, and need not be held first.
            numbers.extend(std::iter::repeat_n(before, more.min(expected + 1)));
        }
        if numbers.len() > expected {
            return Err(format!("found more than {expected} numbers"));
        }
    }
    if numbers.len() == expected {
        Ok(numbers)
    } else {
        Err(format!("found {} numbers, expected {expected}", numbers.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_the_upper_bits_of_a_double() {
        for (value, expected) in [
            (0.0, 0),
            (1.0, 67_043_328),
            (2.5, 67_125_248),
            (-1.0, -67_043_328),
            (131_072.0, 68_157_440),
            (f64::MAX, 134_152_191),
            (f64::MIN, -134_152_191),
        ] {
            assert_eq!(step(value), expected, "{value}");
        }
        assert_eq!((super::value(67_125_248), super::value(-67_043_328)), (Some(2.5), Some(-1.0)));
        assert_eq!((super::value(134_152_192), super::value(i64::MIN)), (None, None));
    }

    #[test]
    fn the_nearest_step_is_within_a_hundred_thousandth() {
        for value in [0.1, 49.9232, -416.51, 1e-300, 1e300] {
            assert!((nearest(value) - value).abs() <= value.abs() * 7.7e-6, "{value}");
        }
        for whole in 0..=131_072 {
            assert_eq!(nearest(f64::from(whole)), f64::from(whole));
        }
    }

    #[test]
    fn equal_numbers_are_counted_where_that_is_shorter() {
        for (numbers, text) in [
            (vec![], ""),
            (vec![Some(5)], "K"),
            (vec![Some(5), Some(5), Some(4), None, Some(4)], "KAD.A"),
            (vec![None, None, None, Some(1), Some(1), Some(1)], "...CAA"),
            (vec![None, None, None, None, Some(-1), Some(-1), Some(-1), Some(-1)], ".*GD*G"),
            (vec![Some(2); 40], "E*uC"),
        ] {
            assert_eq!(packed(&numbers), text);
            assert_eq!(unpacked(text, numbers.len()), Ok(numbers));
        }
    }

    #[test]
    fn a_difference_that_leads_too_far_is_refused() {
        let mut text = String::new();
        (0..2).for_each(|_| vlq::push(&mut text, i64::MAX));
        assert_eq!(unpacked(&text, 2), Err(String::from("found a number too large before byte 26")));
    }
}
