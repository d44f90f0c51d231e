//! The server Onrush tests against: httpbin-like routes, an upload sink, delays and faults, over tcp, TLS and unix sockets.

pub mod server;
pub use server::{Addresses, Server, ServerConfig};
