//! How long each step of an exchange took, with k6's names and derivations.

use std::time::Duration;

/// Steps of one HTTP exchange. `duration` is derived: sending + waiting + receiving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Asking for a connection until having one (includes DNS, connect and handshake of a new one).
    pub blocked: Duration,
    /// Looking up the name. k6 always reports 0 here; this is the truth.
    pub looking_up: Duration,
    /// TCP or unix connect; 0 on a reused connection.
    pub connecting: Duration,
    /// TLS handshake; 0 on a reused connection.
    pub tls_handshaking: Duration,
    /// From having the connection until the request's last byte was written.
    pub sending: Duration,
    /// From the last byte written to the first response byte reaching this machine (kernel stamp where there is one).
    pub waiting: Duration,
    /// First byte to last byte reaching this machine.
    pub receiving: Duration,
}

impl Timings {
    /// k6's `http_req_duration`.
    pub fn duration(&self) -> Duration {
        self.sending + self.waiting + self.receiving
    }
}
