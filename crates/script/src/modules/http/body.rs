//! The body argument: what a script gives becomes a `wire::Payload`, bytes untouched.
//!
//! Strings and buffers go as they are; an object becomes a form, url-encoded or, when a value is an `http.file`,
//! multipart with one segment a part: file contents are not concatenated. Values of forms are written as k6 writes them,
//! which is Go's default format (`<nil>`, `map[a:1]`), because servers under test have been fed that.
//! Differs from k6 on purpose: any typed array and DataView is sent as its bytes.

use rquickjs::function::This;
use rquickjs::object::Filter;
use rquickjs::{Ctx, Function, IntoJs, Object, Result, Type, Value};
use wire::Payload;

use super::{Refusal, go_error};
use crate::arguments::present;
use crate::host::loan::Loans;
use crate::host::plain::{Args, Plain};
use crate::host::record::Record;
use crate::host::{bytes, object};
use crate::modules::form_data;
use crate::modules::form_data::multipart::{self, Multipart, PartHead, Quoting};
use crate::modules::payload::streamed;
use crate::vu::Vu;

/// A body ready to be sent.
#[derive(Clone, Default)]
pub struct BodyArg {
    /// The bytes; `None` when the script gave null or nothing.
    pub payload: Option<Payload>,
    /// Content-Type to set unless the script set one.
    pub content_type: Option<String>,
}

/// What `http.file` returns: data, filename and content type.
pub type FileData = Record<3>;

/// `http.file(data, filename?, contentType?)`.
pub struct MakeFile;

impl Plain for MakeFile {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _number: i32) -> Result<Value<'js>> {
        let data = args.get(0).unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        let is_buffer = object::of(&data).is_some_and(Object::is_array_buffer);
        if !data.is_string() && !is_buffer && streamed::segment_of(&data).is_none() {
            let name = go_type(&data);
            return Err(go_error::throw(ctx, &format!("invalid type {name}, expected string or ArrayBuffer")));
        }
        let filename = match present(args.get(1)) {
            Some(name) => name,
            None => default_name(&data).into_js(ctx)?,
        };
        let kind = match present(args.get(2)) {
            Some(kind) => kind,
            None => "application/octet-stream".into_js(ctx)?,
        };
        let fields = [(c"data", data), (c"filename", filename), (c"content_type", kind)];
        Vu::of(ctx).local::<FileData>().object(ctx, fields).map(Object::into_value)
    }
}

fn now_ns() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

/// Converts the body argument of a request.
pub fn from_js<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    loans: &Loans<'js>,
) -> Result<std::result::Result<BodyArg, Refusal>> {
    if object::of(value).is_some() {
        return of_object(ctx, value, loans);
    }
    let payload = match value.type_of() {
        Type::Undefined | Type::Null | Type::Uninitialized => return Ok(Ok(BodyArg::default())),
        Type::String => loans.text(value)?.map(Payload::from).unwrap_or_default(),
        Type::Symbol => Payload::from_bytes(bytes::to_text(ctx, value)?),
        _ => return Ok(Err(unknown_type(value))),
    };
    Ok(Ok(BodyArg { payload: Some(payload), content_type: None }))
}

fn of_object<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    loans: &Loans<'js>,
) -> Result<std::result::Result<BodyArg, Refusal>> {
    let object = object::of(value).expect("the caller looked");
    if object::is_plain(value) {
        return form(ctx, object, loans).map(Ok);
    }
    // Asked first: asking a buffer whether it is something native makes the engine build an exception.
    let multipart = if bytes::is_buffer(value) { None } else { form_data::as_body(ctx, value, loans)? };
    if let Some((payload, kind)) = multipart {
        return Ok(Ok(BodyArg { payload: Some(payload), content_type: Some(kind) }));
    }
    // An Error is an object without enumerable properties: an empty form.
    let is_form = matches!(value.type_of(), Type::Object | Type::Proxy | Type::Exception);
    match content(value, loans)? {
        Some(content) => Ok(Ok(BodyArg { payload: Some(content), content_type: None })),
        None if !is_form || is_instance(ctx, object, "Date")? || is_instance(ctx, object, "Map")? => {
            Ok(Err(unknown_type(value)))
        }
        None => form(ctx, object, loans).map(Ok),
    }
}

fn unknown_type(value: &Value<'_>) -> Refusal {
    let expected =
        "a string, an ArrayBuffer, a view of one, an object of form fields, a FormData, a FileStream or a payload";
    Refusal::new(format!("unknown request body type {}, expected {expected}", go_type(value)))
}

/// Whether `content` takes the value, unless its buffer is detached.
pub fn is_content(value: &Value<'_>) -> bool {
    bytes::is_buffer(value) || streamed::segment_of(value).is_some()
}

/// The bytes of a value that stands for bytes alone (an ArrayBuffer or a view of one, a file, generated bytes), as a body or
/// as a part of a form; `None` for anything else and for a detached buffer.
pub fn content<'js>(value: &Value<'js>, loans: &Loans<'js>) -> Result<Option<Payload>> {
    let segment = if bytes::is_buffer(value) { loans.buffer(value)? } else { streamed::segment_of(value) };
    Ok(segment.map(Payload::from))
}

/// What a file is called that has no other name: a file's own, and for bytes k6's number.
fn default_name(data: &Value<'_>) -> String {
    streamed::file_name(data).unwrap_or_else(|| now_ns().to_string())
}

fn is_instance<'js>(ctx: &Ctx<'js>, object: &Object<'js>, class: &str) -> Result<bool> {
    let constructor: Value<'js> = ctx.globals().get(class)?;
    // A class that no module named is not there, and neither is an instance of it.
    Ok(constructor.is_function() && object.is_instance_of(&constructor))
}

fn form<'js>(ctx: &Ctx<'js>, object: &Object<'js>, loans: &Loans<'js>) -> Result<BodyArg> {
    let mut fields: Vec<(String, Value<'js>)> = Vec::new();
    object::each_entry(ctx, object, |name, value| {
        fields.push((name.text()?, value));
        Ok(())
    })?;
    let files = Vu::of(ctx).local::<FileData>();
    if fields.iter().any(|(_, value)| files.is(value)) {
        return multipart(ctx, &files, &fields, loans);
    }
    fields.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
    let mut text = String::new();
    for (name, value) in &fields {
        match value.as_array() {
            Some(array) => {
                for item in array.iter::<Value<'js>>() {
                    push_pair(&mut text, name, &go_text(ctx, &item?, 0)?);
                }
            }
            None => push_pair(&mut text, name, &go_text(ctx, value, 0)?),
        }
    }
    Ok(BodyArg {
        payload: Some(Payload::from_bytes(text.into_bytes())),
        content_type: Some(String::from("application/x-www-form-urlencoded")),
    })
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
    files: &FileData,
    fields: &[(String, Value<'js>)],
    loans: &Loans<'js>,
) -> Result<BodyArg> {
    let boundary = multipart::go_boundary();
    let mut form = Multipart::new(&boundary, Quoting::Backslash);
    for (name, value) in fields {
        let name = name.as_bytes();
        let Some([data, filename, kind]) = files.fields(value)? else {
            let head = PartHead { name, filename: None, content_type: None };
            form.short_part(&head, go_text(ctx, value, 0)?.as_bytes());
            continue;
        };
        let (filename, kind) = (go_text(ctx, &filename, 0)?, go_text(ctx, &kind, 0)?);
        if let Some(problem) = multipart::type_problem(kind.as_bytes()) {
            return Err(go_error::throw(ctx, &format!("http.file {filename:?}: {problem}")));
        }
        let head = PartHead { name, filename: Some(filename.as_bytes()), content_type: Some(kind.as_bytes()) };
        match content(&data, loans)? {
            Some(content) => form.part(&head, &content),
            None => form.short_part(&head, go_text(ctx, &data, 0)?.as_bytes()),
        }
    }
    let content_type = Some(format!("multipart/form-data; boundary={boundary}"));
    Ok(BodyArg { payload: Some(form.finish()), content_type })
}

/// A value in Go's default format, which k6 applies to the values of forms. Nesting past 32 levels is cut.
fn go_text<'js>(ctx: &Ctx<'js>, value: &Value<'js>, depth: usize) -> Result<String> {
    if value.is_string() || matches!(value.type_of(), Type::BigInt | Type::Symbol) {
        return bytes::to_text(ctx, value);
    }
    if let Some(flag) = value.as_bool() {
        return Ok(flag.to_string());
    }
    if let Some(number) = value.as_number() {
        return Ok(go_number(number));
    }
    if value.is_null() || value.is_undefined() {
        return Ok(String::from("<nil>"));
    }
    let Some(object) = value.as_object().filter(|_| depth < 32) else { return Ok(String::new()) };
    if let Some(array) = object.as_array() {
        let items: Result<Vec<String>> =
            array.iter::<Value<'js>>().map(|item| go_text(ctx, &item?, depth + 1)).collect();
        return Ok(format!("[{}]", items?.join(" ")));
    }
    if is_instance(ctx, object, "Date")? {
        return go_time(object);
    }
    if object.is_function() {
        return Ok(String::new());
    }
    let mut members: Vec<(String, String)> = Vec::new();
    for entry in object.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
        let (key, value) = entry?;
        members.push((bytes::to_text(ctx, &key)?, go_text(ctx, &value, depth + 1)?));
    }
    members.sort();
    let members: Vec<String> = members.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    Ok(format!("map[{}]", members.join(" ")))
}

/// A Date as Go prints a time in UTC.
fn go_time(date: &Object<'_>) -> Result<String> {
    let to_iso: Function<'_> = date.get("toISOString")?;
    let iso: String = to_iso.call((This(date.clone()),))?;
    let (seconds, fraction) = iso.trim_end_matches('Z').split_once('.').unwrap_or((&iso, ""));
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    let text = format!("{}{dot}{fraction}", seconds.replace('T', " "));
    Ok(format!("{text} +0000 UTC"))
}

/// A number in Go's default format: whole ones as integers, others in the shortest form with an exponent from 1e6 or under
/// 1e-4 on.
pub fn go_number(number: f64) -> String {
    if number.is_nan() {
        return String::from("NaN");
    }
    if number.is_infinite() {
        return String::from(if number > 0.0 { "+Inf" } else { "-Inf" });
    }
    if number == 0.0 {
        return String::from(if number.is_sign_negative() { "-0" } else { "0" });
    }
    if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
        return format!("{number:.0}");
    }
    let shortest = format!("{number:e}");
    let (mantissa, exponent) = shortest.split_once('e').expect("the format always has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a small integer");
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// The name that k6's messages have for the type of a value.
pub fn go_type(value: &Value<'_>) -> &'static str {
    if value.is_int() {
        return "int64";
    }
    if let Some(number) = value.as_float() {
        return if number.fract() == 0.0 && number.abs() < 9e15 { "int64" } else { "float64" };
    }
    let Some(object) = value.as_object() else {
        return match value.type_of() {
            Type::Bool => "bool",
            Type::String | Type::Symbol => "string",
            Type::BigInt => "*big.Int",
            _ => "<nil>",
        };
    };
    if object.is_function() {
        return "func(sobek.FunctionCall) sobek.Value";
    }
    if object.is_array() {
        return "[]interface {}";
    }
    let class = object.get::<_, Object<'_>>("constructor").and_then(|c| c.get::<_, String>("name")).unwrap_or_default();
    match class.as_str() {
        "Date" => "time.Time",
        "Map" => "[][2]interface {}",
        "Uint8Array" | "Uint8ClampedArray" => "[]uint8",
        "Int8Array" => "[]int8",
        "Uint16Array" => "[]uint16",
        "Int16Array" => "[]int16",
        "Uint32Array" => "[]uint32",
        "Int32Array" => "[]int32",
        "Float32Array" => "[]float32",
        "Float64Array" => "[]float64",
        _ => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_like_go() {
        let table: &[(f64, &str)] = &[
            (1.0, "1"),
            (-3.0, "-3"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1.5, "1.5"),
            (123456.5, "123456.5"),
            (1234567.5, "1.2345675e+06"),
            (1e6, "1000000"),
            (12345678901.0, "12345678901"),
            (1e21, "1e+21"),
            (1e-7, "1e-07"),
            (0.0001, "0.0001"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+Inf"),
        ];
        for (number, expected) in table {
            assert_eq!(go_number(*number), *expected);
        }
    }

    #[test]
    fn escapes_like_go() {
        let mut out = String::new();
        push_pair(&mut out, "a", "x y&é");
        push_pair(&mut out, "b", "-_.~*");
        assert_eq!(out, "a=x+y%26%C3%A9&b=-_.~%2A");
    }
}
