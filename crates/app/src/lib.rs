//! Server programs in JavaScript: `export default { fetch(request) { return new Response(…) } }`.
//!
//! An `AppProgram` is loaded and checked once; each worker thread of a server then starts an `App` of its own, one
//! runtime on one coroutine, where the handlers of all its connections interleave by promises. This crate knows no
//! server: the code that has one implements `Incoming` for its requests and carries out an `Answer`.
//!
//! A handler that answers without waiting runs to its end within the caller's poll: no task is woken and no promise is
//! made. Bytes of a request's body are shown to the script where they were received.

mod answer;
mod body;
mod door;
mod failure;
mod form;
mod js;
mod message;
mod natives;
mod outflow;
mod program;
mod response;
mod serving;
mod socket;
mod ticket;
mod values;
mod worker;

pub use host::received::{ForeignMemory, ReceiveBuffer};
pub use message::{Answer, AnswerBody, Incoming, Received};
pub use outflow::AnswerStream;
pub use program::{AppOptions, AppProgram};
pub use socket::{AppSocket, ArrivedNs, SocketEvent, SocketPeer};
pub use worker::{App, Handling};
