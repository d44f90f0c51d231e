//! One request-response pair as it happened: what the metrics are made from.

use std::net::SocketAddr;
use std::time::SystemTime;

use crate::failure::Failure;
use crate::request::Method;
use crate::response::Response;
use crate::timings::Timings;
use crate::url::Url;

/// One hop: a redirect or a digest challenge makes one of its own.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Method of this hop.
    pub method: Method,
    /// URL of this hop.
    pub url: Url,
    /// The response, or why there is none.
    pub outcome: Result<Response, Failure>,
    /// How long each step took. On failure: what was reached.
    pub timings: Timings,
    /// When the hop ended (last byte or failure); samples carry it.
    pub ended_at: SystemTime,
    /// Bytes written to the network for this hop, TLS and handshake included.
    pub bytes_sent: u64,
    /// Bytes read from the network for this hop, TLS and handshake included.
    pub bytes_received: u64,
    /// The connection used, when one was made.
    pub connection: Option<ConnectionInfo>,
}

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
