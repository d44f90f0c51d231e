//! One accepted connection: plain tcp, tcp with TLS, or a unix socket, behind one reader and writer.
//!
//! TLS is rustls driven by hand over the non-blocking socket, since it needs no more than the two adapters below. What
//! was written goes out with `flush`; a plain socket has nothing to flush. A `Stream` is a handle: the connection
//! writes while the body of its request, wherever the app took that, reads.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, IoSlice, Read, Write};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use rustls::ServerConnection;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wire::Socket;

/// Bytes of TLS records that wait for the socket: an output that is full (`FLUSH_AT`) leaves in one call.
const RECORDS: usize = 160 * 1024;

/// A handle on a connection's socket, which closes with the last one.
#[derive(Clone)]
pub(crate) struct Stream(Rc<RefCell<Layer>>);

enum Layer {
    Plain(Socket),
    Tls(Box<TlsStream>),
}

/// A TLS session and its socket.
pub(crate) struct TlsStream {
    socket: Socket,
    session: ServerConnection,
    closed: bool,
    /// When the bytes read last arrived, where somebody asks.
    stamp_ns: Option<u64>,
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

    pub(crate) fn tls(socket: Socket, mut session: ServerConnection) -> Self {
        session.set_buffer_limit(Some(RECORDS));
        let tls = TlsStream { socket, session, closed: false, stamp_ns: None };
        Stream(Rc::new(RefCell::new(Layer::Tls(Box::new(tls)))))
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(*self.0.borrow(), Layer::Tls(_))
    }

    /// The handshake did not end (always false on plain sockets).
    pub(crate) fn is_handshaking(&self) -> bool {
        matches!(&*self.0.borrow(), Layer::Tls(tls) if tls.session.is_handshaking())
    }

    /// Client and server agreed on HTTP/2 in the handshake.
    pub(crate) fn chose_http2(&self) -> bool {
        matches!(&*self.0.borrow(), Layer::Tls(tls) if tls.session.alpn_protocol() == Some(b"h2"))
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

    /// Has the kernel say when bytes arrive from now on, where it can.
    pub(crate) fn stamp_arrivals(&self) {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(socket) => {
                socket.stamp_arrivals();
            }
            Layer::Tls(tls) => tls.stamp_ns = tls.socket.stamp_arrivals().then(wire::wall_ns),
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
                ready!(tls.poll_read(cx, buf))?;
                Poll::Ready(Ok(tls.stamp_ns.unwrap_or_else(wire::wall_ns)))
            }
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
            Layer::Tls(tls) => tls.poll_plaintext(cx),
        }
    }

    /// Waits until there is something to see, and leaves it there.
    pub(crate) fn poll_peek(&self, cx: &mut Context<'_>) -> Poll<Peeked> {
        let seen = ready!(self.0.borrow().socket().poll_peek(cx));
        Poll::Ready(if matches!(seen, Ok(1..)) { Peeked::Bytes } else { Peeked::End })
    }
}

impl Layer {
    fn socket(&self) -> &Socket {
        match self {
            Layer::Plain(socket) => socket,
            Layer::Tls(tls) => &tls.socket,
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(socket) => socket.poll_receive_into(cx, buf).map_ok(drop),
            Layer::Tls(tls) => tls.poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self.0.borrow_mut() {
            Layer::Plain(socket) => socket.poll_send_fairly(cx, &[IoSlice::new(buf)]),
            Layer::Tls(tls) => tls.poll_write_with(cx, |writer| writer.write(buf)),
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
            Layer::Tls(tls) => tls.poll_write_with(cx, |writer| writer.write_vectored(bufs)),
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
            Layer::Plain(socket) => socket.close_sending(),
            Layer::Tls(tls) => {
                if !tls.closed {
                    tls.closed = true;
                    tls.session.send_close_notify();
                }
                ready!(tls.poll_flush(cx))?;
                tls.socket.close_sending();
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl TlsStream {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_plaintext(cx))?;
        match self.session.reader().read(buf.initialize_unfilled()) {
            Ok(n) => {
                buf.advance(n);
                Poll::Ready(Ok(()))
            }
            // The client closed without close_notify: the end, as on a plain socket.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            Err(e) => Poll::Ready(Err(e)),
        }
    }

    /// Receives and decrypts until the session has bytes to give, or the end.
    fn poll_plaintext(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            match self.session.reader().fill_buf() {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                _bytes_or_the_end => return Poll::Ready(Ok(())),
            }
            let stamp_ns = self.stamp_ns.as_mut();
            match self.session.read_tls(&mut Blocking { socket: &self.socket, cx, stamp_ns }) {
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    // Nothing came, and the socket has the waker. What the handshake still has to say goes out
                    // meanwhile.
                    let _sent = self.poll_flush(cx)?;
                    return Poll::Pending;
                }
                Err(e) => return Poll::Ready(Err(e)),
            }
            if let Err(e) = self.session.process_new_packets() {
                let _alert = self.poll_flush(cx);
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, e)));
            }
            if self.session.wants_write() && self.poll_flush(cx)?.is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// Never writes nothing: the session takes bytes again once its own buffer went out.
    fn poll_write_with(
        &mut self,
        cx: &mut Context<'_>,
        mut write: impl FnMut(&mut rustls::Writer<'_>) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let n = write(&mut self.session.writer())?;
        if n > 0 {
            return Poll::Ready(Ok(n));
        }
        ready!(self.poll_flush(cx))?;
        Poll::Ready(write(&mut self.session.writer()))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut Blocking { socket: &self.socket, cx, stamp_ns: None }) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(e) => return Poll::Ready(Err(e)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// The socket as rustls wants it: `Read` and `Write` that say `WouldBlock` after leaving the waker.
struct Blocking<'a, 'c, 'w> {
    socket: &'a Socket,
    cx: &'c mut Context<'w>,
    /// To be told when what is read arrived.
    stamp_ns: Option<&'a mut u64>,
}

fn or_would_block<T>(poll: Poll<io::Result<T>>) -> io::Result<T> {
    match poll {
        Poll::Ready(result) => result,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

impl Read for Blocking<'_, '_, '_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut buf = ReadBuf::new(buf);
        let arrived_ns = or_would_block(self.socket.poll_receive_into(self.cx, &mut buf))?;
        if let Some(stamp_ns) = self.stamp_ns.as_deref_mut() {
            *stamp_ns = arrived_ns.unwrap_or_else(wire::wall_ns);
        }
        Ok(buf.filled().len())
    }
}

impl Write for Blocking<'_, '_, '_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        or_would_block(self.socket.poll_send_fairly(self.cx, &[IoSlice::new(buf)]))
    }

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        or_would_block(self.socket.poll_send_fairly(self.cx, bufs))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
