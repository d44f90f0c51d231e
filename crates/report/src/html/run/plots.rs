//! The plots that all sections of a report use: values over time, percentiles with the limits of their thresholds,
//! distributions; in the unit of a metric, on the time axis of the run.

use metrics::threshold::{self, Aggregation};

use super::intervals::{Intervals, TrendLines};
use super::shown_run::ShownRun;
use crate::document::{Contains, Histogram, Metric, Threshold};
use crate::html::chart::{ChartLine, Distribution, Limit, Lines, Unit};

pub(super) fn rate_lines(run: &ShownRun<'_>, named: &[(&str, &str)]) -> Vec<ChartLine> {
    let known = named.iter().filter_map(|(name, title)| Some((run.document.metric(name)?, *title)));
    known.map(|(metric, title)| ChartLine::new(title, run.intervals.rate(metric))).collect()
}

/// Percentiles over time, and the distribution of the whole run.
pub(super) fn trend_charts(run: &ShownRun<'_>, metric: &Metric, title: &str) -> Vec<String> {
    let Some(histogram) = metric.histogram() else { return Vec::new() };
    vec![percentiles_over_time(run, metric, title), spread(metric, histogram, title)]
}

/// Percentiles over time.
pub(super) fn percentiles_over_time(run: &ShownRun<'_>, metric: &Metric, title: &str) -> String {
    let TrendLines { p50, p90, p95, p99, max, .. } = run.intervals.trend(metric);
    let lines = [("p50", p50, 0), ("p90", p90, 5), ("p95", p95, 1), ("p99", p99, 4), ("max", max, 7)];
    let lines = lines
        .into_iter()
        .map(|(name, values, colour)| ChartLine { colour: Some(colour), ..ChartLine::new(name, values) });
    let lines = lines.chain(before(run, metric));
    let note = run.intervals.note();
    let chart = Lines {
        title: &format!("{title} over time"),
        note: note.as_deref(),
        unit: unit_of(metric),
        times: &run.intervals.times,
        lines: lines.collect(),
        filled: false,
        may_be_logarithmic: true,
        shaded: &run.unsteady,
        changes: &run.changes,
        limits: limits(metric),
    };
    chart.html()
}

/// Median and 95th percentile of an earlier run.
fn before(run: &ShownRun<'_>, metric: &Metric) -> Vec<ChartLine> {
    let Some(document) = run.before else { return Vec::new() };
    let other = Intervals::new(&document.seconds);
    let TrendLines { p50, p95, .. } = other.trend(metric);
    let lines = [("p50 before", p50, 2), ("p95 before", p95, 6)].into_iter();
    let line = |(name, values, colour): (&str, Vec<Option<f64>>, usize)| ChartLine {
        colour: Some(colour),
        ..ChartLine::new(name, run.intervals.of_other(&other, &values))
    };
    lines.map(line).collect()
}

/// A Counter's rate in an earlier run, where it was known.
pub(super) fn rate_before(run: &ShownRun<'_>, name: &str) -> Option<ChartLine> {
    let document = run.before?;
    let other = Intervals::new(&document.seconds);
    let values = other.rate(document.metric(name)?);
    Some(ChartLine { colour: Some(2), ..ChartLine::new("before", run.intervals.of_other(&other, &values)) })
}

pub(super) fn spread(metric: &Metric, histogram: &Histogram, title: &str) -> String {
    Distribution { title: &format!("{title}, distribution"), unit: unit_of(metric), histogram, colour: 0 }.html()
}

pub(super) fn over_time(run: &ShownRun<'_>, title: &str, unit: Unit, lines: Vec<ChartLine>, filled: bool) -> String {
    let note = run.intervals.seconds_per_point().map(|each| format!("each point is {each} seconds"));
    let times = &run.intervals.times;
    let shaded = &run.unsteady;
    Lines {
        title,
        note: note.as_deref(),
        unit,
        times,
        lines,
        filled,
        may_be_logarithmic: false,
        shaded,
        changes: &run.changes,
        limits: Vec::new(),
    }
    .html()
}

pub(super) fn unit_of(metric: &Metric) -> Unit {
    match metric.contains {
        Contains::Default => Unit::Number,
        Contains::Time => Unit::Time,
        Contains::Data => Unit::Bytes,
    }
}

/// What the thresholds of a Trend allow, for the chart of its percentiles.
fn limits(metric: &Metric) -> Vec<Limit> {
    let limit = |threshold: &Threshold| {
        let expression = threshold::parse(&threshold.source).ok()?;
        let colour = match expression.aggregation {
            Aggregation::Percentile(90.0) => 5,
            Aggregation::Percentile(95.0) => 1,
            Aggregation::Percentile(99.0) => 4,
            Aggregation::Med | Aggregation::Percentile(50.0) => 0,
            Aggregation::Max => 7,
            _ => return None,
        };
        Some(Limit { name: threshold.source.clone(), value: expression.limit, colour })
    };
    metric.thresholds.iter().filter_map(limit).collect()
}
