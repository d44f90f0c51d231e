//! Arguments of native functions, read the way k6 reads them: what is missing, `undefined` or `null` counts as absent,
//! names are coerced to text, bytes are never guessed from other values.

use rquickjs::function::Opt;
use rquickjs::{Ctx, Result, Value};

use crate::host::bytes;
use crate::host::go_error;

/// The argument, unless it is missing, `undefined` or `null`.
pub fn given<'js>(argument: Opt<Value<'js>>) -> Option<Value<'js>> {
    present(argument.0)
}

/// The same of an argument that was taken out already.
pub fn present<'js>(argument: Option<Value<'js>>) -> Option<Value<'js>> {
    argument.filter(|value| !value.is_undefined() && !value.is_null())
}

/// The text of an argument, or `default` when it is absent.
pub fn text_or<'js>(ctx: &Ctx<'js>, argument: Opt<Value<'js>>, default: &str) -> Result<String> {
    match given(argument) {
        Some(value) => bytes::to_text(ctx, &value),
        None => Ok(default.to_owned()),
    }
}

/// What `f` makes of the bytes of a string, an ArrayBuffer or a view of one; other values throw.
pub fn require_bytes<'js, R: 'static>(
    ctx: &Ctx<'js>,
    argument: Option<Value<'js>>,
    f: impl FnOnce(&[u8]) -> R + 'static,
) -> Result<R> {
    let found = match &argument {
        None => "nothing",
        Some(value) => match bytes::read(ctx, value, f)? {
            Some(result) => return Ok(result),
            None => value.type_name(),
        },
    };
    let message = format!("invalid type {found}, expected string, ArrayBuffer or a view of one");
    Err(go_error::throw(ctx, &message))
}
