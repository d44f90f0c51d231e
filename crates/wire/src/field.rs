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

/// A field name as Go writes it: the first letter and those behind hyphens upper, the others lower case. Names that are no
/// tokens stay as they are.
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
