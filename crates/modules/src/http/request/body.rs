//! The body argument: what a script gives becomes a `wire::Payload`, bytes untouched.
//!
//! Strings and buffers go as they are; an object becomes a form, url-encoded or, when a value is an `http.file`,
//! multipart with one segment a part: file contents are not concatenated. Values of forms are written as k6 writes them
//! (`go_format.rs`), because servers under test have been fed that.
//! Differs from k6 on purpose: any typed array and DataView is sent as its bytes.

use host::borrow::Borrows;
use host::js::{Ctx, IntoJs, Object, Result, Value};
use host::kind::{BufferKind, Kind};
use host::plain::{Args, Plain};
use host::{bytes, object};
use wire::Payload;

use crate::form_data::multipart::{self, Multipart, PartHead, Quoting};
use crate::form_data::{self, FilePart};
use crate::http::common::go_format::{go_text, go_type};
use crate::http::common::refusal::{Checked, Refusal};
use crate::payload::borrowed::segment;
use crate::payload::streamed;
use script::arguments::present;
use script::go_error;
use script::vu::Vu;

/// A body ready to be sent.
#[derive(Clone, Default)]
pub struct BodyArg {
    /// The bytes; `None` when the script gave null or nothing.
    pub payload: Option<Payload>,
    /// Content-Type to set unless the script set one.
    pub content_type: Option<String>,
}

/// `http.file(data, filename?, contentType?)`.
pub struct MakeFile;

impl Plain for MakeFile {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _number: i32) -> Result<Value<'js>> {
        let data = args.get(0).unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        let own_name = match Kind::of(&data) {
            Kind::Text(_) | Kind::Buffer(BufferKind::Buffer) => None,
            Kind::Other(_) if streamed::segment_of(&data).is_some() => streamed::file_name(&data),
            _ => {
                let name = go_type(&data);
                return Err(go_error::throw(ctx, &format!("invalid type {name}, expected string or ArrayBuffer")));
            }
        };
        let filename = match present(args.get(1)) {
            Some(name) => name,
            // What has no name gets a number, as in k6.
            None => own_name.unwrap_or_else(|| now_ns().to_string()).into_js(ctx)?,
        };
        let kind = match present(args.get(2)) {
            Some(kind) => kind,
            None => "application/octet-stream".into_js(ctx)?,
        };
        let fields = [(c"data", data), (c"filename", filename), (c"content_type", kind)];
        Vu::of(ctx).local::<FilePart>().object(ctx, fields).map(Object::into_value)
    }
}

/// The fields of what `http.file` made, with the names that they have in Go.
pub fn exported<'js>(value: &Value<'js>) -> Result<Option<[(&'static str, Value<'js>); 3]>> {
    let fields = Vu::of(value.ctx()).local::<FilePart>().fields(value)?;
    Ok(fields.map(|[data, filename, kind]| [("Filename", filename), ("ContentType", kind), ("Data", data)]))
}

fn now_ns() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

/// Converts the body argument of a request.
pub fn from_js<'js>(ctx: &Ctx<'js>, value: &Value<'js>, borrows: &Borrows<'js>) -> Checked<BodyArg> {
    let kind = Kind::of(value);
    let payload = match kind {
        Kind::Nothing => return Ok(BodyArg::default()),
        Kind::Text(_) => borrows.text(value)?.map(segment).map(Payload::from).unwrap_or_default(),
        Kind::Symbol => Payload::from_bytes(bytes::to_text(ctx, value)?),
        Kind::Plain(object) => return Ok(form(ctx, object, borrows)?),
        Kind::Buffer(_) | Kind::Other(_) => return Ok(of_bytes(ctx, value, kind, borrows)?),
        _ => return Err(unknown_type(value).into()),
    };
    Ok(BodyArg { payload: Some(payload), content_type: None })
}

/// A FormData, or what stands for bytes. Any other object is a form of its properties: also a detached buffer, which
/// has none.
fn of_bytes<'js>(ctx: &Ctx<'js>, value: &Value<'js>, kind: Kind<'_, 'js>, borrows: &Borrows<'js>) -> Result<BodyArg> {
    if let Kind::Other(_) = kind
        && let Some((payload, content_type)) = form_data::as_body(ctx, value, borrows)?
    {
        return Ok(BodyArg { payload: Some(payload), content_type: Some(content_type) });
    }
    if let Some(content) = streamed::content(value, kind, borrows)? {
        return Ok(BodyArg { payload: Some(content), content_type: None });
    }
    let object = object::of(value).expect("its kind says so");
    form(ctx, object, borrows)
}

fn unknown_type(value: &Value<'_>) -> Refusal {
    let expected =
        "a string, an ArrayBuffer, a view of one, an object of form fields, a FormData, a FileStream or a payload";
    Refusal::new(format!("unknown request body type {}, expected {expected}", go_type(value)))
}

fn form<'js>(ctx: &Ctx<'js>, object: &Object<'js>, borrows: &Borrows<'js>) -> Result<BodyArg> {
    let mut fields: Vec<(String, Value<'js>)> = Vec::new();
    object::each_entry(ctx, object, |name, value| {
        fields.push((name.text()?, value));
        Ok(())
    })?;
    let files = Vu::of(ctx).local::<FilePart>();
    if fields.iter().any(|(_, value)| files.is(value)) {
        return multipart(ctx, &files, &fields, borrows);
    }
    fields.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
    let mut text = String::new();
    for (name, value) in &fields {
        match value.as_array() {
            Some(array) => {
                for item in array.iter::<Value<'js>>() {
                    push_pair(&mut text, name, &form_text(ctx, &item?)?);
                }
            }
            None => push_pair(&mut text, name, &form_text(ctx, value)?),
        }
    }
    Ok(BodyArg {
        payload: Some(Payload::from_bytes(text.into_bytes())),
        content_type: Some(String::from("application/x-www-form-urlencoded")),
    })
}

/// A value of a form: Go's default format, and nothing at all for nothing (k6 2.3; before it was `<nil>`).
fn form_text<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    if value.is_null() || value.is_undefined() { Ok(String::new()) } else { go_text(ctx, value) }
}

fn push_pair(text: &mut String, name: &str, value: &str) {
    if !text.is_empty() {
        text.push('&');
    }
    query_escape(text, name);
    text.push('=');
    query_escape(text, value);
}

/// Percent-encodes as Go's url.QueryEscape does: a space becomes `+`.
fn query_escape(out: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
}

fn multipart<'js>(
    ctx: &Ctx<'js>,
    files: &FilePart,
    fields: &[(String, Value<'js>)],
    borrows: &Borrows<'js>,
) -> Result<BodyArg> {
    let boundary = multipart::go_boundary();
    let mut form = Multipart::new(&boundary, Quoting::Backslash);
    for (name, value) in fields {
        let name = name.as_bytes();
        let Some([data, filename, kind]) = files.fields(value)? else {
            let head = PartHead { name, filename: None, content_type: None };
            form.short_part(&head, form_text(ctx, value)?.as_bytes());
            continue;
        };
        let (filename, kind) = (go_text(ctx, &filename)?, go_text(ctx, &kind)?);
        if let Some(problem) = multipart::type_problem(kind.as_bytes()) {
            return Err(go_error::throw(ctx, &format!("http.file {filename:?}: {problem}")));
        }
        let head = PartHead { name, filename: Some(filename.as_bytes()), content_type: Some(kind.as_bytes()) };
        match streamed::content(&data, Kind::of(&data), borrows)? {
            Some(content) => form.part(&head, &content),
            None => form.short_part(&head, go_text(ctx, &data)?.as_bytes()),
        }
    }
    let content_type = Some(format!("multipart/form-data; boundary={boundary}"));
    Ok(BodyArg { payload: Some(form.finish()), content_type })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_like_go() {
        let mut out = String::new();
        push_pair(&mut out, "a", "x y&é");
        push_pair(&mut out, "b", "-_.~*");
        assert_eq!(out, "a=x+y%26%C3%A9&b=-_.~%2A");
    }
}
