//! HTTP/2: connections that requests share, streams and calls on them.

pub(crate) mod connection;
pub(crate) mod head;
pub(crate) mod pool;
mod relief;
pub(crate) mod stream;
mod upload;
