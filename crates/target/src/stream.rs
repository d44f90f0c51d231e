//! One accepted connection: plain tcp, tcp with TLS, or a unix socket, behind one reader and writer.
//!
//! TLS is rustls driven by hand over the non-blocking socket, since it needs no more than the two adapters below. What was
//! written goes out with `flush`; a plain socket has nothing to flush.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustls::ServerConnection;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// Bytes of TLS records that wait for the socket: an output that is full (`FLUSH_AT`) leaves in one call.
const RECORDS: usize = 160 * 1024;

/// The connection's socket.
#[derive(Debug)]
pub(crate) enum Stream {
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
}

impl Stream {
    pub(crate) fn tls(socket: TcpStream, mut session: ServerConnection) -> Self {
        session.set_buffer_limit(Some(RECORDS));
        Stream::Tls(Box::new(TlsStream { socket, session, closed: false }))
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(self, Stream::Tls(_))
    }

    /// The client's address; unix sockets have none.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        let of = |s: &TcpStream| s.peer_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |a: SocketAddr| a.ip());
        match self {
            Stream::Tcp(socket) => Some(of(socket)),
            Stream::Tls(tls) => Some(of(&tls.socket)),
            Stream::Unix(_) => None,
        }
    }

    /// The handshake did not end (always false on plain sockets).
    pub(crate) fn is_handshaking(&self) -> bool {
        matches!(self, Stream::Tls(tls) if tls.session.is_handshaking())
    }

    /// The kernel sends `count` bytes of a file from `offset`, which moves on by what was sent; 0 at the end of the file.
    ///
    /// `None` where bytes must pass through this process: they are to be encrypted.
    pub(crate) fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        file: &File,
        offset: &mut u64,
        count: usize,
    ) -> Option<Poll<io::Result<usize>>> {
        let mut send = |socket: BorrowedFd<'_>| Ok(rustix::fs::sendfile(socket, file, Some(offset), count)?);
        match self {
            Stream::Tcp(s) => Some(write_when_ready(
                cx,
                |cx| s.poll_write_ready(cx),
                || s.try_io(Interest::WRITABLE, || send(s.as_fd())),
            )),
            Stream::Unix(s) => Some(write_when_ready(
                cx,
                |cx| s.poll_write_ready(cx),
                || s.try_io(Interest::WRITABLE, || send(s.as_fd())),
            )),
            Stream::Tls(_) => None,
        }
    }

    /// Makes closing send RST instead of FIN; a unix socket has no such thing and just closes.
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        let linger = |s: &TcpStream| socket2::SockRef::from(s).set_linger(Some(Duration::ZERO));
        match self {
            Stream::Tcp(socket) => linger(socket),
            Stream::Tls(tls) => linger(&tls.socket),
            Stream::Unix(_) => Ok(()),
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
        match self.get_mut() {
            Stream::Tcp(socket) => Pin::new(socket).poll_read(cx, buf),
            Stream::Unix(socket) => Pin::new(socket).poll_read(cx, buf),
            Stream::Tls(tls) => tls.poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(socket) => Pin::new(socket).poll_write(cx, buf),
            Stream::Unix(socket) => Pin::new(socket).poll_write(cx, buf),
            Stream::Tls(tls) => tls.poll_write_with(cx, |writer| writer.write(buf)),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(socket) => Pin::new(socket).poll_write_vectored(cx, bufs),
            Stream::Unix(socket) => Pin::new(socket).poll_write_vectored(cx, bufs),
            Stream::Tls(tls) => tls.poll_write_with(cx, |writer| writer.write_vectored(bufs)),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(_) | Stream::Unix(_) => Poll::Ready(Ok(())),
            Stream::Tls(tls) => tls.poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(socket) => Pin::new(socket).poll_shutdown(cx),
            Stream::Unix(socket) => Pin::new(socket).poll_shutdown(cx),
            Stream::Tls(tls) => {
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
        loop {
            match self.session.reader().read(buf.initialize_unfilled()) {
                Ok(n) => {
                    buf.advance(n);
                    return Poll::Ready(Ok(()));
                }
                // The client closed without close_notify: the end, as on a plain socket.
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Poll::Ready(Ok(())),
                Err(e) if e.kind() != io::ErrorKind::WouldBlock => return Poll::Ready(Err(e)),
                Err(_) => {}
            }
            match self.session.read_tls(&mut Blocking { socket: &mut self.socket, cx }) {
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    // Nothing came, and the socket has the waker. What the handshake still has to say goes out meanwhile.
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
            match self.session.write_tls(&mut Blocking { socket: &mut self.socket, cx }) {
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
