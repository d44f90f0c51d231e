//! One non-blocking stream socket, tcp or unix, on tokio's reactor.
//!
//! Writing is tried at once, without asking for readiness. Reading waits for readiness and then calls `recvmsg` once: a
//! short read means drained, so readiness is cleared without the extra call that would only say EAGAIN. Receive stamps of
//! the kernel come as control messages. Refuses: buffers of its own; the caller lends them.
//! Invariant: the descriptor is closed exactly once, when the `Socket` is dropped.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, IoSlice};
use std::mem;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Send buffer of connections over short paths.
const SEND_BUFFER: usize = 256 << 10;

/// A round trip of at most this is short: the same machine, or the same rack.
const SHORT_PATH: Duration = Duration::from_micros(500);

/// A connected or connecting stream socket.
pub(crate) struct Socket {
    fd: AsyncFd<OwnedFd>,
    stamped: bool,
    tcp: bool,
}

/// What one read brought.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Bytes now at the start of the buffer; 0 means the peer closed its side.
    pub(crate) bytes: usize,
    /// When the last of them reached this machine: nanoseconds of the wall clock; `None` without a kernel stamp.
    pub(crate) stamp_ns: Option<u64>,
}

impl Socket {
    /// Takes a non-blocking socket. `tcp`: ask for receive stamps; refusal by the kernel is not an error.
    pub(crate) fn new(socket: socket2::Socket, tcp: bool) -> io::Result<Socket> {
        let stamped = tcp && ask_for_stamps(socket.as_raw_fd(), false);
        // SAFETY: the descriptor is owned by the value registered, is never exchanged, and closes only when that is dropped.
        let fd = unsafe { AsyncFd::register(OwnedFd::from(socket)) }?;
        Ok(Socket { fd, stamped, tcp })
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
    pub(crate) fn close_sending(&self) {
        let _gone_already = socket2::SockRef::from(self.fd.get_ref()).shutdown(std::net::Shutdown::Write);
    }

    /// Waits until a connect under way has ended.
    pub(crate) async fn connected(&self) -> io::Result<()> {
        let guard = self.fd.writable().await?;
        drop(guard);
        match socket2::SockRef::from(self.fd.get_ref()).take_error()? {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// The peer's address; `None` on a unix socket.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        socket2::SockRef::from(self.fd.get_ref()).peer_addr().ok()?.as_socket()
    }

    /// Sets the size of the send buffer; 0 leaves it to the kernel, which lets it grow to megabytes. With hundreds of large
    /// uploads at once these no longer fit into the CPU's caches: 200 of 1 MiB to a server on the same machine cost 15 to 40 %
    /// less CPU with 256 KiB. A limit on unsent bytes alone (TCP_NOTSENT_LOWAT) gained nothing there.
    ///
    /// Without a figure that is the size where the handshake took no longer than `SHORT_PATH`: there it is enough for 600 MB/s
    /// on one connection. A longer path needs what the kernel finds out. The kernel may cap the size: no error.
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
    pub(crate) fn poll_send(&self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.poll_write(cx, |fd| send(fd, parts, false))
    }

    /// Like `poll_send`, for parts that other bytes follow at once: a packet that is not full waits for them.
    pub(crate) fn poll_send_more(&self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.poll_write(cx, |fd| send(fd, parts, true))
    }

    /// Writes as much as the kernel takes of `len` bytes of a file, without taking them into this process. 0: the file ends
    /// here. An error of kind `Unsupported`: not with this file system or socket.
    pub(crate) fn poll_send_file(
        &self,
        cx: &mut Context<'_>,
        file: &File,
        offset: u64,
        len: usize,
    ) -> Poll<io::Result<usize>> {
        self.poll_write(cx, |fd| send_file(fd, file, offset, len))
    }

    #[inline]
    fn poll_write(&self, cx: &mut Context<'_>, write: impl Fn(RawFd) -> io::Result<usize>) -> Poll<io::Result<usize>> {
        match write(self.fd.as_raw_fd()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return Poll::Ready(done),
        }
        loop {
            let mut guard = ready!(self.fd.poll_write_ready(cx))?;
            match write(self.fd.as_raw_fd()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
                done => return Poll::Ready(done),
            }
        }
    }

    /// Waits for readiness, then reads once into the buffer.
    pub(crate) fn poll_receive(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        self.poll_read(cx, buffer, 0)
    }

    /// Whether `poll_drop` spares the copy.
    pub(crate) fn drops_uncopied(&self) -> bool {
        self.tcp
    }

    /// As `poll_receive`, for bytes that nobody will look at: TCP drops them without copying them (tcp(7), MSG_TRUNC), other
    /// sockets fill the buffer, which holds anything afterwards.
    pub(crate) fn poll_drop(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        self.poll_read(cx, buffer, if self.drops_uncopied() { libc::MSG_TRUNC } else { 0 })
    }

    fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8], flags: libc::c_int) -> Poll<io::Result<Received>> {
        loop {
            let mut guard = ready!(self.fd.poll_read_ready(cx))?;
            match receive(self.fd.as_raw_fd(), buffer, self.stamped, flags) {
                Ok(received) => {
                    if received.bytes > 0 && received.bytes < buffer.len() {
                        guard.clear_ready();
                    }
                    return Poll::Ready(Ok(received));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
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
    pub(crate) fn is_quiet(&self) -> bool {
        let peek = self.fd.try_io(Interest::READABLE, |fd| {
            let mut byte = 0u8;
            // SAFETY: the buffer is one writable byte, alive during the call; the descriptor is open while `fd` is borrowed.
            let n = unsafe {
                let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
                libc::recv(fd.as_raw_fd(), ptr::from_mut(&mut byte).cast(), 1, flags)
            };
            if n < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
        });
        matches!(peek, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}

/// Keeps the kernel's receive stamping switched on while it lives. The kernel starts stamping with the first socket that
/// asks and stops with the last; without this, short-lived connections would switch it for each of them.
pub(crate) struct StampKeeper {
    _socket: Option<socket2::Socket>,
}

impl StampKeeper {
    pub(crate) fn new() -> StampKeeper {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).ok();
        let socket = socket.filter(|s| ask_for_stamps(s.as_raw_fd(), true));
        if let Some(socket) = &socket {
            await_stamps(socket);
        }
        StampKeeper { _socket: socket }
    }
}

/// The kernel switches stamping on in the background, a millisecond or so after it was asked: what arrives before that has no
/// stamp. Sends datagrams to itself until one has; gives up soon, because where there are no stamps there never will be
/// any.
fn await_stamps(socket: &socket2::Socket) {
    const PATIENCE: Duration = Duration::from_millis(20);
    let localhost = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into();
    let own = socket.bind(&localhost).and_then(|()| socket.local_addr());
    if own.and_then(|own| socket.connect(&own)).is_err() {
        return;
    }
    let started = Instant::now();
    while started.elapsed() < PATIENCE && socket.send(&[0]).is_ok() {
        if receive(socket.as_raw_fd(), &mut [0], true, 0).is_ok_and(|received| received.stamp_ns.is_some()) {
            return;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Has the kernel stamp what arrives on a tcp socket from now on; whether it will. For sockets that are not this crate's.
pub fn stamp_arrivals(socket: BorrowedFd<'_>) -> bool {
    ask_for_stamps(socket.as_raw_fd(), false)
}

/// Reads once, without waiting, from a socket that `stamp_arrivals` was asked for: how many bytes, and when the last of them
/// reached this machine: nanoseconds of the wall clock since 1970, where the kernel says it.
pub fn receive_stamped(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    receive(socket.as_raw_fd(), buffer, true, 0).map(|received| (received.bytes, received.stamp_ns))
}

/// The software stamp. SO_TIMESTAMPNS brings it alone, SO_TIMESTAMPING among two others, which costs 50 ns more a read; but
/// for datagrams only the latter (`arrival`) never makes up a stamp at the time of reading.
fn ask_for_stamps(fd: RawFd, arrival: bool) -> bool {
    let (option, value) = if arrival {
        (libc::SO_TIMESTAMPING, libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE)
    } else {
        (libc::SO_TIMESTAMPNS, 1)
    };
    // SAFETY: the option's value is a live `c_uint` whose size is passed beside it.
    let result = unsafe {
        let size = mem::size_of_val(&value) as libc::socklen_t;
        libc::setsockopt(fd, libc::SOL_SOCKET, option, ptr::from_ref(&value).cast(), size)
    };
    result == 0
}

fn send(fd: RawFd, parts: &[IoSlice<'_>], more: bool) -> io::Result<usize> {
    let flags = libc::MSG_NOSIGNAL | if more { libc::MSG_MORE } else { 0 };
    loop {
        // One slice, the usual request, needs no message header: the kernel would copy and check it.
        let n = if let [only] = parts {
            // SAFETY: the slice lives through the call, which only reads it.
            unsafe { libc::send(fd, only.as_ptr().cast(), only.len(), flags) }
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

/// Room for one SCM_TIMESTAMPING message (16 bytes of header, three timespecs of 16), aligned as `cmsghdr` wants.
#[repr(C, align(8))]
struct Control([u8; 128]);

fn receive(fd: RawFd, buffer: &mut [u8], stamped: bool, flags: libc::c_int) -> io::Result<Received> {
    loop {
        let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let mut control = mem::MaybeUninit::<Control>::uninit();
        // SAFETY: the header points at one iovec over `buffer` and at the control area, both writable and alive during the
        // call; zero is valid for its other fields.
        let (n, header) = unsafe {
            let mut header: libc::msghdr = mem::zeroed();
            header.msg_iov = &raw mut part;
            header.msg_iovlen = 1;
            if stamped {
                header.msg_control = control.as_mut_ptr().cast();
                header.msg_controllen = mem::size_of::<Control>() as _;
            }
            (libc::recvmsg(fd, &raw mut header, libc::MSG_DONTWAIT | flags), header)
        };
        if n >= 0 {
            let stamp_ns = if stamped && n > 0 { stamp_of(&header) } else { None };
            return Ok(Received { bytes: n as usize, stamp_ns });
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn stamp_of(header: &libc::msghdr) -> Option<u64> {
    // SAFETY: `header` was filled in by a successful recvmsg, and its control area is still alive in the caller; the CMSG
    // macros stay inside msg_controllen; the stamp is read unaligned, its length having been checked.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(header);
        while !message.is_null() {
            let found = &*message;
            let long_enough =
                found.cmsg_len as usize >= libc::CMSG_LEN(mem::size_of::<libc::timespec>() as u32) as usize;
            let is_stamp = matches!(found.cmsg_type, libc::SCM_TIMESTAMPNS | libc::SCM_TIMESTAMPING);
            if found.cmsg_level == libc::SOL_SOCKET && is_stamp && long_enough {
                // The only stamp, or the first of three; zero when this packet has none.
                let at: libc::timespec = ptr::read_unaligned(libc::CMSG_DATA(message).cast());
                return (at.tv_sec > 0).then(|| at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64);
            }
            message = libc::CMSG_NXTHDR(header, message);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    use super::*;

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

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
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
