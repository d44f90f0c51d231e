//! Holds the distributions of the summary to the exact samples: count, sum and extremes to the last digit, percentiles
//! within the error that Onrush promises.

use std::fmt::Debug;
use std::time::Duration;

use metrics::Results;
use metrics::results::Value;

use crate::ledger::TIMES;
use crate::world::World;

/// What percentiles may be off.
const PROMISE: f64 = 0.001;

/// What does not hold, with what was found and what was expected.
pub(crate) fn must<T: Debug>(holds: bool, what: &str, found_expected: T) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{what}: found and expected {found_expected:?}")) }
}

/// All Trends of the run.
pub(crate) fn check(world: &World, results: &Results) -> Result<(), String> {
    let ledger = world.ledger.borrow();
    for (metric, times) in TIMES.iter().zip(&ledger.told.times) {
        let name = metrics::builtin::ALL[metric.0 as usize].name;
        trend(results, name, times.clone())?;
    }
    let ns = |time: Duration| time.as_nanos() as u64;
    let completed = ledger.diary.iter().filter(|entry| entry.is_completed);
    trend(results, "iteration_duration", completed.clone().map(|entry| ns(entry.ended - entry.began)).collect())?;
    let is_open = |scenario: usize| {
        let of = world.case.scenarios.as_object().and_then(|all| all.values().nth(scenario));
        of.is_some_and(|of| of["executor"].as_str().is_some_and(|name| name.ends_with("arrival-rate")))
    };
    let open = |entry: &&crate::ledger::DiaryEntry| is_open(entry.scenario);
    trend(
        results,
        "iteration_duration_from_plan",
        completed.filter(open).map(|entry| ns(entry.ended - entry.planned)).collect(),
    )?;
    let lags = ledger.diary.iter().filter(open).map(|entry| ns(entry.began - entry.planned)).collect();
    trend(results, "iteration_lag", lags)
}

fn trend(results: &Results, name: &str, mut exact: Vec<u64>) -> Result<(), String> {
    exact.sort_unstable();
    let found = match results.metric(name).map(|metric| &metric.value) {
        Some(Value::Trend(trend)) => trend,
        _ if exact.is_empty() => return Ok(()),
        other => return Err(format!("{name} is {other:?}, expected {} samples", exact.len())),
    };
    must(found.count() == exact.len() as u64, name, (found.count(), exact.len()))?;
    let (Some(least), Some(most)) = (exact.first(), exact.last()) else { return Ok(()) };
    let ms = |ns: u64| ns as f64 / 1e6;
    must((found.min(), found.max()) == (ms(*least), ms(*most)), name, (found.min(), found.max(), least, most))?;
    let sum = exact.iter().map(|ns| u128::from(*ns)).sum::<u128>() as f64 / 1e6;
    must((found.sum() - sum).abs() <= sum * 1e-12, name, (found.sum(), sum))?;
    for percent in [0.0, 1.0, 25.0, 50.0, 90.0, 95.0, 99.0, 99.9, 100.0] {
        // Values that were never measured lie above all others: percentiles count them.
        let all = exact.len() as u64 + found.censored();
        let place = percent / 100.0 * (all - 1) as f64;
        let (below, share) = (place.floor(), place.fract());
        let at = |place: f64| exact.get(place as usize).map(|ns| ms(*ns));
        let (Some(low), Some(high)) = (at(below), at(place.ceil())) else { continue };
        let expected = low + (high - low) * share;
        let is_near = (found.percentile(percent) - expected).abs() <= expected * PROMISE + 1e-9;
        must(is_near, &format!("p({percent}) of {name}"), (found.percentile(percent), expected))?;
    }
    Ok(())
}
