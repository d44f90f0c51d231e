//! Numbers as the JSON mapping takes them: as numbers or as text, whole where the field is.

/// A whole number from JSON's text of a number: `5`, `-5`, `5.0` and `5e0` are the same. `None`: it is none, is not
/// whole, or is beyond any field.
pub fn whole(text: &str) -> Option<i128> {
    let bytes = text.as_bytes();
    if (1..=18).contains(&bytes.len()) && bytes[0] != b'0' && bytes.iter().all(u8::is_ascii_digit) {
        return Some(bytes.iter().fold(0_i128, |value, digit| value * 10 + i128::from(digit - b'0')));
    }
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (integer, fraction) = match mantissa.split_once('.') {
        Some((integer, fraction)) if !fraction.is_empty() => (integer, fraction),
        Some(_) => return None,
        None => (mantissa, ""),
    };
    let are_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let leads_with_zero = integer.len() > 1 && integer.starts_with('0');
    if integer.is_empty() || leads_with_zero || !are_digits(integer) || !are_digits(fraction) {
        return None;
    }
    let mut all = format!("{integer}{fraction}");
    let point = i64::from(exponent) + integer.len() as i64;
    if !(0..=40).contains(&point) {
        return all.bytes().all(|b| b == b'0').then_some(0);
    }
    let point = point as usize;
    while all.len() < point {
        all.push('0');
    }
    if !all[point..].bytes().all(|b| b == b'0') {
        return None;
    }
    let value = all[..point].parse::<i128>().or_else(|error| if point == 0 { Ok(0) } else { Err(error) }).ok()?;
    Some(if negative { -value } else { value })
}

/// A whole number that a script's number is.
pub fn whole_of(number: f64) -> Option<i128> {
    // Beyond it, no field is wide enough, and the conversion would cut.
    (number.fract() == 0.0 && number.abs() < 1e20).then_some(number as i128)
}

/// A floating-point number from text: JSON's, or the words for what JSON has no number for.
pub fn floating(text: &str) -> Option<f64> {
    match text {
        "NaN" => return Some(f64::NAN),
        "Infinity" => return Some(f64::INFINITY),
        "-Infinity" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let starts_well = digits.as_bytes().first().is_some_and(u8::is_ascii_digit);
    let leads_with_zero = digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
    let point_is_followed =
        digits.split_once('.').is_none_or(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()));
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    (starts_well && !leads_with_zero && point_is_followed && plain).then(|| text.parse().ok())?
}

/// The shortest number that a float is printed as.
pub fn shown(value: f32) -> f64 {
    let wide = f64::from(value);
    if value.fract() == 0.0 && value.abs() < 16_777_216.0 || !value.is_finite() {
        return wide;
    }
    value.to_string().parse().unwrap_or(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_told_from_others() {
        for (text, expected) in [
            ("5", Some(5)),
            ("0", Some(0)),
            ("-0", Some(0)),
            ("5.0", Some(5)),
            ("1e3", Some(1000)),
            ("1.5e1", Some(15)),
            ("100e-2", Some(1)),
            ("-9223372036854775808", Some(i128::from(i64::MIN))),
            ("18446744073709551615", Some(i128::from(u64::MAX))),
            ("0e99", Some(0)),
            ("", None),
            ("-", None),
            ("+5", None),
            ("05", None),
            (" 5", None),
            ("5x", None),
            ("5.", None),
            (".5", None),
            ("1.5", None),
            ("1e-1", None),
            ("1e99", None),
        ] {
            assert_eq!(whole(text), expected, "{text}");
        }
        assert_eq!((whole_of(-3.0), whole_of(1.5), whole_of(f64::NAN), whole_of(1e30)), (Some(-3), None, None, None));
    }

    #[test]
    fn floating_numbers_are_those_of_json() {
        for text in ["", "+1", "1.", ".5", " 1", "01", "inf", "nan", "1e", "0x1", "1_0"] {
            assert_eq!(floating(text), None, "{text}");
        }
        assert_eq!(
            (floating("-1.5e2"), floating("0"), floating("Infinity")),
            (Some(-150.0), Some(0.0), Some(f64::INFINITY))
        );
        assert_eq!((shown(1.1), shown(0.5), shown(1e21), shown(16_777_216.0)), (1.1, 0.5, 1e21, 16_777_216.0));
    }
}
