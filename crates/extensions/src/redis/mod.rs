//! `k6/x/redis`: `Client`, whose methods are commands of Redis and give promises.
//!
//! The codec is a library's; connections, the cluster's slots and the sentinel's answers are ours, because the clients
//! that exist open sockets of their own, which a user's link does not carry, and hand each command to another task.

mod arguments;
mod client;
pub(crate) mod cluster;
mod commands;
mod connection;
pub(crate) mod options;
mod pool;
pub(crate) mod reply;

use host::js::{Ctx, Object, Result};
use script::builtins::ModuleDef;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/x/redis", exports: &["Client"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("Client", client::constructor(ctx)?)?;
    Ok(module)
}
