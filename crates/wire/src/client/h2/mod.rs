//! HTTP/2, the client's side: connections that several requests share, and single streams.
//!
//! Frames, HPACK, windows and the states of streams are the `h2` crate's. What is ours: the bytes below it (TLS, links,
//! counts, stamps), who polls a connection, and how a stream becomes an exchange with k6's timings.

mod connection;
mod head;
mod pipe;
mod stream;
mod upload;

pub(crate) use connection::{SharedConnection, Slot};
pub(crate) use head::Http2Head;
pub(crate) use stream::{Ended, Stream};
