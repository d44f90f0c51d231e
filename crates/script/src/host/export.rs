//! Values that leave a virtual user for good: what `setup()` returns, as the JSON that every user will parse.
//!
//! k6 exports the value to Go and writes that: functions are refused, `undefined` is null, dates are RFC 3339, byte arrays are
//! base64, `toJSON` is not asked. Recursion is limited, because the text may come from a value of any depth.

use rquickjs::{Object, Value, qjs};

use super::bytes;
use super::memory::Building;

/// Nesting that is still written; Go's own limit for reading JSON is 10,000, a coroutine's stack allows this much.
const DEEPEST: usize = 500;

/// Why a value cannot leave.
#[derive(Debug)]
pub(crate) enum ExportError {
    /// It holds something that JSON has no form for.
    Refused(String),
    /// The script threw while it was read.
    Thrown(rquickjs::Error),
}

impl From<rquickjs::Error> for ExportError {
    fn from(error: rquickjs::Error) -> Self {
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
        out.push_str(&serde_json::Value::from(number).to_string());
    } else if let Some(truth) = value.as_bool() {
        out.push_str(if truth { "true" } else { "false" });
    } else if value.is_undefined() || value.is_null() {
        out.push_str("null");
    } else {
        return Err(ExportError::Refused(format!("a {}", value.type_name())));
    }
    Ok(())
}

fn write_object(object: &Object<'_>, out: &mut Text, depth: usize) -> Result<(), ExportError> {
    // SAFETY: these look at the class of the object alone.
    let (is_date, is_buffer, is_bytes, is_typed) = unsafe {
        let raw = object.as_raw();
        let kind = qjs::JS_GetTypedArrayType(raw);
        let is_bytes = kind == qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8 as i32;
        (qjs::JS_IsDate(raw), qjs::JS_IsArrayBuffer(raw), is_bytes, kind >= 0)
    };
    if is_date {
        let text: String = object
            .get::<_, rquickjs::Function<'_>>("toISOString")?
            .call((rquickjs::function::This(object.clone()),))?;
        let seconds = text.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.');
        quoted(&format!("{seconds}Z"), out);
        return Ok(());
    }
    if is_buffer || object.is_error() {
        out.push_str("{}");
        return Ok(());
    }
    if is_bytes {
        let encoded =
            bytes::read(object.ctx(), object.as_value(), |bytes| base64_simd::STANDARD.encode_to_string(bytes))?;
        quoted(&encoded.unwrap_or_default(), out);
        return Ok(());
    }
    if is_typed || object.is_array() {
        let length: u32 = object.get("length")?;
        return write_list((0..length).map(|index| object.get(index)), out, depth);
    }
    if let Some(entries) = entries_of_collection(object)? {
        let length = entries.len();
        return write_list((0..length).map(|index| entries.get(index)), out, depth);
    }
    write_properties(object, out, depth)
}

/// A Map as its pairs, a Set as its members.
fn entries_of_collection<'js>(object: &Object<'js>) -> Result<Option<rquickjs::Array<'js>>, ExportError> {
    // SAFETY: these look at the class of the object alone.
    let is_collection = unsafe { qjs::JS_IsMap(object.as_raw()) || qjs::JS_IsSet(object.as_raw()) };
    if !is_collection {
        return Ok(None);
    }
    let array: Object<'js> = object.ctx().globals().get("Array")?;
    let from: rquickjs::Function<'js> = array.get("from")?;
    Ok(Some(from.call((rquickjs::function::This(array), object.clone()))?))
}

fn write_list<'js>(
    items: impl Iterator<Item = rquickjs::Result<Value<'js>>>,
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

fn write_properties(object: &Object<'_>, out: &mut Text, depth: usize) -> Result<(), ExportError> {
    out.push('{');
    for (index, key) in object.keys::<rquickjs::String<'_>>().enumerate() {
        let key = key?;
        if index > 0 {
            out.push(',');
        }
        quoted(&bytes::text(key.as_value())?.unwrap_or_default(), out);
        out.push(':');
        write(&object.get(key)?, out, depth + 1)?;
    }
    out.push('}');
    Ok(())
}

fn quoted(text: &str, out: &mut Text) {
    out.push_str(&serde_json::Value::from(text).to_string());
}
