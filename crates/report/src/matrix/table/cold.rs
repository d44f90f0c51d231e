//! Servers that were measured cold: what a server does in its first moments (code that is not compiled yet, empty
//! caches, connections being opened) is not what it does under load, and differs more between servers than their
//! speed does.

use units::show::percent;

use super::data::{TableRow, Tables};
use crate::matrix::document::MatrixDocument;
use crate::matrix::number;
use crate::stats::median;

/// A shorter warm-up is none: servers that compile while they run take longer.
const WARM_UP_S: f64 = 0.5;
/// Runs of less time than this are mostly a server's first moments, unless it was warmed up.
const SHORT_RUN_S: f64 = 5.0;
/// A first run this much slower than the later ones is not chance.
const SLOW_FIRST_RUN: f64 = 0.8;
/// With fewer later runs there is nothing to hold the first against.
const LATER_RUNS: usize = 2;

/// In place of a verdict.
pub(super) const NO_BEST: &str = "no best, because the servers were measured cold";

/// Whether servers are started for their runs, are not warmed up, and runs are short.
pub(super) fn measured_cold(document: &MatrixDocument) -> bool {
    document.plan.warm_up.seconds() < WARM_UP_S
        && document.timing.servers_s > 0.0
        && measured_s(document).is_some_and(|seconds| seconds < SHORT_RUN_S)
}

fn measured_s(document: &MatrixDocument) -> Option<f64> {
    median(document.runs.iter().filter(|run| run.is_ok()).map(|run| run.measured_s))
}

/// Says so, and what to do about it.
pub(super) fn note(document: &MatrixDocument) -> Option<String> {
    measured_cold(document).then(|| {
        format!(
            "! servers were measured cold: runs of {} with {} of warm-up show how they start and not what they can do; \
             give the plan warm_up = \"2s\" or runs of at least {}",
            number::seconds(measured_s(document).unwrap_or_default()),
            number::seconds(document.plan.warm_up.seconds()),
            number::seconds(SHORT_RUN_S)
        )
    })
}

/// Rows whose first run was much slower than all later ones.
pub(super) fn slow_first_runs(tables: &Tables) -> Option<String> {
    let rows: Vec<&TableRow> = tables.groups.iter().flat_map(|group| &group.rows).collect();
    let slow: Vec<f64> = rows.iter().filter_map(|row| slow_first_run(row)).collect();
    let slowest = slow.iter().copied().reduce(f64::min)?;
    Some(format!(
        "! in {} of {} rows the first run was slower than every later one, down to {} of their median: something was \
         still cold (a cache, a disk, a processor's clock); a longer warm-up or a round more shows whether it matters",
        slow.len(),
        rows.len(),
        percent(slowest, 0)
    ))
}

/// The share of the later runs' rate that the first run reached, where that tells something.
fn slow_first_run(row: &TableRow) -> Option<f64> {
    let mut rates = row.by_round.values().copied();
    let first = rates.next()?;
    let later: Vec<f64> = rates.collect();
    let share = first / median(later.iter().copied())?;
    let is_lowest = later.iter().all(|rate| first < *rate);
    (later.len() >= LATER_RUNS && is_lowest && share < SLOW_FIRST_RUN).then_some(share)
}
