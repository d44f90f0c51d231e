//! HTTP/1.1: a connection, and one exchange on it.

pub(crate) mod connection;
pub(crate) mod transaction;
