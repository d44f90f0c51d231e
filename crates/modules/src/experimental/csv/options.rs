//! The options of `parse` and `Parser` out of an object of the script, coerced as k6 coerces them.
//!
//! Unknown names are ignored, `undefined` and `null` count as absent; a `toLine` of 0 does, too, as in k6.

use host::bytes;
use host::js::{Coerced, Ctx, Exception, FromJs, Object, Result, Value};

use super::table::TableOptions;
use script::arguments::member;

/// Reads the options; throws when they are no usable ones.
pub fn read<'js>(ctx: &Ctx<'js>, value: Option<Value<'js>>) -> Result<TableOptions> {
    let mut options = TableOptions::default();
    let Some(object) = value.as_ref().and_then(Value::as_object) else { return Ok(options) };
    if let Some(delimiter) = member(object, "delimiter")? {
        options.delimiter = delimiter_of(ctx, &delimiter)?;
    }
    options.skip_first_line = flag(ctx, object, "skipFirstLine")?;
    options.as_objects = flag(ctx, object, "asObjects")?;
    let from_line = line(ctx, object, "fromLine")?;
    let to_line = line(ctx, object, "toLine")?;
    if let (Some(from), Some(to)) = (from_line, to_line)
        && from >= to
    {
        return Err(refuse(ctx, &format!("fromLine {from} is not below toLine {to}")));
    }
    options.from_line = from_line.unwrap_or(0);
    options.to_line = to_line.filter(|last| *last > 0);
    if options.as_objects && (options.skip_first_line || options.from_line > 0) {
        let message = "asObjects needs the first row for the names: it goes with neither skipFirstLine nor fromLine";
        return Err(refuse(ctx, message));
    }
    Ok(options)
}

fn flag<'js>(ctx: &Ctx<'js>, object: &Object<'js>, name: &str) -> Result<bool> {
    let Some(value) = member(object, name)? else { return Ok(false) };
    Ok(Coerced::<bool>::from_js(ctx, value)?.0)
}

fn delimiter_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<u8> {
    let text = bytes::to_text(ctx, value)?;
    match text.as_bytes() {
        [b'"' | b'\n' | b'\r'] => Err(refuse(ctx, &format!("{text:?} cannot be the delimiter"))),
        [delimiter] if delimiter.is_ascii() => Ok(*delimiter),
        _ => Err(refuse(ctx, &format!("the delimiter is {text:?}, expected one ASCII character"))),
    }
}

/// A row number; what is no number counts as 0.
fn line<'js>(ctx: &Ctx<'js>, object: &Object<'js>, name: &str) -> Result<Option<u64>> {
    let Some(value) = member(object, name)? else { return Ok(None) };
    match Coerced::<f64>::from_js(ctx, value)?.0.trunc() {
        number if number < 0.0 => Err(refuse(ctx, &format!("{name} is {number}, expected 0 or more"))),
        number => Ok(Some(number as u64)),
    }
}

fn refuse(ctx: &Ctx<'_>, message: &str) -> host::js::Error {
    Exception::throw_message(ctx, &format!("csv options: {message}"))
}
