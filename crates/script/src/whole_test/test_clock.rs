//! What time it is for the whole test. One process reads its machine's clock; of many agents, each knows how far its
//! clock is from the coordinator's, so that a stamp of one and the arrival at another are by the same clock.

use std::sync::atomic::{AtomicI64, Ordering};

/// How far the test's time is ahead of this machine's.
#[derive(Debug, Default)]
pub struct TestClock {
    ahead_ns: AtomicI64,
}

impl TestClock {
    /// From now on by so much; `Date` of all scripts of the process shows the test's time, too.
    pub fn set(&self, ahead_ns: i64) {
        self.ahead_ns.store(ahead_ns, Ordering::Relaxed);
        host::script_clock::set_ahead(ahead_ns);
    }

    /// A time of this machine, in nanoseconds after 1970, by the test's clock.
    pub fn of(&self, own_ns: u64) -> u64 {
        own_ns.saturating_add_signed(self.ahead_ns.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_moved_by_what_the_clock_is_ahead() {
        let clock = TestClock::default();
        assert_eq!(clock.of(5_000), 5_000);
        clock.set(-2_000);
        assert_eq!(clock.of(5_000), 3_000);
        clock.set(700);
        assert_eq!(clock.of(5_000), 5_700);
    }
}
