//! Metadata: what header fields may be, binary values, and the time that a call has left.

use std::time::Duration;

/// Whether a name's values are binary.
pub fn is_binary(name: &str) -> bool {
    name.ends_with("-bin")
}

/// A binary value as a header field has it.
pub fn encode_binary(value: &[u8]) -> String {
    base64_simd::STANDARD_NO_PAD.encode_to_string(value)
}

/// A binary value of a peer, padded or not; as it is when it is no base64.
pub fn decode_binary(value: &[u8]) -> Vec<u8> {
    let digits = value.trim_ascii_end();
    let end = digits.iter().rposition(|b| *b != b'=').map_or(0, |at| at + 1);
    base64_simd::STANDARD_NO_PAD.decode_to_vec(&digits[..end]).unwrap_or_else(|_| value.to_vec())
}

/// Why a field cannot be sent, in the words of gRPC for Go.
pub fn problem(name: &str, value: &str) -> Option<String> {
    let is_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b);
    if name.is_empty() {
        return Some(String::from("there is an empty key in the header"));
    }
    if !name.bytes().all(is_name) {
        return Some(format!("header key {name:?} contains illegal characters not in [0-9a-z-_.]"));
    }
    if !is_binary(name) && !value.bytes().all(|b| (0x20..=0x7e).contains(&b)) {
        return Some(format!("header key {name:?} contains value with non-printable ASCII characters"));
    }
    None
}

/// The value of `grpc-timeout`: at most eight digits and a unit, rounded up.
pub fn timeout(left: Duration) -> String {
    const MOST: u128 = 99_999_999;
    let nanos = left.as_nanos();
    let units = [("n", 1), ("u", 1_000), ("m", 1_000_000), ("S", 1_000_000_000), ("M", 60_000_000_000)];
    let fitting = units.into_iter().map(|(unit, size)| (nanos.div_ceil(size), unit));
    let hours = (nanos.div_ceil(3_600_000_000_000).min(MOST), "H");
    let (count, unit) = fitting.into_iter().find(|(count, _)| *count <= MOST).unwrap_or(hours);
    let text = format!("{count}{unit}");
    debug_assert!(parse_timeout(text.as_bytes()).is_some(), "the other side can read {text}");
    text
}

/// The time that a value of `grpc-timeout` leaves; `None` when it is none.
pub fn parse_timeout(value: &[u8]) -> Option<Duration> {
    let (unit, digits) = value.split_last()?;
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let count = digits.iter().fold(0, |count, digit| count * 10 + u64::from(digit - b'0'));
    Some(match unit {
        b'n' => Duration::from_nanos(count),
        b'u' => Duration::from_micros(count),
        b'm' => Duration::from_millis(count),
        b'S' => Duration::from_secs(count),
        b'M' => Duration::from_secs(count * 60),
        b'H' => Duration::from_secs(count * 3600),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_values_go_both_ways() {
        assert_eq!(encode_binary(&[0, 1, 255]), "AAH/");
        for (text, bytes) in [("AAH/", &[0, 1, 255][..]), ("BQ", &[5]), ("BQ==", &[5]), ("!", b"!"), ("", b"")] {
            assert_eq!(decode_binary(text.as_bytes()), bytes, "{text}");
        }
    }

    #[test]
    fn fields_that_cannot_be_sent_are_refused() {
        assert_eq!(problem("x-a.b_1", "ok ~"), None);
        assert_eq!(problem("x-bin", "\u{1}"), None);
        assert!(problem("a b", "").unwrap().starts_with("header key \"a b\" contains illegal"));
        assert!(problem("ab", "x\n").unwrap().ends_with("non-printable ASCII characters"));
    }

    #[test]
    fn times_have_eight_digits_at_most() {
        for (left, text) in [
            (Duration::from_millis(50), "50000000n"),
            (Duration::from_secs(120), "120000m"),
            (Duration::from_secs(1), "1000000u"),
            (Duration::from_secs(86_400 * 365 * 10), "5256000M"),
        ] {
            assert_eq!(timeout(left), text);
            assert_eq!(parse_timeout(text.as_bytes()), Some(left));
        }
        for bad in ["", "1", "S", "-1S", "123456789n", "1s"] {
            assert_eq!(parse_timeout(bad.as_bytes()), None, "{bad}");
        }
    }
}
