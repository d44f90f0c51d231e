//! Questions about objects, and changes to them, that the engine answers in C and the safe bindings do not offer.
#![allow(unsafe_code)]

use rquickjs::{Ctx, Error, Function, Object, Result, Value, object::Filter, qjs};

/// Whether the function was declared `async`.
pub fn is_async(function: &Function<'_>) -> bool {
    // SAFETY: looks at the class of the object only.
    unsafe { qjs::JS_IsAsyncFunction(function.as_raw()) }
}

/// Freezes a tree of plain objects and arrays (what `JSON.parse` makes): no cycles, no accessors.
pub fn freeze_tree<'js>(ctx: &Ctx<'js>, root: &Value<'js>) -> Result<()> {
    // A list instead of recursion: the text may nest deeper than a virtual user's stack.
    let mut pending: Vec<Object<'js>> = root.as_object().cloned().into_iter().collect();
    while let Some(object) = pending.pop() {
        for child in object.own_values::<Value<'js>>(Filter::new().string().enum_only()) {
            pending.extend(child?.into_object());
        }
        freeze(ctx, &object)?;
    }
    Ok(())
}

/// `Object.freeze(object)`.
pub fn freeze<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Result<()> {
    // SAFETY: context and object are alive; a negative result leaves the exception pending, which `Error::Exception`
    // stands for.
    match unsafe { qjs::JS_FreezeObject(ctx.as_raw().as_ptr(), object.as_raw()) } {
        result if result < 0 => Err(Error::Exception),
        _ => Ok(()),
    }
}
