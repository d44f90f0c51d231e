//! What is found of a run's steadiness, a line each; nothing of a run that was steady all the time.

use std::time::Duration;

use units::show;

use super::NOTABLE;
use crate::document::{Drift, Steadiness, Stretch};
use crate::format;
use crate::options::TimeUnit;

/// The lines.
pub fn lines(found: &Steadiness, unit: Option<TimeUnit>) -> Vec<String> {
    let changed = (found.stretches.len() > 1).then(|| match found.steady {
        Some(at) => window(found, at, unit),
        None => restless(found),
    });
    changed.into_iter().chain(found.drift.as_ref().map(drift)).collect()
}

fn window(found: &Steadiness, at: usize, unit: Option<TimeUnit>) -> String {
    let Stretch { from_s, to_s, .. } = found.stretches[at];
    let mut parts = vec![format!("steady from {} to {}", clock(from_s), clock(to_s))];
    for (number, other) in found.stretches.iter().enumerate().filter(|(number, _)| *number != at) {
        let length = clock(other.to_s - other.from_s);
        let (when, verb) = match number {
            0 if other.from_s < 1.0 => (format!("the first {length}"), "were"),
            last if last + 1 == found.stretches.len() => (format!("the last {length}"), "were"),
            _ => (format!("{} to {}", clock(other.from_s), clock(other.to_s)), "was"),
        };
        parts.push(format!("{when} {verb} {}", difference(other, &found.stretches[at], unit)));
    }
    parts.push(String::from("totals hold all of it"));
    parts.join("; ")
}

/// `slower: med 8.1ms against 3.2ms`.
fn difference(other: &Stretch, steady: &Stretch, unit: Option<TimeUnit>) -> String {
    let time = |ms: f64| format::time(ms, unit);
    let by = (other.med / steady.med).ln();
    if by.abs() >= NOTABLE {
        let word = if by > 0.0 { "slower" } else { "faster" };
        return format!("{word}: med {} against {}", time(other.med), time(steady.med));
    }
    let word = if other.per_second < steady.per_second { "at a lower rate" } else { "at a higher rate" };
    format!("{word}: {}/s against {}/s", show::rounded(other.per_second), show::rounded(steady.per_second))
}

fn restless(found: &Steadiness) -> String {
    let at: Vec<String> = found.stretches.iter().skip(1).map(|stretch| clock(stretch.from_s)).collect();
    format!("not steady: something changed at {}, and no stretch takes a third of the time", at.join(", "))
}

fn drift(drift: &Drift) -> String {
    let Drift { from_s, to_s, percent, percent_per_minute } = drift;
    let word = if *percent > 0.0 { "slower" } else { "faster" };
    format!(
        "got {word} all the time: the median by {:.1} % from {} to {} ({:.1} % a minute)",
        percent.abs(),
        clock(*from_s),
        clock(*to_s),
        percent_per_minute.abs()
    )
}

fn clock(seconds: f64) -> String {
    show::about(Duration::from_secs_f64(seconds.max(0.0)))
}
