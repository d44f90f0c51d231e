//! `onrush/socketio`: Socket.IO 4 over Engine.IO 4, as close to the client of npm as a test script allows.
//!
//! The protocols are JavaScript over the sockets of `k6/websockets` and the requests of `k6/http`, so that their
//! metrics, tags and links hold here too: `packets.js` has the format, `engine.js` the transports, `client.js` what a
//! script sees. Refused in init code by what it stands on.

use host::js::prelude::Func;
use host::js::{Ctx, Function, Object, Result, Value};

use crate::Vu;
use crate::builtins::ModuleDef;
use crate::go_error;
use crate::linker;
use crate::modules::{encoding, http, metrics, websockets};
use crate::web;

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "onrush/socketio",
    exports: &["io", "connect", "Manager", "Socket"],
    load,
    types: include_str!("types.d.ts"),
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let vu = Vu::of(ctx);
    let websockets = linker::builtin(ctx, &vu, &websockets::MODULE)?;
    let base64 = linker::builtin(ctx, &vu, &encoding::MODULE)?;
    let below = Object::new(ctx.clone())?;
    below.set("http", linker::builtin(ctx, &vu, &http::MODULE)?)?;
    below.set("WebSocket", websockets.get::<_, Value<'js>>("WebSocket")?)?;
    below.set("b64encode", base64.get::<_, Value<'js>>("b64encode")?)?;
    below.set("b64decode", base64.get::<_, Value<'js>>("b64decode")?)?;
    let engine: Function<'js> =
        web::evaluate(ctx, "onrush/socketio/engine.js", include_str!("engine.js"))?.call((below,))?;
    let packets = web::evaluate(ctx, "onrush/socketio/packets.js", include_str!("packets.js"))?;
    let parts = Object::new(ctx.clone())?;
    parts.set("packets", packets.call::<_, Object<'js>>(())?)?;
    parts.set("Engine", engine)?;
    let metrics = linker::builtin(ctx, &vu, &metrics::MODULE)?;
    for class in ["Trend", "Counter"] {
        parts.set(class, metrics.get::<_, Value<'js>>(class)?)?;
    }
    parts.set("now", Func::from(|ctx: Ctx<'js>| Vu::of(&ctx).now_ns() as f64 / 1e6))?;
    parts.set("fail", Func::from(|ctx: Ctx<'js>, message: String| Err::<(), _>(go_error::throw(&ctx, &message))))?;
    web::evaluate(ctx, "onrush/socketio/client.js", include_str!("client.js"))?.call((parts,))
}
