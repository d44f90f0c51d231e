//! The native part of `TextEncoder` and `TextDecoder`.

use host::bytes;
use host::js::{Ctx, Exception, Function, Object, Value};

use crate::web;

const SOURCE: &str = include_str!("text.js");

/// `{ TextEncoder, TextDecoder }`.
pub(crate) fn classes<'js>(ctx: &Ctx<'js>) -> host::js::Result<Object<'js>> {
    let encode = |ctx: Ctx<'js>, text: Value<'js>| -> host::js::Result<Value<'js>> {
        let text = bytes::text(&text)?.unwrap_or_default();
        Ok(bytes::array_buffer(&ctx, text.into_bytes())?.into_value())
    };
    web::evaluate(ctx, "onrush/text.js", SOURCE)?
        .call((Function::new(ctx.clone(), encode)?, Function::new(ctx.clone(), decode)?))
}

/// `flags`: 1 throw on bytes that are no text, 2 keep the byte order mark, 4 more will follow.
fn decode<'js>(ctx: Ctx<'js>, label: String, input: Value<'js>, flags: u32) -> host::js::Result<host::js::Array<'js>> {
    let (fatal, keep_mark, streaming) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
    let decoded = bytes::read(&ctx, &input, move |bytes| match label.as_str() {
        "utf-16le" => utf16(bytes, u16::from_le_bytes, streaming),
        "utf-16be" => utf16(bytes, u16::from_be_bytes, streaming),
        _ => utf8(bytes, streaming),
    })?;
    let (text, used, clean) = decoded.unwrap_or_default();
    if fatal && !clean {
        return Err(Exception::throw_type(&ctx, "the bytes are not text in this encoding"));
    }
    let text = if keep_mark { text } else { text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text) };
    let pair = host::js::Array::new(ctx.clone())?;
    pair.set(0, text)?;
    pair.set(1, used)?;
    Ok(pair)
}

/// Text, bytes used, and whether nothing had to be replaced. While streaming an incomplete end is left for later.
fn utf8(bytes: &[u8], streaming: bool) -> (String, usize, bool) {
    let used = match std::str::from_utf8(bytes) {
        Err(error) if streaming && error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    };
    let text = String::from_utf8_lossy(&bytes[..used]);
    let clean = matches!(text, std::borrow::Cow::Borrowed(_));
    (text.into_owned(), used, clean)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16, streaming: bool) -> (String, usize, bool) {
    let mut units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    let mut used = bytes.len();
    if streaming {
        used = units.len() * 2;
        if units.last().is_some_and(|last| (0xd800..0xdc00).contains(last)) {
            units.pop();
            used -= 2;
        }
    }
    let odd = used % 2 == 1;
    let clean = !odd && String::from_utf16(&units).is_ok();
    let mut text = String::from_utf16_lossy(&units);
    if odd {
        text.push('\u{fffd}');
    }
    (text, used, clean)
}
