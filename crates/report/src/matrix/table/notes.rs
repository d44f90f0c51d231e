//! What the reader of tables must know: what failed, where the generator was the limit, what the matrix itself took.

use std::collections::BTreeMap;

use units::show::{counted, percent};

use super::column;
use super::data::Tables;
use crate::document::Cause;
use crate::matrix::document::{MatrixDocument, RunRecord};
use crate::matrix::number;

/// Why `compare` may say less of the same runs.
pub(super) const BEST_IS_BY_RATE: &str = "a best goes by one figure, with no margin and Holm's correction over the \
    rows; `onrush compare` judges several metrics together, so with few rounds it may not tell yet";

/// What the reader must know: what failed, where the generator was the limit, what the matrix itself took.
pub(super) fn notes(document: &MatrixDocument, tables: &Tables) -> Vec<String> {
    let mut notes = Vec::new();
    for runs in failures(document) {
        let reason = runs[0].reason.as_deref().unwrap_or("it failed");
        notes.push(format!("✗ {}: left out of {}: {reason}", label(runs[0]), rounds(&runs)));
    }
    notes.extend(limited(document));
    notes.extend(accepted(document));
    notes.extend(doubtful(document));
    notes.extend(unread_stats(document));
    let hidden = column::hidden_stats(tables);
    if hidden > 0 {
        notes.push(format!("{hidden} more server statistics are in the result; names in the plan's stats choose some"));
    }
    notes.extend(disturbances(document));
    let timing = &document.timing;
    if timing.total_s() > 0.0 {
        let part = |seconds: f64| format!("{} ({})", number::seconds(seconds), percent(timing.share(seconds), 1));
        let commands = match timing.commands_s > 0.05 {
            true => format!("{} the plan's commands, ", part(timing.commands_s)),
            false => String::new(),
        };
        notes.push(format!(
            "{} in {}: {} measured, {} warming up, {commands}{} starting and stopping servers, {} loads, {} \
             the matrix's own",
            counted(document.runs.len(), "run"),
            number::seconds(timing.total_s()),
            part(timing.measured_s),
            part(timing.warm_up_s),
            part(timing.servers_s),
            part(timing.loads_s),
            part(timing.own_s),
        ));
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
        format!("! in {count} of {} runs {}: {meaning}", valid.len(), cause.text())
    };
    counts.into_iter().map(line).collect()
}

/// Runs that count because somebody said so.
fn accepted(document: &MatrixDocument) -> Option<String> {
    let valid = document.runs.iter().filter(|run| run.is_ok());
    let lines: Vec<Option<String>> = valid.map(RunRecord::accepted).collect();
    let count = lines.iter().flatten().count();
    let first = lines.iter().flatten().next()?;
    Some(format!("! ~ in {count} of {} runs: {first}", lines.len()))
}

/// Runs that count although some of their figures are in doubt.
fn doubtful(document: &MatrixDocument) -> Option<String> {
    let valid = document.runs.iter().filter(|run| run.is_ok());
    let lines: Vec<Option<String>> = valid.map(RunRecord::doubt).collect();
    let count = lines.iter().flatten().count();
    let first = lines.iter().flatten().next()?;
    Some(format!("? in {count} of {} runs figures are in doubt: {first}", lines.len()))
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
        "! in {} of {} runs server statistics could not be read: {first}",
        problems.len(),
        document.runs.len()
    ))
}

/// Who else had the processors.
fn disturbances(document: &MatrixDocument) -> Vec<String> {
    let machines: Vec<_> = document.runs.iter().filter(|run| run.is_ok()).filter_map(RunRecord::machine).collect();
    let stolen: Vec<f64> = machines.iter().filter_map(|machine| machine.notable_steal()).collect();
    let throttled = machines.iter().filter(|machine| machine.was_throttled()).count();
    let most = stolen.iter().copied().fold(0.0, f64::max) * 100.0;
    let of_all = |count: usize| format!("{count} of {} runs", machines.len());
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

/// `round 3`, `rounds 1, 2, 3`.
pub(super) fn rounds(runs: &[&RunRecord]) -> String {
    let numbers: Vec<String> = runs.iter().map(|run| run.round.to_string()).collect();
    format!("round{} {}", if runs.len() > 1 { "s" } else { "" }, numbers.join(", "))
}

/// `a size=1k`.
pub(super) fn label(run: &RunRecord) -> String {
    let axes = run.axes.iter().map(|(axis, value)| format!(" {axis}={value}"));
    std::iter::once(run.variant.clone()).chain(axes).collect()
}
