//! What went wrong, by kind: how often, from when to when, and a request that it happened to.
//!
//! The first section of a report, and there only where something did. What the script expects is listed, and is no
//! error. Thresholds that were crossed and checks that failed stand with it, so that nobody has to look for them.

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
        let rows = rows(run, |row| row.error.as_deref() == Some(&kind.what));
        let cells = [["✗ no answer".into(), wide(&kind.what), count(kind.count)], seen(run, &kind.seen)].concat();
        table.row_with("bad", rows, cells);
    }
    for answer in &errors.answers {
        let (class, mark, note) =
            if answer.expected { ("", "answer", ", expected by the script") } else { ("bad", "✗ answer", "") };
        let rows = rows(run, |row| row.status == Some(answer.status) && row.failed != answer.expected);
        let what = format!("status {}{note}", answer.status);
        let cells = [[mark.into(), what.into(), count(answer.count)], seen(run, &answer.seen)].concat();
        table.row_with(class, rows, cells);
    }
    table.html()
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
