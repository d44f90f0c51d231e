//! Reading from a socket, with the kernel's word on when the bytes arrived.
#![allow(unsafe_code)]

use std::io;
use std::mem::{self, MaybeUninit};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::time::{Duration, Instant};

/// What one read brought.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// Bytes now at the start of the buffer; 0 means the peer closed its side.
    pub bytes: usize,
    /// When the last of them reached this machine: nanoseconds of the wall clock; `None` without a kernel stamp.
    pub stamp_ns: Option<u64>,
}

/// Keeps the kernel's receive stamping switched on while it lives. The kernel starts stamping with the first socket
/// that asks and stops with the last; without this, short-lived connections would switch it for each of them.
pub struct StampKeeper {
    _socket: Option<socket2::Socket>,
}

impl StampKeeper {
    /// Waits until the kernel stamps, for a second at most.
    #[allow(clippy::new_without_default, reason = "it waits, and asks the kernel")]
    pub fn new() -> StampKeeper {
        #[cfg(feature = "simulated")]
        if crate::io::simulated::network().is_some() {
            return StampKeeper { _socket: None };
        }
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).ok();
        let socket = socket.filter(|s| ask_for_stamps(s.as_raw_fd(), true));
        if let Some(socket) = &socket {
            await_stamps(socket);
        }
        StampKeeper { _socket: socket }
    }
}

/// The kernel switches stamping on in the background: what arrives before that has no stamp. A kernel worker does it,
/// which has to wait for a processor like everybody: a millisecond on an idle machine, more than 30 ms were measured on
/// two cores with nine busy processes. Sends datagrams to itself until one has a stamp. Gives up in the end, because
/// some kernels accept the option and never stamp.
fn await_stamps(socket: &socket2::Socket) {
    const PATIENCE: Duration = Duration::from_secs(1);
    let localhost = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into();
    let own = socket.bind(&localhost).and_then(|()| socket.local_addr());
    if own.and_then(|own| socket.connect(&own)).is_err() {
        return;
    }
    let started = Instant::now();
    while started.elapsed() < PATIENCE && socket.send(&[0]).is_ok() {
        if receive(socket.as_raw_fd(), &mut [MaybeUninit::uninit()], true, 0)
            .is_ok_and(|received| received.stamp_ns.is_some())
        {
            return;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// The software stamp. SO_TIMESTAMPNS brings it alone, SO_TIMESTAMPING among two others, which costs 50 ns more a read;
/// but for datagrams only the latter (`arrival`) never makes up a stamp at the time of reading.
pub(super) fn ask_for_stamps(fd: RawFd, arrival: bool) -> bool {
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

/// Room for one SCM_TIMESTAMPING message (16 bytes of header, three timespecs of 16), aligned as `cmsghdr` wants.
#[repr(C, align(8))]
struct Control([u8; 128]);

/// Reads once, without waiting: with stamps by `recvmsg`, without them by `recvfrom`, which costs the kernel less. By
/// the system's numbers: the C library's functions prepare for a thread that is cancelled meanwhile.
#[inline]
pub(super) fn receive(
    fd: RawFd,
    buffer: &mut [MaybeUninit<u8>],
    stamped: bool,
    flags: libc::c_int,
) -> io::Result<Received> {
    let flags = libc::MSG_DONTWAIT | flags;
    loop {
        if !stamped {
            let none = ptr::null_mut::<libc::sockaddr>();
            // SAFETY: the buffer is writable and alive during the call, which writes no more than its length; no
            // address is asked for.
            let n = unsafe {
                let (room, length) = (buffer.as_mut_ptr(), none.cast::<libc::socklen_t>());
                libc::syscall(libc::SYS_recvfrom, fd, room, buffer.len(), flags, none, length)
            };
            match outcome(n as isize)? {
                Some(bytes) => return Ok(Received { bytes, stamp_ns: None }),
                None => continue,
            }
        }
        let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let mut control = MaybeUninit::<Control>::uninit();
        // SAFETY: the header points at one iovec over `buffer` and at the control area, both writable and alive during
        // the call; zero is valid for its other fields.
        let (n, header) = unsafe {
            let mut header: libc::msghdr = mem::zeroed();
            header.msg_iov = &raw mut part;
            header.msg_iovlen = 1;
            header.msg_control = control.as_mut_ptr().cast();
            header.msg_controllen = mem::size_of::<Control>() as _;
            (libc::syscall(libc::SYS_recvmsg, fd, &raw mut header, flags), header)
        };
        if let Some(bytes) = outcome(n as isize)? {
            return Ok(Received { bytes, stamp_ns: if bytes > 0 { stamp_of(&header) } else { None } });
        }
    }
}

/// What a call of the kernel returned; `None`: it was interrupted.
fn outcome(n: isize) -> io::Result<Option<usize>> {
    if n >= 0 {
        return Ok(Some(n as usize));
    }
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::Interrupted { Ok(None) } else { Err(error) }
}

fn stamp_of(header: &libc::msghdr) -> Option<u64> {
    // SAFETY: `header` was filled in by a successful recvmsg, and its control area is still alive in the caller; the
    // CMSG macros stay inside msg_controllen; the stamp is read unaligned, its length having been checked.
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
