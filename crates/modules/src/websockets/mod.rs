//! `k6/websockets`: the browser's `WebSocket` on the user's event loop, and `Blob`.
//!
//! The classes are JavaScript (`websocket.js`), because they only keep handlers and call them; connections are native.
//! The iteration does not end before its sockets are closed. Refused in init code.

pub mod native_socket;
mod route;

use std::sync::atomic::{AtomicBool, Ordering};

use host::intrinsics::{self, Parts};
use host::js::prelude::Func;
use host::js::{Ctx, Object, Result, Value};
use host::{async_context, object};

use script::Vu;
use script::builtins::ModuleDef;
use script::go_error;
use script::web;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/websockets", exports: &["WebSocket", "Blob"], load, types: include_str!("types.d.ts") };

/// The same under k6's older name.
pub const EXPERIMENTAL: ModuleDef = ModuleDef {
    name: "k6/experimental/websockets",
    exports: MODULE.exports,
    load: load_experimental,
    types: include_str!("../experimental/websockets/types.d.ts"),
};

/// The warning of the older name was given.
#[derive(Default)]
struct Warned(AtomicBool);

fn load_experimental<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let vu = Vu::of(ctx);
    if !vu.process::<Warned>().0.swap(true, Ordering::Relaxed) {
        let message = "k6/experimental/websockets is the older name of k6/websockets: import that instead";
        vu.log().warn(message, &[]);
    }
    load(ctx)
}

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let classes = web::evaluate_bare(ctx, "k6/websockets/websocket.js", include_str!("websocket.js"))?;
    let native = Object::new(ctx.clone())?;
    native.set("open", Func::from(native_socket::open))?;
    native.set("fail", Func::from(fail))?;
    native.set("jobs", Func::from(jobs))?;
    native.set("warn", Func::from(warn))?;
    native.set("keepContext", Func::from(|ctx: Ctx<'_>| async_context::keep(&ctx)))?;
    native.set("enterContext", Func::from(|ctx: Ctx<'_>, number: i64| async_context::enter(&ctx, number)))?;
    native.set("leaveContext", Func::from(|ctx: Ctx<'_>, outer: i64| async_context::leave(&ctx, outer)))?;
    native.set("now", Func::from(|ctx: Ctx<'_>| (Vu::of(&ctx).now_ns() / 1_000_000) as f64))?;
    native.set("share", Func::from(|from: Object<'js>, to: Object<'js>| object::share_accessors(&from, &to)))?;
    native.set("buffers", Func::from(|ctx: Ctx<'_>| intrinsics::add(&ctx, Parts::BINARY)))?;
    native.set("blobMaker", Func::from(|ctx: Ctx<'js>| web::blob_maker(&ctx)))?;
    native.set("streams", Func::from(|ctx| web::streams::classes(&ctx)))?;
    classes.call((native,))
}

/// Throws the kind of error that k6's own functions throw.
fn fail<'js>(ctx: Ctx<'js>, message: String) -> Result<Value<'js>> {
    Err(go_error::throw(&ctx, &message))
}

/// Runs the promise jobs that wait.
fn jobs(ctx: Ctx<'_>) -> Result<()> {
    Vu::of(&ctx).events.run_jobs(&ctx)
}

/// A warning in the log.
fn warn(ctx: Ctx<'_>, message: String) {
    Vu::of(&ctx).log().warn(&message, &[]);
}
