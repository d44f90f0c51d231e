//! A run as a comment of a pull request: what came of it and whether to believe it, thresholds, key figures; checks,
//! errors and notes are folded.
//!
//! Names and messages stand in code spans, because scripts and servers choose them.

use units::show;

use super::of_run::{CiThreshold, failed_check, fails_by_itself, judged, remarks};
use crate::document::{Document, Metric, Trust, Value};
use crate::errors::times;
use crate::format;
use crate::markdown::{code, escape, table};
use crate::text::was_never_answered;
use crate::threshold_counts::ThresholdCounts;
use metrics::results::TrendValue;

/// Lines of a list that stand in a comment; the report has all.
const LISTED: usize = 20;

/// GitHub-flavoured Markdown.
pub(super) fn run(document: &Document, thresholds: &[CiThreshold]) -> String {
    let mut lines = vec![format!("**{}** {}", outcome(document, thresholds), code(&document.script)), String::new()];
    if let Some(doubt) = believed(document) {
        lines.extend([doubt, String::new()]);
    }
    if !thresholds.is_empty() {
        let rows: Vec<Vec<String>> = thresholds.iter().map(threshold_row).collect();
        lines.extend(table(&["", "threshold", "limit", "found"], &[false, false, false, true], &rows));
        lines.push(String::new());
    }
    let figures: Vec<Vec<String>> = FIGURES.iter().filter_map(|(name, of)| figure(document, name, of)).collect();
    if !figures.is_empty() {
        lines.extend(table(&["figure", "value"], &[false, true], &figures));
        lines.push(String::new());
    }
    let details = details(document);
    if !details.is_empty() {
        lines.extend([String::from("<details><summary>Details</summary>"), String::new()]);
        lines.extend(details);
        lines.extend([String::new(), String::from("</details>"), String::new()]);
    }
    lines.join("\n")
}

/// `failed: 1 of 3 thresholds did not hold`, `INVALID, passed: …`.
fn outcome(document: &Document, thresholds: &[CiThreshold]) -> String {
    let held = ThresholdCounts::of(thresholds.iter().map(|one| (one.has_samples, one.ok))).text();
    let word = if document.exit.code == 0 { "passed" } else { "failed" };
    let reason = document.exit.reason.as_deref().filter(|_| fails_by_itself(document, thresholds));
    let reason = reason.map(|reason| format!("{}, ", escape(reason))).unwrap_or_default();
    let trust = match judged(document) {
        Some((judgement, false)) if judgement.verdict > Trust::Trusted => format!("{}, ", judgement.verdict),
        _ => String::new(),
    };
    format!("{trust}{word}: {reason}{held}")
}

/// Whether the figures can be believed.
fn believed(document: &Document) -> Option<String> {
    let (judgement, accepted) = judged(document)?;
    let line = escape(&judgement.line(accepted)?);
    let is_doubtful = judgement.verdict > Trust::Trusted;
    Some(if is_doubtful { format!("> ⚠ {line}") } else { line })
}

fn threshold_row(threshold: &CiThreshold) -> Vec<String> {
    let CiThreshold { metric, source, found, ok, inside, has_samples, .. } = threshold;
    if !has_samples {
        return vec![String::from("?"), code(metric), code(source), String::from("no sample")];
    }
    let mark = if *ok { "✓" } else { "✗" };
    let doubt = if *inside { " (inside of its 95 % interval)" } else { "" };
    vec![mark.to_owned(), code(metric), code(source), format!("{}{doubt}", escape(found))]
}

/// What of a metric is shown.
enum Shown {
    Rate,
    Share,
    Percentile(f64),
}

const FIGURES: [(&str, Shown); 8] = [
    ("http_reqs", Shown::Rate),
    ("http_req_duration", Shown::Percentile(50.0)),
    ("http_req_duration", Shown::Percentile(95.0)),
    ("http_req_duration", Shown::Percentile(99.0)),
    ("http_req_failed", Shown::Share),
    ("message_delay", Shown::Percentile(95.0)),
    ("checks", Shown::Share),
    ("iterations", Shown::Rate),
];

fn figure(document: &Document, name: &str, shown: &Shown) -> Option<Vec<String>> {
    let metric = document.metric(name)?;
    let (title, value) = match (shown, &metric.value) {
        (Shown::Rate, Value::Counter { count, rate }) => {
            (format!("{name} /s"), format!("{} ({})", show::rounded(*rate), show::grouped(*count as u64)))
        }
        (Shown::Share, Value::Rate { passes, total }) if *total > 0 => {
            (name.to_owned(), format!("{} ({passes} of {total})", show::share(*passes, *total)))
        }
        (Shown::Percentile(percent), Value::Trend(_)) => {
            (format!("{name} p({percent})"), percentile(metric, *percent)?)
        }
        _ => return None,
    };
    Some(vec![code(&title), value])
}

fn percentile(metric: &Metric, percent: f64) -> Option<String> {
    let trend = TrendValue::from(metric.histogram()?.trend());
    let has_samples = trend.count() > 0 && !was_never_answered(&metric.result());
    has_samples.then(|| format::value(trend.percentile(percent), metric.result_contains(), None))
}

fn details(document: &Document) -> Vec<String> {
    let failed = document.checks.iter().filter(|check| check.fails > 0);
    let checks = failed.map(|check| format!("- check {} {}", code(&check.name), failed_check(check)));
    let counted = |word: &'static str| {
        move |error: &crate::errors::Counted| format!("- {word} {}: {}", times(error.count), code(&error.what))
    };
    let errors = &document.errors;
    let thrown = errors.exceptions.iter().map(counted("exception"));
    let unanswered = errors.unanswered.iter().map(counted("no answer"));
    let statuses = Some(errors.named_statuses(false)).filter(|named| !named.is_empty());
    let statuses = statuses.map(|named| format!("- answers: {named}"));
    let mut all: Vec<String> = checks.chain(thrown).chain(unanswered).chain(statuses).collect();
    if all.len() > LISTED {
        let more = all.len() - LISTED;
        all.truncate(LISTED);
        all.push(format!("- and {more} more"));
    }
    all.extend(remarks(document).iter().map(|remark| format!("- {}", escape(remark))));
    all
}
