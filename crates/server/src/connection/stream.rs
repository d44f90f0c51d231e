//! One accepted connection: plain tcp, tcp with TLS, or a unix socket, behind one reader and writer.
//!
//! What was written goes out with `flush`; a plain socket has nothing to flush. A `Stream` is a handle: the connection
//! writes while the body of its request, wherever the app took that, reads.

use std::cell::{OnceCell, RefCell};
use std::fs::File;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wire::{Socket, TlsStream};

use crate::witness::Traffic;

/// A handle on a connection's socket, which closes with the last one.
#[derive(Clone)]
pub(crate) struct Stream(Rc<Watchable>);

struct Watchable {
    layer: RefCell<Layer>,
    /// Of a connection that a witness hears of.
    traffic: OnceCell<Rc<Traffic>>,
}

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
        Stream::of(Layer::Plain(socket))
    }

    pub(crate) fn tls(tls: TlsStream) -> Self {
        Stream::of(Layer::Tls(Box::new(tls)))
    }

    fn of(layer: Layer) -> Self {
        Stream(Rc::new(Watchable { layer: RefCell::new(layer), traffic: OnceCell::new() }))
    }

    /// From now on counts what passes, and has the kernel stamp what arrives.
    pub(crate) fn watch(&self) -> Rc<Traffic> {
        self.stamp_arrivals();
        self.0.traffic.get_or_init(Rc::default).clone()
    }

    fn has_read(&self, bytes: usize, stamp_ns: Option<u64>) {
        if let Some(traffic) = self.0.traffic.get() {
            traffic.read(bytes, stamp_ns);
        }
    }

    fn writes(&self) {
        if let Some(traffic) = self.0.traffic.get() {
            traffic.writes();
        }
    }

    fn has_written(&self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let (Some(traffic), Poll::Ready(Ok(bytes))) = (self.0.traffic.get(), &polled) {
            traffic.wrote(*bytes);
        }
        polled
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(*self.0.layer.borrow(), Layer::Tls(_))
    }

    /// The handshake did not end (always false on plain sockets).
    pub(crate) fn is_handshaking(&self) -> bool {
        matches!(&*self.0.layer.borrow(), Layer::Tls(tls) if tls.is_handshaking())
    }

    /// Client and server agreed on HTTP/2 in the handshake.
    pub(crate) fn chose_http2(&self) -> bool {
        matches!(&*self.0.layer.borrow(), Layer::Tls(tls) if tls.protocol() == Some(b"h2"))
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
        let Layer::Plain(socket) = &*self.0.layer.borrow() else { return None };
        self.writes();
        let sent = socket.poll_send_file_fairly(cx, file, *offset, count).map_ok(|sent| {
            *offset += sent as u64;
            sent
        });
        Some(self.has_written(sent))
    }

    /// Whether `poll_write_more` differs from a plain write: TCP without TLS.
    pub(crate) fn keeps_back(&self) -> bool {
        matches!(&*self.0.layer.borrow(), Layer::Plain(socket) if socket.keeps_back())
    }

    /// Writes bytes that others follow at once: the kernel may keep them for a full packet.
    pub(crate) fn poll_write_more(&mut self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.writes();
        let polled = match &mut *self.0.layer.borrow_mut() {
            Layer::Plain(socket) => socket.poll_send_more_fairly(cx, bufs),
            Layer::Tls(tls) => tls.poll_send(cx, bufs),
        };
        self.has_written(polled)
    }

    /// Has the kernel say when bytes arrive from now on, where it can.
    pub(crate) fn stamp_arrivals(&self) {
        match &mut *self.0.layer.borrow_mut() {
            Layer::Plain(socket) => {
                socket.stamp_arrivals();
            }
            Layer::Tls(tls) => tls.stamp_arrivals(),
        }
    }

    /// Reads as `poll_read` does, after `stamp_arrivals`; when the last bytes read reached this machine, wall clock,
    /// nanoseconds since 1970: by the kernel's stamp, else by the clock right after the read.
    pub(crate) fn poll_read_stamped(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<u64>> {
        let stamp_ns = ready!(self.poll_receive(cx, buf))?;
        Poll::Ready(Ok(stamp_ns.unwrap_or_else(wire::wall_ns)))
    }

    /// Reads; the kernel's stamp of the last bytes, where it was asked for stamps.
    fn poll_receive(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<Option<u64>>> {
        let before = buf.filled().len();
        let stamp_ns = match &mut *self.0.layer.borrow_mut() {
            Layer::Plain(socket) => ready!(socket.poll_receive_into(cx, buf))?,
            Layer::Tls(tls) => {
                ready!(tls.poll_receive_into(cx, buf))?;
                tls.stamp_ns()
            }
        };
        self.has_read(buf.filled().len() - before, stamp_ns);
        Poll::Ready(Ok(stamp_ns))
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
        let (bytes, stamp_ns) = match &mut *self.0.layer.borrow_mut() {
            Layer::Plain(socket) => {
                let mut buffer = ReadBuf::new(scratch);
                let stamp_ns = ready!(socket.poll_receive_into(cx, &mut buffer))?;
                use_bytes(buffer.filled());
                (buffer.filled().len(), stamp_ns)
            }
            Layer::Tls(tls) => (ready!(tls.poll_receive(cx, scratch.len(), use_bytes))?, tls.stamp_ns()),
        };
        self.has_read(bytes, stamp_ns);
        Poll::Ready(Ok(bytes))
    }

    /// Makes closing send RST instead of FIN; a unix socket has no such thing and just closes.
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        self.0.layer.borrow().socket().reset_on_close()
    }

    /// Ready when a read is worth trying: memory for it is found only then.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.layer.borrow_mut() {
            Layer::Plain(socket) => socket.poll_readable(cx),
            Layer::Tls(tls) => tls.poll_readable(cx),
        }
    }

    /// Waits until there is something to see, and leaves it there.
    pub(crate) fn poll_peek(&self, cx: &mut Context<'_>) -> Poll<Peeked> {
        let layer = self.0.layer.borrow();
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
        self.poll_receive(cx, buf).map_ok(drop)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.writes();
        let polled = match &mut *self.0.layer.borrow_mut() {
            Layer::Plain(socket) => socket.poll_send_fairly(cx, bufs),
            Layer::Tls(tls) => tls.poll_send(cx, bufs),
        };
        self.has_written(polled)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.layer.borrow_mut() {
            Layer::Plain(_) => Poll::Ready(Ok(())),
            Layer::Tls(tls) => tls.poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.layer.borrow_mut() {
            Layer::Plain(socket) => {
                socket.close_sending();
                Poll::Ready(Ok(()))
            }
            Layer::Tls(tls) => tls.poll_close(cx),
        }
    }
}
