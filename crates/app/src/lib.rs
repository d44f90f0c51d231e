//! Server programs in JavaScript: `export default { fetch(request) { return new Response(…) } }`.
//!
//! An `AppProgram` is loaded and checked once; each worker thread of a server then starts a `server::App` of its own,
//! one runtime on one coroutine, where the handlers of all its connections interleave by promises. Requests, bodies,
//! sockets and responses are the server's types: what passes is moved.
//!
//! A handler that answers without waiting runs to its end within the caller's poll: no task is woken and no promise is
//! made. Bytes of a request's body are shown to the script where they were received.

mod answer;
mod body;
mod door;
mod failure;
mod form;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod js;
mod memory;
mod natives;
mod outflow;
mod program;
mod response;
mod serving;
mod socket;
mod target;
mod ticket;
mod values;
mod worker;

pub use program::{AppOptions, AppProgram};
