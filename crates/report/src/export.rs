//! Summaries as JSON: what `handleSummary` receives, and the older shape that `--summary-export` writes.
//!
//! The two differ in ways that scripts and CI jobs rely on. In the export metrics are flat, groups and checks are
//! objects by name, and a threshold is `true` when it FAILED; in the data of handleSummary values have a level of their
//! own, groups and checks are arrays, and `ok` means what it says.

use data_encoding::HEXLOWER;
use std::time::Duration;

use md5::{Digest, Md5};
use metrics::results::{CheckResult, GroupResult, MetricResult, Results, TrendValue, Value as Measured};
use serde_json::{Map, Value, json};

use crate::document::{Judgement, Trust};
use crate::errors::Errors;
use crate::options::{SummaryOptions, TimeUnit, TrendStat};

/// What `handleSummary` gets about the run itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunState {
    /// Whether standard output is a terminal.
    pub is_stdout_tty: bool,
    /// Whether standard error is a terminal.
    pub is_stderr_tty: bool,
    /// How long the run took.
    pub duration: Duration,
}

/// The argument of `handleSummary`.
pub fn handle_summary_data(
    results: &Results,
    options: &SummaryOptions,
    state: &RunState,
    setup_data: Option<Value>,
) -> Value {
    let stats = &options.trend_stats;
    let metrics = results.metrics.iter().map(|metric| (key(metric), nested_metric(metric, stats)));
    let labels: Vec<&str> = stats.iter().map(TrendStat::label).collect();
    let mut data = json!({
        "root_group": group_arrays(&results.root),
        "options": {
            "summaryTrendStats": labels,
            "summaryTimeUnit": options.time_unit.map_or("", TimeUnit::name),
            "noColor": !options.color,
        },
        "state": {
            "isStdOutTTY": state.is_stdout_tty,
            "isStdErrTTY": state.is_stderr_tty,
            "testRunDurationMs": number(state.duration.as_secs_f64() * 1e3),
        },
        "metrics": metrics.collect::<Map<_, _>>(),
    });
    if let Some(setup) = setup_data {
        data["setup_data"] = sorted(setup);
    }
    add_errors(&mut data, results);
    add_judgement(&mut data, options);
    data
}

/// Puts whether the figures can be trusted beside k6's own keys, where there is something to say.
pub(crate) fn add_judgement(data: &mut Value, options: &SummaryOptions) {
    let is_silent =
        |judgement: &&Judgement| judgement.verdict == Trust::NotJudged && judgement.iterations.line().is_none();
    if let Some(judgement) = options.judgement.as_ref().filter(|judgement| !is_silent(judgement)) {
        data["judgement"] = json!(judgement);
    }
}

/// The value with all objects in order of their keys, as k6 hands out what setup() gave.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(entries) => {
            let mut entries: Vec<(String, Value)> =
                entries.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            entries.into_iter().collect()
        }
        other => other,
    }
}

/// Puts what went wrong beside k6's own keys. Not among the metrics, which k6's readers expect to have values; and only
/// when there is something, so that a run without errors has k6's shape.
pub(crate) fn add_errors(data: &mut Value, results: &Results) {
    let errors = Errors::from(results);
    if !errors.is_empty() {
        data["errors"] = json!(errors);
    }
}

/// What `--summary-export` writes; see `pretty` for the text.
pub fn export_json(results: &Results, options: &SummaryOptions, setup_data: Option<Value>) -> Value {
    let metrics = results.metrics.iter().map(|metric| (key(metric), flat_metric(metric, &options.trend_stats)));
    let mut data = json!({
        "metrics": metrics.collect::<Map<_, _>>(),
        "root_group": group_objects(&results.root),
    });
    if let Some(setup) = setup_data {
        data["setup_data"] = setup;
    }
    add_errors(&mut data, results);
    add_judgement(&mut data, options);
    data
}

/// JSON text with four spaces a level, as k6 writes its exports.
pub fn pretty(value: &Value) -> String {
    use serde::Serialize;
    let mut text = Vec::new();
    let layout = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, layout);
    value.serialize(&mut serializer).expect("a JSON value goes into memory");
    String::from_utf8(text).expect("JSON text is UTF-8")
}

/// A number without `.0`, as other tools write whole numbers.
pub(crate) fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT { json!(value as i64) } else { json!(value) }
}

/// `name` or `name{filter}`.
pub(crate) fn key(metric: &MetricResult) -> String {
    match &metric.filter {
        Some(filter) => format!("{}{{{filter}}}", metric.name),
        None => metric.name.clone(),
    }
}

/// Passes among all; 0 for none.
pub(crate) fn share(passes: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { passes as f64 / total as f64 }
}

fn nested_metric(metric: &MetricResult, stats: &[TrendStat]) -> Value {
    let values = values(&metric.value, stats, "rate");
    let mut entry = json!({ "type": metric.kind.name(), "contains": metric.contains.name(), "values": values });
    if !metric.thresholds.is_empty() {
        let thresholds = metric.thresholds.iter().map(|t| (t.source.clone(), json!({ "ok": t.ok })));
        entry["thresholds"] = Value::Object(thresholds.collect());
    }
    entry
}

fn flat_metric(metric: &MetricResult, stats: &[TrendStat]) -> Value {
    let mut entry = values(&metric.value, stats, "value");
    if !metric.thresholds.is_empty() {
        // True means failed: that is how the old shape has it.
        let thresholds = metric.thresholds.iter().map(|t| (t.source.clone(), json!(!t.ok)));
        entry.insert("thresholds".to_owned(), Value::Object(thresholds.collect()));
    }
    Value::Object(entry)
}

fn values(value: &Measured, stats: &[TrendStat], share_name: &str) -> Map<String, Value> {
    let censored = |trend: &TrendValue| (trend.censored() > 0).then(|| ("dropped", json!(trend.censored())));
    let pairs: Vec<(&str, Value)> = match value {
        Measured::Counter { count, rate } => vec![("count", number(*count)), ("rate", number(*rate))],
        Measured::Gauge { value, min, max } => {
            vec![("value", number(*value)), ("min", number(*min)), ("max", number(*max))]
        }
        Measured::Rate { passes, total } => vec![
            (share_name, number(share(*passes, *total))),
            ("passes", json!(passes)),
            ("fails", json!(total - passes)),
        ],
        // A percentile that dropped iterations reach is null.
        Measured::Trend(trend) => {
            stats.iter().map(|stat| (stat.label(), number(stat.of(trend)))).chain(censored(trend)).collect()
        }
    };
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// k6 identifies groups and checks by the MD5 of their path.
fn id(path: &str) -> String {
    HEXLOWER.encode(&Md5::digest(path))
}

fn group_arrays(group: &GroupResult) -> Value {
    json!({
        "name": group.name,
        "path": group.path,
        "id": id(&group.path),
        "groups": group.groups.iter().map(group_arrays).collect::<Vec<_>>(),
        "checks": group.checks.iter().map(check).collect::<Vec<_>>(),
    })
}

fn group_objects(group: &GroupResult) -> Value {
    json!({
        "name": group.name,
        "path": group.path,
        "id": id(&group.path),
        "groups": group.groups.iter().map(|g| (g.name.clone(), group_objects(g))).collect::<Map<_, _>>(),
        "checks": group.checks.iter().map(|c| (c.name.clone(), check(c))).collect::<Map<_, _>>(),
    })
}

fn check(check: &CheckResult) -> Value {
    json!({
        "name": check.name,
        "path": check.path,
        "id": id(&check.path),
        "passes": check.passes,
        "fails": check.fails,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_k6() {
        assert_eq!(id(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(id("::beta::b ok"), "1ac1a37c0a15f9d4ed0272edb467a83e");
    }

    #[test]
    fn whole_numbers_have_no_point() {
        assert_eq!(number(14.0).to_string(), "14");
        assert_eq!(number(-0.0).to_string(), "0");
        assert_eq!(number(0.5).to_string(), "0.5");
        assert_eq!(number(1e300).to_string(), "1e+300");
    }
}
