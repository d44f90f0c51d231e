//! Holds the counts of a run to the plan and to the server: iterations, requests, bytes.
//!
//! Planned starts are counted here by hand: whole rates over whole seconds, as k6 counts them. A run that was stopped
//! has as many as were planned until then.

use std::time::Duration;

use engine::Outcome;
use engine::state::RunState;
use metrics::Results;
use serde_json::Value;

use super::figures::must;
use crate::ledger::{DiaryEntry, Ledger};
use crate::world::World;

/// Iterations of one scenario.
struct Share<'a> {
    scenario: &'a Value,
    entries: Vec<DiaryEntry>,
    dropped: u64,
    /// Since its start, until the run was stopped; none where it was not.
    stopped_after: Option<Duration>,
}

/// Requests and bytes: the client's, the server's, and the summary's.
pub(crate) fn requests(world: &World, results: &Results) -> Result<(), String> {
    let ledger: &Ledger = &world.ledger.borrow();
    let told = &ledger.told;
    let both = |of: fn(&crate::ledger::ConnectionLog) -> u64| ledger.connections.iter().map(of).sum::<u64>();
    must(told.sent == both(|log| log.sent), "bytes sent", (told.sent, both(|log| log.sent)))?;
    // What came unasked over an idle connection is counted with the next one, which a user at its end does not open.
    let unasked = if told.interrupted + ledger.cut_short() > 0 { both(|log| log.ghost_bytes) } else { 0 };
    let all = both(|log| log.received);
    must((told.received..=told.received + unasked).contains(&all), "bytes received", (told.received, all))?;
    must(results.count("data_sent") == told.sent, "data_sent", (results.count("data_sent"), told.sent))?;
    let received = results.count("data_received");
    must(received == told.received, "data_received", (received, told.received))?;
    let (reqs, interrupted) = (results.count("http_reqs"), results.count("http_reqs_interrupted"));
    must(reqs == told.exchanges, "http_reqs", (reqs, told.exchanges))?;
    must(interrupted == told.interrupted, "http_reqs_interrupted", (interrupted, told.interrupted))?;
    let served = ledger.served.values().map(|served| u64::from(served.heads)).sum::<u64>();
    let failed = told.failed;
    must(served <= reqs + interrupted, "requests that the server got", (served, reqs + interrupted))?;
    let behind = ledger.connections.iter().filter(|connection| connection.is_behind).count() as u64;
    must(reqs - failed <= served + behind, "requests that were answered", (reqs - failed, served + behind))
}

/// What became of each start.
pub(crate) fn iterations(world: &World, state: &RunState, results: &Results, outcome: &Outcome) -> Result<(), String> {
    let ledger: &Ledger = &world.ledger.borrow();
    let scenarios = world.case.scenarios.as_object().ok_or("scenarios are an object")?;
    let (mut completed, mut interrupted, mut dropped) = (0, 0, 0);
    for (at, scenario) in scenarios.values().enumerate() {
        let counts = state.scenario_counts(at);
        let entries: Vec<DiaryEntry> = ledger.diary.iter().filter(|entry| entry.scenario == at).copied().collect();
        let done = entries.iter().filter(|entry| entry.is_completed).count() as u64;
        let cut = entries.len() as u64 - done;
        must(counts.completed == done, "completed iterations", (counts.completed, done))?;
        must(counts.interrupted == cut, "interrupted iterations", (counts.interrupted, cut))?;
        must(counts.active == 0, "users that are still at work", (counts.active, 0))?;
        let start = outcome.started.map(|started| started + time(scenario, "startTime"));
        // The end of an iteration that ends the test is where it is stopped, too.
        let stopped_after = match (&outcome.stopped, start) {
            (Some(_), Some(start)) => Some(stopped_at(world, ledger).saturating_sub(start)),
            _ => None,
        };
        Share { scenario, entries, dropped: counts.dropped, stopped_after }.check()?;
        (completed, interrupted, dropped) = (completed + done, interrupted + cut, dropped + counts.dropped);
    }
    for (name, expected) in
        [("iterations", completed), ("interrupted_iterations", interrupted), ("dropped_iterations", dropped)]
    {
        must(results.count(name) == expected, name, (results.count(name), expected))?;
    }
    Ok(())
}

/// When the run was stopped: the last iteration ended then, at the latest.
fn stopped_at(world: &World, ledger: &Ledger) -> Duration {
    let last = ledger.diary.iter().map(|entry| entry.ended).max().unwrap_or_default();
    world.case.stopped_at.map_or(last, |stopped| stopped.max(last))
}

fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or(0)
}

/// A field of whole milliseconds or seconds.
fn time(value: &Value, field: &str) -> Duration {
    let text = value[field].as_str().unwrap_or("0ms");
    let (digits, unit) = text.split_at(text.find('m').or(text.find('s')).unwrap_or(text.len()));
    let count = digits.parse().unwrap_or(0);
    if unit == "ms" { Duration::from_millis(count) } else { Duration::from_secs(count) }
}

impl Share<'_> {
    fn check(&self) -> Result<(), String> {
        let executor = self.scenario["executor"].as_str().unwrap_or_default();
        let begun = self.entries.len() as u64 + self.dropped;
        let (vus, iterations) = (number(self.scenario, "vus"), number(self.scenario, "iterations"));
        let planned = match executor {
            "per-vu-iterations" => vus * iterations,
            "shared-iterations" => iterations,
            "constant-arrival-rate" | "ramping-arrival-rate" => self.planned_within(Duration::MAX),
            // Users begin anew as long as there is time: nothing was planned.
            _ => return must(self.dropped == 0, "iterations that were dropped", (self.dropped, 0)),
        };
        match self.stopped_after {
            None => must(begun == planned, executor, (begun, planned)),
            Some(after) if executor.ends_with("arrival-rate") => {
                let most = self.planned_within(after);
                must(begun <= most, "starts before it was stopped", (begun, most))
            }
            Some(_) => must(begun <= planned, executor, (begun, planned)),
        }?;
        let late = self.entries.iter().find(|entry| entry.began < entry.planned);
        must(late.is_none(), "an iteration that began before its plan", (late, 0))
    }

    /// Starts that an arrival rate has planned in this time.
    fn planned_within(&self, time_since_start: Duration) -> u64 {
        let mut left = time_since_start;
        if self.scenario["executor"] == "constant-arrival-rate" {
            let span = time(self.scenario, "duration").min(left);
            return (u128::from(number(self.scenario, "rate")) * span.as_nanos() / 1_000_000_000) as u64 + 1;
        }
        // The area under the rate; that of a stage which is cut ends with the rate that it has reached.
        let (mut from, mut area) = (number(self.scenario, "startRate") as f64, 0.0);
        for stage in self.scenario["stages"].as_array().into_iter().flatten() {
            let (lasts, to) = (time(stage, "duration"), number(stage, "target") as f64);
            let span = lasts.min(left);
            let reached = from + (to - from) * span.as_secs_f64() / lasts.as_secs_f64();
            area += (from + reached) / 2.0 * span.as_secs_f64();
            (from, left) = (reached, left - span);
        }
        (area + 1e-9) as u64
    }
}
