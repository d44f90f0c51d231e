//! The clock of a worker: monotonic readings, and kernel receive stamps, which are wall-clock time, as points of it.
//!
//! Points are nanoseconds since the clock was made: a request relates a dozen of them, and integers are the cheapest to do
//! that with.//!
//! The relation of both clocks is a bracket: monotonic, wall, monotonic again; the narrowest of a few tries wins. It is
//! refreshed every 100 ms, because only a stepped wall clock changes it (slewing moves both alike).
//! A stamp that lands before the request or after the present is refused and the caller falls back to its own reading.
//! Invariant: what `place` returns lies within the bounds it was given.

use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long a bracket is trusted.
const BRACKET_LIFE: Duration = Duration::from_millis(100);
/// A bracket this narrow needs no second try.
const NARROW: Duration = Duration::from_nanos(500);
/// Error allowed where a stamp touches its bounds: it covers the bracket's own width.
const SLACK_NS: i64 = 20_000;

/// A point of a worker's monotonic clock: nanoseconds since that clock was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tick(u64);

impl Tick {
    /// The time from `earlier` to this point; zero when there is none.
    pub(crate) fn since(self, earlier: Tick) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// One simultaneous reading of both clocks.
#[derive(Clone, Copy)]
struct Bracket {
    tick: Tick,
    wall_ns: u64,
}

/// Reads the monotonic clock and relates wall-clock nanoseconds to it.
pub(crate) struct StampClock {
    base: Instant,
    bracket: Cell<Bracket>,
}

impl StampClock {
    pub(crate) fn new() -> StampClock {
        let base = Instant::now();
        StampClock { base, bracket: Cell::new(Bracket::read(base)) }
    }

    /// Reads the clock.
    pub(crate) fn now(&self) -> Tick {
        self.at(Instant::now())
    }

    /// A reading made elsewhere, later than this clock.
    pub(crate) fn at(&self, instant: Instant) -> Tick {
        Tick::of(instant, self.base)
    }

    /// Takes a new bracket when the old one has aged.
    pub(crate) fn refresh_at(&self, now: Tick) {
        if now.since(self.bracket.get().tick) > BRACKET_LIFE {
            self.bracket.set(Bracket::read(self.base));
        }
    }

    /// The stamp as a point in `earliest..=now`; `None` when it cannot be right (the wall clock was stepped).
    pub(crate) fn place(&self, stamp_ns: u64, earliest: Tick, now: Tick) -> Option<Tick> {
        let found = self.bracket.get().place(stamp_ns, earliest, now);
        if found.is_some() {
            return found;
        }
        self.bracket.set(Bracket::read(self.base));
        self.bracket.get().place(stamp_ns, earliest, now)
    }

    /// The point as wall-clock time.
    pub(crate) fn to_wall(&self, tick: Tick) -> SystemTime {
        let Bracket { tick: bracketed, wall_ns } = self.bracket.get();
        UNIX_EPOCH + Duration::from_nanos(wall_ns.wrapping_add(tick.0).wrapping_sub(bracketed.0))
    }
}

impl Tick {
    fn of(instant: Instant, base: Instant) -> Tick {
        let since = instant.saturating_duration_since(base);
        Tick(since.as_secs() * 1_000_000_000 + u64::from(since.subsec_nanos()))
    }
}

impl Bracket {
    fn read(base: Instant) -> Bracket {
        let (mut best, mut width) = Bracket::read_once(base);
        for _ in 0..4 {
            if width <= NARROW {
                break;
            }
            let (bracket, this_width) = Bracket::read_once(base);
            if this_width < width {
                (best, width) = (bracket, this_width);
            }
        }
        best
    }

    fn read_once(base: Instant) -> (Bracket, Duration) {
        let before = Instant::now();
        let wall = SystemTime::now();
        let width = before.elapsed();
        let wall_ns = wall.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        (Bracket { tick: Tick::of(before + width / 2, base), wall_ns }, width)
    }

    fn place(self, stamp_ns: u64, earliest: Tick, now: Tick) -> Option<Tick> {
        // Differences in the ring of 64 bits are right as long as they are below 292 years.
        let at = stamp_ns.wrapping_sub(self.wall_ns).wrapping_add(self.tick.0) as i64;
        let (low, high) = (earliest.0 as i64, now.0 as i64);
        if at < low - SLACK_NS || at > high + SLACK_NS {
            return None;
        }
        Some(Tick(at.min(high).max(low) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A clock made 10 ms ago whose bracket was read at once.
    fn clock(wall_ns: u64) -> StampClock {
        let base = Instant::now() - Duration::from_millis(10);
        StampClock { base, bracket: Cell::new(Bracket { tick: Tick(0), wall_ns }) }
    }

    #[test]
    fn a_stamp_between_its_bounds_is_placed_exactly() {
        let found = clock(1_000_000_000).place(1_003_000_000, Tick(0), Tick(8 * MS));
        assert_eq!(found, Some(Tick(3 * MS)));
    }

    #[test]
    fn a_stamp_just_outside_is_moved_to_the_bound() {
        let clock = clock(1_000_000_000);
        let (early, now) = (Tick(10_000), Tick(MS));
        assert_eq!(clock.place(1_000_000_000, early, now), Some(early));
        assert_eq!(clock.place(1_001_010_000, early, now), Some(now));
    }

    #[test]
    fn an_absurd_stamp_is_refused_and_the_bracket_read_anew() {
        let clock = clock(1_000_000_000);
        assert_eq!(clock.place(5_000_000_000, Tick(0), Tick(MS)), None);
        assert!(clock.bracket.get().wall_ns > 1_600_000_000_000_000_000, "the bracket was not refreshed");
        assert_eq!(clock.place(u64::MAX, Tick(0), Tick(MS)), None);
        assert_eq!(clock.place(1, Tick(0), Tick(MS)), None);
    }

    #[test]
    fn a_stamp_is_placed_after_the_wall_clock_was_stepped() {
        let clock = clock(1_000_000_000);
        let earliest = clock.at(Instant::now() - Duration::from_millis(5));
        let stamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        assert!(clock.place(stamp, earliest, clock.now()).is_some());
    }

    #[test]
    fn wall_time_goes_both_ways_from_the_bracket() {
        let clock = StampClock {
            base: Instant::now(),
            bracket: Cell::new(Bracket { tick: Tick(5 * MS), wall_ns: 2_000_000_000 }),
        };
        assert_eq!(clock.to_wall(Tick(6 * MS)), UNIX_EPOCH + Duration::from_millis(2001));
        assert_eq!(clock.to_wall(Tick(4 * MS)), UNIX_EPOCH + Duration::from_millis(1999));
    }
}
