//! Websockets as the target serves them: a handler per connection, rooms over all workers, and the session that drives
//! a socket.
//!
//! A handler is called on the worker's thread, never while it is already being called for the same bytes; what it sends
//! is queued and leaves in one write. Refuses to read from a client that does not take its answers: that is the
//! backpressure. Invariant: what is queued for one client is bounded; a client that falls too far behind is cut off.

mod rooms;
mod session;
mod socket;

use std::rc::Rc;

pub(crate) use rooms::{Inboxes, Rooms};
pub(crate) use session::Session;
pub(crate) use socket::FULL;
pub use socket::Socket;
pub use wire::ws::Kind;
pub use wire::ws::handshake::Upgrade;

/// Bytes of a message at most, inflated, unless the handler wants less.
pub const MAX_MESSAGE: usize = 64 << 20;

/// A message as it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Text.
    Text(&'a str),
    /// Bytes.
    Binary(&'a [u8]),
}

impl<'a> Message<'a> {
    /// Its bytes.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Message::Text(text) => text.as_bytes(),
            Message::Binary(bytes) => bytes,
        }
    }

    /// What it is made of.
    pub fn kind(self) -> Kind {
        match self {
            Message::Text(_) => Kind::Text,
            Message::Binary(_) => Kind::Binary,
        }
    }
}

/// What happens on one websocket. Called on the worker's thread; pings are answered before it hears of anything.
pub trait SocketHandler {
    /// The connection is open; the first word may be the server's.
    fn open(&self, socket: &Socket) {
        let _ = socket;
    }

    /// A message arrived.
    fn message(&self, socket: &Socket, message: Message<'_>);

    /// Whether it will ask `Socket::arrived_ns`. Asked once, before anything else.
    fn wants_arrivals(&self) -> bool {
        false
    }

    /// Bytes of a message at most, inflated; longer ones close the connection with 1009. Asked once, before anything
    /// else.
    fn max_message(&self) -> usize {
        MAX_MESSAGE
    }

    /// All that was queued has left; called when the client was too slow to take it at once, or after 256 KiB and more.
    fn drain(&self, socket: &Socket) {
        let _ = socket;
    }

    /// It is over, once: the peer's code and reason, 1005 when it gave none, 1006 when it just went. Nothing can be
    /// sent any more.
    fn close(&self, socket: &Socket, code: u16, reason: &str) {
        let _ = (socket, code, reason);
    }
}

/// A websocket to be accepted.
pub struct Opening {
    pub(crate) upgrade: Upgrade,
    pub(crate) protocol: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) handler: Rc<dyn SocketHandler>,
}

impl Opening {
    /// Accepts `upgrade`, without a subprotocol; compressed if the client offered it.
    pub fn new(upgrade: Upgrade, handler: Rc<dyn SocketHandler>) -> Opening {
        Opening { upgrade, protocol: None, headers: Vec::new(), handler }
    }

    /// Speaks this subprotocol, one of `Upgrade::protocols`.
    pub fn protocol(self, protocol: Option<String>) -> Opening {
        Opening { protocol, ..self }
    }

    /// Adds a header to the 101; the caller keeps line ends out of it.
    pub fn header(mut self, name: &str, value: &str) -> Opening {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl std::fmt::Debug for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Opening({:?})", self.protocol)
    }
}
