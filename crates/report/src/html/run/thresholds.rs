//! Thresholds: a table that says which held, and charts of what they judge, each with its limit.
//!
//! A threshold judges the whole run, a chart shows its seconds: a line above the limit for a while is no failure by
//! itself. Where a metric has thresholds on parts of it, each part is a line.

use metrics::threshold::{self, Aggregation};

use super::plots::unit_of;
use super::shown_run::{ShownRun, plain};
use crate::document::{Metric, PercentileFigure, Value};
use crate::html::Table;
use crate::html::chart::{ChartLine, Limit, Lines, Unit};
use crate::html::table::CellText;

/// Lines that an eye can follow.
const LINES: usize = 6;

/// The table: those that did not hold in front.
pub(super) fn table(run: &ShownRun<'_>) -> String {
    let head = ["", "metric", "threshold", "found"];
    let mut table = Table::new(head).texts(4).told_by(1).named("Thresholds");
    let metrics = &run.document.metrics;
    let all = metrics.iter().flat_map(|metric| metric.result().thresholds.into_iter().map(move |t| (metric, t)));
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|(_, threshold)| (threshold.has_samples, threshold.has_samples && threshold.ok));
    for (metric, threshold) in all {
        let result = metric.result();
        if !threshold.has_samples {
            let found = "nothing was measured: not judged";
            let key = metric.key();
            let row: [&str; 4] = ["? no sample", &key, &threshold.source, found];
            table.row_of("warn", row.map(CellText::from));
            continue;
        }
        let (class, mark) = if threshold.ok { ("good", "✓ held") } else { ("bad", "✗ crossed") };
        let found = crate::text::threshold_value(&result, &threshold.label, threshold.left, &run.options);
        let found = format!("{}={found}", threshold.label);
        let found = match PercentileFigure::judged(&result, &threshold) {
            Some(figure) => {
                let doubt = if figure.straddles(&threshold.source) { " · the limit lies inside" } else { "" };
                let few = if figure.too_few { " · too few samples" } else { "" };
                let interval = figure.interval(|end| run.show(metric, end));
                let below = plain(&format!("{interval}{doubt}{few}"));
                CellText::html(format!("{}<small class=\"sure\">{below}</small>", plain(&found)))
            }
            None => found.into(),
        };
        table.row_of(class, [mark.into(), metric.key().into(), threshold.source.as_str().into(), found]);
    }
    table.html()
}

/// Charts of what thresholds on parts of metrics judge, and of shares.
pub(super) fn charts(run: &ShownRun<'_>) -> Vec<String> {
    let judged: Vec<&Metric> = run.document.metrics.iter().filter(|metric| !metric.thresholds.is_empty()).collect();
    let by_name = judged.chunk_by(|a, b| a.name == b.name);
    by_name.filter_map(|metrics| chart(run, metrics)).collect()
}

fn chart(run: &ShownRun<'_>, metrics: &[&Metric]) -> Option<String> {
    // A whole Trend has its limits in the chart of its percentiles.
    let is_share = matches!(metrics[0].value, Value::Rate { .. });
    let shown = metrics.iter().filter(|metric| is_share || metric.filter.is_some());
    let (mut lines, mut limits) = (Vec::new(), Vec::new());
    for (colour, metric) in shown.take(LINES).enumerate() {
        for threshold in &metric.thresholds {
            let Ok(expression) = threshold::parse(&threshold.source) else { continue };
            let Some(values) = values(run, metric, &expression.aggregation) else { continue };
            let name = format!("{} of {}", threshold.source, metric.key());
            limits.push(Limit { name, value: expression.limit, colour });
            lines.push(ChartLine { colour: Some(colour), ..ChartLine::new(judged(metric, &threshold.source), values) });
        }
    }
    let chart = Lines {
        title: &format!("{}: what thresholds judge", metrics[0].name),
        note: Some("by the second; a threshold judges the whole run"),
        unit: if is_share { Unit::Share } else { unit_of(metrics[0]) },
        times: &run.intervals.times,
        lines,
        filled: false,
        may_be_logarithmic: !is_share,
        shaded: &run.unsteady,
        changes: &run.changes,
        limits,
    };
    Some(chart.html()).filter(|html| !html.is_empty())
}

/// `p(95) of {name:checkout}`.
fn judged(metric: &Metric, source: &str) -> String {
    let side = source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
    let of = metric.filter.as_ref().map_or_else(|| metric.name.clone(), |filter| format!("{{{filter}}}"));
    format!("{side} of {of}")
}

/// What a threshold judges, over time; none where no column has it.
fn values(run: &ShownRun<'_>, metric: &Metric, aggregation: &Aggregation) -> Option<Vec<Option<f64>>> {
    let trend = || run.intervals.trend(metric);
    Some(match aggregation {
        Aggregation::Rate if matches!(metric.value, Value::Rate { .. }) => run.intervals.share(metric),
        Aggregation::Med | Aggregation::Percentile(50.0) => trend().p50,
        Aggregation::Percentile(90.0) => trend().p90,
        Aggregation::Percentile(95.0) => trend().p95,
        Aggregation::Percentile(99.0) => trend().p99,
        Aggregation::Avg => trend().avg,
        Aggregation::Max => trend().max,
        _ => return None,
    })
}
