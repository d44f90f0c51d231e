//! What reading and writing a connection's bytes comes to: an arrival, an error, the end of a turn.

use std::io;
use std::pin::pin;
use std::task::{Context, Poll};

use crate::io::stamps::{StampClock, Tick, wall_ns};
use crate::io::upload::MAX_WRITE;
use crate::payload::PayloadError;

/// Why a transport failed.
#[derive(Debug)]
pub(crate) enum TransportError {
    /// The socket.
    Io(io::Error),
    /// The TLS layer.
    Tls(rustls::Error),
    /// Not the network: what was to be sent could not be read.
    Payload(PayloadError),
}

impl TransportError {
    /// The peer hung up while something was being written.
    pub(crate) fn is_hangup(&self) -> bool {
        let kinds = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];
        matches!(self, TransportError::Io(error) if error.raw_os_error().is_some() && kinds.contains(&error.kind()))
    }
}

/// One read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Bytes given to the sink.
    pub(crate) content: usize,
    /// The peer closed its side.
    pub(crate) closed: bool,
    /// Kernel stamp of the last byte read.
    pub(crate) stamp_ns: Option<u64>,
}

impl Arrival {
    /// When the last byte reached this machine by the wall clock; without a stamp: now.
    pub(crate) fn wall_ns(&self) -> u64 {
        self.stamp_ns.unwrap_or_else(wall_ns)
    }
}

/// A moment of arrival: this program's reading and the kernel's stamp.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) seen: Tick,
    pub(crate) stamp_ns: Option<u64>,
}

impl Moment {
    /// The kernel's stamp where it can be right, else this program's reading; whether it is the stamp.
    #[inline]
    pub(crate) fn placed(self, clock: &StampClock, earliest: Tick) -> (Tick, bool) {
        match self.stamp_ns.and_then(|ns| clock.place(ns, earliest, self.seen)) {
            Some(at) => (at, true),
            None => (self.seen.max(earliest), false),
        }
    }

    /// The same of a moment that may not have come.
    #[inline]
    pub(crate) fn place(moment: Option<Moment>, clock: &StampClock, earliest: Tick) -> (Option<Tick>, bool) {
        match moment.map(|moment| moment.placed(clock, earliest)) {
            Some((at, is_stamp)) => (Some(at), is_stamp),
            None => (None, false),
        }
    }
}

/// Bytes sent before the reading side and other users of the worker get their turn.
pub(crate) const TURN: u64 = MAX_WRITE as u64;

/// Lets others run, sockets included: a task that just wakes itself is polled 61 times before tokio looks at its
/// sockets again, one that yields comes after them.
pub(crate) fn end_turn<T>(cx: &mut Context<'_>) -> Poll<T> {
    let _ = pin!(tokio::task::yield_now()).poll(cx);
    Poll::Pending
}
