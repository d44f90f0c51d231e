//! Values of the script that native functions take and give.

use host::js::{Array, Ctx, Result, Value};
use host::plain::Args;

/// Undefined.
pub(crate) fn undefined<'js>(ctx: &Ctx<'js>) -> Value<'js> {
    Value::new_undefined(ctx.clone())
}

/// Argument `index`, or undefined.
pub(crate) fn argument<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, index: usize) -> Value<'js> {
    args.get(index).unwrap_or_else(|| undefined(ctx))
}

/// A text as a value of the script.
pub(crate) fn string<'js>(ctx: &Ctx<'js>, text: &str) -> Result<Value<'js>> {
    Ok(host::js::String::from_str(ctx.clone(), text)?.into_value())
}

/// A truth value.
pub(crate) fn bool<'js>(ctx: &Ctx<'js>, value: bool) -> Value<'js> {
    Value::new_bool(ctx.clone(), value)
}

/// `[name, value, name, value]`.
pub(crate) fn flat<'js, 'a>(ctx: &Ctx<'js>, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Value<'js>> {
    let array = Array::new(ctx.clone())?;
    for (index, (name, value)) in pairs.enumerate() {
        array.set(index * 2, name)?;
        array.set(index * 2 + 1, value)?;
    }
    Ok(array.into_value())
}
