//! HTTP/1.x: heads encoded, responses decoded, one exchange at a time on a connection. No pipelining.

pub(crate) mod body;
pub(crate) mod client;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod facts;
pub(crate) mod head;
pub(crate) mod known_heads;

#[cfg(test)]
mod random_cuts;
