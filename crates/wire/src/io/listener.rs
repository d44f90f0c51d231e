//! A listening socket, tcp or unix, on tokio's reactor.
#![allow(unsafe_code)]

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use socket2::SockAddr;
use tokio::io::unix::AsyncFd;

use super::socket::Socket;

/// A socket that others connect to.
pub struct Listener {
    fd: AsyncFd<OwnedFd>,
    tcp: bool,
}

impl Listener {
    /// Takes a non-blocking socket that listens.
    pub fn new(socket: OwnedFd, tcp: bool) -> io::Result<Listener> {
        // SAFETY: the descriptor is owned by the value registered, is never exchanged, and closes only when that is
        // dropped.
        let fd = unsafe { AsyncFd::register(socket) }?;
        Ok(Listener { fd, tcp })
    }

    /// The next connection, and its peer's address; `None` on a unix socket. Arrivals are not stamped.
    pub async fn accept(&self) -> io::Result<(Socket, Option<SocketAddr>)> {
        loop {
            let mut guard = self.fd.readable().await?;
            match accept(self.fd.as_raw_fd()) {
                Ok((socket, peer)) => return Ok((Socket::accepted(socket, self.tcp)?, peer.as_socket())),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn accept(listener: RawFd) -> io::Result<(OwnedFd, SockAddr)> {
    // SAFETY: accept4 writes an address of at most the given length and says how long it is; a descriptor that it
    // returns is new and nobody else's.
    unsafe {
        SockAddr::try_init(|address, len| {
            let fd = libc::accept4(listener, address.cast(), len, libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC);
            if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd)) }
        })
    }
}
