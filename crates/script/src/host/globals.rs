//! The names a script finds without importing anything: those of k6, and no others that feature detection could stumble on.

use std::rc::Rc;

use rquickjs::function::{Opt, Rest};
use rquickjs::{Ctx, Exception, Function, Object, Value};

use super::{console, linker};
use crate::vu::Vu;

/// Names that QuickJS brings and k6 lacks.
const HIDDEN: &[&str] = &[
    "AsyncIterator",
    "Atomics",
    "DOMException",
    "FinalizationRegistry",
    "InternalError",
    "Iterator",
    "SharedArrayBuffer",
    "WeakRef",
    "atob",
    "btoa",
    "gc",
    "navigator",
    "performance",
    "queueMicrotask",
    "structuredClone",
];

/// Puts the globals of k6 into a fresh context.
pub(crate) fn install(ctx: &Ctx<'_>, vu: &Rc<Vu>) -> rquickjs::Result<()> {
    let globals = ctx.globals();
    for name in HIDDEN {
        globals.remove(*name)?;
    }
    globals.set("console", console::object(ctx)?)?;
    globals.set("__ENV", environment(ctx, vu)?)?;
    globals.set("__VU", vu.id())?;
    globals.set("require", linker::require_function(ctx, &vu.shared.entry)?)?;
    timers(ctx, &globals)
}

fn environment<'js>(ctx: &Ctx<'js>, vu: &Vu) -> rquickjs::Result<Object<'js>> {
    let env = Object::new(ctx.clone())?;
    for (name, value) in &vu.shared.env {
        env.set(name.as_str(), value.as_str())?;
    }
    Ok(env)
}

fn timers<'js>(ctx: &Ctx<'js>, globals: &Object<'js>) -> rquickjs::Result<()> {
    for (name, repeat) in [("setTimeout", false), ("setInterval", true)] {
        let set = move |ctx: Ctx<'js>, callback: Opt<Value<'js>>, delay: Opt<Value<'js>>, args: Rest<Value<'js>>| {
            let Some(callback) = callback.0.and_then(Value::into_function) else {
                return Err(Exception::throw_type(&ctx, &format!("{name}'s callback isn't a callable function")));
            };
            let delay = match delay.0 {
                Some(delay) if !delay.is_undefined() => delay.get::<rquickjs::Coerced<f64>>()?.0,
                _ => 0.0,
            };
            Ok(Vu::of(&ctx).events.add_timer(&ctx, callback, args.0, delay, repeat))
        };
        globals.set(name, Function::new(ctx.clone(), set)?.with_name(name)?)?;
    }
    for name in ["clearTimeout", "clearInterval"] {
        let clear = |ctx: Ctx<'js>, id: Opt<Value<'js>>| {
            if let Some(id) = id.0.and_then(|id| id.as_number()) {
                Vu::of(&ctx).events.clear_timer(id as u32);
            }
        };
        globals.set(name, Function::new(ctx.clone(), clear)?.with_name(name)?)?;
    }
    Ok(())
}

/// Sets what changes with each iteration.
pub(crate) fn begin_iteration(ctx: &Ctx<'_>, vu: &Vu) -> rquickjs::Result<()> {
    ctx.globals().set("__ITER", vu.iterations_before())
}

/// The properties of an object as named byte strings: what `handleSummary` returns.
pub(crate) fn files_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Vec<(String, Vec<u8>)>> {
    let Some(object) = value.as_object() else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    for key in object.keys::<String>() {
        let key = key?;
        let content: Value<'js> = object.get(key.as_str())?;
        if let Some(bytes) = super::bytes::read(ctx, &content, <[u8]>::to_vec)? {
            files.push((key, bytes));
        }
    }
    Ok(files)
}
