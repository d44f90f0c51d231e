//! What gRPC adds to HTTP/2: descriptors, messages, framing, status and metadata.
//!
//! Knows no JavaScript, no metric and no socket. A message goes from a script's value to wire bytes, and back, by a
//! plan that is made once from its descriptor (`plan`); there is no JSON in between, but each value has the form that
//! the JSON mapping of Protocol Buffers gives it. Connect, which is gRPC for plain HTTP, may send JSON (`json`). Bytes
//! of a peer are hostile: whatever they are, decoding ends with a value or an error, in bounded depth.

mod builder;
pub mod connect;
mod custom_options;
pub mod decode;
pub mod editions;
pub mod encode;
mod enums;
pub mod frame;
pub mod json;
pub mod metadata;
mod misfit;
mod number;
pub mod plan;
pub mod reflection;
pub mod schema;
pub mod status;
pub mod value;
mod well_known;
mod wire;

pub use builder::Builder;
pub use decode::Undecodable;
pub use misfit::{Misfit, Unfit};
pub use plan::MessagePlan;
pub use schema::{Method, Schema, SchemaError};
pub use status::Status;
pub use value::{Kind, Value};

/// How deep messages may nest, in both directions: as deep as other implementations read.
pub const MAX_DEPTH: usize = 100;
