//! The option `rps`: how many HTTP requests all virtual users together may start in a second.
//!
//! One schedule for the whole process, not one a worker: with a share for each worker a single virtual user could use
//! only its worker's share. The shared counter costs one contended atomic a request, and only when the option is set.
//! There is no burst: unused turns do not add up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::{AnyClock, Clock};

/// Parts of a nanosecond, so that 1/rps does not drift by rounding.
const FRACTION: u64 = 1024;

/// Deals out evenly spaced turns. Clones share the schedule.
#[derive(Clone, Debug)]
pub struct RateLimit {
    next: Arc<AtomicU64>,
    interval: u64,
}

impl RateLimit {
    /// A limit of `per_second` turns, which is above 0; at most 1000 million.
    pub fn new(per_second: f64) -> Self {
        assert!(per_second > 0.0, "without a limit there is no schedule: {per_second}");
        let interval = 1e9 * FRACTION as f64 / per_second;
        RateLimit { next: Arc::default(), interval: interval.clamp(1.0, 1e18) as u64 }
    }

    /// Takes the next turn and says when it is: now or later.
    pub fn take(&self, now: Duration) -> Duration {
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX).saturating_mul(FRACTION);
        let next = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
            Some(next.max(now).saturating_add(self.interval))
        });
        let turn = next.unwrap_or_else(|unchanged| unchanged).max(now);
        Duration::from_nanos(turn.div_ceil(FRACTION))
    }

    /// Waits for the next turn.
    pub async fn wait_turn(&self, clock: &AnyClock) {
        let turn = self.take(clock.now());
        clock.sleep_until(turn).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_evenly_spaced_and_do_not_drift() {
        let limit = RateLimit::new(3.0);
        let turns: Vec<_> = (0..=3000).map(|_| limit.clone().take(Duration::ZERO)).collect();
        assert_eq!(turns[0], Duration::ZERO);
        assert_eq!(turns[1].as_millis(), 333);
        assert!(turns[3000].abs_diff(Duration::from_secs(1000)) < Duration::from_micros(10), "{:?}", turns[3000]);
    }

    #[test]
    fn unused_turns_do_not_add_up() {
        let limit = RateLimit::new(10.0);
        limit.take(Duration::ZERO);
        let later = Duration::from_secs(7);
        assert_eq!(limit.take(later), later);
        assert_eq!(limit.take(later), later + Duration::from_millis(100));
    }
}
