//! One non-blocking stream socket, tcp or unix.
//!
//! Writing is tried at once, without asking for readiness. Reading waits for readiness and then calls `recvmsg` once: a
//! short read means drained, so readiness is cleared without the extra call that would only say EAGAIN. Receive stamps
//! of the kernel come as control messages. Refuses: buffers of its own; the caller lends them. What tells when it is
//! ready is in `readiness`.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::{self, MaybeUninit};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::ReadBuf;

use super::departure::{ask_for_departures, departed_ns};
use super::readiness::{Attempt, Ready};
use super::receive::{Received, ask_for_stamps, receive};

/// Send buffer of connections over short paths.
const SEND_BUFFER: usize = 256 << 10;

/// A round trip of at most this is short: the same machine, or the same rack.
const SHORT_PATH: Duration = Duration::from_micros(500);

/// A connected or connecting stream socket.
pub struct Socket {
    fd: Ready,
    stamped: bool,
    tcp: bool,
}

impl Socket {
    /// Takes a non-blocking socket. `tcp`: ask for receive stamps; refusal by the kernel is not an error.
    pub(crate) fn new(socket: socket2::Socket, tcp: bool) -> io::Result<Socket> {
        let stamped = tcp && ask_for_stamps(socket.as_raw_fd(), false);
        Ok(Socket { fd: Ready::new(OwnedFd::from(socket))?, stamped, tcp })
    }

    /// Takes a non-blocking socket that a listener accepted, without stamps.
    pub(super) fn accepted(socket: OwnedFd, tcp: bool) -> io::Result<Socket> {
        Ok(Socket { fd: Ready::in_tokio(socket)?, stamped: false, tcp })
    }

    /// Has the kernel stamp what arrives from now on; whether it will. Unix sockets have no stamps.
    pub fn stamp_arrivals(&mut self) -> bool {
        self.stamped = self.tcp && ask_for_stamps(self.fd.as_raw_fd(), false);
        self.stamped
    }

    /// Has the kernel stamp when what is written from now on leaves, or no longer; whether it will. Only a reactor
    /// tells a stamp, which comes as an error, from the end of a connection.
    pub(crate) fn stamp_departures(&self, on: bool) -> bool {
        self.tcp && self.fd.is_in_reactor() && ask_for_departures(self.fd.as_raw_fd(), on)
    }

    /// When the last byte left that was written since then, in nanoseconds of the wall clock.
    pub(crate) fn departed_ns(&self) -> Option<u64> {
        departed_ns(self.fd.as_raw_fd())
    }

    /// Makes closing send RST instead of FIN; a unix socket has no such thing and just closes.
    pub fn reset_on_close(&self) -> io::Result<()> {
        if !self.tcp {
            return Ok(());
        }
        socket2::SockRef::from(self.fd.get_ref()).set_linger(Some(Duration::ZERO))
    }

    /// Two ends of a unix connection with so small send buffers that whoever writes feels what reads.
    pub(crate) fn pair(send_buffer: usize) -> io::Result<(Socket, Socket)> {
        let (one, other) = socket2::Socket::pair(socket2::Domain::UNIX, socket2::Type::STREAM, None)?;
        for end in [&one, &other] {
            end.set_nonblocking(true)?;
            end.set_send_buffer_size(send_buffer)?;
        }
        Ok((Socket::new(one, false)?, Socket::new(other, false)?))
    }

    /// Sets the size of the receive buffer. The kernel may cap it: no error.
    pub(crate) fn size_receive_buffer(&self, bytes: usize) {
        let _ = socket2::SockRef::from(self.fd.get_ref()).set_recv_buffer_size(bytes);
    }

    /// Tells the peer that nothing more comes.
    pub fn close_sending(&self) {
        let _gone_already = socket2::SockRef::from(self.fd.get_ref()).shutdown(std::net::Shutdown::Write);
    }

    /// Waits until a connect under way has ended.
    pub(crate) async fn connected(&self) -> io::Result<()> {
        std::future::poll_fn(|cx| self.fd.poll_write(cx, |_| Ok(()))).await?;
        match socket2::SockRef::from(self.fd.get_ref()).take_error()? {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// The peer's address; `None` on a unix socket.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        socket2::SockRef::from(self.fd.get_ref()).peer_addr().ok()?.as_socket()
    }

    /// Its own address; `None` on a unix socket.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        socket2::SockRef::from(self.fd.get_ref()).local_addr().ok()?.as_socket()
    }

    /// Sets the size of the send buffer; 0 leaves it to the kernel, which lets it grow to megabytes. With hundreds of
    /// large uploads at once these no longer fit into the CPU's caches: 200 of 1 MiB to a server on the same machine
    /// cost 15 to 40 % less CPU with 256 KiB. A limit on unsent bytes alone (TCP_NOTSENT_LOWAT) gained nothing there.
    ///
    /// Without a figure that is the size where the handshake took no longer than `SHORT_PATH`: there it is enough for
    /// 600 MB/s on one connection. A longer path needs what the kernel finds out. The kernel may cap the size: no
    /// error.
    pub(crate) fn size_send_buffer(&self, bytes: Option<usize>) {
        let bytes = bytes.unwrap_or_else(|| if self.is_short_path() { SEND_BUFFER } else { 0 });
        if bytes > 0 && self.tcp {
            let _ = socket2::SockRef::from(self.fd.get_ref()).set_send_buffer_size(bytes);
        }
    }

    /// Whether the round trip that the kernel has measured so far, the handshake's, was a short one.
    fn is_short_path(&self) -> bool {
        if !self.tcp {
            return false;
        }
        // SAFETY: zero is valid for each field of the struct; the kernel writes at most `size` bytes to it.
        let (result, info) = unsafe {
            let mut info: libc::tcp_info = mem::zeroed();
            let mut size = mem::size_of::<libc::tcp_info>() as libc::socklen_t;
            let to = ptr::from_mut(&mut info).cast();
            (libc::getsockopt(self.fd.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, to, &raw mut size), info)
        };
        result == 0 && info.tcpi_rtt > 0 && Duration::from_micros(info.tcpi_rtt.into()) <= SHORT_PATH
    }

    /// Writes as much as the kernel takes of the parts, waiting only when it takes nothing.
    #[inline]
    pub(crate) fn poll_send(&self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.poll_write(cx, |fd| send(fd, parts, false))
    }

    /// Like `poll_send`, for parts that other bytes follow at once: a packet that is not full waits for them.
    pub(crate) fn poll_send_more(&self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.poll_write(cx, |fd| send(fd, parts, true))
    }

    /// Writes as much as the kernel takes of `len` bytes of a file, without taking them into this process. 0: the file
    /// ends here. An error of kind `Unsupported`: not with this file system or socket.
    pub(crate) fn poll_send_file(
        &self,
        cx: &mut Context<'_>,
        file: &File,
        offset: u64,
        len: usize,
    ) -> Poll<io::Result<usize>> {
        self.poll_write(cx, |fd| send_file(fd, file, offset, len))
    }

    /// As `poll_send`, waiting for readiness first: so a task that never waits for its peer gives way to others, by
    /// tokio's budget.
    pub fn poll_send_fairly(&self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.fd.poll_write(cx, |fd| send(fd, parts, false))
    }

    /// Like `poll_send_fairly`, for parts that other bytes follow at once: TCP keeps what fills no packet for those.
    pub fn poll_send_more_fairly(&self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.fd.poll_write(cx, |fd| send(fd, parts, true))
    }

    /// Whether the kernel can keep bytes back for those that follow: TCP does, unix sockets do not.
    pub fn keeps_back(&self) -> bool {
        self.tcp
    }

    /// As `poll_send_file`, waiting for readiness first.
    pub fn poll_send_file_fairly(
        &self,
        cx: &mut Context<'_>,
        file: &File,
        offset: u64,
        len: usize,
    ) -> Poll<io::Result<usize>> {
        self.fd.poll_write(cx, |fd| send_file(fd, file, offset, len))
    }

    #[inline]
    fn poll_write(&self, cx: &mut Context<'_>, write: impl Fn(RawFd) -> io::Result<usize>) -> Poll<io::Result<usize>> {
        match write(self.fd.as_raw_fd()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return Poll::Ready(done),
        }
        self.fd.poll_write(cx, write)
    }

    /// Waits for readiness, then reads once into the buffer.
    #[inline]
    pub(crate) fn poll_receive(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        self.poll_read(cx, as_uninit(buffer), 0)
    }

    /// Waits for readiness, then reads once into the room that is left; the kernel's stamp of the last byte, where
    /// there is one.
    pub fn poll_receive_into(&self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<Option<u64>>> {
        // SAFETY: nothing but bytes that the kernel has written goes into the room.
        let room = unsafe { buffer.unfilled_mut() };
        let Received { bytes, stamp_ns } = ready!(self.poll_read(cx, room, 0))?;
        // SAFETY: the kernel has written so many bytes to the start of the room.
        unsafe { buffer.assume_init(bytes) };
        buffer.advance(bytes);
        Poll::Ready(Ok(stamp_ns))
    }

    /// Ready when a read is worth trying.
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.fd.poll_read(cx, |_| Ok(Attempt { value: (), is_drained: false }))
    }

    /// Waits until something arrived, and leaves it there: how much of one byte there is, 0 where the peer has ended
    /// its side.
    pub fn poll_peek(&self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.fd.poll_read(cx, |fd| Ok(Attempt { value: peek(fd)?, is_drained: false }))
    }

    /// Whether `poll_drop` spares the copy.
    pub(crate) fn drops_uncopied(&self) -> bool {
        self.tcp
    }

    /// As `poll_receive`, for bytes that nobody will look at: TCP drops them without copying them (tcp(7), MSG_TRUNC),
    /// other sockets fill the buffer, which holds anything afterwards.
    pub(crate) fn poll_drop(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        self.poll_read(cx, as_uninit(buffer), if self.drops_uncopied() { libc::MSG_TRUNC } else { 0 })
    }

    #[inline]
    fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [MaybeUninit<u8>],
        flags: libc::c_int,
    ) -> Poll<io::Result<Received>> {
        self.fd.poll_read(cx, |fd| {
            let value = receive(fd, buffer, self.stamped, flags)?;
            // A short read has taken all there was, which saves the call that would only say so.
            Ok(Attempt { value, is_drained: value.bytes > 0 && value.bytes < buffer.len() })
        })
    }

    /// Bytes that were written and that the peer's TCP has not acknowledged; `None` where the kernel does not tell.
    pub(crate) fn unacknowledged(&self) -> Option<u64> {
        if !self.tcp {
            return None;
        }
        let mut bytes: libc::c_int = 0;
        // SAFETY: TIOCOUTQ (SIOCOUTQ) writes one int, which is alive during the call; the descriptor is open.
        let result = unsafe { libc::ioctl(self.fd.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
        if result == 0 { u64::try_from(bytes).ok() } else { None }
    }

    /// Whether nothing arrived since the last read: no byte, no close. Costs one atomic load while that is so.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        let peek = self.fd.try_read(peek);
        matches!(peek, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}

/// Room that holds bytes already.
fn as_uninit(buffer: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: both have one layout, and nothing here writes anything but bytes to the room.
    unsafe { &mut *(ptr::from_mut(buffer) as *mut [MaybeUninit<u8>]) }
}

/// How much of one byte there is to read.
fn peek(fd: RawFd) -> io::Result<usize> {
    let mut byte = 0u8;
    // SAFETY: the buffer is one writable byte, alive during the call; the descriptor is open.
    let n = unsafe { libc::recv(fd, ptr::from_mut(&mut byte).cast(), 1, libc::MSG_PEEK | libc::MSG_DONTWAIT) };
    if n < 0 { Err(io::Error::last_os_error()) } else { Ok(n as usize) }
}

/// By the system's number: the C library's `send` prepares for a thread that is cancelled meanwhile, which costs as
/// much as all else that is done here.
#[inline]
fn send(fd: RawFd, parts: &[IoSlice<'_>], more: bool) -> io::Result<usize> {
    let flags = libc::MSG_NOSIGNAL | if more { libc::MSG_MORE } else { 0 };
    loop {
        // One slice, the usual request, needs no message header: the kernel would copy and check it.
        let n = if let [only] = parts {
            let none = ptr::null::<libc::sockaddr>();
            // SAFETY: the slice lives through the call, which only reads it; no address is given.
            unsafe { libc::syscall(libc::SYS_sendto, fd, only.as_ptr(), only.len(), flags, none, 0) as isize }
        } else {
            send_gathered(fd, parts, flags)
        };
        if n >= 0 {
            return Ok(n as usize);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn send_gathered(fd: RawFd, parts: &[IoSlice<'_>], flags: libc::c_int) -> isize {
    // SAFETY: `IoSlice` has the layout of `iovec`; the slices live through the call, which only reads them. All other
    // fields of the zeroed header are valid as zero (no address, no control data).
    unsafe {
        let mut header: libc::msghdr = mem::zeroed();
        header.msg_iov = parts.as_ptr().cast_mut().cast();
        header.msg_iovlen = parts.len() as _;
        libc::sendmsg(fd, &raw const header, flags)
    }
}

/// sendfile raises SIGPIPE where send with MSG_NOSIGNAL does not; a Rust program ignores that signal from its start.
fn send_file(fd: RawFd, file: &File, offset: u64, len: usize) -> io::Result<usize> {
    let too_far = || io::Error::from(io::ErrorKind::Unsupported);
    let mut offset = libc::off_t::try_from(offset).map_err(|_| too_far())?;
    loop {
        // SAFETY: both descriptors are open while they are borrowed; the offset is a live `off_t`.
        let n = unsafe { libc::sendfile(fd, file.as_raw_fd(), &raw mut offset, len) };
        if n >= 0 {
            return Ok(n as usize);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EINVAL | libc::ENOSYS) => return Err(io::ErrorKind::Unsupported.into()),
            _ => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::io::receive::StampKeeper;

    #[test]
    fn stamps_are_there_from_the_first_packet_on() {
        runtime().block_on(async {
            let _keeper = StampKeeper::new();
            let (socket, mut server) = pair();
            std::io::Write::write_all(&mut server, b"x").unwrap();
            let received = std::future::poll_fn(|cx| socket.poll_receive(cx, &mut [0; 16])).await.unwrap();
            assert!(received.stamp_ns.is_some());
        });
    }

    fn runtime() -> tokio::runtime::LocalRuntime {
        crate::event_loop().unwrap()
    }

    fn pair() -> (Socket, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_nonblocking(true).unwrap();
        (Socket::new(client.into(), true).unwrap(), listener.accept().unwrap().0)
    }

    #[test]
    fn a_send_buffer_has_the_size_asked_for_or_that_of_a_short_path() {
        runtime().block_on(async {
            let size = |asked: Option<usize>| {
                let (socket, _server) = pair();
                let free = socket2::SockRef::from(socket.fd.get_ref()).send_buffer_size().unwrap();
                socket.size_send_buffer(asked);
                (free, socket2::SockRef::from(socket.fd.get_ref()).send_buffer_size().unwrap())
            };
            assert_eq!(size(Some(70_000)).1, 140_000);
            let (free, kept) = size(Some(0));
            assert_eq!(free, kept);
            // Loopback is a short path, unless the machine was busy just then.
            let (free, sized) = size(None);
            assert!(sized == 2 * SEND_BUFFER || sized == free, "{sized}");
        });
    }

    fn write(socket: &Socket) {
        assert_eq!(send(socket.fd.as_raw_fd(), &[IoSlice::new(b"0123456789")], false).unwrap(), 10);
    }

    async fn end(socket: &Socket) -> usize {
        std::future::poll_fn(|cx| socket.poll_receive(cx, &mut [0; 16])).await.unwrap().bytes
    }

    #[test]
    fn what_a_closed_peer_never_got_stays_unacknowledged() {
        runtime().block_on(async {
            let (socket, server) = pair();
            drop(server);
            write(&socket);
            assert_eq!(end(&socket).await, 0);
            assert_eq!(socket.unacknowledged(), Some(10));
        });
    }

    #[test]
    fn what_a_peer_read_is_acknowledged_with_its_close() {
        runtime().block_on(async {
            let (socket, mut server) = pair();
            write(&socket);
            server.read_exact(&mut [0; 10]).unwrap();
            drop(server);
            assert_eq!(end(&socket).await, 0);
            assert_eq!(socket.unacknowledged(), Some(0));
        });
    }
}
