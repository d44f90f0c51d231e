//! A client's connection: its bytes, what is known of it, and the timer of its requests' deadlines.
//!
//! Refuses to decide who uses it: that is the pool's. Invariant: it carries one exchange at a time.

use std::net::SocketAddr;

use crate::client::worker::context::IoContext;
use crate::io::deadline_timer::DeadlineTimer;
use crate::link::LinkedSocket;
use crate::transport::Transport;

/// Facts of the connection an exchange used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// Peer; `None` on a unix socket.
    pub remote: Option<SocketAddr>,
    /// Whether an earlier exchange used it already.
    pub reused: bool,
    /// `tls1.2` or `tls1.3` as k6 names them.
    pub tls_version: Option<&'static str>,
    /// IANA name of the cipher suite.
    pub tls_cipher_suite: Option<&'static str>,
    /// Whether waiting and receiving ended by kernel receive stamps.
    pub kernel_stamps: bool,
}

/// One connection, with what its exchanges need between them.
pub(crate) struct Connection {
    pub(crate) transport: Transport,
    pub(crate) info: ConnectionInfo,
    pub(crate) timer: DeadlineTimer,
    /// The last response had a large body that nobody wanted: see `transaction`.
    pub(crate) drops_much: bool,
}

impl Connection {
    /// Boxed: it moves between pool and exchange all the time.
    pub(crate) fn new(socket: LinkedSocket) -> Box<Connection> {
        let remote = socket.peer();
        let info =
            ConnectionInfo { remote, reused: false, tls_version: None, tls_cipher_suite: None, kernel_stamps: false };
        Box::new(Connection {
            transport: Transport::new(socket),
            info,
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
            self.info.tls_version = session.version();
            self.info.tls_cipher_suite = session.cipher_suite();
        }
    }
}
