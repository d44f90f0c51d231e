//! The one backward wire: how running work learns that it must stop.
//!
//! Three ears listen: the caller holds a `Stopper` (a threshold, a signal), each worker awaits a `StopSignal`, each
//! virtual user looks at its `Interrupt`. An interrupt also answers by itself once its deadline has passed or the test
//! was aborted, because a script in an endless loop keeps the worker from setting it. The first cause wins.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Duration;

use tokio::sync::Notify;

use crate::clock::{AnyClock, Clock};

/// Why a virtual user has to leave what it is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The scenario's time and its graceful stop are over, or a ramp-down's grace.
    GracefulStopOver,
    /// The test was aborted (threshold, `exec.test.abort`, signal).
    Aborted,
}

/// Why a test ended before its scenarios did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// The script called `exec.test.abort`; its message.
    Script(String),
    /// A threshold with `abortOnFail` was crossed; what to print.
    Threshold(String),
    /// A signal, by its name.
    Signal(&'static str),
    /// A client of the REST API.
    Api,
    /// The run itself: it cannot go on.
    Requested,
}

/// Ends a running test from any thread: iterations are interrupted at once, as k6 does on the first Ctrl-C.
#[derive(Clone, Debug, Default)]
pub struct Stopper(Arc<StopState>);

#[derive(Debug, Default)]
struct StopState {
    cause: OnceLock<StopCause>,
    stopped: AtomicBool,
    workers: Notify,
}

impl Stopper {
    /// A stopper nobody has used.
    pub fn new() -> Self {
        Stopper::default()
    }

    /// Ends the test. The first cause given is the one that counts.
    pub fn stop(&self, cause: StopCause) {
        let _ = self.0.cause.set(cause);
        self.0.stopped.store(true, Ordering::Release);
        self.0.workers.notify_waiters();
    }

    /// Why the test was stopped, once it was.
    pub fn cause(&self) -> Option<&StopCause> {
        self.0.cause.get()
    }

    /// Whether the test was stopped. Cheap enough for an interpreter's interrupt handler.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Acquire)
    }

    /// Resolves once the test was stopped.
    pub async fn stopped(&self) {
        let mut notified = std::pin::pin!(self.0.workers.notified());
        // Registered before the flag is read, so that a stop in between is not missed.
        notified.as_mut().enable();
        if !self.is_stopped() {
            notified.await;
        }
    }
}

/// Tells one virtual user to leave its iteration. The engine sets it; the user looks at it whenever it is polled and
/// whenever it has run long without waiting.
#[derive(Default)]
pub struct Interrupt {
    reason: Cell<Option<StopReason>>,
    waker: RefCell<Option<Waker>>,
    deadline: Cell<Option<Duration>>,
    source: Option<(AnyClock, Stopper)>,
}

impl Interrupt {
    /// An interrupt that also obeys a deadline on this clock and the stop of the whole test, without being set.
    pub fn new(clock: AnyClock, stopper: Stopper) -> Self {
        Interrupt { source: Some((clock, stopper)), ..Interrupt::default() }
    }

    /// Sets the reason and wakes the user. The first reason stays until `clear`.
    pub fn set(&self, reason: StopReason) {
        if self.reason.get().is_none() {
            self.reason.set(Some(reason));
        }
        // Taken out first: a waker may run code that registers again.
        let waker = self.waker.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The reason, when there is one.
    pub fn reason(&self) -> Option<StopReason> {
        if self.reason.get().is_none() {
            self.reason.set(self.own_reason());
        }
        self.reason.get()
    }

    /// Whether somebody has set a reason, or the whole test was stopped. Unlike `reason` it does not look at the clock:
    /// for those who wait and are woken anyway.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.reason.get().is_some() || self.source.as_ref().is_some_and(|(_, stopper)| stopper.is_stopped())
    }

    /// Forgets the reason and the deadline before the next iteration.
    pub fn clear(&self) {
        self.reason.set(None);
        self.deadline.set(None);
    }

    /// Asks to be woken by `set`. The user calls it when it is about to wait.
    #[inline]
    pub fn register(&self, waker: &Waker) {
        let mut slot = self.waker.borrow_mut();
        if !slot.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *slot = Some(waker.clone());
        }
    }

    /// From this time on the reason is `GracefulStopOver`, even when nobody gets round to setting it.
    pub(crate) fn set_deadline(&self, deadline: Option<Duration>) {
        self.deadline.set(deadline);
    }

    /// The time set by `set_deadline`.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.deadline.get()
    }

    fn own_reason(&self) -> Option<StopReason> {
        let (clock, stopper) = self.source.as_ref()?;
        if stopper.is_stopped() {
            return Some(StopReason::Aborted);
        }
        (self.deadline.get()? <= clock.now()).then_some(StopReason::GracefulStopOver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::FakeClock;

    #[test]
    fn the_first_cause_wins() {
        let stopper = Stopper::new();
        assert!(!stopper.is_stopped());
        stopper.stop(StopCause::Signal("SIGINT"));
        stopper.clone().stop(StopCause::Requested);
        assert!(stopper.is_stopped());
        assert_eq!(stopper.cause(), Some(&StopCause::Signal("SIGINT")));
    }

    #[test]
    fn an_endless_loop_sees_its_deadline_and_the_abort() {
        let clock = FakeClock::new();
        let stopper = Stopper::new();
        let interrupt = Interrupt::new(AnyClock::Fake(clock.clone()), stopper.clone());
        interrupt.set_deadline(Some(Duration::from_secs(5)));
        assert_eq!(interrupt.reason(), None);
        clock.run(clock.sleep_until(Duration::from_secs(5)));
        assert_eq!(interrupt.reason(), Some(StopReason::GracefulStopOver));
        interrupt.clear();
        assert_eq!(interrupt.reason(), None);
        stopper.stop(StopCause::Requested);
        assert_eq!(interrupt.reason(), Some(StopReason::Aborted));
    }

    #[test]
    fn the_first_reason_stays_until_the_next_iteration() {
        let interrupt = Interrupt::default();
        assert_eq!((interrupt.is_set(), interrupt.reason()), (false, None));
        interrupt.set(StopReason::GracefulStopOver);
        interrupt.set(StopReason::Aborted);
        assert_eq!((interrupt.is_set(), interrupt.reason()), (true, Some(StopReason::GracefulStopOver)));
        interrupt.set_deadline(Some(Duration::from_secs(1)));
        assert_eq!(interrupt.deadline(), Some(Duration::from_secs(1)));
        interrupt.clear();
        assert_eq!((interrupt.is_set(), interrupt.reason(), interrupt.deadline()), (false, None, None));
    }

    #[test]
    fn a_stop_of_the_test_sets_every_interrupt_without_a_look_at_the_clock() {
        let (clock, stopper) = (FakeClock::new(), Stopper::new());
        let interrupt = Interrupt::new(AnyClock::Fake(clock.clone()), stopper.clone());
        interrupt.set_deadline(Some(Duration::ZERO));
        assert!(!interrupt.is_set(), "a deadline is not looked at");
        stopper.stop(StopCause::Requested);
        assert!(interrupt.is_set());
    }

    #[test]
    fn who_waits_is_woken_by_the_interrupt() {
        let interrupt = Interrupt::default();
        FakeClock::new().run(async {
            let waiting = std::future::poll_fn(|context| {
                interrupt.register(context.waker());
                interrupt.reason().map_or(std::task::Poll::Pending, std::task::Poll::Ready)
            });
            let (reason, ()) = tokio::join!(waiting, async { interrupt.set(StopReason::Aborted) });
            assert_eq!(reason, StopReason::Aborted);
        });
    }

    #[test]
    fn the_waker_registered_last_is_the_one_that_is_woken() {
        struct Count(std::sync::atomic::AtomicU32);
        impl std::task::Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let counts: [Arc<Count>; 2] = std::array::from_fn(|_| Arc::new(Count(0.into())));
        let interrupt = Interrupt::default();
        for count in [&counts[0], &counts[1], &counts[1]] {
            interrupt.register(&Waker::from(Arc::clone(count)));
        }
        interrupt.set(StopReason::Aborted);
        interrupt.set(StopReason::Aborted);
        assert_eq!(counts.map(|count| count.0.load(Ordering::Relaxed)), [0, 1], "once, as it did not register again");
    }

    #[test]
    fn waiting_for_the_stop_ends_with_it() {
        let stopper = Stopper::new();
        FakeClock::new().run(async {
            tokio::join!(stopper.stopped(), async { stopper.stop(StopCause::Requested) });
            stopper.stopped().await;
        });
        assert_eq!(stopper.cause(), Some(&StopCause::Requested));
    }
}
