//! Time as the engine sees it: a `Duration` since the run began, from a clock that tests can replace.
//!
//! `RealClock` is CLOCK_MONOTONIC and a timerfd; `FakeClock` jumps to the next deadline as soon as nothing can run, so
//! that an hour of ramping is a test of a millisecond. `AnyClock` is either of them: the rest of the engine stays free
//! of a type parameter. Nothing in the engine reads time elsewhere.

mod fake;
mod real;
mod timers;
mod usage;

use std::future::Future;
use std::time::Duration;

pub use fake::FakeClock;
pub use real::{Origin, RealClock};
pub(crate) use usage::{ThreadTimer, ThreadTimes, Usage};

/// A monotonic clock and a way to wait for it.
pub trait Clock: Clone + 'static {
    /// Time since the clock's own origin, which all workers of a run share.
    fn now(&self) -> Duration;

    /// Resolves at `deadline` or as little after it as the platform allows; at once when it has passed.
    fn sleep_until(&self, deadline: Duration) -> impl Future<Output = ()>;

    /// The same instant as nanoseconds since the Unix epoch (for samples).
    fn epoch_ns(&self, at: Duration) -> u64;
}

/// The clock of a run: the real one, or in tests a fake one.
#[derive(Clone, Debug)]
pub enum AnyClock {
    /// Real time.
    Real(RealClock),
    /// Time that jumps.
    Fake(FakeClock),
}

impl AnyClock {
    /// A real clock that starts now, for code outside a run (setup, teardown).
    pub fn real() -> Self {
        AnyClock::Real(RealClock::new(Origin::now()))
    }

    /// Waits for this long.
    pub async fn sleep(&self, time: Duration) {
        self.sleep_until(self.now().saturating_add(time)).await;
    }

    /// Wakes who is due at `now`, without waiting for the event loop to notice.
    pub(crate) fn nudge(&self, now: Duration) {
        if let AnyClock::Real(clock) = self {
            clock.nudge(now);
        }
    }

    /// What the calling thread has used by now.
    pub(crate) fn thread_usage(&self) -> Usage {
        match self {
            AnyClock::Real(_) => Usage::of_thread(),
            AnyClock::Fake(clock) => Usage { at: clock.now(), ..Usage::default() },
        }
    }

    /// What tells the calling thread's times; in simulated time nothing does.
    pub(crate) fn thread_timer(&self) -> ThreadTimer {
        match self {
            AnyClock::Real(_) => ThreadTimer::of_thread(),
            AnyClock::Fake(_) => ThreadTimer::default(),
        }
    }

    /// What the process has used by now.
    pub(crate) fn process_usage(&self) -> Usage {
        match self {
            AnyClock::Real(_) => Usage::of_process(),
            AnyClock::Fake(clock) => Usage { at: clock.now(), ..Usage::default() },
        }
    }

    /// The present as nanoseconds since the Unix epoch.
    pub fn now_epoch_ns(&self) -> u64 {
        self.epoch_ns(self.now())
    }
}

impl Clock for AnyClock {
    fn now(&self) -> Duration {
        match self {
            AnyClock::Real(clock) => clock.now(),
            AnyClock::Fake(clock) => clock.now(),
        }
    }

    async fn sleep_until(&self, deadline: Duration) {
        match self {
            AnyClock::Real(clock) => clock.sleep_until(deadline).await,
            AnyClock::Fake(clock) => clock.sleep_until(deadline).await,
        }
    }

    fn epoch_ns(&self, at: Duration) -> u64 {
        match self {
            AnyClock::Real(clock) => clock.epoch_ns(at),
            AnyClock::Fake(clock) => clock.epoch_ns(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_clock_sleeps_and_dates_its_moments() {
        let fake = FakeClock::new();
        let clock = AnyClock::Fake(fake.clone());
        fake.run(async {
            clock.sleep_until(Duration::from_secs(3)).await;
            clock.sleep(Duration::from_secs(4)).await;
        });
        assert_eq!(clock.now(), Duration::from_secs(7));
        assert_eq!(clock.now_epoch_ns(), 1_000_000_007_000_000_000);
        assert_eq!(clock.epoch_ns(Duration::from_secs(1)), 1_000_000_001_000_000_000);
    }

    #[test]
    fn nothing_is_used_in_simulated_time() {
        let fake = FakeClock::new();
        let clock = AnyClock::Fake(fake.clone());
        fake.run(fake.sleep_until(Duration::from_secs(7)));
        for used in [clock.thread_usage(), clock.process_usage()] {
            assert_eq!((used.at, used.cpu, used.waited), (Duration::from_secs(7), Duration::ZERO, None));
        }
    }

    #[test]
    fn a_real_thread_has_used_something() {
        let clock = AnyClock::real();
        for used in [clock.thread_usage(), clock.process_usage()] {
            assert!(used.at > Duration::ZERO && used.cpu > Duration::ZERO, "{used:?}");
        }
    }
}
