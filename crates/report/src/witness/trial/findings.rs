//! What concerns several figures at once: requests that a stall kept from being sent, pauses of the tool, clocks.
//!
//! None of it changes a verdict: a percentile of the requests that were sent is true although others were not sent.

use units::show::{grouped, percent, time};

use super::latency::LatencyBounds;
use super::verdict::TrialFinding;
use crate::witness::claims::{ClaimFigure, Claims, LatencyStart};
use crate::witness::seen::WitnessDocument;

/// Pauses of the tool that are told, as a share of the time.
const QUIET_SHARE: f64 = 0.02;
/// A clock that was set by more makes times doubtful.
const STEPPED_MS: f64 = 1.0;
/// So many arrivals have stamps where all should.
const STAMPED: f64 = 0.95;

pub(super) fn of(witness: &WitnessDocument, claims: &Claims, latency: &LatencyBounds) -> Vec<TrialFinding> {
    let mut found = Vec::new();
    let mut add = |name: &str, text: String| found.push(TrialFinding { name: name.to_owned(), text });
    if let Some((name, text)) = of_stalls(witness, claims, latency) {
        add(name, text);
    }
    let quiet_s: f64 = witness.quiet.iter().map(|quiet| quiet.length_s).sum();
    if quiet_s > QUIET_SHARE * witness.span_s() {
        let longest = witness.quiet.iter().map(|quiet| quiet.length_s).fold(0.0, f64::max);
        let text = format!(
            "the tool sent nothing for {} ({} of the time, {} at most at once) while nothing waited for an answer",
            time(quiet_s * 1e3),
            percent(quiet_s / witness.span_s(), 1),
            time(longest * 1e3)
        );
        add("tool_paused", text);
    }
    if witness.clock_step_ms.abs() > STEPPED_MS {
        let text = format!(
            "the target's clock was set by {} meanwhile: times may be off by it",
            time(witness.clock_step_ms.abs())
        );
        add("clock_stepped", text);
    }
    let stamped = witness.requests.stamped as f64 / witness.requests.arrived.max(1) as f64;
    if witness.requests.arrived > 0 && stamped < STAMPED {
        let text = format!(
            "{} of the arrivals have no stamp of the kernel: a busy target read them later than they came, so that its \
             service times are too short",
            percent(1.0 - stamped, 1)
        );
        add("stamps_missing", text);
    }
    found
}

/// What the tool did while the target stood still.
fn of_stalls(witness: &WitnessDocument, claims: &Claims, latency: &LatencyBounds) -> Option<(&'static str, String)> {
    let sum = |of: fn(&crate::witness::seen::Stall) -> u64| witness.stalls.iter().map(of).sum::<u64>();
    let length_s: f64 = witness.stalls.iter().map(|stall| stall.length_s).sum();
    if witness.stalls.is_empty() {
        return None;
    }
    let counted = |n: usize| if n == 1 { String::from("once") } else { format!("{n} times") };
    let stood =
        format!("the target stood still {}, for {} in all", counted(witness.stalls.len()), time(length_s * 1e3));
    if latency.omitted.is_empty() {
        let text =
            format!("{stood}; the tool went on sending: {} requests arrived meanwhile", grouped(sum(|s| s.arrivals)));
        return Some(("kept_plan", text));
    }
    let text = format!(
        "{stood}; {} requests arrived meanwhile, where its pace makes {}",
        grouped(sum(|stall| stall.arrivals)),
        grouped(sum(|stall| stall.expected))
    );
    let p99 = claims.value(ClaimFigure::Latency(99.0));
    match (claims.start, latency.on_schedule(99.0), p99) {
        (LatencyStart::Sent, Some(wait), Some(p99)) if wait > 1.5 * p99 => Some((
            "coordinated_omission",
            format!(
                "{text}. Its percentiles are of the requests that were sent: of visitors on schedule one in a hundred \
                 waited {} or longer, where it prints a p99 of {}",
                time(wait),
                time(p99)
            ),
        )),
        (LatencyStart::Sent, Some(wait), None) => Some((
            "coordinated_omission",
            format!("{text}. Of visitors on schedule one in a hundred waited {} or longer", time(wait)),
        )),
        _ => Some(("stall", text)),
    }
}
