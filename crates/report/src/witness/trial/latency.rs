//! Latencies, between two bounds that hold quantile by quantile.
//!
//! A client waits for longer than the target's service time and, where it sends one request after the other on a
//! connection, for less than the turnaround. A distribution whose every value is above another's has every quantile
//! above the other's; that a tool counts a few requests less moves the rank by their share. What a visitor on schedule
//! would have waited is another question, which stalls answer: visitors who come while the target stands still wait for
//! the rest of the stall, whether the tool sent them or not.

use metrics::Trend;
use units::show::time;

use super::verdict::{ClaimVerdict, Ruling};
use crate::witness::claims::{Claim, ClaimFigure, Claims, LatencyStart};
use crate::witness::seen::{Stall, WitnessDocument};

/// Bounds this close together, relative to what is claimed, say that a latency is true.
const CLOSE: f64 = 0.25;
/// Or this close, in milliseconds.
const CLOSE_MS: f64 = 0.05;
/// What histograms of tools may be off by.
const OF_BUCKETS: f64 = 0.01;
/// The tool went on sending while the target stood still when so much of the pace arrived.
const WENT_ON: f64 = 0.5;

/// What bounds a tool's latencies.
pub(super) struct LatencyBounds {
    service: Trend,
    turnaround: Trend,
    start: LatencyStart,
    /// The tool counts fewer requests than were answered.
    counts_fewer: bool,
    /// By how much a rank may be off, in percent.
    rank_off: f64,
    /// Stalls in which the tool did not go on sending.
    pub(super) omitted: Vec<Stall>,
    span_s: f64,
}

impl LatencyBounds {
    pub(super) fn new(witness: &WitnessDocument, claims: &Claims) -> LatencyBounds {
        let service = witness.service_ms.trend();
        let answered = service.count().max(1) as f64;
        let counted = claims.value(ClaimFigure::Requests).unwrap_or(answered);
        let omitted = |stall: &&Stall| (stall.arrivals as f64) < WENT_ON * stall.expected as f64;
        LatencyBounds {
            turnaround: witness.turnaround_ms.trend(),
            start: claims.start,
            counts_fewer: counted < answered,
            rank_off: ((counted - answered).abs() + 1.0) / answered * 100.0,
            omitted: witness.stalls.iter().filter(omitted).cloned().collect(),
            span_s: witness.span_s(),
            service,
        }
    }

    /// What at least so many percent of visitors on schedule waited, by the stalls alone, in milliseconds: those who
    /// came `x` before the end of a stall waited for `x`.
    pub(super) fn on_schedule(&self, percent: f64) -> Option<f64> {
        let late_s = (1.0 - percent / 100.0) * self.span_s;
        let beyond = |wait_s: f64| self.omitted.iter().map(|stall| (stall.length_s - wait_s).max(0.0)).sum::<f64>();
        let longest = self.omitted.iter().map(|stall| stall.length_s).fold(0.0, f64::max);
        if beyond(0.0) <= late_s {
            return None;
        }
        let (mut low, mut high) = (0.0, longest);
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            if beyond(middle) > late_s { low = middle } else { high = middle }
        }
        Some(low * 1e3)
    }

    fn bounds(&self, figure: ClaimFigure) -> (f64, f64) {
        let quantiles = |low: f64, high: f64| {
            let high = if high >= 100.0 && self.turnaround.censored() > 0 {
                f64::INFINITY
            } else {
                self.turnaround.percentile(high)
            };
            (self.service.percentile(low), high)
        };
        match figure {
            ClaimFigure::LatencyMin => (self.service.min(), self.turnaround.percentile(0.0)),
            ClaimFigure::LatencyMax => quantiles(100.0, 100.0),
            ClaimFigure::LatencyMean if self.turnaround.censored() == 0 => (self.service.avg(), self.turnaround.avg()),
            ClaimFigure::LatencyMean => (self.service.avg(), f64::INFINITY),
            ClaimFigure::Latency(percent) if percent >= 100.0 => quantiles(100.0, 100.0),
            ClaimFigure::Latency(percent) => {
                quantiles((percent - self.rank_off).clamp(0.0, 100.0), (percent + self.rank_off).clamp(0.0, 100.0))
            }
            _ => (0.0, f64::INFINITY),
        }
    }

    pub(super) fn ruling(&self, claim: &Claim) -> Ruling {
        if self.service.count() == 0 {
            return Ruling::new(ClaimVerdict::CannotBeTold, "the target answered nothing");
        }
        let (least, most) = self.bounds(claim.figure);
        // A planned start may lie long before the request was sent.
        let most = if self.start == LatencyStart::Planned { f64::INFINITY } else { most };
        let on_schedule = match claim.figure {
            ClaimFigure::Latency(percent) => self.on_schedule(percent),
            ClaimFigure::LatencyMax => self.on_schedule(100.0),
            _ => None,
        };
        let on_schedule = on_schedule.filter(|wait| *wait > 1.5 * claim.value.max(least));
        let ruled = self.between(claim, least, most);
        let misses_plan = self.start == LatencyStart::Planned && on_schedule.is_some();
        let ruled = if misses_plan {
            Ruling::new(ClaimVerdict::NotTrue, "the tool says that it counts from the plan, which stalls contradict")
        } else {
            ruled
        };
        Ruling { on_schedule, ..ruled.between(Some(least), Some(most)) }
    }

    fn between(&self, claim: &Claim, least: f64, most: f64) -> Ruling {
        let value = claim.value;
        let tolerance = claim.rounding + OF_BUCKETS * value;
        let is_left_out = claim.figure == ClaimFigure::LatencyMax && self.counts_fewer;
        if value + tolerance < least {
            let why = match is_left_out {
                true => format!("one request took the target {} alone; the tool does not count all", time(least)),
                false => format!("the target alone took {} or more", time(least)),
            };
            return Ruling::new(ClaimVerdict::NotTrue, why);
        }
        if value - tolerance > most {
            let why = format!("the next request of the same connection arrived within {}", time(most));
            return Ruling::new(ClaimVerdict::NotTrue, why);
        }
        let within = (value - least).abs().max((most - value).abs());
        let is_close = most - least <= CLOSE_MS.max(CLOSE * value).max(2.0 * claim.rounding);
        if is_close {
            return Ruling::new(ClaimVerdict::True, "between service time and turnaround").within(within);
        }
        let why = if most.is_finite() {
            "not contradicted; the bounds are wide, because the client or the way to it takes time of its own"
        } else {
            "not contradicted; a target sees no upper bound of it"
        };
        Ruling::new(ClaimVerdict::CannotBeTold, why)
    }
}
