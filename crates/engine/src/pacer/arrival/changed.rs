//! A rate that is changed while it runs: the same plan up to a moment, and another constant rate from there.
//!
//! The integral goes on where it was. So all starts before the change keep their numbers and times, the next one has
//! the number that follows, and workers who each own every n-th start need not agree about anything but the moment.

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Arrivals, MAX_NS, MAX_RATE, Order, Piece, TooFast, fits};

/// A constant rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// So many iterations …
    pub iterations: u64,
    /// … in this time.
    pub per: Duration,
}

impl Rate {
    /// Iterations per second.
    pub fn per_second(self) -> f64 {
        self.iterations as f64 / self.per.as_secs_f64()
    }
}

impl FromStr for Rate {
    type Err = String;

    /// `200/s`, `200`, `90/m`, `10/h`, `1.5/s`.
    fn from_str(text: &str) -> Result<Rate, String> {
        let refuse = || format!("found '{text}', expected iterations per second, minute or hour: 200/s, 90/m, 1.5/s");
        let (count, unit) = text.trim().split_once('/').unwrap_or((text.trim(), "s"));
        let seconds = match unit.trim() {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            _ => return Err(refuse()),
        };
        let (whole, decimals) = count.trim().split_once('.').unwrap_or((count.trim(), ""));
        let digits = format!("{whole}{decimals}");
        if decimals.len() > 3 || digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(refuse());
        }
        let places = u32::try_from(decimals.len()).map_err(|_| refuse())?;
        let iterations = digits.parse().map_err(|_| refuse())?;
        Ok(Rate { iterations, per: Duration::from_secs(seconds * 10_u64.pow(places)) })
    }
}

impl Arrivals {
    /// The same starts up to `at`, and from there to the end a constant rate.
    pub fn with_rate_from(&self, at: Duration, rate: Rate) -> Result<Self, TooFast> {
        let at_ns = nanoseconds(at.min(self.end))?;
        let (own_unit, unit) = (self.twice_unit / 2, u128::from(nanoseconds(rate.per)?));
        // Areas stay whole numbers in a unit of which both are parts.
        let common = own_unit.checked_mul(unit).ok_or(TooFast)? / gcd(own_unit, unit).max(1);
        let own_factor = u64::try_from(common / own_unit.max(1)).map_err(|_| TooFast)?;
        let target = u128::from(rate.iterations).checked_mul(common / unit.max(1));
        let target =
            target.and_then(|rate| u64::try_from(rate).ok()).filter(|rate| *rate <= MAX_RATE).ok_or(TooFast)?;
        let mut before: Vec<Piece> = self.pieces.iter().copied().filter(|piece| piece.begins_ns < at_ns).collect();
        // The others are whole, or have been cut by an earlier change.
        before.last_mut().into_iter().for_each(|last| *last = last.until(at_ns));
        let pieces = before.into_iter().map(|piece| piece.scaled(own_factor));
        let mut pieces = pieces.collect::<Option<Vec<_>>>().ok_or(TooFast)?;
        let lasts_ns = nanoseconds(self.end)? - at_ns;
        if !fits(target, lasts_ns) {
            return Err(TooFast);
        }
        let area = pieces.last().map_or(0, |piece| piece.with);
        let with = area + 2 * u128::from(target) * u128::from(lasts_ns);
        pieces.push(Piece { begins_ns: at_ns, lasts_ns, from: target, to: target, before: area, with });
        let reached = u64::try_from(with / (common * 2).max(1)).map_err(|_| TooFast)?;
        let order = match &self.order {
            Order::Even { .. } => Order::Even { total: (reached + 1).saturating_sub(self.first) },
            drawn => drawn.clone(),
        };
        Ok(Arrivals { pieces, twice_unit: common * 2, order, ..self.clone() })
    }

    /// Iterations per second that are planned at a time; 0 of a trace, whose starts are a list.
    pub fn rate_at(&self, at: Duration) -> f64 {
        let at = at.as_nanos() as f64;
        let Some(piece) = self.pieces.iter().rev().find(|piece| piece.begins_ns as f64 <= at) else { return 0.0 };
        let share = ((at - piece.begins_ns as f64) / piece.lasts_ns.max(1) as f64).clamp(0.0, 1.0);
        let per_unit = piece.from as f64 + (piece.to as f64 - piece.from as f64) * share;
        per_unit * 2e9 / self.twice_unit.max(1) as f64
    }
}

impl Piece {
    /// What of it is before a time: its line goes on, its area ends there.
    fn until(self, at_ns: u64) -> Piece {
        if self.begins_ns + self.lasts_ns <= at_ns {
            return self;
        }
        let (at, lasts) = (i128::from(at_ns - self.begins_ns), i128::from(self.lasts_ns));
        let slope = i128::from(self.to) - i128::from(self.from);
        let area = (2 * i128::from(self.from) * at * lasts + slope * at * at) / lasts;
        Piece { with: self.before + u128::try_from(area).expect("a rate is not below 0"), ..self }
    }

    /// The same in a unit so many times as long; none where that does not fit.
    fn scaled(self, factor: u64) -> Option<Piece> {
        let (from, to) = (self.from.checked_mul(factor)?, self.to.checked_mul(factor)?);
        let area = |area: u128| area.checked_mul(u128::from(factor));
        let piece = Piece { from, to, before: area(self.before)?, with: area(self.with)?, ..self };
        (from.max(to) <= MAX_RATE && fits(from.max(to), self.lasts_ns)).then_some(piece)
    }
}

fn nanoseconds(time: Duration) -> Result<u64, TooFast> {
    u64::try_from(time.as_nanos()).ok().filter(|ns| *ns <= MAX_NS).ok_or(TooFast)
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacer::arrival::tests::{SECOND, stage, start, total};

    #[test]
    fn a_changed_rate_keeps_what_was_before() {
        let minute = Duration::from_secs(60);
        let rate = |iterations, per| Rate { iterations, per };
        let plans = [
            Arrivals::constant(10, SECOND, minute).unwrap(),
            Arrivals::ramping(7, SECOND, &[stage(20, 90), stage(20, 3), stage(20, 40)]).unwrap(),
        ];
        for plan in plans {
            for (at_ms, new) in
                [(0, rate(50, SECOND)), (13_377, rate(3, Duration::from_secs(2))), (41_001, rate(0, SECOND))]
            {
                let at = Duration::from_millis(at_ms);
                let changed = plan.with_rate_from(at, new).unwrap();
                let before = (0..).map_while(|k| start(&plan, k)).take_while(|start| *start < at).count() as u64;
                let kept = (0..before).all(|k| start(&changed, k) == start(&plan, k));
                assert!(kept, "{at:?}: the starts before are the same");
                let after = total(&changed) - before;
                let expected = new.per_second() * (minute - at).as_secs_f64();
                assert!((after as f64 - expected).abs() <= 1.0, "{at:?}: {after} starts, expected {expected}");
                let first = start(&changed, before);
                assert!(first.is_none_or(|first| first >= at) && first.is_some() == (after > 0), "{first:?}");
                assert_eq!((changed.rate_at(at), changed.end()), (new.per_second(), minute));
            }
        }
    }

    #[test]
    fn a_rate_is_read_with_its_unit() {
        let read = |text: &str| text.parse::<Rate>().map(|rate| (rate.iterations, rate.per.as_secs()));
        for (text, rate) in
            [("200/s", (200, 1)), ("7", (7, 1)), ("90/m", (90, 60)), ("0/h", (0, 3600)), (" 1.25/s ", (125, 100))]
        {
            assert_eq!(read(text), Ok(rate), "{text}");
        }
        for wrong in ["", "/s", "-1/s", "1/d", "1e3/s", "1.2345/s", ".", "fast", "99999999999999999999/s"] {
            let expected = "expected iterations per second, minute or hour: 200/s, 90/m, 1.5/s";
            assert_eq!(read(wrong), Err(format!("found '{wrong}', {expected}")));
        }
    }

    #[test]
    fn visitors_who_come_by_chance_come_more_often() {
        let plan = Arrivals::constant(50, SECOND, Duration::from_secs(60)).unwrap();
        let plan = plan.spaced(crate::scenario::Spacing::Poisson { seed: 7 });
        let at = Duration::from_secs(30);
        let changed = plan.with_rate_from(at, Rate { iterations: 200, per: SECOND }).unwrap();
        let of = |plan: &Arrivals| {
            let mut starts = plan.starts();
            (0..).map_while(|k| starts.at(k)).partition::<Vec<_>, _>(|start| *start < at)
        };
        let ((before, _), (kept, after)) = (of(&plan), of(&changed));
        assert_eq!(before, kept, "those before the change are the same");
        assert!((5_500..6_500).contains(&after.len()) && after.is_sorted(), "{} after it", after.len());
    }

    #[test]
    fn a_rate_is_changed_more_than_once() {
        let plan = Arrivals::ramping(0, SECOND, &[stage(10, 100)]).unwrap();
        assert_eq!(plan.rate_at(Duration::from_secs(5)), 50.0);
        let at = |seconds| Duration::from_secs(seconds);
        let rate = |iterations| Rate { iterations, per: SECOND };
        let changed = plan.with_rate_from(at(4), rate(0)).unwrap().with_rate_from(at(6), rate(5)).unwrap();
        let changed = changed.with_rate_from(at(8), Rate { iterations: 15, per: at(10) }).unwrap();
        // 80 up to the fourth second, none, ten, three.
        assert_eq!((total(&changed), changed.rate_at(at(5)), changed.rate_at(at(9))), (93, 0.0, 1.5));
        let too_fast = plan.with_rate_from(at(4), rate(u64::MAX));
        assert_eq!(too_fast, Err(TooFast));
    }
}
