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
use super::outbox::RECORD;
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
        let (mut parts, mut taken) = (Parts { parts, offset: 0 }, 0);
        while self.session.has_room() {
            let mut gathered = self.buffers.gather_buffer(RECORD);
            let run = parts.next_run(&mut gathered);
            if run.is_empty() {
                break;
            }
            self.session.encrypt(&self.buffers, run).map_err(io_error)?;
            taken += run.len();
        }
        Poll::Ready(Ok(taken))
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

/// Slices to be sent, record by record.
struct Parts<'a> {
    parts: &'a [IoSlice<'a>],
    offset: usize,
}

impl<'a> Parts<'a> {
    /// The next bytes for one record, none at the end: borrowed when one slice suffices, else gathered in `buffer`.
    fn next_run<'s>(&mut self, buffer: &'s mut [u8]) -> &'s [u8]
    where
        'a: 's,
    {
        let mut len = 0;
        while let Some((first, others)) = self.parts.split_first() {
            let left = &first[self.offset..];
            let is_whole = len == 0 && (left.len() >= buffer.len() || others.iter().all(|part| part.is_empty()));
            let n = left.len().min(buffer.len() - len);
            if n == left.len() {
                (self.parts, self.offset) = (others, 0);
            } else {
                self.offset += n;
            }
            if is_whole && n > 0 {
                return &left[..n];
            }
            buffer[len..len + n].copy_from_slice(&left[..n]);
            len += n;
            if len == buffer.len() {
                break;
            }
        }
        &buffer[..len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_hold_all_slices_in_order_and_copy_only_across_them() {
        let texts: [&[u8]; 6] = [b"", b"ab", b"", b"cdefghij", b"k", b""];
        let parts = texts.map(IoSlice::new);
        for size in 1..=12 {
            let (mut runs, mut seen) = (Parts { parts: &parts, offset: 0 }, Vec::new());
            loop {
                let mut buffer = vec![0; size];
                let run = runs.next_run(&mut buffer);
                if run.is_empty() {
                    break;
                }
                assert!(run.len() == size || seen.len() + run.len() == 11, "{size}: a run of {}", run.len());
                seen.extend_from_slice(run);
            }
            assert_eq!(seen, b"abcdefghijk", "runs of {size}");
        }
        let mut buffer = [0; 4];
        let (from, alone) = (texts[3].as_ptr_range(), [IoSlice::new(texts[3]), IoSlice::new(b"")]);
        let run = Parts { parts: &alone, offset: 0 }.next_run(&mut buffer);
        assert!(run == b"cdef" && from.contains(&run.as_ptr()));
    }
}
