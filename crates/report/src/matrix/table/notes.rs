//! What the reader of tables must know: what failed, where the generator was the limit, what the matrix itself took.

use std::collections::BTreeMap;

use units::show::{counted, percent};

use super::cold;
use super::column;
use super::data::Tables;
use super::text::listed;
use crate::document::Cause;
use crate::matrix::document::{MatrixDocument, RunRecord};
use crate::matrix::number;

/// Why `compare` may say less of the same runs.
pub(super) const BEST_IS_BY_RATE: &str = "the best goes by one figure, without a margin and with Holm's correction \
    over the rows; `onrush compare` judges several metrics together, so with few rounds it may find no difference yet";

/// What the reader must know: what failed, where the generator was the limit, what the matrix itself took.
pub(super) fn notes(document: &MatrixDocument, tables: &Tables) -> Vec<String> {
    let mut notes = Vec::new();
    for runs in failures(document) {
        let reason = runs[0].reason.as_deref().unwrap_or("it failed");
        let are = if runs.len() == 1 { "is" } else { "are" };
        notes.push(format!("✗ {} of {} {are} left out: {reason}", rounds(&runs), label(runs[0])));
    }
    notes.extend(limited(document));
    notes.extend(accepted(document));
    notes.extend(doubtful(document));
    notes.extend(unread_stats(document));
    notes.extend(stale_stats(document));
    notes.extend(cold::note(document));
    notes.extend(cold::slow_first_runs(tables));
    let hidden = column::hidden_stats(tables);
    if hidden > 0 {
        let more =
            if hidden == 1 { "1 more server statistic is" } else { &format!("{hidden} more server statistics are") };
        notes.push(format!("{more} in the result; names in the plan's stats choose which are shown"));
    }
    notes.extend(disturbances(document));
    let timing = &document.timing;
    if timing.total_s() > 0.0 {
        let part = |seconds: f64| format!("{} ({})", number::seconds(seconds), percent(timing.share(seconds), 1));
        let commands =
            (timing.commands_s > 0.05).then(|| format!("{} in the plan's commands", part(timing.commands_s)));
        let parts = [
            Some(format!("{} measured", part(timing.measured_s))),
            Some(format!("{} warming up", part(timing.warm_up_s))),
            commands,
            Some(format!("{} starting and stopping servers", part(timing.servers_s))),
            Some(format!("{} starting and ending loads", part(timing.loads_s))),
            Some(format!("{} between the runs", part(timing.own_s))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let (runs, total) = (counted(document.runs.len(), "run"), number::seconds(timing.total_s()));
        notes.push(format!("{runs} took {total}: {}", listed(&parts, "and")));
    }
    if tables.groups.iter().flat_map(|group| &group.rows).any(|row| row.best) {
        notes.push(String::from(BEST_IS_BY_RATE));
    }
    notes
}

/// Where rates are no evidence, by cause, and what to do about it unless it is generators that are measured.
fn limited(document: &MatrixDocument) -> Vec<String> {
    let valid: Vec<&RunRecord> = document.runs.iter().filter(|run| run.is_ok()).collect();
    let mut counts: BTreeMap<Cause, usize> = BTreeMap::new();
    for cause in valid.iter().filter_map(|run| run.limit(&document.plan.pin)) {
        *counts.entry(cause).or_default() += 1;
    }
    let line = |(cause, count): (Cause, usize)| {
        let meaning = match cause {
            Cause::Busy if loads_differ(document) => "these rates are the most that it gets from its cores",
            Cause::Busy => "these rates are its own, not the server's; give it more cores or the server fewer",
            Cause::HeldUp | Cause::LateStarts => {
                "the server may do more than these rates; end what else runs on the machine, or pin servers and load \
                 to cores of their own; --accept-late counts such runs"
            }
        };
        format!("! in {count} of {} {}: {meaning}", counted(valid.len(), "run"), cause.text())
    };
    counts.into_iter().map(line).collect()
}

/// Runs that count because somebody said so.
fn accepted(document: &MatrixDocument) -> Option<String> {
    let valid = document.runs.iter().filter(|run| run.is_ok());
    let lines: Vec<Option<String>> = valid.map(RunRecord::accepted).collect();
    let count = lines.iter().flatten().count();
    let first = lines.iter().flatten().next()?;
    Some(format!("! ~ in {count} of {}: {first}", counted(lines.len(), "run")))
}

/// Runs that count although some of their figures are in doubt.
fn doubtful(document: &MatrixDocument) -> Option<String> {
    let valid = document.runs.iter().filter(|run| run.is_ok());
    let lines: Vec<Option<String>> = valid.map(RunRecord::doubt).collect();
    let count = lines.iter().flatten().count();
    let first = lines.iter().flatten().next()?;
    Some(format!("? in {count} of {} figures are in doubt: {first}", counted(lines.len(), "run")))
}

/// Whether variants bring loads of their own.
pub(super) fn loads_differ(document: &MatrixDocument) -> bool {
    document.plan.variants.iter().any(|variant| variant.load.is_some())
}

/// Runs whose server did not tell what it counted, and why the first of them did not.
fn unread_stats(document: &MatrixDocument) -> Option<String> {
    let problem = |run: &RunRecord| run.server_stats.as_ref()?.problem.clone();
    let problems: Vec<String> = document.runs.iter().filter_map(problem).collect();
    let first = problems.first()?;
    Some(format!(
        "! in {} of {} server statistics could not be read: {first}",
        problems.len(),
        counted(document.runs.len(), "run")
    ))
}

/// Runs whose server showed the same numbers before and after them.
fn stale_stats(document: &MatrixDocument) -> Option<String> {
    let stale =
        document.runs.iter().filter(|run| run.server_stats.as_ref().is_some_and(|stats| stats.is_stale)).count();
    (stale > 0).then(|| {
        format!(
            "! in {stale} of {} the server's statistics were older than the run (every number was the same before and \
             after it), so they are not shown; longer runs give the server time to collect them",
            counted(document.runs.len(), "run")
        )
    })
}

/// Who else had the processors.
fn disturbances(document: &MatrixDocument) -> Vec<String> {
    let machines: Vec<_> = document.runs.iter().filter(|run| run.is_ok()).filter_map(RunRecord::machine).collect();
    let stolen: Vec<f64> = machines.iter().filter_map(|machine| machine.notable_steal()).collect();
    let throttled = machines.iter().filter(|machine| machine.was_throttled()).count();
    let most = stolen.iter().copied().fold(0.0, f64::max) * 100.0;
    let of_all = |count: usize| format!("{count} of {}", counted(machines.len(), "run"));
    let told = [
        (!stolen.is_empty())
            .then(|| format!("! in {} the hypervisor took CPU time away, up to {most:.0} %", of_all(stolen.len()))),
        (throttled > 0)
            .then(|| format!("! in {} a CPU limit of the control group held the processes up", of_all(throttled))),
    ];
    told.into_iter().flatten().collect()
}

/// Runs that failed, those of the same variant and cell for the same reason together.
pub(super) fn failures(document: &MatrixDocument) -> Vec<Vec<&RunRecord>> {
    let mut failures: BTreeMap<(String, Option<&String>), Vec<&RunRecord>> = BTreeMap::new();
    for run in document.runs.iter().filter(|run| !run.is_ok()) {
        failures.entry((label(run), run.reason.as_ref())).or_default().push(run);
    }
    failures.into_values().collect()
}

/// `round 3`, `rounds 1, 2 and 3`.
pub(super) fn rounds(runs: &[&RunRecord]) -> String {
    let numbers: Vec<String> = runs.iter().map(|run| run.round.to_string()).collect();
    format!("round{} {}", if runs.len() > 1 { "s" } else { "" }, listed(&numbers, "and"))
}

/// `a (size=1k, over=tcp)`.
pub(super) fn label(run: &RunRecord) -> String {
    let axes: Vec<String> = run.axes.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
    if axes.is_empty() { run.variant.clone() } else { format!("{} ({})", run.variant, axes.join(", ")) }
}
