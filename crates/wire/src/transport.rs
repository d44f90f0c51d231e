//! The bytes of a connection, plain or encrypted: one request out, whatever comes back in.
//!
//! Counts what really goes over the network, TLS and handshake included. Refuses to interpret: what arrives goes to a
//! sink. Invariant: a failed transport is not used again.

use std::io::{self, IoSlice};
use std::task::{Context, Poll, Waker, ready};

use crate::io::arrival::{Arrival, TURN, TransportError, end_turn};
use crate::io::buffers::Buffers;
use crate::io::upload::{MAX_PARTS, MAX_WRITE, Shown, Upload};
use crate::link::LinkedSocket;
use crate::payload::Segment;
use crate::tls::client::ClientSession;
use crate::tls::end::Line;

/// A socket, with TLS or without.
pub(crate) struct Transport {
    pub(crate) socket: LinkedSocket,
    pub(crate) tls: Option<Box<ClientSession>>,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl Transport {
    pub(crate) fn new(socket: LinkedSocket) -> Transport {
        Transport { socket, tls: None, sent: 0, received: 0 }
    }

    /// Whether the peer's TCP has acknowledged nothing of what was sent since `sent` was last reset: it cannot have
    /// read it. Never known on a unix socket.
    pub(crate) fn is_all_unacknowledged(&self) -> bool {
        self.socket.unacknowledged().is_some_and(|bytes| bytes >= self.sent)
    }

    /// Writes until everything is with the kernel.
    #[inline]
    pub(crate) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &Buffers,
        upload: &mut Upload<'_>,
    ) -> Poll<Result<(), TransportError>> {
        upload.show(|upload, shown| self.poll_send_shown(cx, buffers, upload, shown))
    }

    #[inline]
    fn poll_send_shown(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &Buffers,
        upload: &mut Upload<'_>,
        shown: Shown<'_>,
    ) -> Poll<Result<(), TransportError>> {
        if let Transport { socket, tls: Some(session), sent, received } = self {
            return session.poll_send(cx, Line { socket, buffers, sent, received }, upload, shown);
        }
        let turn = self.sent + TURN;
        while !upload.is_done() {
            if self.sent >= turn {
                return end_turn(cx);
            }
            let n = if let Some(part) = upload.only_part(shown) {
                ready!(self.socket.poll_send(cx, &[IoSlice::new(part)])).map_err(TransportError::Io)?
            } else if let Some((segment, offset)) = upload.stream() {
                ready!(self.poll_send_stream(cx, buffers, segment, offset))?
            } else {
                ready!(self.poll_send_parts(cx, upload, shown)).map_err(TransportError::Io)?
            };
            self.sent += n as u64;
            upload.advance(n);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_send_parts(&self, cx: &mut Context<'_>, upload: &Upload<'_>, shown: Shown<'_>) -> Poll<io::Result<usize>> {
        let mut parts = [IoSlice::new(&[]); MAX_PARTS];
        let filled = upload.parts(shown, &mut parts);
        let parts = &parts[..filled];
        if upload.is_stream_after(shown, parts.iter().map(|part| part.len()).sum()) {
            return self.socket.poll_send_more(cx, parts);
        }
        self.socket.poll_send(cx, parts)
    }

    /// One write of a streamed segment from `offset` on. A file goes to the socket inside of the kernel where that
    /// works.
    fn poll_send_stream(
        &self,
        cx: &mut Context<'_>,
        buffers: &Buffers,
        segment: &Segment,
        offset: u64,
    ) -> Poll<Result<usize, TransportError>> {
        if let Segment::File(range) = segment {
            let (file, at) = range.at(offset);
            let len = usize::try_from(range.len() - offset).map_or(MAX_WRITE, |left| left.min(MAX_WRITE));
            match ready!(self.socket.poll_send_file(cx, file, at, len)) {
                Ok(0) => return Poll::Ready(Err(TransportError::Payload(range.too_short(offset)))),
                Ok(n) => return Poll::Ready(Ok(n)),
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                // The only error of reading among those that can come out here.
                Err(error) if error.raw_os_error() == Some(libc::EIO) => {
                    return Poll::Ready(Err(TransportError::Payload(range.unreadable(&error))));
                }
                Err(error) => return Poll::Ready(Err(TransportError::Io(error))),
            }
        }
        let mut piece = buffers.piece_buffer();
        let n = segment.read_at(offset, &mut piece).map_err(TransportError::Payload)?;
        self.socket.poll_send(cx, &[IoSlice::new(&piece[..n])]).map_err(TransportError::Io)
    }

    /// Whether bytes can be taken before those taken earlier are with the kernel.
    pub(crate) fn has_room(&self) -> bool {
        self.tls.as_ref().is_none_or(|session| session.has_room())
    }

    /// Takes bytes, as many as there is room for, waiting only when there is none. Encrypted ones leave with
    /// `poll_flush`, or when room is needed.
    pub(crate) fn poll_take(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &Buffers,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize, TransportError>> {
        if !self.has_room() {
            ready!(self.poll_flush(cx, buffers))?;
        }
        match &mut self.tls {
            Some(session) => Poll::Ready(session.take(buffers, parts)),
            None => {
                let n = ready!(self.socket.poll_send(cx, parts)).map_err(TransportError::Io)?;
                self.sent += n as u64;
                Poll::Ready(Ok(n))
            }
        }
    }

    /// Writes until everything that was taken is with the kernel.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>, buffers: &Buffers) -> Poll<Result<(), TransportError>> {
        let Transport { socket, tls: Some(session), sent, received } = self else { return Poll::Ready(Ok(())) };
        session.poll_flush(cx, &mut Line { socket, buffers, sent, received }).map_err(TransportError::Io)
    }

    /// Whether everything that was taken is with the kernel.
    pub(crate) fn is_flushed(&self) -> bool {
        self.tls.as_ref().is_none_or(|session| session.is_flushed())
    }

    /// Waits for bytes and gives what one read brought to the sink, possibly in several pieces.
    pub(crate) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &Buffers,
        sink: impl FnMut(&[u8]),
    ) -> Poll<Result<Arrival, TransportError>> {
        self.poll_receive_some(cx, buffers, usize::MAX, sink)
    }

    /// As `poll_receive`, with one read of at most this many bytes where nothing is encrypted.
    #[inline]
    pub(crate) fn poll_receive_some(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &Buffers,
        most: usize,
        mut sink: impl FnMut(&[u8]),
    ) -> Poll<Result<Arrival, TransportError>> {
        if let Transport { socket, tls: Some(session), sent, received } = self {
            return session.poll_receive(cx, &mut Line { socket, buffers, sent, received }, usize::MAX, &mut sink);
        }
        let mut buffer = buffers.receive_buffer();
        let room = buffer.len().min(most);
        let read = ready!(self.socket.poll_receive(cx, &mut buffer[..room])).map_err(TransportError::Io)?;
        self.received += read.bytes as u64;
        if read.bytes > 0 {
            sink(&buffer[..read.bytes]);
        }
        Poll::Ready(Ok(Arrival { content: read.bytes, closed: read.bytes == 0, stamp_ns: read.stamp_ns }))
    }

    /// Whether nothing but TLS' own messages (session tickets) arrived since it was last read.
    #[inline]
    pub(crate) fn is_quiet(&mut self, buffers: &Buffers) -> bool {
        if self.socket.is_quiet() {
            return true;
        }
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            match self.poll_receive(&mut cx, buffers, |_| {}) {
                Poll::Pending => return true,
                Poll::Ready(Ok(arrival)) if arrival.content == 0 && !arrival.closed => {}
                Poll::Ready(_) => return false,
            }
        }
    }

    /// Whether `poll_drop` spares the copy: over TCP, unless the bytes have to be decrypted.
    pub(crate) fn drops_uncopied(&self) -> bool {
        self.tls.is_none() && self.socket.drops_uncopied()
    }

    /// Waits for unwanted bytes, at most this many, and drops them. Not for an encrypted connection.
    pub(crate) fn poll_drop(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &Buffers,
        most: u64,
    ) -> Poll<Result<Arrival, TransportError>> {
        debug_assert!(self.tls.is_none(), "what is encrypted has to be read");
        let mut buffer = buffers.receive_buffer();
        let room = usize::try_from(most).map_or(buffer.len(), |most| most.min(buffer.len()));
        let read = ready!(self.socket.poll_drop(cx, &mut buffer[..room])).map_err(TransportError::Io)?;
        self.received += read.bytes as u64;
        Poll::Ready(Ok(Arrival { content: read.bytes, closed: read.bytes == 0, stamp_ns: read.stamp_ns }))
    }
}
