//! What went wrong, by kind: how often, from when to when, and a request that it happened to.
//!
//! The first section of a report, and there only where something did. What the script expects is listed, and is no
//! error. Thresholds that were crossed and checks that failed stand with it, so that nobody has to look for them.

use std::collections::BTreeMap;

use units::show;

use super::shown_run::{ShownRun, plain};
use super::tables::titled;
use super::thresholds;
use crate::document::{Group, RequestRow};
use crate::errors::Seen;
use crate::html::Table;
use crate::html::chart::clock_text;
use crate::html::table::CellText;

/// Errors and failed checks; nothing where all went well.
pub(super) fn section(run: &ShownRun<'_>) -> Vec<String> {
    let (errors, checks) = (errors(run), failed_checks(run));
    let is_crossed = run.document.metrics.iter().flat_map(|metric| &metric.thresholds).any(|threshold| !threshold.ok);
    let crossed = if is_crossed { titled("Thresholds", thresholds::table(run)) } else { String::new() };
    vec![titled("Errors", errors), crossed, titled("Checks that failed", checks)]
}

fn errors(run: &ShownRun<'_>) -> String {
    let errors = &run.document.errors;
    let head = ["", "what", "count", "first", "last", "for example"];
    let mut table =
        Table::new(head).texts(2).text_at(5).told_by(1).named("Errors by kind").over_stretches("- - count - - -");
    let count = |count: u64| CellText::from(show::grouped(count));
    for kind in &errors.exceptions {
        let cells = [["✗ exception".into(), wide(&kind.what), count(kind.count)], seen(run, &kind.seen)].concat();
        table.row_of("bad", cells);
    }
    for kind in &errors.unanswered {
        let rows = rows(run, |row| row.protocol.is_http() && row.error.as_deref() == Some(&kind.what));
        let cells = [["✗ no answer".into(), wide(&kind.what), count(kind.count)], seen(run, &kind.seen)].concat();
        table.row_with("bad", rows, cells);
    }
    for answer in &errors.answers {
        let (class, mark, note) =
            if answer.expected { ("", "answer", ", expected by the script") } else { ("bad", "✗ answer", "") };
        let rows = rows(run, |row| {
            row.protocol.is_http() && row.status == Some(answer.status) && row.failed != answer.expected
        });
        let what = format!("status {}{note}", answer.status);
        let cells = [[mark.into(), what.into(), count(answer.count)], seen(run, &answer.seen)].concat();
        table.row_with(class, rows, cells);
    }
    for (what, of_kind) in of_others(run) {
        let count = count(of_kind.iter().map(|row| row.durations.count).sum());
        let rows = rows(run, |row| of_kind.iter().any(|known| std::ptr::eq(*known, row)));
        let cells = [["✗ failed".into(), wide(&what), count], seen(run, &seen_of(&of_kind))].concat();
        table.row_with("bad", rows, cells);
    }
    table.html()
}

/// Rows that failed and are no requests of HTTP, by what went wrong: the document's errors do not count them.
fn of_others<'a>(run: &ShownRun<'a>) -> BTreeMap<String, Vec<&'a RequestRow>> {
    let mut found: BTreeMap<String, Vec<&RequestRow>> = BTreeMap::new();
    for row in run.document.requests.rows.iter().filter(|row| !row.protocol.is_http()) {
        row.failure().into_iter().for_each(|what| found.entry(what).or_default().push(row));
    }
    found
}

/// The first and the last second of rows, and the most frequent of them as an example.
fn seen_of(rows: &[&RequestRow]) -> Seen {
    let first = rows.iter().filter_map(|row| row.first_s).reduce(f64::min);
    let last = rows.iter().filter_map(|row| row.last_s).reduce(f64::max);
    let most = rows.iter().filter(|row| !row.is_other()).max_by_key(|row| row.durations.count);
    let example = most.map(|row| format!("{} {}", row.method, row.example.as_ref().unwrap_or(&row.name)));
    Seen { first_s: first, last_s: last, example }
}

fn wide(text: &str) -> CellText {
    CellText::html(format!("<span class=\"wide\">{}</span>", plain(text)))
}

fn rows(run: &ShownRun<'_>, is_of: impl Fn(&RequestRow) -> bool) -> String {
    let rows = run.document.requests.rows.iter().enumerate().filter(|(_, row)| is_of(row));
    let rows: Vec<String> = rows.map(|(at, _)| at.to_string()).collect();
    if rows.is_empty() { rows.concat() } else { format!(" data-rows=\"{}\"", rows.join(" ")) }
}

fn seen(run: &ShownRun<'_>, seen: &Seen) -> [CellText; 3] {
    let end = run.intervals.times.last().map_or(0.0, |(_, end)| *end);
    let at = |time: Option<f64>, up: bool| match time {
        Some(time) if time < 0.0 => "before".to_owned(),
        Some(time) => clock_text(if up { time.ceil() } else { time.floor() }, end),
        None => "unknown".to_owned(),
    };
    let example = seen.example.as_deref().map(wide).unwrap_or_else(|| "".into());
    [at(seen.first_s, false).into(), at(seen.last_s, true).into(), example]
}

fn failed_checks(run: &ShownRun<'_>) -> String {
    let mut table = Table::new(["check", "failed", "of", "share failed"]).named("Checks that failed");
    fill(&mut table, &run.document.groups, "");
    table.html()
}

fn fill(table: &mut Table, group: &Group, path: &str) {
    for check in group.checks.iter().filter(|check| check.fails > 0) {
        let all = check.passes.saturating_add(check.fails);
        let counts = [show::grouped(check.fails), show::grouped(all), show::share(check.fails, all)];
        table.row_of("bad", std::iter::once(format!("✗ {path}{}", check.name)).chain(counts));
    }
    group.groups.iter().for_each(|inner| fill(table, inner, &format!("{path}{} › ", inner.name)));
}
