//! What changed since an earlier run: the verdicts of `onrush compare`, then each request before and after.
//!
//! The first table has the statistics, the second only figures: a request that is slower in one pair of runs may be
//! slow by chance. Verdicts come in as finished texts, so that this page says what the command says.

use std::collections::{BTreeMap, BTreeSet};

use metrics::Trend;
use units::show;

use super::shown_run::{ShownRun, facts, plain};
use super::tables::titled;
use crate::document::{Document, Requests};
use crate::html::Table;

/// An earlier run to show beside, and what a comparison says.
#[derive(Clone, Debug)]
pub struct Earlier<'a> {
    /// The earlier run.
    pub document: &'a Document,
    /// What it all comes to.
    pub headline: String,
    /// Heads of the table of metrics.
    pub columns: Vec<String>,
    /// Its rows; the last cell of each is the verdict.
    pub rows: Vec<Vec<String>>,
    /// What there is to know about it.
    pub notes: Vec<String>,
}

/// The section; nothing without an earlier run.
pub(super) fn section(run: &ShownRun<'_>, earlier: Option<&Earlier<'_>>) -> Vec<String> {
    let Some(earlier) = earlier else { return Vec::new() };
    let started = earlier.document.started_at.replace('T', " ").replace('Z', " UTC");
    let about = [format!("compared with {}", plain(&earlier.document.script)), plain(&started)];
    let notes: Vec<String> = earlier.notes.iter().map(|note| format!("<li>{}</li>", plain(note))).collect();
    vec![
        facts(&about),
        format!("<p><strong>{}</strong></p>", plain(&earlier.headline)),
        metrics(earlier),
        if notes.is_empty() { String::new() } else { format!("<ul class=\"notes\">{}</ul>", notes.concat()) },
        titled("Each request, before and after", requests(run, earlier.document)),
    ]
}

fn metrics(earlier: &Earlier<'_>) -> String {
    let last = earlier.columns.len().saturating_sub(1);
    let table = Table::new(earlier.columns.iter().map(String::as_str)).text_at(last).named("What changed");
    let mut table = table;
    for row in &earlier.rows {
        let (class, mark) = match row.last().map(String::as_str) {
            Some("worse") => ("bad", "✗ "),
            Some("better") => ("good", "✓ "),
            _ => ("", ""),
        };
        let marked = row.iter().enumerate().map(|(at, cell)| format!("{}{cell}", if at == 0 { mark } else { "" }));
        table.row_of(class, marked);
    }
    table.html()
}

struct Both {
    durations: [Trend; 2],
    failed: [u64; 2],
}

fn requests(run: &ShownRun<'_>, before: &Document) -> String {
    let mut all: BTreeMap<(&str, &str), Both> = BTreeMap::new();
    let mut add = |requests, side| sum(&mut all, requests, side);
    add(&before.requests, 0);
    add(&run.document.requests, 1);
    let mut all: Vec<((&str, &str), Both)> = all.into_iter().collect();
    all.sort_by_key(|(_, both)| std::cmp::Reverse(both.durations[1].count()));
    let head = ["request", "requests", "share failed", "median", "change", "p95", "change"];
    let mut table = Table::new(head).named("Each request, before and after");
    for ((name, method), both) in all.iter().filter(|((_, method), _)| !method.is_empty()) {
        let pair = |of: &dyn Fn(usize) -> String| format!("{} → {}", of(0), of(1));
        let percentile = |percent: f64| both.durations.each_ref().map(|trend| known(trend, percent));
        let count = |side: usize| show::grouped(both.durations[side].count());
        let failed = |side: usize| show::share(both.failed[side], both.durations[side].count());
        let mut cells = vec![format!("{method} {name}"), pair(&count), pair(&failed)];
        for percent in [50.0, 95.0] {
            let values = percentile(percent);
            cells.push(pair(&|side| values[side].map_or("none".to_owned(), |value| run.time(value))));
            cells.push(change(values));
        }
        let is_worse = both.failed[1] > 0 && both.failed[0] == 0;
        table.row_of(if is_worse { "bad" } else { "" }, cells);
    }
    table.html()
}

fn sum<'a>(all: &mut BTreeMap<(&'a str, &'a str), Both>, requests: &'a Requests, side: usize) {
    let origins: BTreeSet<&str> = requests.rows.iter().filter_map(|row| split(&row.name)).map(|(o, _)| o).collect();
    for row in &requests.rows {
        // A target of its own port each time is the same target: where there is one alone, its paths tell.
        let name = split(&row.name).filter(|_| origins.len() == 1).map_or(row.name.as_str(), |(_, path)| path);
        let both = all.entry((name, &row.method));
        let both = both.or_insert_with(|| Both { durations: Default::default(), failed: [0; 2] });
        both.durations[side].merge(&row.durations.trend());
        both.failed[side] += if row.failed { row.durations.count } else { 0 };
    }
}

/// Origin and the rest of a URL; none of a name.
fn split(name: &str) -> Option<(&str, &str)> {
    let host = name.find("://")? + 3;
    let path = name[host..].find('/')? + host;
    Some(name.split_at(path))
}

fn known(trend: &Trend, percent: f64) -> Option<f64> {
    (trend.count() > 0).then(|| trend.percentile(percent))
}

fn change([before, after]: [Option<f64>; 2]) -> String {
    match before.zip(after) {
        Some((before, after)) if before > 0.0 => format!("{:+.1} %", (after / before - 1.0) * 100.0),
        _ => "–".to_owned(),
    }
}
