//! The names a script finds without importing anything: those of k6, and no others that feature detection could stumble on.
//!
//! What few scripts use is made at its first mention, since every user would pay for it.

use std::rc::Rc;

use rquickjs::function::{Opt, Rest};
use rquickjs::object::Accessor;
use rquickjs::{Ctx, Exception, Function, Object, Value};

use super::{apply, console, exception, files, go_error, intrinsics, json, linker, text, web_crypto};
use crate::vu::Vu;

/// Names that QuickJS brings and k6 lacks.
const HIDDEN: &[&str] = &[
    "AsyncIterator",
    "Atomics",
    "DOMException",
    "FinalizationRegistry",
    "Float16Array",
    "InternalError",
    "Iterator",
    "SharedArrayBuffer",
    "SuppressedError",
    "DisposableStack",
    "AsyncDisposableStack",
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
    if vu.shared.is_app {
        super::runtime::add_rest(ctx);
        intrinsics::add(ctx, vu, intrinsics::Parts::ALL)?;
    }
    hide(ctx)?;
    let globals = ctx.globals();
    hidden(&globals, "global", globals.clone().into_value())?;
    globals.set("__ENV", environment(ctx, vu)?)?;
    globals.set("__VU", vu.id())?;
    function(ctx, &globals, "open", files::open)?;
    let require = linker::global_require(ctx)?;
    hidden(&globals, "require", require.with_name("require")?.into_value())?;
    hidden(&globals, "console", console::object(ctx)?.into_value())?;
    timers(ctx, &globals)?;
    apply::install(ctx)?;
    json::install(ctx, vu)?;
    for name in ["TextEncoder", "TextDecoder"] {
        lazy(ctx, name, move |ctx| text::classes(ctx)?.get(name))?;
    }
    lazy(ctx, "crypto", |ctx| web_crypto::object(ctx).map(Object::into_value))?;
    lazy(ctx, "GoError", go_error::class)?;
    exception::install_stack(ctx, vu)?;
    for name in ["module", "exports"] {
        refuse(ctx, name)?;
    }
    Ok(())
}

/// Takes away what k6 lacks, from tests alone; again whenever a part of the language was made.
pub(super) fn hide(ctx: &Ctx<'_>) -> rquickjs::Result<()> {
    if Vu::of(ctx).shared.is_app {
        return Ok(());
    }
    HIDDEN.iter().try_for_each(|name| ctx.globals().remove(*name))
}

/// A property that enumeration does not show, like the built-in globals.
fn hidden<'js>(globals: &Object<'js>, name: &str, value: Value<'js>) -> rquickjs::Result<()> {
    globals.prop(name, rquickjs::object::Property::from(value).writable().configurable())
}

fn function<'js, F, P>(ctx: &Ctx<'js>, globals: &Object<'js>, name: &str, body: F) -> rquickjs::Result<()>
where
    F: rquickjs::function::IntoJsFunc<'js, P> + 'js,
{
    hidden(globals, name, Function::new(ctx.clone(), body)?.with_name(name)?.into_value())
}

/// A global that is made when it is first named. Assigning to it replaces it.
fn lazy<'js>(
    ctx: &Ctx<'js>,
    name: &'static str,
    make: impl Fn(&Ctx<'js>) -> rquickjs::Result<Value<'js>> + 'js,
) -> rquickjs::Result<()> {
    let get = move |ctx: Ctx<'js>| {
        let value = make(&ctx)?;
        hidden(&ctx.globals(), name, value.clone())?;
        Ok::<_, rquickjs::Error>(value)
    };
    let set = move |ctx: Ctx<'js>, value: Value<'js>| hidden(&ctx.globals(), name, value);
    ctx.globals().prop(name, Accessor::new(get, set).configurable())
}

/// A name of CommonJS in ES modules: an exception that says what is wrong.
fn refuse(ctx: &Ctx<'_>, name: &'static str) -> rquickjs::Result<()> {
    let message = move || {
        format!(
            "'{name}' belongs to CommonJS, and this file is an ES module, because it has import or \
             export; use only one of the two"
        )
    };
    let get = move |ctx: Ctx<'_>| -> rquickjs::Result<()> { Err(Exception::throw_message(&ctx, &message())) };
    let set =
        move |ctx: Ctx<'_>, _: Rest<()>| -> rquickjs::Result<()> { Err(Exception::throw_message(&ctx, &message())) };
    ctx.globals().prop(name, Accessor::new(get, set).configurable())
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
                return Err(Exception::throw_type(&ctx, &format!("{name}() expects a function to call")));
            };
            let delay = match delay.0 {
                Some(delay) if !delay.is_undefined() => delay.get::<rquickjs::Coerced<f64>>()?.0,
                _ => 0.0,
            };
            Vu::of(&ctx).events.add_timer(&ctx, callback, args.0, delay, repeat)
        };
        function(ctx, globals, name, set)?;
    }
    for name in ["clearTimeout", "clearInterval"] {
        let clear = |ctx: Ctx<'js>, id: Opt<Value<'js>>| {
            if let Some(id) = id.0.and_then(|id| id.as_number()) {
                Vu::of(&ctx).events.clear_timer(id as u32);
            }
        };
        function(ctx, globals, name, clear)?;
    }
    Ok(())
}

/// `__ITER`, told when it is asked for: setting it for each iteration would cost every script a percent of a request. What a
/// script assigns holds for the iteration.
fn iteration_number<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<()> {
    let get = |ctx: Ctx<'js>| {
        let number = Vu::of(&ctx).iterations_before();
        i32::try_from(number)
            .map_or_else(|_| Value::new_float(ctx.clone(), number as f64), |small| Value::new_int(ctx.clone(), small))
    };
    let set = |ctx: Ctx<'js>, value: Value<'js>| {
        Vu::of(&ctx).runtime.has_iter.set(false);
        let assigned = rquickjs::object::Property::from(value).writable().configurable().enumerable();
        ctx.globals().prop("__ITER", assigned)
    };
    ctx.globals().prop("__ITER", Accessor::new(get, set).configurable().enumerable())
}

/// Prepares the globals for an iteration: `__ITER`, and with the scenario `__ENV`.
pub(crate) fn begin_iteration(ctx: &Ctx<'_>, vu: &Vu, scenario_changed: bool) -> rquickjs::Result<()> {
    if !vu.runtime.has_iter.replace(true) {
        iteration_number(ctx)?;
    }
    if !scenario_changed {
        return Ok(());
    }
    let Some(iteration) = vu.iteration() else { return Ok(()) };
    let env: Object<'_> = ctx.globals().get("__ENV")?;
    for name in vu.runtime.scenario_env.take() {
        match vu.shared.env.get(&name) {
            Some(value) => env.set(name, value.as_str())?,
            None => env.remove(name)?,
        }
    }
    for (name, value) in &iteration.scenario.env {
        env.set(name.as_str(), value.as_str())?;
    }
    vu.runtime.scenario_env.replace(iteration.scenario.env.keys().cloned().collect());
    Ok(())
}

/// The properties of an object as named byte strings: what `handleSummary` returns.
pub(crate) fn files_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Vec<(String, Vec<u8>)>> {
    let Some(object) = value.as_object() else {
        let message = format!("handleSummary() returned {}, expected an object of texts or buffers", value.type_name());
        return Err(Exception::throw_type(ctx, &message));
    };
    let mut files = Vec::new();
    for key in object.keys::<String>() {
        let key = key?;
        let content: Value<'js> = object.get(key.as_str())?;
        match super::bytes::read(ctx, &content, <[u8]>::to_vec)? {
            Some(bytes) => files.push((key, bytes)),
            None => {
                let found = content.type_name();
                let message =
                    format!("handleSummary() returned {found} for '{key}', expected a text or an ArrayBuffer");
                return Err(Exception::throw_type(ctx, &message));
            }
        }
    }
    Ok(files)
}
