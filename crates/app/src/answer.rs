//! What a script answered, as plain values: bodies are taken over with at most one copy, header lines are checked.

use std::borrow::Cow;
use std::fs::File;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use host::js::{Ctx, Exception, Object, Result, Value};
use host::plain::Args;
use host::{bytes as script_bytes, native, object, shared_buffer};
use script::Vu;
use script::disk::Unopened;
use script::paths;
use server::respond::{Body, Line, Response};

use crate::values::argument;

/// Lines that belong to the code that frames the message.
const FRAMING: [&str; 6] =
    ["connection", "content-length", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// A file as a body, not read yet.
pub(super) struct FileBody {
    file: Arc<File>,
    offset: u64,
    length: u64,
}

/// The body, when it is one that is all there; nothing for those that are made while they are sent.
pub(super) fn whole_body<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<Body>> {
    if let Some(bytes) = piece(ctx, value)? {
        return Ok(Some(Body::Shared(bytes)));
    }
    if value.is_undefined() || value.is_null() {
        return Ok(Some(Body::Static(b"")));
    }
    if let Some(file) = native::get::<FileBody>(value) {
        return Ok(Some(Body::File { file: file.file.clone(), offset: file.offset, length: file.length }));
    }
    let Some(array) = value.as_array() else { return Ok(None) };
    let mut pieces = Vec::with_capacity(array.len());
    for (index, item) in array.iter::<Value<'js>>().enumerate() {
        let item = item?;
        match piece(ctx, &item)? {
            Some(bytes) => pieces.push(bytes),
            None => {
                let found = item.type_name();
                let message =
                    format!("piece {index} of the body is {found}, expected a string, an ArrayBuffer or a typed array");
                return Err(Exception::throw_type(ctx, &message));
            }
        }
    }
    Ok(Some(Body::Array(pieces)))
}

/// The bytes of a string, a buffer or a view; nothing for other values. Copied once, unless the whole process shares
/// them.
pub(super) fn piece<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<Bytes>> {
    if !value.is_string() {
        if !script_bytes::is_buffer(value) {
            return Ok(None);
        }
        if let Some(shared) = shared_buffer::bytes_of(ctx, value)? {
            return Ok(Some(shared));
        }
    }
    match script_bytes::read(ctx, value, Bytes::copy_from_slice)? {
        Some(bytes) => Ok(Some(bytes)),
        None => Err(Exception::throw_type(ctx, "the body is a buffer that was released or transferred")),
    }
}

/// `[name, value, …]` as header lines.
pub(super) fn lines<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<Line>> {
    let Some(array) = value.as_array() else { return Ok(Vec::new()) };
    let mut lines = Vec::with_capacity(array.len() / 2);
    for index in (0..array.len()).step_by(2) {
        let name: Value<'js> = array.get(index)?;
        let name = script_bytes::to_text(ctx, &name)?;
        if FRAMING.contains(&name.as_str()) {
            continue;
        }
        let value: Value<'js> = array.get(index + 1)?;
        lines.push((Cow::Owned(name), Cow::Owned(script_bytes::to_text(ctx, &value)?)));
    }
    Ok(lines)
}

/// The properties of an object literal as header lines.
pub(super) fn lines_of_literal<'js>(ctx: &Ctx<'js>, literal: &Object<'js>) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    object::each_entry(ctx, literal, |name, value| {
        let (mut name, value) = (name.text()?, script_bytes::to_text(ctx, &value)?);
        let value = value.trim_matches([' ', '\t', '\r', '\n']);
        if let Some(refusal) = header_refusal(&name, value) {
            return Err(Exception::throw_type(ctx, &refusal));
        }
        name.make_ascii_lowercase();
        if !FRAMING.contains(&name.as_str()) {
            lines.push((Cow::Owned(name), Cow::Owned(value.to_owned())));
        }
        Ok(())
    })?;
    Ok(lines)
}

/// Puts an answer together; the type of the headers beats the body's.
pub(super) fn build(status: u16, headers: Vec<Line>, content_type: Option<Cow<'static, str>>, body: Body) -> Response {
    let has_type = headers.iter().any(|(name, _)| name == "content-type");
    let mut response = Response::bare(status, body);
    response.headers = headers;
    response.content_type = content_type.filter(|_| !has_type);
    response
}

/// Why a header line cannot be sent.
pub(super) fn header_refusal(name: &str, value: &str) -> Option<String> {
    if !wire::field::is_token(name) {
        return Some(format!(
            "header name {name:?} is not a name that can be sent: letters, digits and !#$%&'*+-.^_`|~"
        ));
    }
    (!wire::field::is_value(value))
        .then(|| format!("the value of header {name} holds a line break or another control character"))
}

/// `Onrush.file(path, { offset, length })`. Called by the script itself, so that relative paths start at its module.
pub(super) fn open_file<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let path = script_bytes::to_text(ctx, &argument(ctx, args, 0))?;
    let failed = |what: String| Exception::throw_message(ctx, &format!("cannot send the file {path}: {what}"));
    let full = paths::absolute(ctx, &Vu::of(ctx), &path);
    let options = argument(ctx, args, 1).into_object();
    let file = Vu::of(ctx).disk().open(&full).map_err(|unopened| match unopened {
        Unopened::Failed(error) => failed(error.to_string()),
        Unopened::Directory | Unopened::Special => failed(String::from("it is not a regular file")),
    })?;
    let about = file.metadata().map_err(|error| failed(error.to_string()))?;
    let number = |name: &str, standard: u64| {
        let value = options.as_ref().map(|options| options.get::<_, Value<'js>>(name)).transpose()?;
        let Some(value) = value.filter(|value| !value.is_undefined()) else { return Ok(standard) };
        match value.as_number().filter(|number| *number >= 0.0 && number.fract() == 0.0) {
            Some(number) => Ok(number as u64),
            None => Err(failed(format!("{name} is not a whole number of bytes"))),
        }
    };
    let offset = number("offset", 0)?;
    let rest = about.len().checked_sub(offset);
    let rest = rest.ok_or_else(|| failed(format!("offset {offset} is beyond its end at {}", about.len())))?;
    let length = number("length", rest)?;
    if length > rest {
        return Err(failed(format!("{length} bytes were asked for, {rest} are there")));
    }
    let body = native::shared(ctx, None, Rc::new(FileBody { file: Arc::new(file), offset, length }))?;
    object::of(&body).ok_or(host::js::Error::Unknown)?.set("size", length as f64)?;
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_would_split_a_response_are_refused() {
        for (name, value, is_fine) in [
            ("x-a", "b", true),
            ("X-A", "caf\u{e9}\tx", true),
            ("", "b", false),
            ("x a", "b", false),
            ("x:", "b", false),
            ("x\u{e9}", "b", false),
            ("x", "a\r\nset-cookie: b", false),
            ("x", "a\nb", false),
            ("x", "a\0b", false),
        ] {
            assert_eq!(header_refusal(name, value).is_none(), is_fine, "{name:?} {value:?}");
        }
    }
}
