//! Whole numbers as text, as the field `mappings` of JavaScript's source maps has them: Base64 VLQ.
//!
//! A number's bits leave in groups of five, the lowest first; in the first group the lowest bit is the sign. A group is
//! one Base64 digit, whose sixth bit says that another follows. Small numbers, which counts of buckets mostly are, take
//! a single character.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Bits of a number in a digit.
const GROUP: u32 = 5;
/// The bit that says another digit follows.
const MORE: u8 = 1 << GROUP;

/// Appends a number.
pub fn push(text: &mut String, number: i64) {
    let mut rest = u128::from(number.unsigned_abs()) << 1 | u128::from(number < 0);
    loop {
        let group = (rest as u8) & (MORE - 1);
        rest >>= GROUP;
        let digit = if rest > 0 { group | MORE } else { group };
        text.push(char::from(DIGITS[usize::from(digit)]));
        if rest == 0 {
            return;
        }
    }
}

/// The numbers of a text; the error says what is wrong with it.
pub fn numbers(text: &str) -> Result<Vec<i64>, String> {
    let (mut numbers, mut at) = (Vec::new(), 0);
    while at < text.len() {
        numbers.push(number(text, &mut at)?);
    }
    Ok(numbers)
}

/// The number that begins at byte `at`, which then is behind it; the error says what is wrong with it.
pub fn number(text: &str, at: &mut usize) -> Result<i64, String> {
    let (mut number, mut shift) = (0_u128, 0);
    for byte in text.bytes().skip(*at) {
        let digit = DIGITS.iter().position(|digit| *digit == byte);
        let Some(digit) = digit else { return Err(format!("found no Base64 digit at byte {at}")) };
        number |= (digit as u128 & u128::from(MORE - 1)) << shift;
        shift += GROUP;
        if shift > 70 {
            return Err(format!("found a number of more than 64 bits at byte {at}"));
        }
        if digit as u8 & MORE == 0 {
            let magnitude = i64::try_from(number >> 1).map_err(|_| format!("found a number too large at byte {at}"))?;
            *at += 1;
            return Ok(if number & 1 == 1 { -magnitude } else { magnitude });
        }
        *at += 1;
    }
    Err(String::from("its last number is not complete"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(numbers: &[i64]) -> String {
        let mut text = String::new();
        numbers.iter().for_each(|number| push(&mut text, *number));
        text
    }

    #[test]
    fn numbers_are_written_as_source_maps_write_them() {
        assert_eq!(text(&[0, 1, -1, 15, 16, -16, 123, 1_000_000]), "ACDegBhB2Hgkh9B");
        for all in [vec![], vec![0, 511, 512, -512], vec![i64::MAX, 1, -i64::MAX]] {
            assert_eq!(numbers(&text(&all)), Ok(all));
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let refused = |text: &str| numbers(text).expect_err(text);
        assert_eq!(refused("AC-"), "found no Base64 digit at byte 2");
        assert_eq!(refused("Ag"), "its last number is not complete");
        assert_eq!(refused(&"g".repeat(20)), "found a number of more than 64 bits at byte 14");
        assert_eq!(refused("//////////////f"), "found a number of more than 64 bits at byte 14");
        assert_eq!(refused("+/////////////f"), "found a number of more than 64 bits at byte 14");
    }
}
