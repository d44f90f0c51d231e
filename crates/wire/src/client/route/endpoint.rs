//! Where requests go: addresses, the way to them, and what makes two connections interchangeable. Plain data.

use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::rc::Rc;

use bytes::Bytes;

use crate::client::route::socks::SocksRequest;
use crate::link::Link;
use crate::tls::config::{Offer, TlsTarget};

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
    /// What a server there speaks: with HTTP/2, requests share a connection from the start.
    pub(crate) speaks: Cell<Speaks>,
}

/// What is spoken on connections to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// The first TLS handshake will tell.
    Unknown,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2.
    Http2,
}

impl Endpoint {
    /// Without TLS, `OnlyHttp2` is HTTP/2 by prior knowledge.
    pub(crate) fn new(tunnel: Option<Tunnel>, tls: Option<TlsTarget>, offer: Offer) -> Rc<Endpoint> {
        let speaks = match (&tls, offer) {
            (_, Offer::Http1 | Offer::Nothing) | (None, Offer::Http2) => Speaks::Http1,
            (Some(_), _) => Speaks::Unknown,
            (None, Offer::OnlyHttp2) => Speaks::Http2,
        };
        Rc::new(Endpoint { tunnel, tls, speaks: Cell::new(speaks) })
    }

    /// Whether HTTP/2 is spoken without the server's word that it does so, too.
    pub(crate) fn is_prior_knowledge(&self) -> bool {
        self.tls.is_none() && self.speaks.get() == Speaks::Http2
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
