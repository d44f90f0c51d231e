//! What k6's own functions throw: a `GoError`, which is an `Error` of that name.
//!
//! Scripts look at `e.name`, at `e.constructor.name` and at `String(e)`, so natives must not throw a plain `Error`
//! where k6 does not. Mistakes that JavaScript itself would complain about (a wrong `this`, a symbol as text) stay
//! `TypeError`s.

use host::js::function::Constructor;
use host::js::object::Property;
use host::js::prelude::Func;
use host::js::{Ctx, Error, Function, Object, Result, Value};

/// Makes the class; it is the global `GoError`, as in k6.
pub(crate) fn class<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    ctx.eval(
        "(class GoError extends Error { static { Object.defineProperty(this.prototype, 'name', \
         { value: 'GoError', writable: true, configurable: true }); } })",
    )
}

/// Throws a `GoError` with this message: return what this gives.
pub fn throw(ctx: &Ctx<'_>, message: &str) -> Error {
    // k6 shows the error of its Go side in `value`; most of ours have none, but `JSON.stringify(e)` shows the key.
    match Object::new(ctx.clone()) {
        Ok(nothing) => throw_with(ctx, message, nothing),
        Err(error) => error,
    }
}

/// The same, with the parts of the error that scripts find in `e.value`.
pub fn throw_with<'js>(ctx: &Ctx<'js>, message: &str, parts: Object<'js>) -> Error {
    match make(ctx, message, parts) {
        Ok(error) => ctx.throw(error.into_value()),
        Err(error) => error,
    }
}

/// An error as event handlers get it, who are told of it and not thrown at: `e.error()` and `String(e)` are the
/// message.
pub fn told<'js>(ctx: &Ctx<'js>, message: &str) -> Result<Object<'js>> {
    let error = Object::new(ctx.clone())?;
    let told = message.to_owned();
    error.set("error", Func::from(move || told.clone()))?;
    let shown = message.to_owned();
    let to_string = Function::new(ctx.clone(), move || shown.clone())?;
    error.prop("toString", Property::from(to_string).configurable())?;
    Ok(error)
}

/// Made as an `Error` and given its class afterwards: a constructor written in JavaScript would be a frame of the
/// stack.
fn make<'js>(ctx: &Ctx<'js>, message: &str, parts: Object<'js>) -> Result<Object<'js>> {
    let globals = ctx.globals();
    let plain: Constructor<'js> = globals.get("Error")?;
    let error: Object<'js> = plain.construct((message,))?;
    let class: Object<'js> = globals.get("GoError")?;
    error.set_prototype(Some(&class.get::<_, Object<'js>>("prototype")?))?;
    error.set("value", parts)?;
    Ok(error)
}
