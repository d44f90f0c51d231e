//! Kernel receive stamps, which are wall-clock time, as points of the monotonic clock.
//!
//! The relation of both clocks is a bracket: monotonic, wall, monotonic again; the narrowest of a few tries wins. It is
//! refreshed every 100 ms, because only a stepped wall clock changes it (slewing moves both alike).
//! A stamp that lands before the request or after the present is refused and the caller falls back to its own reading.
//! Invariant: what `to_instant` returns lies within the bounds it was given.

use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long a bracket is trusted.
const BRACKET_LIFE: Duration = Duration::from_millis(100);
/// A bracket this narrow needs no second try.
const NARROW: Duration = Duration::from_nanos(500);
/// Error allowed where a stamp touches its bounds: it covers the bracket's own width.
const SLACK_NS: i128 = 20_000;

/// One simultaneous reading of both clocks.
#[derive(Clone, Copy)]
struct Bracket {
    monotonic: Instant,
    wall_ns: u64,
}

/// Relates wall-clock nanoseconds to `Instant`.
pub(crate) struct StampClock {
    bracket: Cell<Bracket>,
}

impl StampClock {
    pub(crate) fn new() -> StampClock {
        StampClock { bracket: Cell::new(Bracket::read()) }
    }

    /// Takes a new bracket when the old one has aged.
    pub(crate) fn refresh_at(&self, now: Instant) {
        if now.saturating_duration_since(self.bracket.get().monotonic) > BRACKET_LIFE {
            self.bracket.set(Bracket::read());
        }
    }

    /// The stamp as an instant in `earliest..=now`; `None` when it cannot be right (the wall clock was stepped).
    pub(crate) fn to_instant(&self, stamp_ns: u64, earliest: Instant, now: Instant) -> Option<Instant> {
        let found = self.bracket.get().place(stamp_ns, earliest, now);
        if found.is_some() {
            return found;
        }
        self.bracket.set(Bracket::read());
        self.bracket.get().place(stamp_ns, earliest, now)
    }

    /// The instant as wall-clock time.
    pub(crate) fn to_wall(&self, instant: Instant) -> SystemTime {
        let bracket = self.bracket.get();
        let wall = UNIX_EPOCH + Duration::from_nanos(bracket.wall_ns);
        match instant.checked_duration_since(bracket.monotonic) {
            Some(after) => wall + after,
            None => wall - bracket.monotonic.duration_since(instant),
        }
    }
}

impl Bracket {
    fn read() -> Bracket {
        let (mut best, mut width) = Bracket::read_once();
        for _ in 0..4 {
            if width <= NARROW {
                break;
            }
            let (bracket, this_width) = Bracket::read_once();
            if this_width < width {
                (best, width) = (bracket, this_width);
            }
        }
        best
    }

    fn read_once() -> (Bracket, Duration) {
        let before = Instant::now();
        let wall = SystemTime::now();
        let width = before.elapsed();
        let wall_ns = wall.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        (Bracket { monotonic: before + width / 2, wall_ns }, width)
    }

    fn place(self, stamp_ns: u64, earliest: Instant, now: Instant) -> Option<Instant> {
        let ns_of = |i: Instant| match i.checked_duration_since(self.monotonic) {
            Some(after) => after.as_nanos() as i128,
            None => -(self.monotonic.duration_since(i).as_nanos() as i128),
        };
        let at = i128::from(stamp_ns) - i128::from(self.wall_ns);
        let (low, high) = (ns_of(earliest), ns_of(now));
        if at < low - SLACK_NS || at > high + SLACK_NS {
            return None;
        }
        let back = u64::try_from(high - at.clamp(low, high)).ok()?;
        now.checked_sub(Duration::from_nanos(back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(wall_ns: u64) -> (StampClock, Instant) {
        let monotonic = Instant::now() - Duration::from_millis(10);
        (StampClock { bracket: Cell::new(Bracket { monotonic, wall_ns }) }, monotonic)
    }

    #[test]
    fn a_stamp_between_its_bounds_is_placed_exactly() {
        let (clock, base) = clock(1_000_000_000);
        let now = base + Duration::from_millis(8);
        let found = clock.to_instant(1_003_000_000, base, now).unwrap();
        assert_eq!(found - base, Duration::from_millis(3));
    }

    #[test]
    fn a_stamp_just_outside_is_moved_to_the_bound() {
        let (clock, base) = clock(1_000_000_000);
        let early = base + Duration::from_micros(10);
        let now = base + Duration::from_millis(1);
        assert_eq!(clock.to_instant(1_000_000_000, early, now), Some(early));
        assert_eq!(clock.to_instant(1_001_010_000, early, now), Some(now));
    }

    #[test]
    fn an_absurd_stamp_is_refused_and_the_bracket_read_anew() {
        let (clock, base) = clock(1_000_000_000);
        let now = base + Duration::from_millis(1);
        assert_eq!(clock.to_instant(5_000_000_000, base, now), None);
        assert!(clock.bracket.get().wall_ns > 1_600_000_000_000_000_000, "the bracket was not refreshed");
    }

    #[test]
    fn a_stamp_is_placed_after_the_wall_clock_was_stepped() {
        let (clock, _) = clock(1_000_000_000);
        let earliest = Instant::now() - Duration::from_millis(5);
        let stamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        assert!(clock.to_instant(stamp, earliest, Instant::now()).is_some());
    }

    #[test]
    fn wall_time_goes_both_ways_from_the_bracket() {
        let (clock, base) = clock(2_000_000_000);
        let ms = Duration::from_millis(1);
        assert_eq!(clock.to_wall(base + ms), UNIX_EPOCH + Duration::from_millis(2001));
        assert_eq!(clock.to_wall(base - ms), UNIX_EPOCH + Duration::from_millis(1999));
    }
}
