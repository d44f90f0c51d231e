//! Starting and stopping a target on threads of its own.

use std::net::SocketAddr;
use std::path::PathBuf;

/// What to listen on.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// TCP listeners, plain; port 0 picks a free one.
    pub tcp: Vec<SocketAddr>,
    /// TCP listeners with TLS.
    pub tls: Vec<SocketAddr>,
    /// Unix socket paths.
    pub unix: Vec<PathBuf>,
    /// Threads.
    pub workers: usize,
}

/// Where a started server listens.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    /// Plain.
    pub tcp: Vec<SocketAddr>,
    /// TLS.
    pub tls: Vec<SocketAddr>,
    /// Unix.
    pub unix: Vec<PathBuf>,
    /// PEM of the self-signed certificate, when TLS is served.
    pub certificate_pem: Option<String>,
}

/// A running target. Stops when dropped.
pub struct Server {}

impl Server {
    /// Binds every listener and starts serving.
    pub fn start(_config: ServerConfig) -> std::io::Result<Server> {
        todo!()
    }

    /// Where it listens.
    pub fn addresses(&self) -> &Addresses {
        todo!()
    }

    /// Requests answered so far, faults included (a request counts once its head was read).
    pub fn requests(&self) -> u64 {
        todo!()
    }
}
