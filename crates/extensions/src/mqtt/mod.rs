//! `k6/x/mqtt`: `Client`, a client of MQTT 3.1.1 whose events come on the user's event loop.
//!
//! The codec is rumqttc's. The session (packet numbers, acknowledgements, what is sent again) and the connection are
//! ours, because clients that exist open sockets of their own, which a user's link does not carry.

mod carrier;
mod client;
mod connection;
mod event_queue;
mod listeners;
mod options;
pub(crate) mod plan;
mod samples;
mod session;

use host::js::{Ctx, Object, Result};
use script::builtins::ModuleDef;

use self::samples::Count;
use crate::client::metric_table;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "k6/x/mqtt", exports: &["Client", "QoS"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    metric_table::define::<Count>(ctx)?;
    let module = Object::new(ctx.clone())?;
    module.set("Client", client::constructor(ctx)?)?;
    let qualities = Object::new(ctx.clone())?;
    for (name, number) in [("AtMostOnce", 0), ("AtLeastOnce", 1), ("ExactlyOnce", 2)] {
        qualities.set(name, number)?;
    }
    module.set("QoS", qualities)?;
    Ok(module)
}
