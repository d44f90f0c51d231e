//! A client's connection: its bytes, what is known of it, and the timer of its requests' deadlines.
//!
//! Refuses to decide who uses it: that is the pool's. Invariant: it carries one exchange at a time.

use std::net::SocketAddr;
use std::ops::Deref;
use std::rc::Rc;

use crate::client::worker::context::IoContext;
use crate::io::deadline_timer::DeadlineTimer;
use crate::link::LinkedSocket;
use crate::transport::Transport;

/// Facts of the connection an exchange used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// Shared by its exchanges instead of copied for each.
    pub(crate) facts: Rc<ConnectionFacts>,
    /// Whether an earlier exchange used it already.
    pub reused: bool,
    /// Whether waiting and receiving ended by kernel receive stamps.
    pub kernel_stamps: bool,
}

/// What stays the same as long as a connection lives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionFacts {
    /// Peer; `None` on a unix socket.
    pub remote: Option<SocketAddr>,
    /// `tls1.2` or `tls1.3` as k6 names them.
    pub tls_version: Option<&'static str>,
    /// IANA name of the cipher suite.
    pub tls_cipher_suite: Option<&'static str>,
}

impl Deref for ConnectionInfo {
    type Target = ConnectionFacts;

    #[inline]
    fn deref(&self) -> &ConnectionFacts {
        &self.facts
    }
}

/// One connection, with what its exchanges need between them.
pub(crate) struct Connection {
    pub(crate) transport: Transport,
    pub(crate) facts: Rc<ConnectionFacts>,
    /// Whether an exchange used it already.
    pub(crate) reused: bool,
    pub(crate) timer: DeadlineTimer,
    /// The last response had a large body that nobody wanted: see `transaction`.
    pub(crate) drops_much: bool,
}

impl Connection {
    /// Boxed: it moves between pool and exchange all the time.
    pub(crate) fn new(socket: LinkedSocket) -> Box<Connection> {
        let facts = ConnectionFacts { remote: socket.peer(), ..ConnectionFacts::default() };
        Box::new(Connection {
            transport: Transport::new(socket),
            facts: Rc::new(facts),
            reused: false,
            timer: DeadlineTimer::default(),
            drops_much: false,
        })
    }

    /// Whether nothing but TLS' own messages (session tickets) arrived while it was idle.
    pub(crate) fn is_usable(&mut self, io: &IoContext) -> bool {
        self.transport.is_quiet(&io.buffers)
    }

    /// Notes what the handshake agreed on.
    pub(crate) fn learn_tls(&mut self) {
        if let Some(session) = &self.transport.tls {
            let facts = Rc::make_mut(&mut self.facts);
            facts.tls_version = session.version();
            facts.tls_cipher_suite = session.cipher_suite();
        }
    }

    /// What an exchange says of it.
    #[inline]
    pub(crate) fn info(&self, kernel_stamps: bool) -> ConnectionInfo {
        ConnectionInfo { facts: Rc::clone(&self.facts), reused: self.reused, kernel_stamps }
    }
}
