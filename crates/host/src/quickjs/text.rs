//! Texts of scripts: the strings of JavaScript as Rust's, which are UTF-8.
//!
//! A string of JavaScript may have lone surrogates. The engine gives them as three bytes each; in a text of Rust U+FFFD
//! stands for each.

use std::borrow::Cow;

use rquickjs::{CString, Ctx, Result, Value};

/// The text of a string value; nothing for other values.
pub fn text(value: &Value<'_>) -> Result<Option<String>> {
    let Some(string) = value.as_string() else { return Ok(None) };
    let text = string.clone().to_cstring()?;
    Ok(Some(well_formed(raw_bytes(&text)).into_owned()))
}

/// The text that JavaScript makes of any value (`String(value)`); may run `toString` of the script, and throw.
pub fn to_text<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    if let Some(text) = text(value)? {
        return Ok(text);
    }
    let rquickjs::Coerced(string) = rquickjs::FromJs::from_js(ctx, value.clone())?;
    let string: rquickjs::String<'js> = string;
    Ok(text(string.as_value())?.unwrap_or_default())
}

/// Lends the bytes of a string: UTF-8, but lone surrogates are three bytes each. Good for comparing and parsing digits.
/// Strings never change, so `f` may do what it likes.
pub fn borrow<R>(string: &rquickjs::String<'_>, f: impl FnOnce(&[u8]) -> R) -> Result<R> {
    let text = string.clone().to_cstring()?;
    Ok(f(raw_bytes(&text)))
}

/// Whether the engine's text is UTF-8: it has no lone surrogates.
pub(crate) fn is_well_formed(text: &CString<'_>) -> bool {
    std::str::from_utf8(raw_bytes(text)).is_ok()
}

/// The engine's text, with U+FFFD for lone surrogates.
pub(crate) fn owned(text: &CString<'_>) -> String {
    well_formed(raw_bytes(text)).into_owned()
}

pub(crate) fn raw_bytes<'a>(text: &'a CString<'_>) -> &'a [u8] {
    // SAFETY: a `CString` owns `len` bytes at its pointer until it is dropped. They are not always UTF-8 (lone
    // surrogates are written as three bytes each), which is why `CString::as_str` is not used.
    unsafe { std::slice::from_raw_parts(text.as_ptr().cast(), text.len()) }
}

/// The engine's UTF-8 with each lone surrogate (`ED A0..BF xx`) replaced.
pub(crate) fn well_formed(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Err(error) = std::str::from_utf8(rest) {
        let (good, bad) = rest.split_at(error.valid_up_to());
        out.push_str(&String::from_utf8_lossy(good));
        out.push('\u{FFFD}');
        rest = &bad[bad.len().min(3)..];
    }
    out.push_str(&String::from_utf8_lossy(rest));
    Cow::Owned(out)
}
