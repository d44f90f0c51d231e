//! A clock for tests: time stands still while anything can run, then jumps to the next deadline.
//!
//! `FakeClock::run` polls a runtime of its own, so an hour passes as fast as the work in it can be done and two runs
//! take the same steps. Sleepers that are due at the same time wake in the order in which they fell asleep. A run in
//! which everybody waits for something that is no deadline would hang; it panics instead.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::Clock;
use super::timers::{Ticket, Timers};

/// Epoch time at the fake clock's origin: 2001-09-09 01:46:40.
const EPOCH_NS: u64 = 1_000_000_000_000_000_000;

/// Time that jumps. Clones are the same clock.
#[derive(Clone, Default)]
pub struct FakeClock {
    // A mutex only because tokio wants the hook that runs before parking to be `Send`; one thread ever takes it.
    shared: Arc<Mutex<FakeState>>,
}

#[derive(Default)]
struct FakeState {
    now: Duration,
    timers: Timers,
    /// Wakes the work as a whole.
    root: Option<Waker>,
}

impl fmt::Debug for FakeClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FakeClock({:?})", self.lock().now)
    }
}

impl FakeClock {
    /// A clock at zero.
    pub fn new() -> Self {
        FakeClock::default()
    }

    /// Runs `work` to its end on this thread; tasks may be spawned with `tokio::task::spawn_local`.
    pub fn run<T>(&self, work: impl Future<Output = T>) -> T {
        let clock = self.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .on_thread_park(move || clock.jump())
            .build_local(tokio::runtime::LocalOptions::default())
            .expect("a runtime without drivers needs no resource that could be missing");
        let mut work = pin!(work);
        runtime.block_on(poll_fn(|context| {
            self.lock().root = Some(context.waker().clone());
            work.as_mut().poll(context)
        }))
    }

    /// Goes to the next deadline and wakes everybody who is due then.
    fn jump(&self) {
        let mut shared = self.lock();
        let next = shared.timers.next();
        let now = next.expect("bug: everybody waits, but nobody for a deadline: the run would hang").max(shared.now);
        shared.now = now;
        let mut due = Vec::new();
        while let Some(waker) = shared.timers.pop_due(now) {
            due.push(waker);
        }
        debug_assert!(!due.is_empty(), "simulated time goes to a deadline that a sleeper has");
        // A sleeper may be kept by a task that is over, as the timer of an idle connection is. Without anything to run
        // the thread would park for ever: the work as a whole is polled at each jump.
        let root = shared.root.clone();
        drop(shared);
        due.into_iter().chain(root).for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, FakeState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Duration {
        self.lock().now
    }

    async fn sleep_until(&self, deadline: Duration) {
        if deadline > self.now() {
            FakeSleep { clock: self, deadline, ticket: None }.await;
        }
    }

    fn epoch_ns(&self, at: Duration) -> u64 {
        EPOCH_NS + u64::try_from(at.as_nanos()).unwrap_or(u64::MAX - EPOCH_NS)
    }
}

struct FakeSleep<'a> {
    clock: &'a FakeClock,
    deadline: Duration,
    ticket: Option<Ticket>,
}

impl Future for FakeSleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut shared = self.clock.lock();
        if let Some(ticket) = self.ticket {
            return if shared.timers.renew(ticket, context.waker()) { Poll::Pending } else { Poll::Ready(()) };
        }
        let (ticket, _) = shared.timers.add(self.deadline, context.waker().clone());
        drop(shared);
        self.ticket = Some(ticket);
        Poll::Pending
    }
}

impl Drop for FakeSleep<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.clock.lock().timers.remove(ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn time_jumps_to_each_deadline_in_order() {
        let clock = FakeClock::new();
        let seen = Rc::new(RefCell::new(Vec::new()));
        clock.run(async {
            let tasks: Vec<_> = [3600, 1, 60]
                .map(|s| {
                    let (clock, seen) = (clock.clone(), Rc::clone(&seen));
                    tokio::task::spawn_local(async move {
                        clock.sleep_until(Duration::from_secs(s)).await;
                        seen.borrow_mut().push((s, clock.now().as_secs()));
                    })
                })
                .into();
            for task in tasks {
                task.await.unwrap();
            }
        });
        assert_eq!(*seen.borrow(), [(1, 1), (60, 60), (3600, 3600)]);
    }

    #[test]
    #[should_panic(expected = "the run would hang")]
    fn waiting_for_no_deadline_is_a_bug_and_not_a_hang() {
        FakeClock::new().run(std::future::pending::<()>());
    }

    #[test]
    fn a_sleeper_that_wakes_no_task_does_not_stop_time() {
        let clock = FakeClock::new();
        clock.run(async {
            let mut kept = pin!(clock.sleep_until(Duration::from_secs(1)));
            assert!(kept.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            clock.sleep_until(Duration::from_secs(2)).await;
        });
        assert_eq!(clock.now(), Duration::from_secs(2));
    }

    #[test]
    fn moments_have_a_date() {
        let clock = FakeClock::new();
        clock.run(clock.sleep_until(Duration::from_millis(1500)));
        assert_eq!(format!("{clock:?}"), "FakeClock(1.5s)");
        assert_eq!(clock.epoch_ns(Duration::ZERO), 1_000_000_000_000_000_000, "2001-09-09 01:46:40");
        assert_eq!(clock.epoch_ns(clock.now()), 1_000_000_001_500_000_000);
    }

    #[test]
    fn a_deadline_that_has_passed_is_not_slept_for() {
        let clock = FakeClock::new();
        clock.run(async {
            clock.sleep_until(Duration::from_secs(2)).await;
            clock.sleep_until(Duration::from_secs(1)).await;
            clock.sleep_until(Duration::from_secs(2)).await;
        });
        assert_eq!(clock.now(), Duration::from_secs(2));
    }
}
