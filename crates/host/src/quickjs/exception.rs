//! Errors that no script can catch: the way out of a script that must stop. And where a value was thrown.

use std::ffi::c_int;

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

unsafe extern "C" {
    fn js_std_cmd(command: c_int, ...) -> usize;
}

/// The command that hands out the trace of the last throw.
const ERROR_BACKTRACE: c_int = 2;

/// Where the value came from that was thrown last and not caught, in the form of an Error's stack; empty when that is
/// not known. For values that are no Errors and have no stack of their own. The engine forgets it.
pub fn take_trace(ctx: &Ctx<'_>) -> String {
    let mut value = qjs::JS_UNDEFINED;
    // SAFETY: the command takes a live context and a place to write to, and hands over the value's count.
    let value = unsafe {
        js_std_cmd(ERROR_BACKTRACE, ctx.as_raw().as_ptr(), &raw mut value);
        Value::from_raw(ctx.clone(), value)
    };
    value.as_string().and_then(|text| text.to_string().ok()).unwrap_or_default()
}
