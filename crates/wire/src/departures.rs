//! What the generator's own part of a duration is: one request in many is checked against the kernel's transmit stamp.
//!
//! `http_req_duration` begins when the program begins to send and ends at the receive stamp of the kernel. From its
//! beginning to the transmit stamp is time of the program and of the sending by the kernel, not of the target. Only
//! requests without a body over TCP, without a link: a body takes time of its own to send. HTTP/2 is left out, since
//! its requests share packets.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::io::socket::Socket;
use crate::io::stamps::{StampClock, Tick};

/// The checks of all threads.
#[derive(Debug)]
pub struct Departures {
    every: u32,
    found: Mutex<Vec<Duration>>,
}

impl Departures {
    /// One in `every` requests of each thread is checked.
    pub fn one_in(every: u32) -> Departures {
        Departures { every: every.max(1), found: Mutex::default() }
    }

    /// From the start of each request that was checked until its last byte left.
    pub fn found(&self) -> Vec<Duration> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One thread's turn of them.
pub(crate) struct Checker {
    all: Arc<Departures>,
    left: Cell<u32>,
}

impl Checker {
    pub(crate) fn new(all: Arc<Departures>) -> Checker {
        Checker { left: Cell::new(all.every), all }
    }

    /// Counts a request that need not be checked; one that is to be is left to `is_due`.
    #[inline]
    pub(crate) fn passes(&self) -> bool {
        let left = self.left.get();
        if left > 1 {
            self.left.set(left - 1);
        }
        left > 1
    }

    /// Whether this request is to be checked.
    pub(crate) fn is_due(&self) -> bool {
        debug_assert!(self.left.get() > 0, "a turn is counted down once");
        let left = self.left.get() - 1;
        self.left.set(if left == 0 { self.all.every } else { left });
        left == 0
    }

    /// A request that was due and started at `start` was answered by `now`.
    // Cold: only one request in many is due.
    #[cold]
    pub(crate) fn note(&self, socket: &Socket, clock: &StampClock, start: Tick, now: Tick) {
        let departed = socket.departed_ns().and_then(|ns| clock.place(ns, start, now));
        if let Some(departed) = departed {
            self.all.found.lock().unwrap_or_else(PoisonError::into_inner).push(departed.since(start));
        }
        socket.stamp_departures(false);
    }
}
