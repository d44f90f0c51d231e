//! Values of columns and parameters, between databases and scripts.

use host::bytes;
use host::js::function::This;
use host::js::{Array, Ctx, Function, IntoJs, Result, Value};
use host::native;

use super::time::SqlTime;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// NULL.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Number(f64),
    /// Text.
    Text(String),
    /// Bytes, and text of columns whose type the driver does not turn into a value of the script.
    Bytes(Vec<u8>),
    /// A point in time.
    Time(SqlTime),
    /// An array; only as a parameter.
    List(Vec<SqlValue>),
}

impl SqlValue {
    /// A parameter that the script gave. The error says what it cannot be.
    pub fn of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<std::result::Result<SqlValue, String>> {
        Ok(Ok(if value.is_null() || value.is_undefined() {
            SqlValue::Null
        } else if let Some(is_true) = value.as_bool() {
            SqlValue::Bool(is_true)
        } else if let Some(number) = value.as_number() {
            let is_whole = number.fract() == 0.0 && number.abs() < 9.2e18;
            if is_whole { SqlValue::Whole(number as i64) } else { SqlValue::Number(number) }
        } else if value.is_string() {
            SqlValue::Text(bytes::to_text(ctx, value)?)
        } else if let Some(content) = bytes::read(ctx, value, <[u8]>::to_vec)? {
            SqlValue::Bytes(content)
        } else if let Some(array) = value.as_array() {
            let mut list = Vec::new();
            for element in array.iter::<Value<'js>>() {
                match SqlValue::of(ctx, &element?)? {
                    Ok(element) => list.push(element),
                    Err(why) => return Ok(Err(why)),
                }
            }
            SqlValue::List(list)
        } else {
            match time_of(value)? {
                Some(time) => SqlValue::Time(time),
                None if value.type_name() == "big_int" => return Ok(Err(String::from("a BigInt"))),
                None => return Ok(Err(format!("an {}", value.type_name()))),
            }
        }))
    }

    /// The value for the script.
    pub fn into_js<'js>(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self {
            SqlValue::Null => Ok(Value::new_null(ctx.clone())),
            SqlValue::Bool(is_true) => Ok(Value::new_bool(ctx.clone(), is_true)),
            SqlValue::Whole(number) => match i32::try_from(number) {
                Ok(number) => Ok(Value::new_int(ctx.clone(), number)),
                Err(_) => Ok(Value::new_float(ctx.clone(), number as f64)),
            },
            SqlValue::Number(number) => Ok(Value::new_number(ctx.clone(), number)),
            SqlValue::Text(text) => text.into_js(ctx),
            // k6 shows Go's byte slices: an array of numbers, which scripts give to String.fromCharCode.
            SqlValue::Bytes(content) => {
                let array = Array::new(ctx.clone())?;
                for (index, byte) in content.into_iter().enumerate() {
                    array.set(index, byte)?;
                }
                Ok(array.into_value())
            }
            SqlValue::Time(time) => Ok(native::object(ctx, time)?.into_value()),
            SqlValue::List(list) => {
                let array = Array::new(ctx.clone())?;
                for (index, value) in list.into_iter().enumerate() {
                    array.set(index, value.into_js(ctx)?)?;
                }
                Ok(array.into_value())
            }
        }
    }
}

/// The time of a Date.
fn time_of(value: &Value<'_>) -> Result<Option<SqlTime>> {
    let Some(object) = value.as_object() else { return Ok(None) };
    // Missing for a user whose script never names it.
    let date: Option<Function<'_>> = value.ctx().globals().get("Date")?;
    if !date.is_some_and(|date| object.is_instance_of(&date)) {
        return Ok(None);
    }
    let time: Function<'_> = object.get("getTime")?;
    let millis: f64 = time.call((This(object.clone()),))?;
    Ok(SqlTime::from_millis(millis))
}
