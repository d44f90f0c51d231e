//! A connection that carries bytes of any protocol, for clients that others have written: databases, queues.
//!
//! Opened by the run's rules for names, addresses, local addresses and links, as requests are; proxies are for HTTP and
//! not asked. TLS can begin at once, or later, where a protocol asks for it in the clear. It is closed by dropping it.
//! Counts what goes over the network, TLS included, also after it was given away.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::client::route::connect::{self, Unopened};
use crate::client::route::endpoint::{Address, Endpoint, Route};
use crate::client::{Client, ClientContext};
use crate::failure::{Failure, Step};
use crate::failure_map;
use crate::io::arrival::TransportError;
use crate::io::stamps::Tick;
use crate::timings::Timings;
use crate::tls::config::{Offer, TlsConfigs, TlsTarget};
use crate::transport::Transport;

/// Where a stream goes and how.
#[derive(Clone)]
pub struct StreamDial<'a> {
    /// A name or an address; a path, or `@name`, of a unix socket.
    pub host: &'a str,
    /// Ignored for a unix socket.
    pub port: u16,
    /// TLS from the first byte.
    pub tls: Option<StreamTls<'a>>,
    /// For all of it.
    pub timeout: Duration,
}

/// TLS of a stream.
#[derive(Clone)]
pub struct StreamTls<'a> {
    /// Trust and identity of this stream instead of the run's.
    pub configs: Option<&'a TlsConfigs>,
    /// The name that the certificate has to be for, when it is not the host.
    pub server_name: Option<&'a str>,
}

/// What went over a stream, seen from outside of it.
#[derive(Debug, Default)]
pub struct StreamTraffic {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl StreamTraffic {
    /// Bytes sent and received since the last call.
    pub fn take(&self) -> (u64, u64) {
        (self.sent.take(), self.received.take())
    }

    fn add(&self, transport: &mut Transport) {
        self.sent.set(self.sent.get() + std::mem::take(&mut transport.sent));
        self.received.set(self.received.get() + std::mem::take(&mut transport.received));
    }
}

/// How long the steps of opening a stream took.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamOpening {
    /// Finding the addresses.
    pub resolving: Duration,
    /// Connecting, without TLS.
    pub connecting: Duration,
}

/// An open stream.
pub struct ByteStream {
    worker: Rc<ClientContext>,
    transport: Transport,
    traffic: Rc<StreamTraffic>,
    opening: StreamOpening,
    /// Decrypted, and more than there was room for.
    behind: Vec<u8>,
    taken: usize,
}

impl Client {
    /// Opens a stream.
    pub async fn open_stream(&self, dial: &StreamDial<'_>) -> Result<ByteStream, Failure> {
        match tokio::time::timeout(dial.timeout, self.dial_stream(dial)).await {
            Ok(opened) => opened,
            Err(_) => Err(failure_map::timeout(Step::Connect)),
        }
    }

    async fn dial_stream(&self, dial: &StreamDial<'_>) -> Result<ByteStream, Failure> {
        let target = dial.tls.as_ref().map(|tls| self.stream_target(dial.host, tls)).transpose()?;
        let began = Instant::now();
        let route = self.stream_route(dial.host, dial.port).await?;
        let resolving = began.elapsed();
        let endpoint = Endpoint::new(None, target, Offer::Nothing);
        let deadline = Tick::now().after(dial.timeout);
        let mut timings = Timings::default();
        let opened = connect::open(&self.worker.io, &endpoint, &route, deadline, &mut timings).await;
        let connection = opened.map_err(|Unopened { failure, .. }| failure)?;
        let (behind, traffic) = (Vec::new(), Rc::default());
        let worker = Rc::clone(&self.worker);
        let opening = StreamOpening { resolving, connecting: timings.connecting };
        Ok(ByteStream { worker, transport: connection.transport, traffic, opening, behind, taken: 0 })
    }

    fn stream_target(&self, host: &str, tls: &StreamTls<'_>) -> Result<TlsTarget, Failure> {
        let configs = tls.configs.unwrap_or_else(|| self.worker.origins.tls());
        configs.target_for(tls.server_name.unwrap_or(host), Offer::Nothing)
    }

    async fn stream_route(&self, host: &str, port: u16) -> Result<Route, Failure> {
        let link = self.link.borrow().clone();
        if host.starts_with(['/', '@']) {
            return Ok(Route { addresses: [Address::Unix(Path::new(host).into())].into(), local: None, link });
        }
        let host = host.to_ascii_lowercase();
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
        Ok(Route { link, ..self.worker.origins.route_to(bare, port, self.local).await? })
    }

    /// Goes on encrypted, where the peer has agreed to that in the clear; `host` is its name unless `tls` has another.
    pub async fn encrypt(
        &self,
        mut stream: ByteStream,
        host: &str,
        tls: &StreamTls<'_>,
        end: Option<Instant>,
    ) -> Result<ByteStream, Failure> {
        let target = self.stream_target(host, tls)?;
        let io = &self.worker.io;
        let end = end.map(|end| io.stamps.tick(end));
        connect::encrypt(io, &mut stream.transport, &target, end).await.map_err(|unready| unready.failure)?;
        stream.traffic.add(&mut stream.transport);
        Ok(stream)
    }
}

impl ByteStream {
    /// Its counts, which stay readable when the stream is given away.
    pub fn traffic(&self) -> Rc<StreamTraffic> {
        Rc::clone(&self.traffic)
    }

    /// Whether nothing came since the last read, not even the end.
    pub fn is_quiet(&mut self) -> bool {
        self.taken == self.behind.len() && self.transport.is_quiet(&self.worker.io.buffers)
    }

    /// The peer's address; none on a unix socket.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.transport.socket.peer()
    }

    /// Its own address; none on a unix socket.
    pub fn local(&self) -> Option<SocketAddr> {
        self.transport.socket.local()
    }

    /// How long opening it took.
    pub fn opening(&self) -> StreamOpening {
        self.opening
    }
}

fn io_error(error: TransportError, step: Step) -> io::Error {
    match error {
        TransportError::Io(error) => error,
        other => io::Error::other(failure_map::transport(other, step).message),
    }
}

impl AsyncRead for ByteStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.taken == this.behind.len() {
            this.behind.clear();
            this.taken = 0;
            ready!(this.poll_fill(cx, buffer))?;
        }
        let left = &this.behind[this.taken..];
        let n = left.len().min(buffer.remaining());
        buffer.put_slice(&left[..n]);
        this.taken += n;
        Poll::Ready(Ok(()))
    }
}

impl ByteStream {
    /// Reads into the buffer, and what it has no room for behind it.
    fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let ByteStream { worker, transport, traffic, behind, .. } = self;
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            let arrival = transport.poll_receive_some(cx, &worker.io.buffers, buffer.remaining(), |piece| {
                let n = if behind.is_empty() { piece.len().min(buffer.remaining()) } else { 0 };
                buffer.put_slice(&piece[..n]);
                behind.extend_from_slice(&piece[n..]);
            });
            traffic.add(transport);
            let arrival = ready!(arrival).map_err(|error| io_error(error, Step::Receive))?;
            // Messages of TLS itself are no content, and no end.
            if arrival.content > 0 || arrival.closed {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for ByteStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let ByteStream { worker, transport, traffic, .. } = self.get_mut();
        if parts.iter().all(|part| part.is_empty()) {
            return Poll::Ready(Ok(0));
        }
        let taken = transport.poll_take(cx, &worker.io.buffers, parts);
        traffic.add(transport);
        taken.map_err(|error| io_error(error, Step::Send))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ByteStream { worker, transport, traffic, .. } = self.get_mut();
        let flushed = transport.poll_flush(cx, &worker.io.buffers);
        traffic.add(transport);
        flushed.map_err(|error| io_error(error, Step::Send))
    }

    /// Sends what was taken. The peer hears of the end when the stream is dropped.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
