//! `onrush/socketio`: Socket.IO 4 over Engine.IO 4, as close to the client of npm as a test script allows.
//!
//! The protocols are JavaScript over the sockets of `k6/websockets` and the requests of `k6/http`, so that their
//! metrics, tags and links hold here too: `packets.js` has the format, `engine.js` the transports, `client.js` what a
//! script sees. What most packets are goes past all that, in `line.rs`. Refused in init code by what it stands on.

mod attachments;
pub(crate) mod head;
mod line;
mod way;

use std::rc::Rc;

use host::bytes;
use host::js::prelude::Func;
use host::js::{Ctx, Function, Object, Result, Value};
use host::plain::{self, Args, Plain};

use crate::websockets::native_socket;
use crate::{encoding, http, metrics};
use script::Vu;
use script::builtins::ModuleDef;
use script::go_error;
use script::linker;
use script::web;

use line::Counters;
use way::Emit;

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "onrush/socketio",
    exports: &["io", "connect", "Manager", "Socket"],
    load,
    types: include_str!("types.d.ts"),
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let vu = Vu::of(ctx);
    let base64 = linker::builtin(ctx, &vu, &encoding::MODULE)?;
    let counters = Rc::new(Counters::define(ctx, &vu)?);
    let below = Object::new(ctx.clone())?;
    let lines = Rc::clone(&counters);
    let line_over = move |ctx: Ctx<'js>, handle: Value<'js>| line::over(&ctx, &handle, &lines);
    below.set("lineOver", Func::from(line_over))?;
    below.set("http", linker::builtin(ctx, &vu, &http::MODULE)?)?;
    below.set("openSocket", Func::from(native_socket::open))?;
    below.set("b64encode", base64.get::<_, Value<'js>>("b64encode")?)?;
    below.set("b64decode", base64.get::<_, Value<'js>>("b64decode")?)?;
    let engine: Function<'js> =
        web::evaluate(ctx, "onrush/socketio/engine.js", include_str!("engine.js"))?.call((below,))?;
    let packets = web::evaluate(ctx, "onrush/socketio/packets.js", include_str!("packets.js"))?;
    let parts = Object::new(ctx.clone())?;
    let plain_text = plain::function::<PlainText>(ctx, c"plainText", 0)?;
    parts.set("packets", packets.call::<_, Object<'js>>((plain_text,))?)?;
    parts.set("Engine", engine)?;
    let metrics = linker::builtin(ctx, &vu, &metrics::MODULE)?;
    parts.set("Trend", metrics.get::<_, Value<'js>>("Trend")?)?;
    let [count_sent, count_received, acknowledged] = counters.functions(ctx)?;
    parts.set("countSent", count_sent)?;
    parts.set("countReceived", count_received)?;
    parts.set("acknowledged", acknowledged)?;
    parts.set("emit", plain::function::<Emit>(ctx, c"emit", 0)?)?;
    parts.set("reserved", way::RESERVED.to_vec())?;
    parts.set("now", Func::from(|ctx: Ctx<'js>| Vu::of(&ctx).now_ns() as f64 / 1e6))?;
    parts.set("fail", Func::from(|ctx: Ctx<'js>, message: String| Err::<(), _>(go_error::throw(&ctx, &message))))?;
    web::evaluate(ctx, "onrush/socketio/client.js", include_str!("client.js"))?.call((parts,))
}

/// `plainText(prefix, value)`: the prefix, and behind it the value as JSON; undefined when the value has more than
/// plain data in it.
struct PlainText;

impl Plain for PlainText {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        let (Some(prefix), Some(value)) = (args.get(0), args.get(1)) else {
            return Ok(Value::new_undefined(ctx.clone()));
        };
        let prefix = bytes::to_text(ctx, &prefix)?;
        let text = host::json::plain_text(ctx, prefix.as_bytes(), &value)?;
        Ok(text.unwrap_or_else(|| Value::new_undefined(ctx.clone())))
    }
}
