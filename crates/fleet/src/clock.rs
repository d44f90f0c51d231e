//! The machine's monotonic clock, whole: processes of one machine read the same.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::Ns;

/// What it shows now.
pub fn now() -> Ns {
    let time = clock_gettime(ClockId::Monotonic);
    let (seconds, rest) = (time.tv_sec.unsigned_abs(), u64::try_from(time.tv_nsec).unwrap_or_default());
    seconds * crate::SECOND + rest
}

/// How long it is until then; nothing when that has passed.
pub fn until(at: Ns) -> Duration {
    Duration::from_nanos(at.saturating_sub(now()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on() {
        let first = now();
        std::thread::sleep(Duration::from_millis(2));
        assert!(now() >= first + 2_000_000);
        assert_eq!(until(first), Duration::ZERO);
        assert!(until(now() + crate::SECOND) > Duration::from_millis(500));
    }
}
