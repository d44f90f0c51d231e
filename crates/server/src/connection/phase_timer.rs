//! What a worker's sweep knows of a connection: what it waits for, since when, and whom to wake when that took too
//! long.
//!
//! Time is the number of sweeps. So a connection that waits writes two numbers instead of setting a timer, and a
//! connection that is quick enough is never looked at by anybody.

use std::cell::{Cell, RefCell};
use std::task::{Context, Waker};
use std::time::Duration;

use crate::connection::limits::Limits;

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The first byte of all.
    Fresh,
    /// The next request.
    Idle,
    /// The rest of a head.
    Head,
    /// More of a body.
    Body,
    /// Nothing that has a limit.
    Busy,
}

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct PhaseTimer {
    phase: Cell<Phase>,
    since: Cell<u32>,
    expired: Cell<bool>,
    waiting: RefCell<Option<Waker>>,
}

impl PhaseTimer {
    pub(crate) fn new(now: u32) -> Self {
        let phase = Cell::new(Phase::Fresh);
        PhaseTimer { phase, since: Cell::new(now), expired: Cell::new(false), waiting: RefCell::new(None) }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// Begins to wait for something else, or for the same again.
    pub(crate) fn enter(&self, phase: Phase, now: u32) {
        self.phase.set(phase);
        self.since.set(now);
        self.expired.set(false);
    }

    /// The first byte of all came; the time continues.
    pub(crate) fn begins(&self) {
        self.phase.set(Phase::Head);
    }

    /// Leaves the waker for when it takes too long; true when it did already.
    pub(crate) fn wait(&self, cx: &Context<'_>) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            *waiting = Some(cx.waker().clone());
        }
        self.expired.get()
    }

    /// Nobody waits for a request that has begun.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.phase.get(), Phase::Idle | Phase::Fresh)
    }

    /// Ends the wait, whatever it is for.
    pub(crate) fn expire(&self) {
        self.expired.set(true);
        let waiting = self.waiting.borrow_mut().take();
        if let Some(waker) = waiting {
            waker.wake();
        }
    }

    /// Looks whether it waits for too long.
    pub(crate) fn check(&self, limits: &PhaseLimits, now: u32) {
        let most = match self.phase.get() {
            Phase::Fresh | Phase::Head => limits.head,
            Phase::Idle => limits.idle,
            Phase::Body => limits.body,
            Phase::Busy => return,
        };
        if now.wrapping_sub(self.since.get()) > most && !self.expired.get() {
            self.expire();
        }
    }
}

/// Limits of time in sweeps.
#[derive(Debug)]
pub(crate) struct PhaseLimits {
    head: u32,
    body: u32,
    idle: u32,
    /// From one sweep to the next.
    pub(crate) interval: Duration,
}

impl PhaseLimits {
    /// Sweeps twice a second, or eight times within the shortest limit.
    pub(crate) fn new(limits: &Limits) -> Self {
        let times = [limits.head_time, limits.body_time, limits.idle_time];
        let shortest = times.into_iter().filter(|time| !time.is_zero()).min().unwrap_or(Duration::MAX);
        let interval = (shortest / 8).clamp(Duration::from_millis(5), Duration::from_millis(500));
        let sweeps = |time: Duration| match time.as_nanos().div_ceil(interval.as_nanos()) {
            0 => u32::MAX,
            n => u32::try_from(n).unwrap_or(u32::MAX),
        };
        let [head, body, idle] = times.map(sweeps);
        PhaseLimits { head, body, idle, interval }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expires_behind_the_limit_and_not_before() {
        let seconds = Duration::from_secs;
        let given =
            Limits { head_time: seconds(4), idle_time: seconds(0), body_time: seconds(400), ..Limits::default() };
        let limits = PhaseLimits::new(&given);
        assert_eq!((limits.interval, limits.head, limits.idle), (Duration::from_millis(500), 8, u32::MAX));
        let timer = PhaseTimer::new(u32::MAX - 3);
        let cx = Context::from_waker(Waker::noop());
        timer.check(&limits, 4);
        assert!(!timer.wait(&cx));
        timer.check(&limits, 5);
        assert!(timer.wait(&cx));
        timer.enter(Phase::Idle, 5);
        timer.check(&limits, 1_000_000);
        timer.enter(Phase::Body, 5);
        timer.check(&limits, 805);
        assert!(!timer.wait(&cx));
        timer.check(&limits, 806);
        assert!(timer.wait(&cx));
    }
}
