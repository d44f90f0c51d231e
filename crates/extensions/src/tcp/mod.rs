//! `k6/x/tcp`: the class `Socket`, a stream of bytes whose events come by the user's event loop.
//!
//! `connect` and `write` give promises; `data`, `timeout`, `error` and `close` are told to the one handler that a
//! script may set for each. The iteration does not end before its sockets are closed.

pub(crate) mod arguments;
mod methods;
mod samples;
mod settle;
mod socket;
mod stream;

use host::js::{Ctx, Object, Result};
use script::builtins::ModuleDef;

use self::samples::TcpMetric;
use crate::client::metric_table;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/x/tcp", exports: &["Socket"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    metric_table::define::<TcpMetric>(ctx)?;
    let module = Object::new(ctx.clone())?;
    module.set("Socket", methods::constructor(ctx)?)?;
    Ok(module)
}
