//! Percent escapes of URLs, and quoting.
//!
//! Invariant: an existing escape is never encoded again.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// What may not stand in a query.
pub(crate) const QUERY: &AsciiSet = &CONTROLS.add(b' ');
/// What may not stand in a path or fragment.
pub(crate) const PATH: &AsciiSet =
    &QUERY.add(b'"').add(b'#').add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'{').add(b'|').add(b'}');
/// No ASCII at all: what is not ASCII is encoded always.
pub(crate) const NOT_ASCII: &AsciiSet = &AsciiSet::EMPTY;

/// The byte that two hexadecimal digits stand for.
pub(crate) fn hex_byte(two: &str) -> Option<u8> {
    if two.bytes().all(|b| b.is_ascii_hexdigit()) { u8::from_str_radix(two, 16).ok() } else { None }
}

/// Encodes what is in the set, and what is not ASCII.
pub(crate) fn percent_encode<'t>(text: &'t str, set: &'static AsciiSet) -> Cow<'t, str> {
    utf8_percent_encode(text, set).into()
}

/// Decodes well-formed escapes; bytes that make no UTF-8 become U+FFFD.
pub(crate) fn percent_decode(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
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
