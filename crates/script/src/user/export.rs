//! Values that leave a virtual user for good: what `setup()` returns, as the JSON that every user will parse.
//!
//! k6 exports the value to Go and writes that: functions are refused, `undefined` is null, dates are RFC 3339, byte
//! arrays are base64, `toJSON` is not asked, and a Response, an `http.url` and an `http.file` are their data.
//! Recursion is limited, because the text may come from a value of any depth.

use host::Building;
use host::bytes;
use host::js::{Ctx, Exception, Object, Value};
use host::kind::{BufferKind, ElementType, Kind};
use host::object;

use crate::Vu;
use crate::builtins::AsData;

/// Nesting that is still written; Go's own limit for reading JSON is 10,000, a coroutine's stack allows this much,
/// also without optimisation.
const DEEPEST: usize = 128;

/// Why a value cannot leave.
#[derive(Debug)]
pub(crate) enum ExportError {
    /// It holds something that JSON has no form for.
    Refused(String),
    /// The script threw while it was read.
    Thrown(host::js::Error),
}

impl From<host::js::Error> for ExportError {
    fn from(error: host::js::Error) -> Self {
        ExportError::Thrown(error)
    }
}

/// What is written so far, on the account of the user.
#[derive(Default)]
struct Text {
    written: String,
    memory: Building,
}

impl Text {
    fn push(&mut self, c: char) {
        self.written.push(c);
    }

    fn push_str(&mut self, text: &str) {
        self.written.push_str(text);
    }
}

/// The JSON of a value; `None` for `undefined` itself.
pub(crate) fn to_json(value: &Value<'_>) -> Result<Option<String>, ExportError> {
    if value.is_undefined() {
        return Ok(None);
    }
    let mut out = Text::default();
    write(value, &mut out, 0)?;
    Ok(Some(out.written))
}

fn write(value: &Value<'_>, out: &mut Text, depth: usize) -> Result<(), ExportError> {
    if depth > DEEPEST {
        return Err(ExportError::Refused(format!("nested deeper than {DEEPEST} levels, or a cycle")));
    }
    out.memory.grew_to(value.ctx(), out.written.capacity())?;
    if let Some(text) = bytes::text(value)? {
        quoted(&text, out);
    } else if value.is_function() {
        return Err(ExportError::Refused("a function".into()));
    } else if let Some(object) = value.as_object() {
        write_object(object, out, depth)?;
    } else if let Some(number) = value.as_number() {
        if !number.is_finite() {
            return Err(ExportError::Refused(number.to_string()));
        }
        // A whole number has no decimals, as in JavaScript and in Go.
        match number.fract() == 0.0 && number.abs() < 1e15 && !(number == 0.0 && number.is_sign_negative()) {
            true => out.push_str(&(number as i64).to_string()),
            false => out.push_str(&serde_json::Value::from(number).to_string()),
        }
    } else if let Some(truth) = value.as_bool() {
        out.push_str(if truth { "true" } else { "false" });
    } else if value.is_big_int() {
        out.push_str(&bytes::to_text(value.ctx(), value)?);
    } else if value.is_undefined() || value.is_null() {
        out.push_str("null");
    } else if let Some(symbol) = value.as_symbol() {
        // As in Go: by its description.
        write(&symbol.description()?, out, depth)?;
    } else {
        return Err(ExportError::Refused(format!("a {}", value.type_name())));
    }
    Ok(())
}

fn write_object(object: &Object<'_>, out: &mut Text, depth: usize) -> Result<(), ExportError> {
    match Kind::of(object.as_value()) {
        Kind::Date(_) => write_date(object, out),
        Kind::Buffer(BufferKind::Buffer) => {
            out.push_str("{}");
            Ok(())
        }
        Kind::Buffer(BufferKind::Typed(ElementType::Uint8)) => {
            let encode = |bytes: &[u8]| base64_simd::STANDARD.encode_to_string(bytes);
            let encoded = bytes::read(object.ctx(), object.as_value(), encode)?;
            quoted(&encoded.unwrap_or_default(), out);
            Ok(())
        }
        Kind::Buffer(BufferKind::Typed(_)) => write_array(object, out, depth),
        Kind::Map(_) => write_array(&members(object)?, out, depth),
        Kind::Other(_) if object::is_set(object.as_value()) => write_array(&members(object)?, out, depth),
        _ if object.is_error() => {
            out.push_str("{}");
            Ok(())
        }
        _ if object.is_array() => write_array(object, out, depth),
        _ => write_other(object, out, depth),
    }
}

/// What k6's modules make of Go's structures is data; the functions on it are left out.
fn write_other(object: &Object<'_>, out: &mut Text, depth: usize) -> Result<(), ExportError> {
    let as_data = Vu::of(object.ctx()).shared.modules.builtins().as_data;
    match as_data(object.as_value())? {
        None => write_properties(object, out, depth, |_| false),
        Some(AsData::WithoutFunctions) => write_properties(object, out, depth, Value::is_function),
        Some(AsData::Fields(fields)) => write_fields(fields, out, depth),
    }
}

fn write_fields(fields: [(&str, Value<'_>); 3], out: &mut Text, depth: usize) -> Result<(), ExportError> {
    for (index, (name, value)) in fields.into_iter().enumerate() {
        out.push(if index == 0 { '{' } else { ',' });
        quoted(name, out);
        out.push(':');
        write(&value, out, depth + 1)?;
    }
    out.push('}');
    Ok(())
}

fn write_date(object: &Object<'_>, out: &mut Text) -> Result<(), ExportError> {
    let text: String =
        object.get::<_, host::js::Function<'_>>("toISOString")?.call((host::js::function::This(object.clone()),))?;
    let seconds = text.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.');
    quoted(&format!("{seconds}Z"), out);
    Ok(())
}

fn write_array(array: &Object<'_>, out: &mut Text, depth: usize) -> Result<(), ExportError> {
    let length: u32 = array.get("length")?;
    write_list((0..length).map(|index| array.get(index)), out, depth)
}

/// A Map as its pairs, a Set as its members.
fn members<'js>(collection: &Object<'js>) -> Result<Object<'js>, ExportError> {
    let array: Object<'js> = collection.ctx().globals().get("Array")?;
    let from: host::js::Function<'js> = array.get("from")?;
    Ok(from.call((host::js::function::This(array), collection.clone()))?)
}

fn write_list<'js>(
    items: impl Iterator<Item = host::js::Result<Value<'js>>>,
    out: &mut Text,
    depth: usize,
) -> Result<(), ExportError> {
    out.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(&item?, out, depth + 1)?;
    }
    out.push(']');
    Ok(())
}

fn write_properties<'js>(
    object: &Object<'js>,
    out: &mut Text,
    depth: usize,
    is_left_out: impl Fn(&Value<'js>) -> bool,
) -> Result<(), ExportError> {
    out.push('{');
    let mut is_first = true;
    for key in object.keys::<host::js::String<'js>>() {
        let key = key?;
        let value: Value<'js> = object.get(key.clone())?;
        if is_left_out(&value) {
            continue;
        }
        if !std::mem::take(&mut is_first) {
            out.push(',');
        }
        quoted(&bytes::text(key.as_value())?.unwrap_or_default(), out);
        out.push(':');
        write(&value, out, depth + 1)?;
    }
    out.push('}');
    Ok(())
}

fn quoted(text: &str, out: &mut Text) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

/// Named byte strings.
pub(crate) type SummaryFiles = Vec<(String, Vec<u8>)>;

/// The properties of an object as named byte strings: what `handleSummary` returns.
/// `None` when it returned nothing.
pub(crate) fn files_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> host::js::Result<Option<SummaryFiles>> {
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let Some(object) = value.as_object() else {
        let message = format!("handleSummary() returned {}, expected an object of texts or buffers", value.type_name());
        return Err(Exception::throw_type(ctx, &message));
    };
    let mut files = Vec::new();
    for key in object.keys::<String>() {
        let key = key?;
        let content: Value<'js> = object.get(key.as_str())?;
        match bytes::read(ctx, &content, <[u8]>::to_vec)? {
            Some(bytes) => files.push((key, bytes)),
            None => {
                let found = content.type_name();
                let message =
                    format!("handleSummary() returned {found} for '{key}', expected a text or an ArrayBuffer");
                return Err(Exception::throw_type(ctx, &message));
            }
        }
    }
    Ok(Some(files))
}
