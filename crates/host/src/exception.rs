//! Errors that no script can catch: the way out of a script that must stop.

use rquickjs::{Ctx, Error, Value, qjs};

/// Throws an error that `catch` and `finally` of the script do not see.
pub fn throw_uncatchable(ctx: &Ctx<'_>, message: &str) -> Error {
    let Ok(error) = rquickjs::Exception::from_message(ctx.clone(), message) else { return Error::Exception };
    let value = error.into_object().into_value();
    // SAFETY: a live value of this context, borrowed for the call.
    unsafe { qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), value.as_raw()) };
    ctx.throw(value)
}

/// Whether this is an error that no script may catch: the user must stop, or the test aborts.
pub fn is_uncatchable(value: &Value<'_>) -> bool {
    // SAFETY: a live value, only looked at.
    unsafe { qjs::JS_IsUncatchableError(value.as_raw()) }
}
