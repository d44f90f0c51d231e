//! Whether somebody sets the wall clock while a test runs.
//!
//! Durations come from the monotonic clock and do not mind. Kernel stamps and the times of samples are wall-clock time:
//! a step of it is worth knowing. Both clocks are read once a second; slewing moves them alike.

use std::time::{Duration, Instant, SystemTime};

/// Tries for a reading of both clocks that nothing came between.
const TRIES: usize = 5;
/// A reading this narrow needs no other.
const NARROW: Duration = Duration::from_micros(50);

/// The wall clock beside the monotonic one.
pub struct WallClock {
    last: (Instant, SystemTime),
    largest_step_ms: f64,
}

impl WallClock {
    /// From now on.
    pub fn now() -> WallClock {
        WallClock { last: both(), largest_step_ms: 0.0 }
    }

    /// Forgets what was before.
    pub fn look_anew(&mut self) {
        *self = WallClock::now();
    }

    /// Looks whether the clocks still go together: by how many ms they went apart since the last look.
    pub fn look(&mut self) -> f64 {
        self.compare(both())
    }

    fn compare(&mut self, (instant, wall): (Instant, SystemTime)) -> f64 {
        let passed = instant.saturating_duration_since(self.last.0).as_secs_f64() * 1e3;
        let on_the_wall = match wall.duration_since(self.last.1) {
            Ok(forwards) => forwards.as_secs_f64() * 1e3,
            Err(backwards) => -backwards.duration().as_secs_f64() * 1e3,
        };
        let step = on_the_wall - passed;
        debug_assert!(instant >= self.last.0, "the clock that durations come from never goes back");
        if step.abs() > self.largest_step_ms.abs() {
            self.largest_step_ms = step;
        }
        self.last = (instant, wall);
        step
    }

    /// The largest difference between two looks, in ms; negative for a clock that was set back.
    pub fn largest_step_ms(&self) -> f64 {
        self.largest_step_ms
    }
}

/// Both clocks at one moment: the narrowest of a few tries.
fn both() -> (Instant, SystemTime) {
    let read = || {
        let before = Instant::now();
        let wall = SystemTime::now();
        (before.elapsed(), before, wall)
    };
    let mut best = read();
    for _ in 1..TRIES {
        if best.0 <= NARROW {
            break;
        }
        let next = read();
        if next.0 < best.0 {
            best = next;
        }
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_what_one_clock_does_and_the_other_does_not() {
        let mut clock = WallClock::now();
        let (start, wall) = clock.last;
        let second = Duration::from_secs(1);
        clock.compare((start + second, wall + second));
        assert_eq!(clock.largest_step_ms(), 0.0);
        // An hour back, then on as usual.
        clock.compare((start + 2 * second, wall + 2 * second - 3600 * second));
        clock.compare((start + 3 * second, wall + 3 * second - 3600 * second));
        assert_eq!(clock.largest_step_ms(), -3_600_000.0);
        clock.compare((start + 4 * second, wall + 4 * second));
        assert_eq!(clock.largest_step_ms().abs(), 3_600_000.0);
    }
}
