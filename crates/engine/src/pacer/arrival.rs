//! The k-th start of an arrival rate, by the closed form of the ramp's integral.
//!
//! Starts are counted over the whole test; a segment or worker takes the positions it owns. A constant rate starts at 0
//! and includes its end, a ramp starts when its integral reaches 1: both as k6 does it. A start is the first whole
//! nanosecond at which the integral has reached its count, found exactly: a float gives the guess, integers decide.
//!
//! With Poisson spacing the counts are not whole numbers but the sums of `poisson.rs`; the rate's integral is the same.
//! The starts of a trace are a list.
//!
//! A rate that is changed while it runs keeps its integral up to then, so the starts before are the same and the one
//! after them has the number that follows.

mod changed;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::poisson::{FRACTION_BITS, Visitors};
use crate::scenario::{Spacing, Stage};

pub use changed::Rate;

/// The schedule of all starts of one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrivals {
    pieces: Vec<Piece>,
    /// Nanoseconds of the time unit, twice: areas are kept as twice iterations times unit, which is whole.
    twice_unit: u128,
    /// What the integral has reached at the first start.
    first: u64,
    order: Order,
    end: Duration,
}

/// Which starts there are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Order {
    /// So many, one each time the integral has grown by one.
    Even { total: u64 },
    /// Where the integral reaches the sums that this seed draws.
    Poisson { seed: u64 },
    /// At these times.
    Trace { times: Arc<[Duration]> },
}

/// A stretch in which the rate changes linearly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    begins_ns: u64,
    lasts_ns: u64,
    from: u64,
    to: u64,
    /// Area before this piece and with it.
    before: u128,
    with: u128,
}

/// The rates and times are so large that nanoseconds cannot be computed exactly any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFast;

impl fmt::Display for TooFast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the rate is too high for its duration, expected at most 10 million iterations a second and 30 days",
        )
    }
}

/// Bounds under which no product of the arithmetic below leaves an i128.
const MAX_RATE: u64 = 1 << 40;
const MAX_NS: u64 = 30 * 24 * 3600 * 1_000_000_000;

impl Arrivals {
    /// Starts at the times of a trace, which are in order.
    pub fn trace(times: Arc<[Duration]>) -> Self {
        assert!(times.is_sorted(), "a trace is read in order");
        let end = times.last().copied().unwrap_or_default();
        Arrivals { pieces: Vec::new(), twice_unit: 0, first: 0, order: Order::Trace { times }, end }
    }

    /// The same rate with another spacing of its starts.
    pub fn spaced(self, spacing: Spacing) -> Self {
        match spacing {
            Spacing::Even => self,
            Spacing::Poisson { seed } => Arrivals { order: Order::Poisson { seed }, ..self },
        }
    }

    /// A fixed rate: starts at 0, one interval, two intervals, …, up to and including `duration`.
    pub fn constant(rate: u64, unit: Duration, duration: Duration) -> Result<Self, TooFast> {
        Arrivals::build(rate, unit, &[Stage { duration, target: rate }], 0)
    }

    /// A rate that follows stages; the first start is where one whole iteration has come together.
    pub fn ramping(start_rate: u64, unit: Duration, stages: &[Stage]) -> Result<Self, TooFast> {
        Arrivals::build(start_rate, unit, stages, 1)
    }

    fn build(start_rate: u64, unit: Duration, stages: &[Stage], first: u64) -> Result<Self, TooFast> {
        let unit_ns = u64::try_from(unit.as_nanos()).ok().filter(|ns| *ns <= MAX_NS).ok_or(TooFast)?;
        let (mut begins_ns, mut from, mut area) = (0u64, start_rate, 0u128);
        let mut pieces = Vec::new();
        for stage in stages {
            let lasts_ns = u64::try_from(stage.duration.as_nanos()).map_err(|_| TooFast)?;
            let ends_ns = begins_ns.checked_add(lasts_ns).filter(|ns| *ns <= MAX_NS).ok_or(TooFast)?;
            if from.max(stage.target) > MAX_RATE || !fits(from.max(stage.target), lasts_ns) {
                return Err(TooFast);
            }
            let with = area + (u128::from(from) + u128::from(stage.target)) * u128::from(lasts_ns);
            pieces.push(Piece { begins_ns, lasts_ns, from, to: stage.target, before: area, with });
            (begins_ns, from, area) = (ends_ns, stage.target, with);
        }
        let twice_unit = u128::from(unit_ns) * 2;
        let reached = u64::try_from(area / twice_unit.max(1)).map_err(|_| TooFast)?;
        let order = Order::Even { total: (reached + 1).saturating_sub(first) };
        Ok(Arrivals { pieces, twice_unit, first, order, end: Duration::from_nanos(begins_ns) })
    }

    /// When the rate ends.
    pub fn end(&self) -> Duration {
        self.end
    }

    /// The starts, to be asked for in order.
    pub fn starts(&self) -> Starts<'_> {
        let seed = if let Order::Poisson { seed } = self.order { seed } else { 0 };
        Starts { arrivals: self, visitors: Visitors::new(seed) }
    }

    /// When the integral has reached this area; none when it never does.
    fn reached(&self, area: u128) -> Option<Duration> {
        let piece = self.pieces.get(self.pieces.partition_point(|piece| piece.with < area))?;
        debug_assert!((piece.before..=piece.with).contains(&area), "{area} in {piece:?}");
        let at = Duration::from_nanos(piece.begins_ns + piece.reaches(area - piece.before));
        debug_assert!(at <= self.end, "{at:?} is after the end, {:?}", self.end);
        Some(at)
    }
}

/// The starts of a schedule, in order.
#[derive(Clone, Debug)]
pub struct Starts<'a> {
    arrivals: &'a Arrivals,
    visitors: Visitors,
}

impl Starts<'_> {
    /// The k-th start, counted from 0; none after the end. Cheap when each k is a little above the last one.
    pub fn at(&mut self, k: u64) -> Option<Duration> {
        let Arrivals { twice_unit, first, order, .. } = self.arrivals;
        match order {
            Order::Even { total } if k >= *total => None,
            Order::Even { .. } => self.arrivals.reached(u128::from(k + first) * twice_unit),
            Order::Poisson { .. } => {
                let area = self.visitors.until(k).checked_mul(*twice_unit)?;
                self.arrivals.reached(area >> FRACTION_BITS)
            }
            Order::Trace { times } => times.get(usize::try_from(k).ok()?).copied(),
        }
    }
}

/// Whether rate × time² stays below what an i128 holds, with room for factors of 2.
fn fits(rate: u64, lasts_ns: u64) -> bool {
    let lasts = u128::from(lasts_ns);
    u128::from(rate).checked_mul(lasts).and_then(|area| area.checked_mul(lasts)).is_some_and(|area| area < 1 << 124)
}

impl Piece {
    /// The first nanosecond within the piece at which its area has reached `area`.
    fn reaches(&self, area: u128) -> u64 {
        let at = self.correct(self.guess(area), area);
        debug_assert!(at <= self.lasts_ns && self.has_reached(at, area), "{area} at {at} in {self:?}");
        debug_assert!(at == 0 || !self.has_reached(at - 1, area), "{area} before {at} in {self:?}");
        at
    }

    /// That nanosecond as precisely as a float has it.
    fn guess(&self, area: u128) -> u64 {
        let (from, lasts) = (self.from as f64, self.lasts_ns as f64);
        let slope = self.to as f64 - from;
        // Of the two forms of the root this one does not cancel: area·d / (r0·d + √((r0·d)² + slope·area·d)).
        let root = ((from * lasts).powi(2) + slope * area as f64 * lasts).max(0.0).sqrt();
        let guess = area as f64 * lasts / (from * lasts + root);
        if guess.is_finite() { (guess as u64).min(self.lasts_ns) } else { 0 }
    }

    /// Moves a guess to the exact place, in doubling steps and then by halves.
    fn correct(&self, guess: u64, area: u128) -> u64 {
        let (mut low, mut high, mut step) = (guess, guess, 1);
        while low > 0 && self.has_reached(low - 1, area) {
            high = low - 1;
            low = low.saturating_sub(step);
            step *= 2;
        }
        step = 1;
        while high < self.lasts_ns && !self.has_reached(high, area) {
            low = high + 1;
            high = (high + step).min(self.lasts_ns);
            step *= 2;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.has_reached(middle, area) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// Whether twice the integral up to `at` has reached `area`: 2·r0·t + (r1 − r0)·t²/d ≥ area, multiplied by d.
    fn has_reached(&self, at: u64, area: u128) -> bool {
        let (at, lasts) = (i128::from(at), i128::from(self.lasts_ns));
        let slope = i128::from(self.to) - i128::from(self.from);
        let reached = 2 * i128::from(self.from) * at * lasts + slope * at * at;
        // The area of a piece is below 2^125, as `fits` has made sure; with a piece of no length there is nothing to
        // reach.
        i128::try_from(area).is_ok_and(|area| reached >= area * lasts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const SECOND: Duration = Duration::from_secs(1);

    pub(super) fn total(arrivals: &Arrivals) -> u64 {
        let Order::Even { total } = arrivals.order else { panic!("it is drawn") };
        total
    }

    pub(super) fn start(arrivals: &Arrivals, k: u64) -> Option<Duration> {
        arrivals.starts().at(k)
    }

    pub(super) fn stage(seconds: u64, target: u64) -> Stage {
        Stage { duration: Duration::from_secs(seconds), target }
    }

    #[test]
    fn a_constant_rate_has_no_drift_over_days() {
        let day = Duration::from_secs(24 * 3600);
        let arrivals = Arrivals::constant(3, SECOND, day).unwrap();
        assert_eq!(total(&arrivals), 3 * 24 * 3600 + 1);
        assert_eq!(start(&arrivals, 0), Some(Duration::ZERO));
        assert_eq!(start(&arrivals, 1), Some(Duration::from_nanos(333_333_334)));
        assert_eq!(start(&arrivals, 3 * 24 * 3600), Some(day));
        assert_eq!(start(&arrivals, 3 * 24 * 3600 + 1), None);
    }

    #[test]
    fn a_ramp_starts_where_its_integral_is_whole() {
        // As measured with k6: 0 → 10/s in 2 s, a jump to 5/s, 1 s at 5/s.
        let arrivals = Arrivals::ramping(0, SECOND, &[stage(2, 10), stage(0, 5), stage(1, 5)]).unwrap();
        let ms: Vec<u128> = (0..).map_while(|k| start(&arrivals, k)).map(|start| start.as_millis()).collect();
        let expected = [632, 894, 1095, 1264, 1414, 1549, 1673, 1788, 1897, 2000, 2200, 2400, 2600, 2800, 3000];
        assert_eq!(ms, expected);
        assert_eq!(total(&arrivals), 15);
    }

    #[test]
    fn every_start_is_the_first_nanosecond_that_has_reached_its_count() {
        let shapes: [&[Stage]; 4] = [
            &[stage(3600, 10_000), stage(3600, 0)],
            &[stage(7, 0), stage(11, 1), stage(0, 900), stage(5, 3)],
            &[stage(1, 1_000_000)],
            &[stage(86_400, 1), stage(86_400, 0)],
        ];
        for stages in shapes {
            let arrivals = Arrivals::ramping(17, SECOND, stages).unwrap();
            let mut last = Duration::ZERO;
            for k in (0..total(&arrivals)).step_by(1 + total(&arrivals) as usize / 5000) {
                let start = start(&arrivals, k).unwrap();
                assert!(start >= last && start <= arrivals.end(), "{stages:?} {k}");
                let area = u128::from(k + 1) * arrivals.twice_unit;
                let piece = arrivals.pieces.iter().find(|piece| piece.with >= area).unwrap();
                let at = start.as_nanos() as u64 - piece.begins_ns;
                assert!(piece.has_reached(at, area - piece.before), "{stages:?} {k}");
                assert!(at == 0 || !piece.has_reached(at - 1, area - piece.before), "{stages:?} {k}");
                last = start;
            }
            let last = start(&arrivals, total(&arrivals) - 1).unwrap();
            assert!(last <= arrivals.end() && start(&arrivals, total(&arrivals)).is_none());
        }
    }

    #[test]
    fn a_ramp_to_zero_ends_with_its_last_whole_iteration() {
        // The root is double at the end of a ramp to zero: the worst case for floats.
        let arrivals = Arrivals::ramping(10_000, SECOND, &[stage(3600, 0)]).unwrap();
        assert_eq!(total(&arrivals), 18_000_000);
        assert_eq!(start(&arrivals, 17_999_999), Some(Duration::from_secs(3600)));
    }

    #[test]
    fn a_time_unit_scales_the_rate() {
        let arrivals = Arrivals::constant(30, Duration::from_secs(60), Duration::from_secs(10)).unwrap();
        assert_eq!((total(&arrivals), start(&arrivals, 5)), (6, Some(Duration::from_secs(10))));
    }

    #[test]
    fn what_cannot_be_computed_is_refused() {
        assert_eq!(Arrivals::constant(u64::MAX, SECOND, SECOND), Err(TooFast));
        assert_eq!(Arrivals::constant(1, SECOND, Duration::from_secs(1 << 40)), Err(TooFast));
        let month = Arrivals::constant(10_000_000 / 4, SECOND, Duration::from_secs(29 * 86_400));
        assert!(month.is_ok());
    }

    /// Where it were not, `correct` would have to walk.
    #[test]
    fn a_guess_is_within_a_few_nanoseconds() {
        let shapes: [(u64, &[Stage]); 4] = [
            (10, &[stage(60, 1000), stage(60, 20)]),
            (0, &[stage(10, 7)]),
            (5, &[stage(100, 5)]),
            (100, &[stage(1, 300), stage(2, 30)]),
        ];
        for (start_rate, stages) in shapes {
            let arrivals = Arrivals::ramping(start_rate, SECOND, stages).unwrap();
            for k in 0..total(&arrivals) {
                let area = u128::from(k + 1) * arrivals.twice_unit;
                let piece = arrivals.pieces.iter().find(|piece| piece.with >= area).unwrap();
                let (guess, exact) = (piece.guess(area - piece.before), piece.reaches(area - piece.before));
                assert!(guess.abs_diff(exact) <= 4, "{stages:?} {k}: {guess} for {exact}");
            }
        }
    }

    #[test]
    fn a_wrong_guess_is_corrected_from_either_side() {
        let arrivals = Arrivals::ramping(2, SECOND, &[stage(3, 8)]).unwrap();
        let piece = arrivals.pieces[0];
        for k in 1..=15 {
            let area = u128::from(k as u64) * arrivals.twice_unit;
            let exact = piece.reaches(area);
            for guess in [0, 1, exact - 1, exact, exact + 1, exact / 2, 3_000_000_000] {
                assert_eq!(piece.correct(guess, area), exact, "from {guess}");
            }
        }
    }

    #[test]
    fn a_start_at_the_border_of_two_stages_is_in_the_first() {
        // 5 iterations come together in each second; the second stage begins with nothing.
        let arrivals = Arrivals::ramping(5, SECOND, &[stage(1, 5), stage(0, 10), stage(1, 10)]).unwrap();
        let ms: Vec<u128> = (0..).map_while(|k| start(&arrivals, k)).map(|start| start.as_millis()).collect();
        assert_eq!(ms, [200, 400, 600, 800, 1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700, 1800, 1900, 2000]);
    }

    #[test]
    fn rates_and_times_are_bounded() {
        let of = |rate, unit, duration| Arrivals::constant(rate, unit, duration).map(|arrivals| total(&arrivals));
        let (month, tick) = (Duration::from_secs(30 * 86_400), Duration::from_nanos(1));
        assert_eq!(of(1, SECOND, month), Ok(30 * 86_400 + 1));
        assert_eq!(of(1, SECOND, month + tick), Err(TooFast));
        assert_eq!(of(1, month, SECOND), Ok(1));
        assert_eq!(of(1, month + tick, SECOND), Err(TooFast));
        assert_eq!(of(1 << 40, SECOND, SECOND), Ok((1 << 40) + 1));
        assert_eq!(of((1 << 40) + 1, SECOND, SECOND), Err(TooFast));
        assert_eq!(
            TooFast.to_string(),
            "the rate is too high for its duration, expected at most 10 million iterations a second and 30 days"
        );
    }

    fn all(arrivals: &Arrivals) -> Vec<Duration> {
        let mut starts = arrivals.starts();
        (0..).map_while(|k| starts.at(k)).collect()
    }

    #[test]
    fn poisson_starts_follow_the_rate_and_are_the_same_in_any_share() {
        let stages = [stage(10, 1000), stage(10, 1000), stage(10, 0)];
        let arrivals = Arrivals::ramping(0, SECOND, &stages).unwrap().spaced(Spacing::Poisson { seed: 3 });
        let whole = all(&arrivals);
        assert!(whole.is_sorted() && whole.last() <= Some(&arrivals.end()));
        // 20,000 are expected, with a deviation of their root.
        assert!((19_400..=20_600).contains(&whole.len()), "{}", whole.len());
        let middle = whole.iter().filter(|at| (10..20).contains(&at.as_secs())).count();
        assert!((9_600..=10_400).contains(&middle), "{middle}");
        for (first, step) in [(0, 2), (1, 2), (5, 7)] {
            let mut starts = arrivals.starts();
            let share: Vec<Duration> = (first..).step_by(step).map_while(|k| starts.at(k)).collect();
            let expected: Vec<Duration> = whole.iter().copied().skip(first as usize).step_by(step).collect();
            assert_eq!(share, expected);
        }
        let other = Arrivals::ramping(0, SECOND, &stages).unwrap().spaced(Spacing::Poisson { seed: 4 });
        assert_ne!(all(&other)[..10], whole[..10]);
    }

    #[test]
    fn a_poisson_schedule_without_a_rate_has_no_starts() {
        let arrivals = Arrivals::ramping(0, SECOND, &[stage(5, 0)]).unwrap().spaced(Spacing::Poisson { seed: 1 });
        assert!(all(&arrivals).is_empty());
    }

    #[test]
    fn a_trace_starts_at_its_times() {
        let times: Arc<[Duration]> = [0, 5, 5, 900].map(Duration::from_millis).into();
        let arrivals = Arrivals::trace(Arc::clone(&times));
        assert_eq!((all(&arrivals), arrivals.end()), (times.to_vec(), Duration::from_millis(900)));
    }
}
