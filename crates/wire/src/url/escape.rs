//! Percent escapes and quoting, byte by byte.
//!
//! Invariant: an existing escape is never encoded again.

use std::borrow::Cow;

pub(super) fn hex_byte(two: &str) -> Option<u8> {
    if two.bytes().all(|b| b.is_ascii_hexdigit()) { u8::from_str_radix(two, 16).ok() } else { None }
}

/// Encodes what may not stand in a path or fragment; existing escapes stay.
pub(super) fn encode_path(text: &str) -> Cow<'_, str> {
    let keep = |b: u8| b > b' ' && b < 0x7f && !b"\"#<>\\^`{|}".contains(&b);
    if text.bytes().all(keep) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    push_encoded(&mut out, text, keep);
    Cow::Owned(out)
}

pub(super) fn push_encoded(out: &mut String, text: &str, keep: impl Fn(u8) -> bool) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    if text.bytes().all(&keep) {
        return out.push_str(text);
    }
    for byte in text.bytes() {
        if keep(byte) && byte.is_ascii() {
            out.push(char::from(byte));
        } else {
            out.extend(['%', char::from(HEX[usize::from(byte >> 4)]), char::from(HEX[usize::from(byte & 15)])]);
        }
    }
}

/// Decodes well-formed escapes; bytes that make no UTF-8 become U+FFFD.
pub(crate) fn percent_decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let (byte, used) = rest.get(at + 1..at + 3).and_then(hex_byte).map_or((b'%', 1), |b| (b, 3));
        out.push(byte);
        rest = &rest[at + used..];
    }
    out.extend_from_slice(rest.as_bytes());
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

/// Quotes as Go's `%q` does, because k6's error texts carry that form.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
