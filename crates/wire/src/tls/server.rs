//! The server's end of TLS: accepted connections, read and written as plain ones are.
//!
//! The handshake goes on while something is read. What is written stays in the outbox until it is full or flushed. A
//! client that closes without saying so (close_notify) has ended its side, as on a plain socket.

use std::io::{self, IoSlice};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::ServerConfig;
use rustls::server::UnbufferedServerConnection;
use tokio::io::ReadBuf;

use super::end::Line;
use super::session::Session;
use crate::io::arrival::TransportError;
use crate::io::buffers::Buffers;
use crate::io::socket::Socket;
use crate::io::stamps::wall_ns;

/// Makes TLS connections of accepted sockets. One a thread: its connections share buffers.
pub struct TlsAcceptor {
    config: Arc<ServerConfig>,
    buffers: Rc<Buffers>,
}

impl TlsAcceptor {
    /// All connections get this configuration.
    pub fn new(config: Arc<ServerConfig>) -> TlsAcceptor {
        TlsAcceptor { config, buffers: Rc::new(Buffers::new()) }
    }

    /// A connection whose handshake has not begun: the first read does that. Fails when the configuration is unusable.
    pub fn accept(&self, socket: Socket) -> io::Result<TlsStream> {
        let connection = UnbufferedServerConnection::new(self.config.clone()).map_err(io::Error::other)?;
        Ok(TlsStream { socket, session: Session::new(connection), buffers: self.buffers.clone(), stamp_ns: None })
    }
}

/// An accepted connection with TLS.
pub struct TlsStream {
    socket: Socket,
    session: Session<UnbufferedServerConnection>,
    buffers: Rc<Buffers>,
    /// When the bytes received last arrived, where somebody asks.
    stamp_ns: Option<u64>,
}

impl TlsStream {
    /// The socket below.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// The handshake did not end.
    pub fn is_handshaking(&self) -> bool {
        self.session.connection().is_handshaking()
    }

    /// The protocol that both sides agreed on in the handshake (ALPN).
    pub fn protocol(&self) -> Option<&[u8]> {
        self.session.connection().alpn_protocol()
    }

    /// Has the kernel stamp what arrives from now on, where it can.
    pub fn stamp_arrivals(&mut self) {
        self.stamp_ns = self.socket.stamp_arrivals().then(wall_ns);
    }

    /// When the bytes received last reached this machine: nanoseconds of the wall clock, by the kernel's stamp, else by
    /// the clock right after the read. `None` before `stamp_arrivals`, and where the kernel has no stamps.
    pub fn stamp_ns(&self) -> Option<u64> {
        self.stamp_ns
    }

    /// Content is waiting that was decrypted with what was read before.
    pub fn has_content(&self) -> bool {
        self.session.has_content()
    }

    /// Ready when a read is worth trying.
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.has_content() || self.session.is_ended() {
            return Poll::Ready(Ok(()));
        }
        self.socket.poll_readable(cx)
    }

    /// Waits for content and gives at most `most` bytes of it to the sink, possibly in several pieces; how many. 0: the
    /// client has ended its side.
    pub fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        most: usize,
        mut sink: impl FnMut(&[u8]),
    ) -> Poll<io::Result<usize>> {
        let TlsStream { socket, session, buffers, stamp_ns } = self;
        let mut line = Line { socket, buffers, sent: &mut 0, received: &mut 0 };
        loop {
            let is_kept = session.has_content();
            let arrival = match ready!(session.poll_receive(cx, &mut line, most, &mut sink)) {
                Ok(arrival) => arrival,
                Err(TransportError::Io(e)) if e.kind() == io::ErrorKind::UnexpectedEof => return Poll::Ready(Ok(0)),
                Err(error) => return Poll::Ready(Err(io_error(error))),
            };
            if let Some(stamp_ns) = stamp_ns.as_mut().filter(|_| !is_kept) {
                *stamp_ns = arrival.wall_ns();
            }
            if arrival.content > 0 || arrival.closed {
                return Poll::Ready(Ok(arrival.content));
            }
        }
    }

    /// As `poll_receive`, into the room that is left.
    pub fn poll_receive_into(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match buffer.remaining() {
            0 => Poll::Ready(Ok(())),
            most => self.poll_receive(cx, most, |bytes| buffer.put_slice(bytes)).map_ok(drop),
        }
    }

    /// Takes bytes, as many as there is room for, waiting only when there is none. They leave with `poll_flush`, or
    /// when room is needed.
    pub fn poll_send(&mut self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        if !self.session.has_room() {
            ready!(self.poll_flush(cx))?;
        }
        Poll::Ready(self.session.take(&self.buffers, parts).map_err(io_error))
    }

    /// Writes until everything that was taken is with the kernel.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let TlsStream { socket, session, buffers, .. } = self;
        let mut line = Line { socket, buffers, sent: &mut 0, received: &mut 0 };
        session.poll_flush(cx, &mut line)
    }

    /// Tells the client that nothing more comes.
    pub fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.session.close(&self.buffers);
        ready!(self.poll_flush(cx))?;
        self.socket.close_sending();
        Poll::Ready(Ok(()))
    }
}

fn io_error(error: TransportError) -> io::Error {
    match error {
        TransportError::Io(error) => error,
        TransportError::Tls(error) => io::Error::new(io::ErrorKind::InvalidData, error),
        TransportError::Payload(error) => io::Error::other(error.0),
    }
}
