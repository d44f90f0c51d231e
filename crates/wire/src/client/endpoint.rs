//! Where requests go: addresses, the way to them, and what makes two connections interchangeable. Plain data.

use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::rc::Rc;

use bytes::Bytes;

use crate::client::socks::SocksRequest;
use crate::link::Link;
use crate::tls::config::TlsTarget;

/// Where a connection can go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// TCP.
    Tcp(SocketAddr),
    /// A unix socket: its path, or `@name` for one without a file (Linux's abstract sockets).
    Unix(Rc<Path>),
}

/// One kind of connection: all connections of an endpoint are interchangeable. Made once per origin and kept in an
/// `Rc`, whose identity is the pool's key.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// How a proxy is asked for a tunnel, before TLS.
    pub(crate) tunnel: Option<Tunnel>,
    /// TLS, for https.
    pub(crate) tls: Option<TlsTarget>,
    /// A server there chose HTTP/2 when it was last asked: users share a connection from the start.
    pub(crate) speaks_http2: Cell<bool>,
    /// No server is asked: HTTP/2 is spoken without TLS.
    pub(crate) is_prior_knowledge: bool,
}

impl Endpoint {
    pub(crate) fn new(tunnel: Option<Tunnel>, tls: Option<TlsTarget>) -> Rc<Endpoint> {
        Rc::new(Endpoint { tunnel, tls, speaks_http2: Cell::new(false), is_prior_knowledge: false })
    }

    /// Reached without TLS, it speaks HTTP/2 from the first byte on.
    pub(crate) fn of_h2c(tunnel: Option<Tunnel>) -> Rc<Endpoint> {
        Rc::new(Endpoint { tunnel, tls: None, speaks_http2: Cell::new(true), is_prior_knowledge: true })
    }
}

/// What opens a tunnel through a proxy.
#[derive(Debug)]
pub(crate) enum Tunnel {
    /// An HTTP proxy: the CONNECT request.
    Connect(Bytes),
    /// A SOCKS5 proxy.
    Socks(SocksRequest),
}

/// Addresses to try in order, and the local one to come from.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) addresses: Rc<[Address]>,
    pub(crate) local: Option<IpAddr>,
    /// What the connection goes over, beside the real network.
    pub(crate) link: Option<Rc<Link>>,
}
