//! What the generator's own part of a duration is: some requests are checked against the kernel's transmit stamp.
//!
//! `http_req_duration` begins when the program begins to send and ends at the receive stamp of the kernel. From its
//! beginning to the transmit stamp is time of the program and of the sending by the kernel, not of the target. Both
//! stamps are read on the wall clock and placed on the monotonic one alike, so a wrong relation of the clocks shows,
//! too. Only requests over TCP, without a link, and with a body that leaves at once: a large one takes time of its own
//! to send. HTTP/2 is left out, since its requests share packets.
//!
//! Each thread checks one request in so many that [`CheckPace::gap`] lies between two checks: all of a slow run, few of
//! a fast one. How many stand behind each check is its weight. Where checks fill their room, every second one is
//! dropped and the gap doubles, so a run of days takes no more room than one of minutes.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::io::stamps::{StampClock, Tick};
use crate::link::LinkedSocket;
use crate::payload::Segment;

/// Between two checks of a thread, at first: a check costs some five system calls.
const FIRST_GAP: Duration = Duration::from_millis(10);
/// So many checks of a thread are kept.
const ROOM: usize = 4096;
/// A body up to this size leaves with the head, in one go.
const LARGEST_BODY: u64 = 16 * 1024;
/// One request in so many is checked at least.
const MOST_SKIPPED: u32 = 1_000_000;

/// One request that was checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// From the start of `http_req_duration` until the last byte of the request left.
    pub lag: Duration,
    /// For how many requests it stands.
    pub weight: u32,
}

/// The checks of all threads.
#[derive(Debug, Default)]
pub struct Departures {
    threads: Mutex<Vec<Arc<Mutex<Vec<Departure>>>>>,
}

impl Departures {
    /// All that were kept, in the order of each thread.
    pub fn found(&self) -> Vec<Departure> {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.iter().flat_map(|own| own.lock().unwrap_or_else(PoisonError::into_inner).clone()).collect()
    }
}

/// One thread's turn of them.
pub(crate) struct Checker {
    own: Arc<Mutex<Vec<Departure>>>,
    /// Requests until the next check.
    left: Cell<u32>,
    pace: Cell<CheckPace>,
}

/// How many requests go by from check to check.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CheckPace {
    every: u32,
    gap: Duration,
    /// When the last one was due.
    last: Option<Tick>,
}

impl CheckPace {
    /// A request was due; it changes by no more than twice or half, because a burst is no pace.
    fn due(self, now: Tick) -> CheckPace {
        let Some(last) = self.last else { return CheckPace { last: Some(now), ..self } };
        let elapsed = now.since(last).as_secs_f64().max(1e-9);
        let wanted = f64::from(self.every) * self.gap.as_secs_f64() / elapsed;
        let (least, most) = (self.every.div_ceil(2), self.every.saturating_mul(2).min(MOST_SKIPPED));
        CheckPace { every: (wanted.round() as u32).clamp(least, most), last: Some(now), ..self }
    }

    /// From one check to the next. Odd, so that of two requests that take turns both have theirs.
    fn stride(self) -> u32 {
        self.every | 1
    }
}

impl Checker {
    pub(crate) fn new(all: &Departures) -> Checker {
        let own = Arc::<Mutex<Vec<Departure>>>::default();
        all.threads.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&own));
        Checker { own, left: Cell::new(1), pace: Cell::new(CheckPace { every: 1, gap: FIRST_GAP, last: None }) }
    }

    /// Whether the request that is about to be written on this connection is checked: then the kernel stamps when it
    /// leaves, until `note`.
    #[inline]
    pub(crate) fn begin(&self, socket: &LinkedSocket, body: &[Segment]) -> bool {
        let left = self.left.get();
        if left > 1 {
            self.left.set(left - 1);
            return false;
        }
        self.begin_due(socket, body)
    }

    // Cold: only one request in many is due.
    #[cold]
    fn begin_due(&self, socket: &LinkedSocket, body: &[Segment]) -> bool {
        self.turn();
        let is_small = body.iter().map(Segment::len).sum::<u64>() <= LARGEST_BODY;
        is_small && socket.direct().is_some_and(|socket| socket.stamp_departures(true))
    }

    /// A request has had its turn.
    fn turn(&self) {
        let pace = self.pace.get().due(Tick::now());
        self.pace.set(pace);
        self.left.set(pace.stride());
    }

    /// A request that was checked and started at `start` was answered by `now`.
    // Cold: only one request in many is due.
    #[cold]
    pub(crate) fn note(&self, socket: &LinkedSocket, clock: &StampClock, start: Tick, now: Tick) {
        let Some(socket) = socket.direct() else { return };
        let departed = socket.departed_ns().and_then(|ns| clock.place(ns, start, now));
        if let Some(departed) = departed {
            self.keep(Departure { lag: departed.since(start), weight: self.pace.get().stride() });
        }
        socket.stamp_departures(false);
    }

    fn keep(&self, departure: Departure) {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.len() >= ROOM {
            let mut number = 0;
            own.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            let pace = self.pace.get();
            self.pace.set(CheckPace { gap: pace.gap * 2, ..pace });
        }
        own.push(departure);
        debug_assert!(own.len() <= ROOM, "{} checks are kept", own.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_follow_the_rate_by_halves_and_doubles() {
        let gap = Duration::from_millis(10);
        let start = Tick::now();
        let pace = |every, last| CheckPace { every, gap, last };
        assert_eq!(pace(1, None).due(start), pace(1, Some(start)), "the first tells no pace");
        let soon = start.after(Duration::from_millis(1)).unwrap();
        assert_eq!(
            pace(4, Some(start)).due(soon).every,
            8,
            "4 a millisecond are 40 in the gap, and it doubles at most"
        );
        let late = start.after(Duration::from_secs(1)).unwrap();
        assert_eq!(pace(40, Some(start)).due(late).every, 20);
        assert_eq!(pace(1, Some(start)).due(late).every, 1, "all of a slow run");
        let fitting = start.after(gap).unwrap();
        assert_eq!(pace(40, Some(start)).due(fitting).every, 40);
    }

    #[test]
    fn room_is_bounded_and_the_gap_grows_instead() {
        let all = Departures::default();
        let checker = Checker::new(&all);
        for number in 0..10_000_u32 {
            checker.keep(Departure { lag: Duration::from_nanos(u64::from(number)), weight: 1 });
        }
        let found = all.found();
        assert!(found.len() <= ROOM && found.len() > ROOM / 2, "{}", found.len());
        assert!(found.iter().any(|one| one.lag < Duration::from_nanos(1000)), "the beginning is not forgotten");
        // At the 4,097th, the 6,145th and the 8,193rd.
        assert_eq!(checker.pace.get().gap, FIRST_GAP * 8);
    }
}
