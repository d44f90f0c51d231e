//! HTTP/1.x as pure functions over bytes, written once for two roles: heads and bodies, decoded and encoded.
//!
//! A client encodes request heads and assembles responses (`decode`); a server reads request heads and bodies and
//! encodes response heads and chunks. What frames a message is read in one place (`framing`, `body_decoder`). Refuses
//! pipelining on the client's side. No socket, no clock.
//!
//! Our own, because hyper owns its sockets and its time: timings of each step, borrowed bodies and answers that break
//! the protocol on purpose have no place there. `httparse`, its parser of heads, is the library under it.

pub mod body_decoder;
pub mod chunks;
pub(crate) mod decode;
pub mod encode;
pub mod framing;
pub(crate) mod handling;
pub(crate) mod known_heads;
pub mod reason;
pub mod request_head;
mod response_facts;
pub(crate) mod response_head;

mod partial_head;
#[cfg(test)]
mod random_cuts;
