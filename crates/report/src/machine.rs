//! The machine-readable summary of k6 1.5 and later (`--new-machine-readable-summary`).
//!
//! Its statistics of Trends are fixed; it has neither thresholds nor groups, and its counters no rate.

use std::time::Duration;

use metrics::results::{MetricResult, Results, Value as Measured};
use serde_json::{Map, Value, json};

use crate::document::PercentileFigure;
use crate::export::{add_errors, add_judgement, key, number, share};
use crate::options::{SummaryMode, SummaryOptions};
use crate::section::is_phase;

/// What this summary tells about the run besides its results.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// How long the run took.
    pub duration: Duration,
    /// The text of the script.
    pub script: String,
    /// When the summary was made, RFC 3339 in UTC.
    pub generated_at: String,
    /// Version of the tool, or of the k6 it stands for.
    pub version: String,
}

/// Metrics that the summary tells in another form, or not at all.
const LEFT_OUT: [&str; 2] = ["checks", "group_duration"];

/// The summary as one JSON value.
pub fn machine_readable(results: &Results, run: &RunConfig, options: &SummaryOptions) -> Value {
    // As in k6 the steps of requests are in the full summary alone.
    let is_compact = options.mode == SummaryMode::Compact;
    let is_shown =
        |metric: &&MetricResult| !(LEFT_OUT.contains(&metric.name.as_str()) || is_compact && is_phase(&metric.name));
    let shown = results.metrics.iter().filter(is_shown);
    let mut data = json!({
        "config": {
            "duration": number(run.duration.as_secs_f64()),
            "execution": "local",
            "script": run.script,
        },
        "metadata": { "generated_at": run.generated_at, "k6_version": run.version },
        "results": { "checks": checks(results), "metrics": shown.map(metric).collect::<Vec<_>>() },
        "version": "1.0.0",
    });
    add_errors(&mut data["results"], results);
    add_judgement(&mut data["results"], options);
    let shown = results.metrics.iter().filter(is_shown);
    let intervals: Map<String, Value> = shown.filter_map(intervals).collect();
    if !intervals.is_empty() {
        data["results"]["intervals"] = Value::Object(intervals);
    }
    data
}

/// How sure the percentiles of a Trend are, beside k6's own keys.
fn intervals(metric: &MetricResult) -> Option<(String, Value)> {
    let figures = PercentileFigure::shown(metric, &[50.0, 90.0, 95.0]);
    (!figures.is_empty()).then(|| (key(metric), json!(figures)))
}

fn checks(results: &Results) -> Value {
    let passes: u64 = results.checks.iter().map(|check| check.passes).sum();
    let fails: u64 = results.checks.iter().map(|check| check.fails).sum();
    let rate = |name: &str, matches: u64| {
        let values =
            json!({ "matches": matches, "rate": number(share(matches, passes + fails)), "total": passes + fails });
        json!({ "contains": "default", "name": name, "type": "rate", "values": values })
    };
    let total = json!({
        "contains": "default", "name": "checks_total", "type": "counter", "values": { "count": passes + fails },
    });
    let single = results.checks.iter().map(|c| json!({ "fails": c.fails, "name": c.name, "passes": c.passes }));
    json!({
        "metrics": [total, rate("checks_failed", fails), rate("checks_succeeded", passes)],
        "results": single.collect::<Vec<_>>(),
    })
}

fn metric(metric: &MetricResult) -> Value {
    let values = match &metric.value {
        Measured::Counter { count, .. } => json!({ "count": number(*count) }),
        Measured::Gauge { value, min, max } => {
            json!({ "max": number(*max), "min": number(*min), "value": number(*value) })
        }
        Measured::Rate { passes, total } => {
            json!({ "matches": passes, "rate": number(share(*passes, *total)), "total": total })
        }
        Measured::Trend(trend) => json!({
            "avg": number(trend.avg()),
            "max": number(trend.max()),
            "med": number(trend.percentile(50.0)),
            "min": number(trend.min()),
            "p90": number(trend.percentile(90.0)),
            "p95": number(trend.percentile(95.0)),
        }),
    };
    json!({ "contains": metric.contains.name(), "name": key(metric), "type": metric.kind.name(), "values": values })
}
