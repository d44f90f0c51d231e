//! The text of header fields, as both sides of the wire write and check it: tokens, canonical names, decimal numbers.

/// The characters of a token (RFC 9110 5.6.2), by byte.
const TOKEN: [bool; 256] = {
    let (mut table, mut byte) = ([false; 256], 0);
    while byte < table.len() {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let (others, mut at) = (b"!#$%&'*+-.^_`|~", 0);
    while at < others.len() {
        table[others[at] as usize] = true;
        at += 1;
    }
    table
};

/// Whether a byte may stand in a token.
fn is_token_byte(byte: u8) -> bool {
    TOKEN[usize::from(byte)]
}

/// Whether this is a token: a method, a field name, a cookie's name. Never empty.
pub fn is_token(text: impl AsRef<[u8]>) -> bool {
    let text = text.as_ref();
    !text.is_empty() && text.iter().all(|byte| is_token_byte(*byte))
}

/// Whether a field may have this value (RFC 9110 5.5): no control characters but tabs, so that nothing ends its line.
pub fn is_value(text: impl AsRef<[u8]>) -> bool {
    // Without a branch a byte, the compiler looks at sixteen at a time.
    !text.as_ref().iter().fold(false, |found, b| found | (*b < 0x20) & (*b != b'\t') | (*b == 0x7f))
}

/// Why a text cannot be the value of a field: what was found, where, what was expected. `None` when it can.
pub fn problem_in(value: &str) -> Option<String> {
    let (at, found) = value.char_indices().find(|(_, c)| c.is_ascii() && !is_value([*c as u8]))?;
    let what = if matches!(found, '\r' | '\n') { "a line break" } else { "a control character" };
    let found = found.escape_default();
    Some(format!("found {what} ({found}) at byte {at}, expected text that fits into one line of a request head"))
}

/// A field name as Go writes it: the first letter and those behind hyphens upper, the others lower case. Names that are
/// no tokens stay as they are.
pub fn canonical(name: &str) -> String {
    if !is_token(name) {
        return name.to_owned();
    }
    let mut upper = true;
    name.chars()
        .map(|c| {
            let c = if upper { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
            upper = c == '-';
            c
        })
        .collect()
}

/// Appends a number in decimal, without the detour over a `String`.
pub fn push_decimal(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        for token in ["GET", "x", "a-b_c.d~e!#$%&'*+^`|9"] {
            assert!(is_token(token), "{token}");
        }
        for other in ["", "a b", "a:b", "a/b", "(a)", "é", "a\0"] {
            assert!(!is_token(other), "{other}");
        }
    }

    #[test]
    fn values_stay_on_their_line() {
        for (value, problem) in [
            ("", None),
            ("caf\u{e9}\t\u{85}", None),
            ("a\r\nb: c", Some("found a line break (\\r) at byte 1")),
            ("\n", Some("found a line break (\\n) at byte 0")),
            ("\u{e9}\0", Some("found a control character (\\u{0}) at byte 2")),
            ("a\u{7f}", Some("found a control character (\\u{7f}) at byte 1")),
        ] {
            let expected = problem.map(|p| format!("{p}, expected text that fits into one line of a request head"));
            assert_eq!((problem_in(value), is_value(value)), (expected, problem.is_none()), "{value:?}");
        }
    }

    #[test]
    fn canonical_names() {
        for (given, expected) in
            [("content-type", "Content-Type"), ("X-FOO", "X-Foo"), ("a b", "a b"), ("etag", "Etag"), ("x--y", "X--Y")]
        {
            assert_eq!(canonical(given), expected);
        }
    }

    #[test]
    fn numbers() {
        for value in [0, 7, 10, 1_234_567_890, u64::MAX] {
            let mut out = Vec::new();
            push_decimal(&mut out, value);
            assert_eq!(out, value.to_string().into_bytes());
        }
    }
}
