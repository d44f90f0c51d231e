//! Arguments of native functions, read the way k6 reads them: what is missing, `undefined` or `null` counts as absent,
//! names are coerced to text, bytes are never guessed from other values.

use host::bytes;
use host::js::function::Opt;
use host::js::{Ctx, Error, Object, Result, Value};
use host::kind::Kind;

use crate::go_error;

/// Why an argument cannot be used.
#[derive(Debug)]
pub enum ArgumentError<R> {
    /// The script threw while it was read; the exception is pending.
    Thrown(Error),
    /// It is not what was expected. Who asked for it decides how the script hears of that.
    Refused(R),
}

impl<R> From<Error> for ArgumentError<R> {
    fn from(error: Error) -> Self {
        ArgumentError::Thrown(error)
    }
}

impl<R> ArgumentError<R> {
    /// The same with another kind of refusal.
    pub fn map<S>(self, change: impl FnOnce(R) -> S) -> ArgumentError<S> {
        match self {
            ArgumentError::Thrown(error) => ArgumentError::Thrown(error),
            ArgumentError::Refused(why) => ArgumentError::Refused(change(why)),
        }
    }

    /// The exception: the one that is pending, or what `throw` makes of the refusal.
    pub fn or_throw(self, throw: impl FnOnce(R) -> Error) -> Error {
        match self {
            ArgumentError::Thrown(error) => error,
            ArgumentError::Refused(why) => throw(why),
        }
    }
}

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

/// A property of an object of options, unless it is missing, `undefined` or `null`.
pub fn member<'js>(object: &Object<'js>, name: &str) -> Result<Option<Value<'js>>> {
    Ok(present(Some(object.get(name)?)))
}

/// What `f` makes of the bytes of a string, an ArrayBuffer or a view of one; other values throw.
pub fn require_bytes<'js, R: 'static>(
    ctx: &Ctx<'js>,
    argument: Option<Value<'js>>,
    f: impl FnOnce(&[u8]) -> R + 'static,
) -> Result<R> {
    let found = match &argument {
        None => "nothing",
        Some(value) => {
            let is_bytes = matches!(Kind::of(value), Kind::Text(_) | Kind::Buffer(_));
            match if is_bytes { bytes::read(ctx, value, f)? } else { None } {
                Some(result) => return Ok(result),
                None => value.type_name(),
            }
        }
    };
    let message = format!("invalid type {found}, expected string, ArrayBuffer or a view of one");
    Err(go_error::throw(ctx, &message))
}
