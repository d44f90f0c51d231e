//! The clock of a worker: monotonic readings, and kernel receive stamps, which are wall-clock time, as points of it.
//!
//! Points are nanoseconds of the system's monotonic clock: a request relates a dozen of them, and integers are the
//! cheapest to do that with.
//!
//! The relation of both clocks is a bracket: monotonic, wall, monotonic again; the narrowest of a few tries wins. It is
//! refreshed every 100 ms, because only a stepped wall clock changes it (slewing moves both alike).
//! A stamp that lands before the request or after the present is refused and the caller falls back to its own reading.
//! Invariant: what `place` returns lies within the bounds it was given.

use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// How long a bracket is trusted.
const BRACKET_LIFE: Duration = Duration::from_millis(100);
/// A bracket this narrow needs no second try.
const NARROW: Duration = Duration::from_nanos(500);
/// Error allowed where a stamp touches its bounds: it covers the bracket's own width.
const SLACK_NS: i64 = 20_000;

/// The wall clock: nanoseconds since 1970, what kernel stamps are in.
#[inline]
pub fn wall_ns() -> u64 {
    #[cfg(feature = "simulated")]
    if let Some(ns) = crate::io::simulated::wall_ns() {
        return ns;
    }
    let time = clock_gettime(ClockId::Realtime);
    // A clock before 1970 is not set; any number would be wrong.
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// A point of the monotonic clock: nanoseconds since that clock began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tick(u64);

impl Tick {
    /// Reads the clock. What `Instant::now` reads too, without the checks of its arithmetic.
    #[inline]
    pub(crate) fn now() -> Tick {
        #[cfg(feature = "simulated")]
        if let Some(ns) = crate::io::simulated::now_ns() {
            return Tick(ns);
        }
        let time = clock_gettime(ClockId::Monotonic);
        Tick(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }

    /// As a simulation counts: nanoseconds since its clock began.
    #[cfg(feature = "simulated")]
    pub(crate) fn ns(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this point; zero when there is none.
    #[inline]
    pub(crate) fn since(self, earlier: Tick) -> Duration {
        let ns = self.0.saturating_sub(earlier.0);
        // Nearly always: it spares a division.
        if ns < 1_000_000_000 { Duration::new(0, ns as u32) } else { Duration::from_nanos(ns) }
    }

    /// The point so much later; `None` when it is centuries away.
    #[inline]
    pub(crate) fn after(self, time: Duration) -> Option<Tick> {
        let ns = time.as_secs().checked_mul(1_000_000_000)?.checked_add(u64::from(time.subsec_nanos()))?;
        // Half the range is left for arithmetic on the result.
        self.0.checked_add(ns).filter(|sum| *sum < u64::MAX / 2).map(Tick)
    }
}

/// One simultaneous reading of both clocks.
#[derive(Clone, Copy)]
struct Bracket {
    tick: Tick,
    wall_ns: u64,
}

/// Relates the monotonic clock to the wall clock and to the runtime's timers.
pub(crate) struct StampClock {
    /// The same moment twice.
    base: (Instant, Tick),
    bracket: Cell<Bracket>,
}

impl StampClock {
    pub(crate) fn new() -> StampClock {
        StampClock { base: (Instant::now(), Tick::now()), bracket: Cell::new(Bracket::read()) }
    }

    /// The point, of this clock's life, as timers want it.
    pub(crate) fn instant(&self, tick: Tick) -> Instant {
        let (instant, base) = self.base;
        instant + tick.since(base)
    }

    /// The point of an instant, of this clock's life.
    pub(crate) fn tick(&self, instant: Instant) -> Tick {
        let (base, tick) = self.base;
        tick.after(instant.saturating_duration_since(base)).unwrap_or(tick)
    }

    /// Takes a new bracket when the old one has aged.
    #[inline]
    pub(crate) fn refresh_at(&self, now: Tick) {
        if now.since(self.bracket.get().tick) > BRACKET_LIFE {
            self.bracket.set(Bracket::read());
        }
    }

    /// The stamp as a point in `earliest..=now`; `None` when it cannot be right (the wall clock was stepped).
    pub(crate) fn place(&self, stamp_ns: u64, earliest: Tick, now: Tick) -> Option<Tick> {
        let found = self.bracket.get().place(stamp_ns, earliest, now);
        if found.is_some() {
            return found;
        }
        self.bracket.set(Bracket::read());
        self.bracket.get().place(stamp_ns, earliest, now)
    }

    /// The point as wall-clock time.
    pub(crate) fn to_wall(&self, tick: Tick) -> SystemTime {
        let Bracket { tick: bracketed, wall_ns } = self.bracket.get();
        UNIX_EPOCH + Duration::from_nanos(wall_ns.wrapping_add(tick.0).wrapping_sub(bracketed.0))
    }
}

impl Bracket {
    #[cold]
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
        let before = Tick::now();
        let wall_ns = wall_ns();
        let width = Tick::now().since(before);
        (Bracket { tick: Tick(before.0 + width.as_nanos() as u64 / 2), wall_ns }, width)
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

    /// A clock whose bracket was read at this point.
    fn clock(tick: Tick, wall_ns: u64) -> StampClock {
        StampClock { base: (Instant::now(), Tick::now()), bracket: Cell::new(Bracket { tick, wall_ns }) }
    }

    #[test]
    fn a_stamp_between_its_bounds_is_placed_exactly() {
        let found = clock(Tick(0), 1_000_000_000).place(1_003_000_000, Tick(0), Tick(8 * MS));
        assert_eq!(found, Some(Tick(3 * MS)));
    }

    #[test]
    fn a_stamp_just_outside_is_moved_to_the_bound() {
        let clock = clock(Tick(0), 1_000_000_000);
        let (early, now) = (Tick(10_000), Tick(MS));
        assert_eq!(clock.place(1_000_000_000, early, now), Some(early));
        assert_eq!(clock.place(1_001_010_000, early, now), Some(now));
    }

    #[test]
    fn an_absurd_stamp_is_refused_and_the_bracket_read_anew() {
        let clock = clock(Tick(0), 1_000_000_000);
        assert_eq!(clock.place(5_000_000_000, Tick(0), Tick(MS)), None);
        assert!(clock.bracket.get().wall_ns > 1_600_000_000_000_000_000, "the bracket was not refreshed");
        assert_eq!(clock.place(u64::MAX, Tick(0), Tick(MS)), None);
        assert_eq!(clock.place(1, Tick(0), Tick(MS)), None);
    }

    #[test]
    fn a_stamp_is_placed_after_the_wall_clock_was_stepped() {
        let clock = clock(Tick(0), 1_000_000_000);
        let earliest = Tick(Tick::now().0 - 5 * MS);
        let stamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        assert!(clock.place(stamp, earliest, Tick::now()).is_some());
    }

    #[test]
    fn wall_time_goes_both_ways_from_the_bracket() {
        let clock = clock(Tick(5 * MS), 2_000_000_000);
        assert_eq!(clock.to_wall(Tick(6 * MS)), UNIX_EPOCH + Duration::from_millis(2001));
        assert_eq!(clock.to_wall(Tick(4 * MS)), UNIX_EPOCH + Duration::from_millis(1999));
    }

    #[test]
    fn instants_and_points_are_equally_far_apart() {
        let clock = StampClock::new();
        let (now, later) = (Instant::now(), Tick::now().after(Duration::from_secs(60)).unwrap());
        let away = clock.instant(later).duration_since(now);
        assert!(away.abs_diff(Duration::from_secs(60)) < Duration::from_secs(1), "{away:?}");
        assert_eq!(Tick(1).after(Duration::MAX), None);
    }
}
