//! A descriptor, and what tells when it is ready: the reactor of its thread, or tokio.
//!
//! An attempt that would block clears the readiness and waits for the next event; so does a read that says that it
//! took all there was. Refuses to know what is read or written. Invariant: the descriptor is closed exactly once, when
//! the value is dropped.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::arrival::end_turn;
use super::reactor::{Direction, Reactor, Registration};

/// A descriptor to be read and written without blocking.
pub(super) enum Ready {
    /// On a thread without a reactor.
    Tokio(AsyncFd<OwnedFd>),
    /// On a worker.
    Reactor(InReactor),
}

/// A socket in the reactor of its thread.
pub(super) struct InReactor {
    fd: OwnedFd,
    registration: Rc<Registration>,
    reactor: Rc<Reactor>,
}

impl Drop for InReactor {
    fn drop(&mut self) {
        self.reactor.remove(&self.registration);
    }
}

/// What an attempt to read came to.
pub(super) struct Attempt<T> {
    pub(super) value: T,
    /// There is nothing more to read: the next attempt waits for the next event.
    pub(super) is_drained: bool,
}

impl Ready {
    /// A non-blocking socket, watched by the reactor of this thread where it has one.
    pub(super) fn new(socket: OwnedFd) -> io::Result<Ready> {
        match Reactor::current() {
            Some(reactor) => {
                let registration = reactor.add(&socket)?;
                Ok(Ready::Reactor(InReactor { fd: socket, registration, reactor }))
            }
            None => Ready::in_tokio(socket),
        }
    }

    /// A non-blocking socket, watched by tokio.
    pub(super) fn in_tokio(socket: OwnedFd) -> io::Result<Ready> {
        // SAFETY: the descriptor is owned by the value registered, is never exchanged, and closes only when that is
        // dropped.
        unsafe { AsyncFd::register(socket) }.map(Ready::Tokio).map_err(io::Error::from)
    }

    /// Whether the reactor of its thread watches it.
    pub(super) fn is_in_reactor(&self) -> bool {
        matches!(self, Ready::Reactor(_))
    }

    /// The descriptor.
    #[inline]
    pub(super) fn get_ref(&self) -> &OwnedFd {
        match self {
            Ready::Tokio(fd) => fd.get_ref(),
            Ready::Reactor(InReactor { fd, .. }) => fd,
        }
    }

    /// Waits for readiness, then reads once.
    #[inline]
    pub(super) fn poll_read<T>(
        &self,
        cx: &mut Context<'_>,
        mut read: impl FnMut(RawFd) -> io::Result<Attempt<T>>,
    ) -> Poll<io::Result<T>> {
        match self {
            Ready::Reactor(InReactor { fd, registration, .. }) => {
                registration.reading.attempt(cx, || read(fd.as_raw_fd()))
            }
            Ready::Tokio(fd) => loop {
                let mut guard = ready!(fd.poll_read_ready(cx))?;
                match read(fd.as_raw_fd()) {
                    Ok(attempt) => {
                        if attempt.is_drained {
                            guard.clear_ready();
                        }
                        return Poll::Ready(Ok(attempt.value));
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            },
        }
    }

    /// Waits for readiness, then writes once.
    pub(super) fn poll_write<T>(
        &self,
        cx: &mut Context<'_>,
        mut write: impl FnMut(RawFd) -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        match self {
            Ready::Reactor(InReactor { fd, registration, .. }) => {
                registration.writing.attempt(cx, || Ok(Attempt { value: write(fd.as_raw_fd())?, is_drained: false }))
            }
            Ready::Tokio(fd) => loop {
                let mut guard = ready!(fd.poll_write_ready(cx))?;
                match write(fd.as_raw_fd()) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
                    done => return Poll::Ready(done),
                }
            },
        }
    }

    /// An attempt that nobody waits for: it is made only when something happened, and an error of kind `WouldBlock`
    /// says that nothing did.
    #[inline]
    pub(super) fn try_read<T>(&self, mut read: impl FnMut(RawFd) -> io::Result<T>) -> io::Result<T> {
        match self {
            Ready::Tokio(fd) => fd.try_io(Interest::READABLE, |fd| read(fd.as_raw_fd())),
            Ready::Reactor(InReactor { registration, .. }) if !registration.reading.is_ready() => {
                Err(io::ErrorKind::WouldBlock.into())
            }
            Ready::Reactor(InReactor { fd, registration, .. }) => read(fd.as_raw_fd()).inspect_err(|error| {
                if error.kind() == io::ErrorKind::WouldBlock {
                    registration.reading.clear();
                }
            }),
        }
    }
}

impl AsRawFd for Ready {
    #[inline]
    fn as_raw_fd(&self) -> RawFd {
        self.get_ref().as_raw_fd()
    }
}

impl Direction {
    /// Waits for readiness, then tries once; now and then others have their turn first.
    #[inline]
    fn attempt<T>(
        &self,
        cx: &mut Context<'_>,
        mut attempt: impl FnMut() -> io::Result<Attempt<T>>,
    ) -> Poll<io::Result<T>> {
        loop {
            ready!(self.poll(cx));
            if self.is_turn_over() {
                return end_turn(cx);
            }
            match attempt() {
                Ok(Attempt { value, is_drained }) => {
                    if is_drained {
                        self.clear();
                    } else {
                        self.note_rest();
                    }
                    return Poll::Ready(Ok(value));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.clear(),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}
