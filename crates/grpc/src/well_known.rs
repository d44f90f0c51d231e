//! Types of Protocol Buffers that JSON writes as text: Timestamp, Duration, FieldMask.

use units::date;

/// Where texts of durations end: ten thousand years.
const MAX_DURATION_S: i64 = 315_576_000_000;
const FIRST_S: i64 = -62_135_596_800;
const LAST_S: i64 = 253_402_300_799;

/// Seconds and nanoseconds of RFC 3339; `None`: it is no such text, or no such moment.
pub fn timestamp(text: &str) -> Option<(i64, i32)> {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| -> Option<i64> {
        let part = bytes.get(range).filter(|part| part.iter().all(u8::is_ascii_digit))?;
        std::str::from_utf8(part).ok()?.parse().ok()
    };
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if !text.is_ascii() || separators.iter().any(|(at, expected)| bytes.get(*at) != Some(expected)) {
        return None;
    }
    let (hour, minute, second) = (digits(11..13)?, digits(14..16)?, digits(17..19)?);
    let day = date::epoch_s(digits(0..4)? as i32, digits(5..7)? as u8, digits(8..10)? as u8)?;
    let rest = &text[19..];
    let (nanos, zone) = match rest.strip_prefix('.') {
        Some(fraction) => {
            let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
            (nanos(&fraction[..length])?, &fraction[length..])
        }
        None => (0, rest),
    };
    let offset = match zone.as_bytes() {
        b"Z" => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let at = text.len() - 5;
            let (hours, minutes) = (digits(at..at + 2)?, digits(at + 3..at + 5)?);
            let seconds = (hours * 60 + minutes) * 60;
            (hours < 24 && minutes < 60).then_some(if *sign == b'+' { seconds } else { -seconds })?
        }
        _ => return None,
    };
    let seconds = day + (hour * 60 + minute) * 60 + second - offset;
    let exists = hour < 24 && minute < 60 && second < 60;
    (exists && (FIRST_S..=LAST_S).contains(&seconds)).then_some((seconds, nanos))
}

/// A fraction of a second, at least one and at most nine digits.
fn nanos(digits: &str) -> Option<i32> {
    if !(1..=9).contains(&digits.len()) {
        return None;
    }
    Some(digits.parse::<i32>().ok()? * 10_i32.pow(9 - digits.len() as u32))
}

/// The text of a moment; `None` when JSON has none for it.
pub fn timestamp_text(seconds: i64, nanos: i32) -> Option<String> {
    if !(FIRST_S..=LAST_S).contains(&seconds) || !(0..1_000_000_000).contains(&nanos) {
        return None;
    }
    let mut text = date::rfc3339_at(seconds)?;
    text.pop();
    push_fraction(&mut text, nanos);
    text.push('Z');
    debug_assert_eq!(timestamp(&text), Some((seconds, nanos)), "{text} reads back as it was");
    Some(text)
}

/// No digits, or three, six, nine.
fn push_fraction(text: &mut String, nanos: i32) {
    debug_assert!((0..1_000_000_000).contains(&nanos), "{nanos} nanoseconds are no part of a second");
    let digits = format!("{nanos:09}");
    let length = match () {
        () if nanos == 0 => return,
        () if nanos % 1_000_000 == 0 => 3,
        () if nanos % 1_000 == 0 => 6,
        () => 9,
    };
    text.push('.');
    text.push_str(&digits[..length]);
}

/// Seconds and nanoseconds of a text like `1.5s`, both with the sign.
pub fn duration(text: &str) -> Option<(i64, i32)> {
    let text = text.strip_suffix('s')?;
    let (negative, text) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && fraction.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let seconds: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nanos = if fraction.is_empty() { 0 } else { nanos(fraction)? };
    let fits = seconds <= MAX_DURATION_S;
    fits.then_some(if negative { (-seconds, -nanos) } else { (seconds, nanos) })
}

/// The text of a duration; `None` when JSON has none for it.
pub fn duration_text(seconds: i64, nanos: i32) -> Option<String> {
    let mixed = seconds > 0 && nanos < 0 || seconds < 0 && nanos > 0;
    if seconds.unsigned_abs() > MAX_DURATION_S as u64 || nanos.unsigned_abs() >= 1_000_000_000 || mixed {
        return None;
    }
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    let mut text = format!("{sign}{}", seconds.unsigned_abs());
    push_fraction(&mut text, nanos.abs());
    text.push('s');
    debug_assert_eq!(duration(&text), Some((seconds, nanos)), "{text} reads back as it was");
    Some(text)
}

/// `aB,c.dE` as paths `a_b` and `c.d_e`; `None`: a path is not one.
pub fn mask_paths(text: &str) -> Option<Vec<String>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split(',')
        .map(|path| {
            let mut out = String::with_capacity(path.len() + 4);
            for letter in path.chars() {
                match letter {
                    'A'..='Z' => {
                        out.push('_');
                        out.push(letter.to_ascii_lowercase());
                    }
                    'a'..='z' | '0'..='9' | '.' => out.push(letter),
                    _ => return None,
                }
            }
            (!out.is_empty()).then_some(out)
        })
        .collect()
}

/// A path as JSON writes it.
pub fn mask_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut rises = false;
    for letter in path.chars() {
        match letter {
            '_' => rises = true,
            letter if rises => {
                out.push(letter.to_ascii_uppercase());
                rises = false;
            }
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_and_written() {
        for (text, shown) in [
            ("2020-01-02T03:04:05Z", Some("2020-01-02T03:04:05Z")),
            ("2020-01-02T03:04:05.123456789+01:00", Some("2020-01-02T02:04:05.123456789Z")),
            ("2020-01-02T03:04:05.1Z", Some("2020-01-02T03:04:05.100Z")),
            ("2020-01-02T03:04:05.1234Z", Some("2020-01-02T03:04:05.123400Z")),
            ("1960-01-02T03:04:05.5Z", Some("1960-01-02T03:04:05.500Z")),
            ("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00Z")),
            ("9999-12-31T23:59:59.999999999Z", Some("9999-12-31T23:59:59.999999999Z")),
            ("0000-01-01T00:00:00Z", None),
            ("2020-02-30T00:00:00Z", None),
            ("2020-01-02T24:00:00Z", None),
            ("2020-01-02t03:04:05z", None),
            ("2020-01-02T03:04:05.Z", None),
            ("2020-01-02T03:04:05.1234567891Z", None),
            ("2020-01-02T03:04:05", None),
            ("2020-01-02T03:04:0é", None),
            ("x", None),
        ] {
            let found = timestamp(text).map(|(seconds, nanos)| timestamp_text(seconds, nanos).unwrap());
            assert_eq!(found.as_deref(), shown, "{text}");
        }
        assert_eq!(timestamp_text(i64::MAX, 0), None);
    }

    #[test]
    fn durations_are_read_and_written() {
        for (text, shown) in [
            ("1.5s", Some("1.500s")),
            ("-1.5s", Some("-1.500s")),
            ("-0.5s", Some("-0.500s")),
            ("0s", Some("0s")),
            ("0.000000001s", Some("0.000000001s")),
            (".5s", Some("0.500s")),
            ("5.s", Some("5s")),
            ("+5s", Some("5s")),
            ("5", None),
            ("s", None),
            ("1m", None),
            ("315576000001s", None),
            ("1.0000000001s", None),
        ] {
            let found = duration(text).map(|(seconds, nanos)| duration_text(seconds, nanos).unwrap());
            assert_eq!(found.as_deref(), shown, "{text}");
        }
        assert_eq!(duration_text(1, -1), None);
    }

    #[test]
    fn masks_change_their_case() {
        assert_eq!(mask_paths("aB,c.dE"), Some(vec!["a_b".into(), "c.d_e".into()]));
        assert_eq!((mask_paths(""), mask_paths("a_b"), mask_paths("a,,b")), (Some(vec![]), None, None));
        assert_eq!(mask_path("c.d_e"), "c.dE");
    }
}
