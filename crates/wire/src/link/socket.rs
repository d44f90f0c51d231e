//! A client's socket as requests use it: the real one, or one whose bytes go over a link.
//!
//! A linked socket ends in this process: the relay behind it has the real one. What only the real one knows (the peer,
//! when bytes arrived, the error that ended it) comes from the relay. Reading and writing a socket without a link costs
//! no look at one.

use std::fs::File;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use super::relay_state::RelayState;
use super::{Link, relay};
use crate::io::receive::Received;
#[cfg(feature = "simulated")]
use crate::io::simulated::SimulatedSocket;
use crate::io::socket::Socket;

/// Buffers of a relay's two ends.
const RELAY_BUFFER: usize = 32 << 10;

/// A connected socket, over a link or not.
pub(crate) enum LinkedSocket {
    /// The real one.
    Direct(Socket),
    /// One end of a relay.
    Linked(Box<RelayedSocket>),
    /// One of a simulation.
    #[cfg(feature = "simulated")]
    Simulated(Box<dyn SimulatedSocket>),
}

/// This side of a relay.
pub(crate) struct RelayedSocket {
    near: Socket,
    /// Both of the real socket.
    peer: Option<SocketAddr>,
    local: Option<SocketAddr>,
    state: Rc<RelayState>,
}

impl LinkedSocket {
    /// Puts a link between the socket and whoever uses it.
    pub(crate) fn over(far: Socket, link: &Rc<Link>) -> io::Result<LinkedSocket> {
        let (near, mine) = Socket::pair(RELAY_BUFFER)?;
        // The kernel acknowledges what it has room for: a server must not think that megabytes have arrived.
        far.size_receive_buffer(4 * RELAY_BUFFER);
        let (peer, local, state) = (far.peer(), far.local(), Rc::<RelayState>::default());
        relay::spawn(Rc::clone(link), near, far, Rc::clone(&state));
        Ok(LinkedSocket::Linked(Box::new(RelayedSocket { near: mine, peer, local, state })))
    }

    /// The real socket, where no link is between.
    pub(crate) fn direct(&self) -> Option<&Socket> {
        match self {
            LinkedSocket::Direct(socket) => Some(socket),
            LinkedSocket::Linked(_) => None,
            #[cfg(feature = "simulated")]
            LinkedSocket::Simulated(_) => None,
        }
    }

    /// The peer's address; `None` on a unix socket.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        match self {
            LinkedSocket::Direct(socket) => socket.peer(),
            LinkedSocket::Linked(relayed) => relayed.peer,
            #[cfg(feature = "simulated")]
            LinkedSocket::Simulated(socket) => socket.peer(),
        }
    }

    /// This side's address; `None` on a unix socket.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        match self {
            LinkedSocket::Direct(socket) => socket.local(),
            LinkedSocket::Linked(relayed) => relayed.local,
            #[cfg(feature = "simulated")]
            // Both ends are of one machine there.
            LinkedSocket::Simulated(socket) => socket.peer(),
        }
    }

    /// As `Socket::poll_send`.
    #[inline]
    pub(crate) fn poll_send(&self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self {
            LinkedSocket::Direct(socket) => socket.poll_send(cx, parts),
            LinkedSocket::Linked(relayed) => relayed.note_written(relayed.near.poll_send(cx, parts)),
            #[cfg(feature = "simulated")]
            LinkedSocket::Simulated(socket) => socket.poll_send(cx, parts),
        }
    }

    /// As `Socket::poll_send_more`.
    pub(crate) fn poll_send_more(&self, cx: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self {
            LinkedSocket::Direct(socket) => socket.poll_send_more(cx, parts),
            LinkedSocket::Linked(relayed) => relayed.note_written(relayed.near.poll_send_more(cx, parts)),
            #[cfg(feature = "simulated")]
            LinkedSocket::Simulated(socket) => socket.poll_send(cx, parts),
        }
    }

    /// As `Socket::poll_send_file`.
    pub(crate) fn poll_send_file(
        &self,
        cx: &mut Context<'_>,
        file: &File,
        offset: u64,
        len: usize,
    ) -> Poll<io::Result<usize>> {
        match self {
            LinkedSocket::Direct(socket) => socket.poll_send_file(cx, file, offset, len),
            LinkedSocket::Linked(relayed) => relayed.note_written(relayed.near.poll_send_file(cx, file, offset, len)),
            #[cfg(feature = "simulated")]
            LinkedSocket::Simulated(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        }
    }

    /// As `Socket::poll_receive`.
    #[inline]
    pub(crate) fn poll_receive(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        match self {
            LinkedSocket::Direct(socket) => socket.poll_receive(cx, buffer),
            LinkedSocket::Linked(relayed) => relayed.poll_receive(cx, buffer),
            #[cfg(feature = "simulated")]
            LinkedSocket::Simulated(socket) => socket.poll_receive(cx, buffer),
        }
    }

    /// Whether `poll_drop` spares the copy.
    pub(crate) fn drops_uncopied(&self) -> bool {
        match self {
            LinkedSocket::Direct(socket) => socket.drops_uncopied(),
            LinkedSocket::Linked(relayed) => relayed.near.drops_uncopied(),
            // What TCP does.
            #[cfg(feature = "simulated")]
            LinkedSocket::Simulated(_) => true,
        }
    }

    /// As `Socket::poll_drop`.
    pub(crate) fn poll_drop(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        match self {
            LinkedSocket::Direct(socket) => socket.poll_drop(cx, buffer),
            LinkedSocket::Linked(relayed) => relayed.poll_receive(cx, buffer),
            #[cfg(feature = "simulated")]
            LinkedSocket::Simulated(socket) => socket.poll_receive(cx, buffer),
        }
    }

    /// As `Socket::unacknowledged`.
    pub(crate) fn unacknowledged(&self) -> Option<u64> {
        match self {
            LinkedSocket::Direct(socket) => socket.unacknowledged(),
            LinkedSocket::Linked(relayed) => relayed.near.unacknowledged(),
            #[cfg(feature = "simulated")]
            LinkedSocket::Simulated(socket) => socket.unacknowledged(),
        }
    }

    /// As `Socket::is_quiet`.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        match self {
            LinkedSocket::Direct(socket) => socket.is_quiet(),
            LinkedSocket::Linked(relayed) => relayed.near.is_quiet(),
            #[cfg(feature = "simulated")]
            LinkedSocket::Simulated(socket) => socket.is_quiet(),
        }
    }
}

impl RelayedSocket {
    /// Tells the relay when bytes were written: it may get round to them late.
    fn note_written(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &written {
            self.state.written.borrow_mut().put(*bytes, Instant::now());
        }
        written
    }

    fn poll_receive(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<Received>> {
        let mut received = ready!(self.near.poll_receive(cx, buffer))?;
        if received.bytes > 0 {
            received.stamp_ns = self.state.arrived.borrow_mut().take(received.bytes);
        } else if let Some(code) = self.state.error.get() {
            return Poll::Ready(Err(io::Error::from_raw_os_error(code)));
        }
        Poll::Ready(Ok(received))
    }
}
