//! HTTP/2 from the client's side (RFC 9113), without a socket: frames, HPACK, windows, the states of streams.
//!
//! A load generator's connection sends the same heads and receives the same heads again and again. So a head that was
//! sent before goes out as the bytes that it had, a head that came before is not decoded again, and content goes from
//! the buffer of the read to where it is kept. Refuses to know sockets, clocks and requests:
//! `client::http2::connection` brings bytes in and takes them out. Servers and tests use the `h2` crate.

mod answer;
mod dynamic_table;
pub(crate) mod error_code;
mod frame;
mod frame_queue;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod hpack_decode;
mod hpack_encode;
mod huffman;
mod reading;
mod receive;
mod request_head;
mod session;
mod static_table;
mod streams;
#[cfg(test)]
mod tests;

pub(crate) use answer::AnswerHead;
pub(crate) use request_head::{HeadBuilder, Http2Head, quoted};
pub(crate) use session::Http2Session;
pub(crate) use streams::{Asked, Keep, OpenStream, StreamEnd};
