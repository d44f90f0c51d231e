//! One accepted connection: plain tcp, tcp with TLS, or a unix socket, behind one reader and writer.
//!
//! TLS is rustls driven by hand over the non-blocking socket, since it needs no more than the two adapters below. What
//! was written goes out with `flush`; a plain socket has nothing to flush. A `Stream` is a handle: the connection
//! writes while the body of its request, wherever the app took that, reads.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustls::ServerConnection;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// Bytes of TLS records that wait for the socket: an output that is full (`FLUSH_AT`) leaves in one call.
const RECORDS: usize = 160 * 1024;

/// A handle on a connection's socket, which closes with the last one.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Rc<RefCell<Socket>>);

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Tls(Box<TlsStream>),
    Unix(UnixStream),
}

/// A TLS session and its socket.
#[derive(Debug)]
pub(crate) struct TlsStream {
    socket: TcpStream,
    session: ServerConnection,
    closed: bool,
    /// The kernel stamps what arrives: when the bytes read last did.
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
    pub(crate) fn tcp(socket: TcpStream) -> Self {
        Stream(Rc::new(RefCell::new(Socket::Tcp(socket))))
    }

    pub(crate) fn unix(socket: UnixStream) -> Self {
        Stream(Rc::new(RefCell::new(Socket::Unix(socket))))
    }

    pub(crate) fn tls(socket: TcpStream, mut session: ServerConnection) -> Self {
        session.set_buffer_limit(Some(RECORDS));
        Stream(Rc::new(RefCell::new(Socket::Tls(Box::new(TlsStream {
            socket,
            session,
            closed: false,
            stamp_ns: None,
        })))))
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(*self.0.borrow(), Socket::Tls(_))
    }

    /// The handshake did not end (always false on plain sockets).
    pub(crate) fn is_handshaking(&self) -> bool {
        matches!(&*self.0.borrow(), Socket::Tls(tls) if tls.session.is_handshaking())
    }

    /// Client and server agreed on HTTP/2 in the handshake.
    pub(crate) fn chose_http2(&self) -> bool {
        matches!(&*self.0.borrow(), Socket::Tls(tls) if tls.session.alpn_protocol() == Some(b"h2"))
    }

    /// The kernel sends `count` bytes of a file from `offset`, which moves on by what was sent; 0 at the end of the
    /// file.
    ///
    /// `None` where bytes must pass through this process: they must be encrypted.
    pub(crate) fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        file: &File,
        offset: &mut u64,
        count: usize,
    ) -> Option<Poll<io::Result<usize>>> {
        let mut send = |socket: BorrowedFd<'_>| Ok(rustix::fs::sendfile(socket, file, Some(offset), count)?);
        match &mut *self.0.borrow_mut() {
            Socket::Tcp(s) => Some(write_when_ready(
                cx,
                |cx| s.poll_write_ready(cx),
                || s.try_io(Interest::WRITABLE, || send(s.as_fd())),
            )),
            Socket::Unix(s) => Some(write_when_ready(
                cx,
                |cx| s.poll_write_ready(cx),
                || s.try_io(Interest::WRITABLE, || send(s.as_fd())),
            )),
            Socket::Tls(_) => None,
        }
    }

    /// Has the kernel say when bytes arrive from now on, where it can.
    pub(crate) fn stamp_arrivals(&self) {
        match &mut *self.0.borrow_mut() {
            Socket::Tcp(socket) => {
                wire::stamp_arrivals(socket.as_fd());
            }
            Socket::Tls(tls) => tls.stamp_ns = wire::stamp_arrivals(tls.socket.as_fd()).then(wire::wall_ns),
            Socket::Unix(_) => {}
        }
    }

    /// Reads as `poll_read` does, after `stamp_arrivals`; when the last bytes read reached this machine, wall clock,
    /// nanoseconds since 1970: by the kernel's stamp, else by the clock right after the read.
    pub(crate) fn poll_read_stamped(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<u64>> {
        match &mut *self.0.borrow_mut() {
            Socket::Tcp(socket) => {
                let (filled, stamp_ns) = ready!(read_stamped(socket, cx, buf.initialize_unfilled()))?;
                buf.advance(filled);
                Poll::Ready(Ok(stamp_ns))
            }
            Socket::Unix(socket) => Pin::new(socket).poll_read(cx, buf).map_ok(|()| wire::wall_ns()),
            Socket::Tls(tls) => {
                ready!(tls.poll_read(cx, buf))?;
                Poll::Ready(Ok(tls.stamp_ns.unwrap_or_else(wire::wall_ns)))
            }
        }
    }

    /// Makes closing send RST instead of FIN; a unix socket has no such thing and just closes.
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        let linger = |s: &TcpStream| socket2::SockRef::from(s).set_linger(Some(Duration::ZERO));
        match &*self.0.borrow() {
            Socket::Tcp(socket) => linger(socket),
            Socket::Tls(tls) => linger(&tls.socket),
            Socket::Unix(_) => Ok(()),
        }
    }

    /// Ready when a read is worth trying: memory for it is found only then.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.borrow_mut() {
            Socket::Tcp(socket) => socket.poll_read_ready(cx),
            Socket::Unix(socket) => socket.poll_read_ready(cx),
            Socket::Tls(tls) => tls.poll_plaintext(cx),
        }
    }

    /// Waits until there is something to see, and leaves it there.
    pub(crate) fn poll_peek(&self, cx: &mut Context<'_>) -> Poll<Peeked> {
        let socket = self.0.borrow();
        loop {
            let seen = match ready!(socket.poll_read_ready(cx)) {
                Ok(()) => socket.peek(),
                Err(e) => Err(e),
            };
            match seen {
                Ok(0) => return Poll::Ready(Peeked::End),
                Ok(_) => return Poll::Ready(Peeked::Bytes),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Poll::Ready(Peeked::End),
            }
        }
    }
}

impl Socket {
    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Socket::Tcp(socket) => socket.poll_read_ready(cx),
            Socket::Unix(socket) => socket.poll_read_ready(cx),
            Socket::Tls(tls) => tls.socket.poll_read_ready(cx),
        }
    }

    /// How much of one byte is there to read. Nothing takes the readiness back, so that the next look waits.
    fn peek(&self) -> io::Result<usize> {
        let mut byte = [MaybeUninit::uninit(); 1];
        let read = Interest::READABLE;
        match self {
            Socket::Tcp(socket) => socket.try_io(read, || socket2::SockRef::from(socket).peek(&mut byte)),
            Socket::Unix(socket) => socket.try_io(read, || socket2::SockRef::from(socket).peek(&mut byte)),
            Socket::Tls(tls) => tls.socket.try_io(read, || socket2::SockRef::from(&tls.socket).peek(&mut byte)),
        }
    }
}

/// Reads once when there is something to read: how many bytes, and when the last of them arrived.
fn read_stamped(socket: &TcpStream, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<(usize, u64)>> {
    loop {
        ready!(socket.poll_read_ready(cx))?;
        let mut read = None;
        let tried = socket.try_io(Interest::READABLE, || {
            let (filled, _) = *read.insert(wire::receive_stamped(socket.as_fd(), buf)?);
            // A short read has drained the socket: the next look waits, without asking the kernel first.
            if filled > 0 && filled < buf.len() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        });
        match (read, tried) {
            (Some((filled, stamp_ns)), _) => return Poll::Ready(Ok((filled, stamp_ns.unwrap_or_else(wire::wall_ns)))),
            (None, Err(e)) if e.kind() != io::ErrorKind::WouldBlock => return Poll::Ready(Err(e)),
            (None, _) => {}
        }
    }
}

/// A write of a kind that the socket types do not offer: tried whenever they say they are ready.
fn write_when_ready(
    cx: &mut Context<'_>,
    poll_ready: impl Fn(&mut Context<'_>) -> Poll<io::Result<()>>,
    mut write: impl FnMut() -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(poll_ready(cx))?;
        match write() {
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            result => return Poll::Ready(result),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.borrow_mut() {
            Socket::Tcp(socket) => Pin::new(socket).poll_read(cx, buf),
            Socket::Unix(socket) => Pin::new(socket).poll_read(cx, buf),
            Socket::Tls(tls) => tls.poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self.0.borrow_mut() {
            Socket::Tcp(socket) => Pin::new(socket).poll_write(cx, buf),
            Socket::Unix(socket) => Pin::new(socket).poll_write(cx, buf),
            Socket::Tls(tls) => tls.poll_write_with(cx, |writer| writer.write(buf)),
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
            Socket::Tcp(socket) => Pin::new(socket).poll_write_vectored(cx, bufs),
            Socket::Unix(socket) => Pin::new(socket).poll_write_vectored(cx, bufs),
            Socket::Tls(tls) => tls.poll_write_with(cx, |writer| writer.write_vectored(bufs)),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.borrow_mut() {
            Socket::Tcp(_) | Socket::Unix(_) => Poll::Ready(Ok(())),
            Socket::Tls(tls) => tls.poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.borrow_mut() {
            Socket::Tcp(socket) => Pin::new(socket).poll_shutdown(cx),
            Socket::Unix(socket) => Pin::new(socket).poll_shutdown(cx),
            Socket::Tls(tls) => {
                if !tls.closed {
                    tls.closed = true;
                    tls.session.send_close_notify();
                }
                ready!(tls.poll_flush(cx))?;
                Pin::new(&mut tls.socket).poll_shutdown(cx)
            }
        }
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
            match self.session.read_tls(&mut Blocking { socket: &mut self.socket, cx, stamp_ns }) {
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
            match self.session.write_tls(&mut Blocking { socket: &mut self.socket, cx, stamp_ns: None }) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(e) => return Poll::Ready(Err(e)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// A tokio socket as rustls wants it: `Read` and `Write` that say `WouldBlock` after leaving the waker.
struct Blocking<'a, 'c, 'w> {
    socket: &'a mut TcpStream,
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
        if let Some(stamp_ns) = self.stamp_ns.as_deref_mut() {
            let (filled, arrived_ns) = or_would_block(read_stamped(self.socket, self.cx, buf))?;
            *stamp_ns = arrived_ns;
            return Ok(filled);
        }
        let mut buf = ReadBuf::new(buf);
        or_would_block(Pin::new(&mut *self.socket).poll_read(self.cx, &mut buf))?;
        Ok(buf.filled().len())
    }
}

impl Write for Blocking<'_, '_, '_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        or_would_block(Pin::new(&mut *self.socket).poll_write(self.cx, buf))
    }

    fn write_vectored(&mut self, bufs: &[io::IoSlice<'_>]) -> io::Result<usize> {
        or_would_block(Pin::new(&mut *self.socket).poll_write_vectored(self.cx, bufs))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
