//! Counts, rates, bytes and durations: what the target counted itself.
//!
//! A tool ends while requests are under way, and counts them or does not: both are true, and so many are said. What
//! never reached the target is never held against a tool.

use units::show::{grouped, number, percent};

use super::verdict::{ClaimVerdict, Ruling};
use crate::witness::claims::{Claim, ClaimFigure, Claims};
use crate::witness::seen::WitnessDocument;

/// A rate or a duration that is this much off, relative, is not true.
const OFF: f64 = 0.01;
/// Over less than this no rate is judged.
const SHORTEST_S: f64 = 0.5;
/// A tool may need so much longer than the target saw, to start and to end.
const AROUND_S: f64 = 0.1;

pub(super) fn ruling(claim: &Claim, witness: &WitnessDocument, claims: &Claims) -> Ruling {
    match claim.figure {
        ClaimFigure::Requests => requests(claim.value, witness, claims),
        ClaimFigure::Rate => rate(claim, witness, claims),
        ClaimFigure::SendRate => send_rate(claim, witness),
        ClaimFigure::Duration => duration(claim, witness),
        ClaimFigure::Received => bytes(claim, witness.bytes.sent, witness, claims),
        ClaimFigure::Sent => bytes(claim, witness.bytes.received, witness, claims),
        ClaimFigure::BodiesReceived if witness.bytes.bodies_unknown > 0 => Ruling::new(
            ClaimVerdict::CannotBeTold,
            format!("{} responses did not say their length", grouped(witness.bytes.bodies_unknown)),
        ),
        ClaimFigure::BodiesReceived => bytes(claim, witness.bytes.bodies_sent, witness, claims),
        ClaimFigure::BodiesSent => bytes(claim, witness.bytes.bodies_received, witness, claims),
        ClaimFigure::Statuses(from, to) => {
            statuses(claim.value, witness.requests.with_status(from, to), witness, claims)
        }
        ClaimFigure::Errors => errors(claim.value, witness, claims),
        ClaimFigure::Failures => failures(claim.value, witness),
        _ => Ruling::new(ClaimVerdict::CannotBeTold, "a latency"),
    }
}

fn whole(count: f64) -> String {
    if count.fract() == 0.0 && count < 1e15 { grouped(count as u64) } else { number(count) }
}

/// Between those that were answered and those that arrived, a tool may count as it likes: it ends while some are under
/// way.
fn requests(claimed: f64, witness: &WitnessDocument, claims: &Claims) -> Ruling {
    let seen = &witness.requests;
    let (answered, arrived) = ((seen.answered + seen.faults) as f64, seen.arrived as f64);
    let least = (answered - seen.most_waiting as f64).max(0.0);
    let errors = claims.value(ClaimFigure::Errors).unwrap_or(0.0);
    let ruled = if claimed == answered {
        Ruling::new(ClaimVerdict::True, "as many as the target answered").within(0.0)
    } else if claimed == arrived {
        Ruling::new(ClaimVerdict::True, "as many as arrived").within(0.0)
    } else if (least..=arrived).contains(&claimed) {
        let off = (claimed - answered).abs();
        let why = format!("{} were under way when the tool stopped counting", whole(off));
        Ruling::new(ClaimVerdict::True, why).within(off)
    } else if claimed > arrived && claimed - errors <= arrived {
        let why = format!(
            "{} more than arrived: the tool counts {} errors among them, which may never have reached \
                           the target",
            whole(claimed - arrived),
            whole(errors)
        );
        Ruling::new(ClaimVerdict::CannotBeTold, why)
    } else if claimed > arrived {
        let why = format!("{} more than arrived at the target", whole(claimed - arrived));
        Ruling::new(ClaimVerdict::NotTrue, why)
    } else {
        let missing = answered - claimed;
        let share = percent(missing / answered.max(1.0), 2);
        let why = format!(
            "the target answered {} more ({share}); not more than {} can have been under way at the end",
            whole(missing),
            grouped(seen.most_waiting)
        );
        Ruling::new(ClaimVerdict::NotTrue, why)
    };
    ruled.between(Some(answered.min(arrived)), Some(arrived))
}

fn rate(claim: &Claim, witness: &WitnessDocument, claims: &Claims) -> Ruling {
    let span_s = witness.span_s();
    if span_s < SHORTEST_S {
        let why = format!("the target was busy for {} s: too short for a rate", number(span_s));
        return Ruling::new(ClaimVerdict::CannotBeTold, why);
    }
    let seen = (witness.requests.answered + witness.requests.faults) as f64 / span_s;
    let off = (claim.value - seen).abs();
    if off <= OFF * seen + claim.rounding {
        let why = "answers of the target from the first arrival to the last answer";
        return Ruling::new(ClaimVerdict::True, why).seen(seen).within(off);
    }
    let side = if claim.value > seen { "too high" } else { "too low" };
    let mut why = format!("{} {side}", percent(off / seen, 1));
    if let Some(requests) = claims.value(ClaimFigure::Requests).filter(|_| claim.value > 0.0) {
        let over_s = requests / claim.value;
        if (over_s - span_s).abs() > OFF * span_s {
            why += &format!(": it divides by {over_s:.2} s; the target was asked for {span_s:.2} s");
        }
    }
    if claims.tool == "bombardier" {
        why += "; its rate is the mean of many short times, in which a second without answers counts for little";
    }
    Ruling::new(ClaimVerdict::NotTrue, why).seen(seen)
}

/// Of what was sent: arrivals over the time from the first to the last.
fn send_rate(claim: &Claim, witness: &WitnessDocument) -> Ruling {
    let span_s = witness.last_arrival_s - witness.first_arrival_s;
    if span_s < SHORTEST_S {
        let why = format!("requests arrived for {} s: too short for a rate", number(span_s));
        return Ruling::new(ClaimVerdict::CannotBeTold, why);
    }
    let seen = (witness.requests.arrived.saturating_sub(1)) as f64 / span_s;
    let off = (claim.value - seen).abs();
    let verdict = if off <= OFF * seen + claim.rounding { ClaimVerdict::True } else { ClaimVerdict::NotTrue };
    let ruled = Ruling::new(verdict, "arrivals from the first to the last").seen(seen);
    if verdict == ClaimVerdict::True { ruled.within(off) } else { ruled }
}

fn duration(claim: &Claim, witness: &WitnessDocument) -> Ruling {
    let span_s = witness.span_s();
    let off = claim.value - span_s;
    let tolerance = claim.rounding + OFF * span_s;
    let ruled = if off < -tolerance {
        let why = "the target still answered after that time, counted from its first request";
        Ruling::new(ClaimVerdict::NotTrue, why)
    } else if off <= tolerance + AROUND_S {
        let why = "from the first arrival to the last answer";
        Ruling::new(ClaimVerdict::True, why).within(off.abs())
    } else {
        let why = "longer than the target was asked; the tool may have waited before or behind";
        Ruling::new(ClaimVerdict::CannotBeTold, why)
    };
    ruled.between(Some(span_s), None)
}

/// Bytes agree but for those of requests that the tool does not count, and for rounding.
fn bytes(claim: &Claim, seen: u64, witness: &WitnessDocument, claims: &Claims) -> Ruling {
    let requests = &witness.requests;
    let seen = seen as f64;
    let mean = seen / (requests.arrived.max(1) as f64);
    let counted = claims.value(ClaimFigure::Requests).unwrap_or(requests.answered as f64);
    let uncounted = (counted - requests.arrived as f64).abs().min(requests.most_waiting as f64);
    let open = mean * uncounted.max(requests.abandoned as f64).min(requests.most_waiting as f64);
    let off = (claim.value - seen).abs();
    if off <= claim.rounding + open {
        return Ruling::new(ClaimVerdict::True, "as the target counted").seen(seen).within(off);
    }
    let is_whole = matches!(claim.figure, ClaimFigure::Received | ClaimFigure::Sent);
    if witness.has_tls && is_whole {
        let why = "the target counts before encryption, the tool may count behind it";
        return Ruling::new(ClaimVerdict::CannotBeTold, why).seen(seen);
    }
    let (all, bodies) = (witness.bytes.sent as f64, witness.bytes.bodies_sent as f64);
    let near = |other: f64| (claim.value - other).abs() <= claim.rounding + 0.002 * other;
    let side = if claim.value > seen { "more" } else { "less" };
    let mut why = format!("{} {side} than the target counted", percent(off / seen.max(1.0), 2));
    if claim.figure == ClaimFigure::Received && bodies > 0.0 && near(bodies) {
        why += ": it is the bodies alone";
    } else if claim.figure == ClaimFigure::BodiesReceived && near(all) {
        why += ": it has the heads, too";
    }
    Ruling::new(ClaimVerdict::NotTrue, why).seen(seen)
}

fn statuses(claimed: f64, seen: u64, witness: &WitnessDocument, claims: &Claims) -> Ruling {
    let (seen, most_waiting) = (seen as f64, witness.requests.most_waiting as f64);
    let off = (claimed - seen).abs();
    let is_cut_off = claimed < seen && off <= most_waiting;
    let ruled = match (off == 0.0, is_cut_off) {
        (true, _) => Ruling::new(ClaimVerdict::True, "as the target answered").within(0.0),
        (_, true) => {
            let why = format!("{} were under way when the tool stopped counting", whole(off));
            Ruling::new(ClaimVerdict::True, why).within(off)
        }
        _ if claims.value(ClaimFigure::Requests).is_some_and(|requests| requests > witness.requests.arrived as f64) => {
            Ruling::new(ClaimVerdict::NotTrue, "the tool counts more requests than arrived")
        }
        _ => Ruling::new(ClaimVerdict::NotTrue, format!("{} off", whole(off))),
    };
    ruled.seen(seen)
}

/// Where every counted request was answered, there was no error among them; an error itself may be on either side.
fn errors(claimed: f64, witness: &WitnessDocument, claims: &Claims) -> Ruling {
    let seen = &witness.requests;
    let lost = (seen.abandoned_under_way + seen.faults) as f64;
    let counted = claims.value(ClaimFigure::Requests);
    let all_answered = counted.is_some_and(|counted| counted <= seen.answered as f64);
    let ruled = if claimed == 0.0 && lost == 0.0 && all_answered {
        Ruling::new(ClaimVerdict::True, "as many requests were answered as the tool counts").within(0.0)
    } else if claimed == lost && claimed > 0.0 {
        Ruling::new(ClaimVerdict::True, "as many as got no valid response").within(0.0)
    } else if claimed < lost {
        let why =
            format!("{} requests got no valid response, or lost their connection while the load ran", whole(lost));
        Ruling::new(ClaimVerdict::NotTrue, why)
    } else {
        let why = "requests that fail before they reach the target are not seen by it";
        Ruling::new(ClaimVerdict::CannotBeTold, why)
    };
    ruled.between(Some(lost), None)
}

fn failures(claimed: f64, witness: &WitnessDocument) -> Ruling {
    let seen = &witness.requests;
    let failed = (seen.with_status(400, 999) + seen.faults + seen.abandoned_under_way) as f64;
    let ruled = if claimed == failed {
        Ruling::new(ClaimVerdict::True, "responses from 400 on, and requests without a valid response").within(0.0)
    } else if claimed < failed - seen.most_waiting as f64 {
        let why = format!("the target refused, failed or lost {} requests", whole(failed));
        Ruling::new(ClaimVerdict::NotTrue, why)
    } else {
        let why = "the tool's own rule for a failure, or failures that the target does not see";
        Ruling::new(ClaimVerdict::CannotBeTold, why)
    };
    ruled.between(Some(failed), None)
}
