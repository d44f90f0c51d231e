//! Requests by what was asked for and how it was answered, a line each: those that failed, or all of them.
//!
//! k6 has no such lines. They are there only when something went wrong or with the full summary, so that what else a
//! summary has stays where tools look for it. Scenarios and groups are added up; the report tells them apart.

use metrics::Protocol;
use metrics::requests::RequestResult;
use metrics::results::Results;
use units::show;

use super::Paragraph;
use super::paint::Paint;
use crate::document::RequestRow;
use crate::errors::times;
use crate::format;
use crate::options::SummaryOptions;
use crate::visible;

/// Failed kinds that are shown; the others are counted.
pub(super) const SHOWN: usize = 8;

/// The lines of all requests, or so many of those that failed; none when there are none.
pub(super) fn paragraph(results: &Results, options: &SummaryOptions, most_failed: Option<usize>) -> Paragraph {
    let all = results.requests.by_request();
    let wanted: Vec<&RequestResult> = all.iter().filter(|row| most_failed.is_none() || row.kind.failed).collect();
    let (shown, rest) = wanted.split_at(most_failed.unwrap_or(wanted.len()).min(wanted.len()));
    let seconds = results.duration.as_secs_f64();
    let cells: Vec<[String; 5]> = shown.iter().map(|row| cells(row, seconds, options)).collect();
    let wide = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let paint = Paint { on: options.color };
    let mut lines = Paragraph::new();
    for (row, [count, rate, outcome, durations, what]) in shown.iter().zip(&cells) {
        let [a, b, c, d] = [0, 1, 2, 3].map(wide);
        let line = format!("{count:a$}  {rate:>b$}  {outcome:c$}  {durations:d$}  {what}");
        lines.push(if row.kind.failed { paint.bad(&line) } else { line });
    }
    if !rest.is_empty() {
        let count: u64 = rest.iter().map(|row| row.durations.count()).sum();
        lines.push(paint.bad(&format!("{}  of {}", times(count), show::counted(rest.len(), "other kind"))));
    }
    lines
}

/// Whether something failed that was no request of HTTP.
pub(super) fn others_failed(results: &Results) -> bool {
    results.requests.rows.iter().any(|row| row.kind.failed && row.kind.protocol != Protocol::Http)
}

/// Count, rate, status, durations, and what it was.
fn cells(row: &RequestResult, seconds: f64, options: &SummaryOptions) -> [String; 5] {
    let RequestResult { kind, durations } = row;
    let percentile = |percent: f64| format::time(durations.percentile(percent), options.time_unit);
    let named = RequestRow::from(kind);
    let what = visible(&named.what()).into_owned();
    let why = if kind.error.is_empty() { String::new() } else { format!(": {}", visible(&kind.error)) };
    let rate = if seconds > 0.0 { durations.count() as f64 / seconds } else { 0.0 };
    [
        times(durations.count()),
        format!("{}/s", show::rounded(rate)),
        named.outcome().unwrap_or_else(|| String::from("none")),
        format!("med={} p(95)={}", percentile(50.0), percentile(95.0)),
        format!("{what}{why}"),
    ]
}
