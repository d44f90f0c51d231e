//! From replies of a server to values of the script.

use host::js::{Array, Ctx, IntoJs, Object, Result, Value};
use redis_protocol::resp2::types::OwnedFrame;

/// What a script is told where there is no value: Go's client calls it so, and scripts compare the text.
pub const NIL: &str = "redis: nil";

/// What a command's reply becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// As it comes. No value is an error, as in k6.
    Plain,
    /// Whether it is 1.
    Truth,
    /// Seconds.
    Seconds,
    /// Names and values by turns.
    Map,
}

/// Why there is no value: the server's words, or that there is none.
pub fn refusal(reply: &OwnedFrame) -> Option<String> {
    match reply {
        OwnedFrame::Error(why) => Some(why.clone()),
        OwnedFrame::Null => Some(NIL.to_owned()),
        _ => None,
    }
}

/// The value.
pub fn to_js<'js>(ctx: &Ctx<'js>, shape: Shape, reply: OwnedFrame) -> Result<Value<'js>> {
    match (shape, reply) {
        (Shape::Truth, OwnedFrame::Integer(number)) => Ok(Value::new_bool(ctx.clone(), number == 1)),
        // k6 has the codes for "never" and "no such key" as nanoseconds.
        (Shape::Seconds, OwnedFrame::Integer(number @ (-1 | -2))) => (number as f64 / 1e9).into_js(ctx),
        (Shape::Map, OwnedFrame::Array(items)) => {
            let map = Object::new(ctx.clone())?;
            let mut items = items.into_iter();
            while let (Some(name), Some(value)) = (items.next(), items.next()) {
                map.set(text(&name), plain(ctx, value)?)?;
            }
            Ok(map.into_value())
        }
        (_, reply) => plain(ctx, reply),
    }
}

fn text(reply: &OwnedFrame) -> String {
    match reply {
        OwnedFrame::SimpleString(bytes) | OwnedFrame::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        OwnedFrame::Integer(number) => number.to_string(),
        OwnedFrame::Error(why) => why.clone(),
        OwnedFrame::Array(_) | OwnedFrame::Null => String::new(),
    }
}

fn plain<'js>(ctx: &Ctx<'js>, reply: OwnedFrame) -> Result<Value<'js>> {
    match reply {
        OwnedFrame::Integer(number) => (number as f64).into_js(ctx),
        OwnedFrame::Null => Ok(Value::new_null(ctx.clone())),
        OwnedFrame::Array(items) => {
            let list = Array::new(ctx.clone())?;
            for (index, item) in items.into_iter().enumerate() {
                list.set(index, plain(ctx, item)?)?;
            }
            Ok(list.into_value())
        }
        words => text(&words).into_js(ctx),
    }
}
