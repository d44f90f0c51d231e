//! The way to a server: names, addresses, proxies, and what opens a connection over them.

pub(crate) mod connect;
pub(crate) mod dns;
pub(crate) mod endpoint;
pub(crate) mod origins;
pub(crate) mod proxy;
mod socks;
