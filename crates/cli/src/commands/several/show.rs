//! What is said of all scripts together: a line each, and the worst verdict first. Pure.

use report::document::{Document, Trust, Value};
use report::threshold_counts::ThresholdCounts;
use units::show::{grouped, percent};

use crate::commands::groups::process::ProcessEnd;
use crate::exit_code::ExitCode;

/// How the run of a script ended.
pub struct ScriptEnd {
    /// The script as it was given.
    pub name: String,
    /// Its exit code.
    pub code: ExitCode,
    /// The same of the process.
    pub how: ProcessEnd,
    /// Its result; none of a run that came to nothing.
    pub result: Option<Document>,
}

/// The lines below the summaries; `planned` are the scripts, also those that a signal kept from running.
pub fn text(ends: &[ScriptEnd], planned: usize) -> String {
    let failed = ends.iter().filter(|end| end.code != ExitCode::Ok).count();
    let mut head = format!("all {planned} scripts: ");
    head.push_str(&match (failed, planned - ends.len()) {
        (0, 0) => String::from("passed"),
        (0, _) => String::from("not all ran"),
        (failed, _) => format!("{failed} failed"),
    });
    if let Some((trust, names)) = worst(ends) {
        head.push_str(&format!(", {trust}: {}", names.join(", ")));
    }
    let width = ends.iter().map(|end| end.name.chars().count()).max().unwrap_or(0);
    let mut lines = vec![head];
    lines.extend(ends.iter().map(|end| format!("  {:width$}  {}", end.name, line(end))));
    if planned > ends.len() {
        lines.push(format!("  {} did not run: the test was stopped", planned - ends.len()));
    }
    format!("\n{}\n\n", lines.join("\n"))
}

/// The worst verdict, and whose it is; none where all are trusted or nobody judged.
fn worst(ends: &[ScriptEnd]) -> Option<(Trust, Vec<&str>)> {
    let trust = |end: &ScriptEnd| Some(end.result.as_ref()?.generator.judgement.as_ref()?.verdict);
    let worst = ends.iter().filter_map(trust).filter(|trust| *trust > Trust::Trusted).max()?;
    Some((worst, ends.iter().filter(|end| trust(end) == Some(worst)).map(|end| end.name.as_str()).collect()))
}

fn line(end: &ScriptEnd) -> String {
    let outcome = match end.code {
        ExitCode::Ok => String::from("passed"),
        code => {
            let reason = end.result.as_ref().and_then(|result| result.exit.reason.clone());
            let reason = reason.or_else(|| code.reason().map(str::to_owned));
            reason.map_or_else(|| end.how.text(), |reason| format!("{reason} ({})", end.how.text()))
        }
    };
    let Some(result) = &end.result else { return format!("{outcome}; it has no result") };
    let judgement = result.generator.judgement.as_ref();
    let mut parts = vec![outcome];
    parts.extend(judgement.map(|judgement| judgement.verdict.to_string()));
    let count = |name: &str| match result.metric(name).map(|metric| &metric.value) {
        Some(Value::Counter { count, .. }) => *count as u64,
        _ => 0,
    };
    parts.push(format!("{} iterations", grouped(count("iterations"))));
    if let Some(Value::Rate { passes, total }) = result.metric("http_req_failed").map(|metric| &metric.value) {
        let share = *passes as f64 / (*total).max(1) as f64;
        parts.push(format!("{} requests, {} failed", grouped(*total), percent(share, 2)));
    }
    let thresholds: Vec<_> = result.metrics.iter().flat_map(|metric| &metric.thresholds).collect();
    if !thresholds.is_empty() {
        let found = thresholds.iter().map(|threshold| (!threshold.without_samples, threshold.ok));
        parts.push(ThresholdCounts::of(found).text());
    }
    parts.join(", ")
}
