//! The names a script finds without importing anything: those of k6, and no others that feature detection could stumble
//! on.
//!
//! What few scripts use is made at its first mention, since every user would pay for it.

mod console;
pub mod environment;
mod inspect;
mod open;
mod text;

use host::js::function::{Opt, Rest};
use host::js::object::Accessor;
use host::js::{Ctx, Exception, Function, Object, Value};
use host::{apply, intrinsics, json};

use crate::vu::Vu;
use crate::{exception, go_error, linker, stops};

/// Names that QuickJS brings and k6 lacks.
pub const HIDDEN: &[&str] = &[
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
pub fn install(ctx: &Ctx<'_>, vu: &Vu) -> host::js::Result<()> {
    intrinsics::hide(ctx, vu)?;
    let globals = ctx.globals();
    hidden(&globals, "global", globals.clone().into_value())?;
    environment::install(ctx, vu)?;
    globals.set("__VU", vu.id())?;
    function(ctx, &globals, "open", open::open)?;
    let require = linker::global_require(ctx)?;
    hidden(&globals, "require", require.with_name("require")?.into_value())?;
    hidden(&globals, "console", console::object(ctx)?.into_value())?;
    timers(ctx, &globals)?;
    apply::install(ctx)?;
    json::install(ctx)?;
    for name in ["TextEncoder", "TextDecoder"] {
        lazy(ctx, name, move |ctx| text::classes(ctx)?.get(name))?;
    }
    for (name, make) in vu.shared.modules.builtins().globals {
        lazy(ctx, name, make)?;
    }
    lazy(ctx, "GoError", go_error::class)?;
    exception::install_stack(ctx)?;
    stops::install(ctx, vu)?;
    for name in ["module", "exports"] {
        refuse(ctx, name)?;
    }
    Ok(())
}

/// A property that enumeration does not show, like the built-in globals.
fn hidden<'js>(globals: &Object<'js>, name: &str, value: Value<'js>) -> host::js::Result<()> {
    globals.prop(name, host::js::object::Property::from(value).writable().configurable())
}

fn function<'js, F, P>(ctx: &Ctx<'js>, globals: &Object<'js>, name: &str, body: F) -> host::js::Result<()>
where
    F: host::js::function::IntoJsFunc<'js, P> + 'js,
{
    hidden(globals, name, Function::new(ctx.clone(), body)?.with_name(name)?.into_value())
}

/// A global that is made when it is first named. Assigning to it replaces it.
fn lazy<'js>(
    ctx: &Ctx<'js>,
    name: &'static str,
    make: impl Fn(&Ctx<'js>) -> host::js::Result<Value<'js>> + 'js,
) -> host::js::Result<()> {
    let get = move |ctx: Ctx<'js>| {
        let value = make(&ctx)?;
        hidden(&ctx.globals(), name, value.clone())?;
        Ok::<_, host::js::Error>(value)
    };
    let set = move |ctx: Ctx<'js>, value: Value<'js>| hidden(&ctx.globals(), name, value);
    ctx.globals().prop(name, Accessor::new(get, set).configurable())
}

/// A name of CommonJS in ES modules: an exception that says what is wrong.
fn refuse(ctx: &Ctx<'_>, name: &'static str) -> host::js::Result<()> {
    let message = move || {
        format!(
            "'{name}' belongs to CommonJS, and this file is an ES module, because it has import or \
             export; use only one of the two"
        )
    };
    let get = move |ctx: Ctx<'_>| -> host::js::Result<()> { Err(Exception::throw_message(&ctx, &message())) };
    let set =
        move |ctx: Ctx<'_>, _: Rest<()>| -> host::js::Result<()> { Err(Exception::throw_message(&ctx, &message())) };
    ctx.globals().prop(name, Accessor::new(get, set).configurable())
}

fn timers<'js>(ctx: &Ctx<'js>, globals: &Object<'js>) -> host::js::Result<()> {
    for (name, repeat) in [("setTimeout", false), ("setInterval", true)] {
        let set = move |ctx: Ctx<'js>, callback: Opt<Value<'js>>, delay: Opt<Value<'js>>, args: Rest<Value<'js>>| {
            let Some(callback) = callback.0.and_then(Value::into_function) else {
                return Err(Exception::throw_type(&ctx, &format!("{name}() expects a function to call")));
            };
            let delay = match delay.0 {
                Some(delay) if !delay.is_undefined() => delay.get::<host::js::Coerced<f64>>()?.0,
                _ => 0.0,
            };
            Vu::of(&ctx).add_timer(&ctx, (callback, args.0), delay, repeat)
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

/// `__ITER`, told when it is asked for: setting it for each iteration would cost every script a percent of a request.
/// What a script assigns holds for the iteration.
fn iteration_number<'js>(ctx: &Ctx<'js>) -> host::js::Result<()> {
    let get = |ctx: Ctx<'js>| {
        let number = Vu::of(&ctx).iterations_before();
        i32::try_from(number)
            .map_or_else(|_| Value::new_float(ctx.clone(), number as f64), |small| Value::new_int(ctx.clone(), small))
    };
    let set = |ctx: Ctx<'js>, value: Value<'js>| {
        Vu::of(&ctx).script.has_iter.set(false);
        let assigned = host::js::object::Property::from(value).writable().configurable().enumerable();
        ctx.globals().prop("__ITER", assigned)
    };
    ctx.globals().prop("__ITER", Accessor::new(get, set).configurable().enumerable())
}

/// Prepares the globals for an iteration: `__ITER`, and with the scenario `__ENV`.
pub(crate) fn begin_iteration(ctx: &Ctx<'_>, vu: &Vu, scenario_changed: bool) -> host::js::Result<()> {
    if !vu.script.has_iter.replace(true) {
        iteration_number(ctx)?;
    }
    if !scenario_changed {
        return Ok(());
    }
    let Some(iteration) = vu.iteration() else { return Ok(()) };
    environment::begin_scenario(ctx, vu, &iteration.scenario.env)
}
