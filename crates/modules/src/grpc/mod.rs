//! `k6/net/grpc`: `Client` and `Stream`, with k6's words, metrics and tags.
//!
//! Messages go from a script's object to wire bytes and back by the plans of the crate `grpc`, without JSON in between.
//! A call that fails has a status, as any call; what throws is what k6 throws for: a client that is not connected, a
//! method that is not loaded, a message that does not fit.

mod call;
mod carrier;
mod channel;
mod client;
mod connect;
mod dialect;
mod http1_call;
mod message;
mod params;
mod receiver;
mod reflect;
mod response;
mod samples;
mod schemas;
mod stream;

use host::js::{Ctx, Object, Result};

use script::builtins::ModuleDef;

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/net/grpc",
    exports: &[
        "Client",
        "Stream",
        "StatusOK",
        "StatusCanceled",
        "StatusUnknown",
        "StatusInvalidArgument",
        "StatusDeadlineExceeded",
        "StatusNotFound",
        "StatusAlreadyExists",
        "StatusPermissionDenied",
        "StatusResourceExhausted",
        "StatusFailedPrecondition",
        "StatusAborted",
        "StatusOutOfRange",
        "StatusUnimplemented",
        "StatusInternal",
        "StatusUnavailable",
        "StatusDataLoss",
        "StatusUnauthenticated",
        "HealthCheckUnknown",
        "HealthCheckServing",
        "HealthCheckNotServing",
        "HealthCheckServiceUnkown",
    ],
    load,
    types: include_str!("types.d.ts"),
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("Client", client::constructor(ctx)?)?;
    module.set("Stream", stream::constructor(ctx)?)?;
    let constants = &MODULE.exports[2..];
    let (statuses, health) = constants.split_at(17);
    for names in [statuses, health] {
        for (value, name) in names.iter().enumerate() {
            module.set(*name, value as u32)?;
        }
    }
    Ok(module)
}
