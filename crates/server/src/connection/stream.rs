//! One accepted connection: plain tcp, tcp with TLS, or a unix socket, behind one reader and writer.
//!
//! What was written goes out with `flush`; a plain socket has nothing to flush. A `Stream` is a handle: the connection
//! writes while the body of its request, wherever the app took that, reads.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wire::{Socket, TlsStream};

/// A handle on a connection's socket, which closes with the last one.
#[derive(Clone)]
pub(crate) struct Stream(Rc<RefCell<Layer>>);

enum Layer {
    Plain(Socket),
    Tls(Box<TlsStream>),
}

/// What a look at the socket found, without taking anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peeked {
    /// Bytes to read.
    Bytes,
    /// The client ended its side, or the connection broke.
    End,
}

impl Stream {
    pub(crate) fn plain(socket: Socket) -> Self {
        Stream(Rc::new(RefCell::new(Layer::Plain(socket))))
    }

    pub(crate) fn tls(tls: TlsStream) -> Self {
        Stream(Rc::new(RefCell::new(Layer::Tls(Box::new(tls)))))
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(*self.0.borrow(), Layer::Tls(_))
    }

    /// The handshake did not end (always false on plain sockets).
    pub(crate) fn is_handshaking(&self) -> bool {
        matches!(&*self.0.borrow(), Layer::Tls(tls) if tls.is_handshaking())
    }

    /// Client and server agreed on HTTP/2 in the handshake.
    pub(crate) fn chose_http2(&self) -> bool {
        matches!(&*self.0.borrow(), Layer::Tls(tls) if tls.protocol() == Some(b"h2"))
    }

    /// The kernel sends `count` bytes of a file from `offset`, which moves on by what was sent; 0 at the end of the
    /// file.
    ///
    /// `None` where bytes must pass through this process: they are to be encrypted.
    pub(crate) fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        file: &File,
        offset: &mut u64,
        count: usize,
    ) -> Option<Poll<io::Result<usize>>> {
        let Layer::Plain(socket) = &*self.0.borrow() else { return None };
        Some(socket.poll_send_file_fairly(cx, file, *offset, count).map_ok(|sent| {
            *offset += sent as u64;
            sent
        }))
    }

    /// Whether `poll_write_more` differs from a plain write: TCP without TLS.
    pub(crate) fn keeps_back(&self) -> bool {
        matches!(&*self.0.borrow(), Layer::Plain(socket) if socket.keeps_back())
    }

    /// Writes bytes that others follow at once: the kernel may keep them for a full packet.
    pub(crate) fn poll_write_more(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(socket) => socket.poll_send_more_fairly(cx, bufs),
            Layer::Tls(tls) => tls.poll_send(cx, bufs),
        }
    }

    /// Has the kernel say when bytes arrive from now on, where it can.
    pub(crate) fn stamp_arrivals(&self) {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(socket) => {
                socket.stamp_arrivals();
            }
            Layer::Tls(tls) => tls.stamp_arrivals(),
        }
    }

    /// Reads as `poll_read` does, after `stamp_arrivals`; when the last bytes read reached this machine, wall clock,
    /// nanoseconds since 1970: by the kernel's stamp, else by the clock right after the read.
    pub(crate) fn poll_read_stamped(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<u64>> {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(socket) => {
                let stamp_ns = ready!(socket.poll_receive_into(cx, buf))?;
                Poll::Ready(Ok(stamp_ns.unwrap_or_else(wire::wall_ns)))
            }
            Layer::Tls(tls) => {
                ready!(tls.poll_receive_into(cx, buf))?;
                Poll::Ready(Ok(tls.stamp_ns().unwrap_or_else(wire::wall_ns)))
            }
        }
    }

    /// Waits for bytes and gives at most `most` of them to whoever uses them, possibly in several pieces; how many. 0:
    /// the client has ended its side. Plain bytes are received into `scratch`, which is as long as that; decrypted ones
    /// are where they are.
    pub(crate) fn poll_bytes(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
        use_bytes: &mut impl FnMut(&[u8]),
    ) -> Poll<io::Result<usize>> {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(socket) => {
                let mut buffer = ReadBuf::new(scratch);
                ready!(socket.poll_receive_into(cx, &mut buffer))?;
                use_bytes(buffer.filled());
                Poll::Ready(Ok(buffer.filled().len()))
            }
            Layer::Tls(tls) => tls.poll_receive(cx, scratch.len(), use_bytes),
        }
    }

    /// Makes closing send RST instead of FIN; a unix socket has no such thing and just closes.
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        self.0.borrow().socket().reset_on_close()
    }

    /// Ready when a read is worth trying: memory for it is found only then.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(socket) => socket.poll_readable(cx),
            Layer::Tls(tls) => tls.poll_readable(cx),
        }
    }

    /// Waits until there is something to see, and leaves it there.
    pub(crate) fn poll_peek(&self, cx: &mut Context<'_>) -> Poll<Peeked> {
        let layer = self.0.borrow();
        if matches!(&*layer, Layer::Tls(tls) if tls.has_content()) {
            return Poll::Ready(Peeked::Bytes);
        }
        let seen = ready!(layer.socket().poll_peek(cx));
        Poll::Ready(if matches!(seen, Ok(1..)) { Peeked::Bytes } else { Peeked::End })
    }
}

impl Layer {
    fn socket(&self) -> &Socket {
        match self {
            Layer::Plain(socket) => socket,
            Layer::Tls(tls) => tls.socket(),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(socket) => socket.poll_receive_into(cx, buf).map_ok(drop),
            Layer::Tls(tls) => tls.poll_receive_into(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(socket) => socket.poll_send_fairly(cx, &[IoSlice::new(buf)]),
            Layer::Tls(tls) => tls.poll_send(cx, &[IoSlice::new(buf)]),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(socket) => socket.poll_send_fairly(cx, bufs),
            Layer::Tls(tls) => tls.poll_send(cx, bufs),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(_) => Poll::Ready(Ok(())),
            Layer::Tls(tls) => tls.poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(socket) => {
                socket.close_sending();
                Poll::Ready(Ok(()))
            }
            Layer::Tls(tls) => tls.poll_close(cx),
        }
    }
}
