//! The samples of a run interval by interval: what charts over time are drawn from.
//!
//! Each interval keeps a few numbers of each metric and sub-metric, never a histogram: memory is fixed for a second and
//! a series. An interval without samples is a gap, not a 0. Sums and counts of a series add up to the total of its
//! metric.
//!
//! `add` only reads the snapshots, which then go on to the `Aggregate`; it runs where those are merged, on no worker.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::naming::metric::MetricId;
use crate::recording::snapshot::Snapshot;
use crate::registry::Registry;
use crate::sink::{Scope, Sink, SinkKey};
use crate::trend::Trend;

/// The intervals of a run and what came in during each.
pub struct Seconds {
    registry: Arc<Registry>,
    intervals: Vec<(Duration, Duration)>,
    rows: Vec<(Arc<SinkKey>, Points)>,
    index: HashMap<Arc<SinkKey>, usize>,
    /// Whose series are kept, where not all are.
    only: Option<Vec<MetricId>>,
}

/// One metric or sub-metric over time.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondsSeries {
    /// Name without filter.
    pub name: String,
    /// For a sub-metric the text between the braces.
    pub filter: Option<String>,
    /// Its columns, each with an entry an interval.
    pub points: Points,
}

/// Columns by the kind of the metric; none where no sample came in. Times in ms, data in bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Points {
    /// Sums.
    Counter(Vec<Option<f64>>),
    /// Last values.
    Gauge(Vec<Option<f64>>),
    /// Samples that were not zero, and all.
    Rate(Vec<Option<(u64, u64)>>),
    /// Distributions.
    Trend(Vec<Option<TrendPoint>>),
}

/// The distribution of one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrendPoint {
    /// Number of samples.
    pub count: u64,
    /// Mean.
    pub avg: f64,
    /// Lowest.
    pub min: f64,
    /// Highest.
    pub max: f64,
    /// Percentiles: 50, 90, 95, 99.
    pub percentiles: [f64; 4],
}

impl Seconds {
    /// No intervals yet, for the metrics of this registry.
    pub fn new(registry: Arc<Registry>) -> Self {
        Seconds { registry, intervals: Vec::new(), rows: Vec::new(), index: HashMap::new(), only: None }
    }

    /// The same, with the totals of these metrics alone.
    pub fn only(registry: Arc<Registry>, metrics: Vec<MetricId>) -> Self {
        Seconds { only: Some(metrics), ..Seconds::new(registry) }
    }

    /// Adds an interval, from `start` to `end` of the run's clock, and what came in during it.
    pub fn add(&mut self, start: Duration, end: Duration, snapshots: &[Snapshot]) {
        debug_assert!(start <= end, "{start:?} to {end:?}");
        debug_assert!(self.intervals.last().is_none_or(|(last, _)| *last <= start), "intervals come in order");
        let mut found: Vec<Vec<&Sink>> = vec![Vec::new(); self.rows.len()];
        for (key, sink) in snapshots.iter().flat_map(|snapshot| &snapshot.sinks) {
            if self.keeps(key) {
                let row = self.row(key, sink);
                found.resize(self.rows.len().max(found.len()), Vec::new());
                found[row].push(sink);
            }
        }
        for ((_, points), sinks) in self.rows.iter_mut().zip(found) {
            points.push(&sinks);
        }
        self.intervals.push((start, end.saturating_sub(start)));
        debug_assert!(
            self.rows.iter().all(|(_, points)| points.len() == self.intervals.len()),
            "each series has an entry an interval"
        );
    }

    /// Start and length of each interval.
    pub fn intervals(&self) -> &[(Duration, Duration)] {
        &self.intervals
    }

    /// All series, by name; sub-metrics follow their parent.
    pub fn into_series(self) -> Vec<SecondsSeries> {
        let subs = self.registry.sub_metrics();
        let series = |(key, points): (Arc<SinkKey>, Points)| {
            let (metric, filter) = match &*key {
                SinkKey::Metric(id, _) => (*id, None),
                SinkKey::Sub(id) => subs.get(id.0 as usize).map(|sub| (sub.parent, Some(sub.filter.source())))?,
                SinkKey::Check(..) | SinkKey::Group(_) | SinkKey::Error(_) | SinkKey::Request(_) => return None,
            };
            let name = self.registry.definition(metric).name.to_string();
            Some(SecondsSeries { name, filter: filter.map(str::to_owned), points })
        };
        let mut all: Vec<SecondsSeries> = self.rows.into_iter().filter_map(series).collect();
        all.sort_by(|a, b| (&a.name, &a.filter).cmp(&(&b.name, &b.filter)));
        all
    }

    fn keeps(&self, key: &SinkKey) -> bool {
        match (key, &self.only) {
            (SinkKey::Metric(id, _), Some(only)) => is_total(key) && only.contains(id),
            (_, Some(_)) => false,
            (key, None) => matches!(key, SinkKey::Sub(_)) || is_total(key),
        }
    }

    /// The row of a sink, made with gaps up to now where it is new.
    fn row(&mut self, key: &Arc<SinkKey>, sink: &Sink) -> usize {
        if let Some(row) = self.index.get(key) {
            return *row;
        }
        let row = self.rows.len();
        self.rows.push((key.clone(), Points::gaps(sink, self.intervals.len())));
        self.index.insert(key.clone(), row);
        row
    }
}

fn is_total(key: &SinkKey) -> bool {
    matches!(key, SinkKey::Metric(_, Scope { scenario: None, group: None }))
}

impl Points {
    /// Entries, one an interval.
    fn len(&self) -> usize {
        match self {
            Points::Counter(column) | Points::Gauge(column) => column.len(),
            Points::Rate(column) => column.len(),
            Points::Trend(column) => column.len(),
        }
    }

    fn gaps(sink: &Sink, count: usize) -> Points {
        match sink {
            Sink::Counter { .. } => Points::Counter(vec![None; count]),
            Sink::Gauge { .. } => Points::Gauge(vec![None; count]),
            Sink::Rate { .. } => Points::Rate(vec![None; count]),
            Sink::Trend(_) => Points::Trend(vec![None; count]),
        }
    }

    /// Adds the interval in which each worker gathered one of these sinks.
    fn push(&mut self, sinks: &[&Sink]) {
        let merged;
        let sink = match sinks {
            [] => None,
            [only] => Some(*only),
            [first, rest @ ..] => {
                merged = rest.iter().fold((*first).clone(), |mut all, sink| {
                    all.merge_from(sink);
                    all
                });
                Some(&merged)
            }
        };
        let sink = sink.filter(|sink| sink.samples() > 0);
        match (self, sink) {
            (Points::Counter(column) | Points::Gauge(column), None) => column.push(None),
            (Points::Rate(column), None) => column.push(None),
            (Points::Trend(column), None) => column.push(None),
            (Points::Counter(column), Some(Sink::Counter { sum, .. })) => column.push(Some(sum.value())),
            (Points::Gauge(column), Some(Sink::Gauge { last, .. })) => column.push(Some(*last)),
            (Points::Rate(column), Some(Sink::Rate { passes, total })) => column.push(Some((*passes, *total))),
            (Points::Trend(column), Some(Sink::Trend(trend))) => column.push(Some(point(trend))),
            (points, sink) => unreachable!("a metric has one kind: {points:?} and {sink:?}; this is a bug"),
        }
    }
}

fn point(trend: &Trend) -> TrendPoint {
    let percentiles = trend.percentiles([50.0, 90.0, 95.0, 99.0]);
    debug_assert!(percentiles.is_sorted(), "{percentiles:?}");
    TrendPoint { count: trend.count(), avg: trend.avg(), min: trend.min(), max: trend.max(), percentiles }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naming::builtin;
    use crate::naming::tags::TagSet;
    use crate::recording::recorder::Recorder;

    fn second(n: u64) -> (Duration, Duration) {
        (Duration::from_secs(n), Duration::from_secs(n + 1))
    }

    #[test]
    fn workers_are_put_together_and_gaps_stay_gaps() {
        let registry = Registry::new();
        let workers = [Recorder::new(registry.clone()), Recorder::new(registry.clone())];
        let tags = TagSet::new([("expected_response", "true")]);
        let mut seconds = Seconds::new(registry);
        for (n, values) in [[Some(1.0), Some(3.0)], [None, None], [None, Some(5.0)]].into_iter().enumerate() {
            for (worker, value) in workers.iter().zip(values) {
                if let Some(value) = value {
                    worker.add(worker.series(builtin::HTTP_REQ_DURATION, &tags), value, 0);
                    worker.add(worker.series(builtin::HTTP_REQS, &tags), 1.0, 0);
                }
            }
            let (start, end) = second(n as u64);
            seconds.add(start, end, &workers.each_ref().map(Recorder::take));
        }
        assert_eq!(seconds.intervals()[2], (Duration::from_secs(2), Duration::from_secs(1)));
        let series = seconds.into_series();
        let names: Vec<_> = series.iter().map(|s| (s.name.as_str(), s.filter.as_deref())).collect();
        let expected =
            [("http_req_duration", None), ("http_req_duration", Some("expected_response:true")), ("http_reqs", None)];
        assert_eq!(names, expected);
        for trend in &series[..2] {
            let Points::Trend(points) = &trend.points else { panic!("a trend") };
            let told = |p: &TrendPoint| (p.count, p.avg, p.max, p.percentiles[0]);
            let told: Vec<_> = points.iter().map(|p| p.as_ref().map(told)).collect();
            assert_eq!(told, [Some((2, 2.0, 3.0, 2.0)), None, Some((1, 5.0, 5.0, 5.0))]);
        }
        assert_eq!(series[2].points, Points::Counter(vec![Some(2.0), None, Some(1.0)]));
    }

    #[test]
    fn a_metric_that_comes_late_has_gaps_before() {
        let registry = Registry::new();
        let recorder = Recorder::new(registry.clone());
        let mut seconds = Seconds::new(registry);
        for n in 0..3 {
            if n == 2 {
                recorder.add(recorder.series(builtin::CHECKS, &TagSet::empty()), 1.0, 0);
            }
            seconds.add(second(n).0, second(n).1, &[recorder.take()]);
        }
        let series = seconds.into_series();
        assert_eq!(series[0].points, Points::Rate(vec![None, None, Some((1, 1))]));
    }
    #[test]
    fn gauges_and_extremes_of_an_interval_are_told_and_the_breakdown_is_not() {
        let registry = Registry::new();
        registry.set_breakdown(true);
        let recorder = Recorder::new(registry.clone());
        let tags = TagSet::new([("scenario", "a"), ("group", "::g"), ("check", "ok")]);
        for (at, value) in [(1, 4.0), (2, 2.0)] {
            recorder.add(recorder.series(builtin::VUS, &tags), value, at);
            recorder.add(recorder.series(builtin::HTTP_REQ_DURATION, &tags), value, at);
            recorder.add(recorder.series(builtin::CHECKS, &tags), value - 2.0, at);
        }
        let mut seconds = Seconds::new(registry);
        seconds.add(Duration::from_secs(3), Duration::from_secs(5), &[recorder.take()]);
        assert_eq!(seconds.intervals(), [(Duration::from_secs(3), Duration::from_secs(2))]);
        let point = TrendPoint { count: 2, avg: 3.0, min: 2.0, max: 4.0, percentiles: [3.0, 3.8, 3.9, 3.98] };
        let series: Vec<(String, Points)> = seconds.into_series().into_iter().map(|s| (s.name, s.points)).collect();
        let expected = [
            ("checks", Points::Rate(vec![Some((1, 2))])),
            ("http_req_duration", Points::Trend(vec![Some(point)])),
            ("vus", Points::Gauge(vec![Some(2.0)])),
        ];
        assert_eq!(series, expected.map(|(name, points)| (name.to_owned(), points)));
    }
}
