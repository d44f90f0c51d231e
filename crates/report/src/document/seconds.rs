//! The metrics second by second: parallel columns, one entry an interval.
//!
//! `packed_seconds` is how a document writes them.
//!
//! A sample belongs to the interval in which its worker recorded it, which is when the request or iteration it tells of
//! ended; what a busy worker hands over late counts where it was handed over. Nothing is lost: sums and counts of a
//! series add up to the metric's total. An interval in which nothing came in is null, never 0.

use metrics::seconds::{Points as Gathered, SecondsSeries, TrendPoint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::column;
use super::metric::finite;
use super::packed_seconds::PackedSeconds;

/// One number an interval; null where no sample came in.
pub type Column = Vec<Option<f64>>;
/// One count an interval; null where no sample came in.
pub type Counts = Vec<Option<u64>>;

/// All series of a run over the same intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "PackedSeconds", try_from = "PackedSeconds")]
#[schemars(with = "PackedSeconds")]
pub struct Seconds {
    /// Start of each interval, from the start of the run's clock.
    pub starts_s: Vec<f64>,
    /// Length of each interval: about 1; setup, teardown and the last second of the test are as long as they were.
    pub lengths_s: Vec<f64>,
    /// When the scenarios began, from the start of the run's clock: what is before belongs to setup.
    pub scenarios_start_s: f64,
    /// When the last iteration ended: what is after belongs to teardown.
    pub scenarios_end_s: f64,
    /// One a metric and sub-metric that has samples, by name; a sub-metric follows its parent.
    pub series: Vec<Series>,
}

/// One metric or sub-metric over time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Series {
    /// Name without filter.
    pub name: String,
    /// For a sub-metric the text between the braces.
    pub filter: Option<String>,
    /// `kind` and `points`.
    #[serde(flatten)]
    pub points: Points,
}

/// The columns of a series, each as long as `starts_s`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", content = "points", rename_all = "lowercase")]
pub enum Points {
    /// Of a Counter.
    Counter {
        /// Sum of the interval's samples; divide by the length for a rate.
        sum: Column,
    },
    /// Of a Gauge.
    Gauge {
        /// Last sample of the interval.
        last: Column,
    },
    /// Of a Rate.
    Rate {
        /// Samples that were not zero.
        passes: Counts,
        /// All samples.
        total: Counts,
    },
    /// Of a Trend. Percentiles are those of the interval alone and cannot be averaged into those of a longer one.
    Trend {
        /// Number of samples.
        count: Counts,
        /// Mean.
        avg: Column,
        /// Lowest.
        min: Column,
        /// Highest.
        max: Column,
        /// Median.
        p50: Column,
        /// 90th percentile.
        p90: Column,
        /// 95th percentile.
        p95: Column,
        /// 99th percentile.
        p99: Column,
    },
}

impl From<SecondsSeries> for Series {
    fn from(series: SecondsSeries) -> Self {
        let points = match series.points {
            Gathered::Counter(sum) => Points::Counter { sum: sum.into_iter().map(|sum| sum.map(finite)).collect() },
            Gathered::Gauge(last) => Points::Gauge { last: last.into_iter().map(|last| last.map(finite)).collect() },
            Gathered::Rate(pairs) => {
                let (passes, total) = pairs.into_iter().map(Option::unzip).unzip();
                Points::Rate { passes, total }
            }
            Gathered::Trend(points) => columns(&points),
        };
        Series { name: series.name, filter: series.filter, points }
    }
}

fn columns(points: &[Option<TrendPoint>]) -> Points {
    let column = |of: fn(&TrendPoint) -> f64| points.iter().map(|point| point.as_ref().map(of)).collect();
    let percentile = |of: fn([f64; 4]) -> f64| points.iter().map(|point| point.map(|p| of(p.percentiles))).collect();
    let columns = Points::Trend {
        count: points.iter().map(|point| point.map(|p| p.count)).collect(),
        avg: column(|p| p.avg),
        min: column(|p| p.min),
        max: column(|p| p.max),
        p50: percentile(|[p50, _, _, _]| p50),
        p90: percentile(|[_, p90, _, _]| p90),
        p95: percentile(|[_, _, p95, _]| p95),
        p99: percentile(|[_, _, _, p99]| p99),
    };
    columns.in_steps()
}

impl Points {
    /// With the numbers of a distribution as exact as a document keeps them.
    pub(super) fn in_steps(mut self) -> Points {
        if let Points::Trend { count: _, avg, min, max, p50, p90, p95, p99 } = &mut self {
            let values = [avg, min, max, p50, p90, p95, p99].into_iter().flatten().flatten();
            values.for_each(|value| *value = column::nearest(finite(*value)));
        }
        self
    }

    /// Lengths of all columns.
    pub(super) fn lengths(&self) -> Vec<usize> {
        match self {
            Points::Counter { sum } => vec![sum.len()],
            Points::Gauge { last } => vec![last.len()],
            Points::Rate { passes, total } => vec![passes.len(), total.len()],
            Points::Trend { count, avg, min, max, p50, p90, p95, p99 } => {
                [avg, min, max, p50, p90, p95, p99].iter().map(|column| column.len()).chain([count.len()]).collect()
            }
        }
    }
}

impl Seconds {
    /// What is wrong with the columns, when something is.
    pub(super) fn contradiction(&self) -> Option<String> {
        let expected = self.starts_s.len();
        if self.lengths_s.len() != expected {
            return Some(format!("seconds has {expected} starts_s and {} lengths_s", self.lengths_s.len()));
        }
        let odd = |series: &&Series| series.points.lengths().iter().any(|length| *length != expected);
        let series = self.series.iter().find(odd)?;
        Some(format!("the series of {} has a column that is not {expected} intervals long", series.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_stay_gaps() {
        let series = SecondsSeries { name: "r".into(), filter: None, points: Gathered::Rate(vec![None, Some((1, 2))]) };
        let expected = Points::Rate { passes: vec![None, Some(1)], total: vec![None, Some(2)] };
        assert_eq!(Series::from(series).points, expected);
    }

    #[test]
    fn each_figure_of_a_distribution_has_its_column() {
        let point = TrendPoint { count: 9, avg: 2.5, min: 1.0, max: 8.0, percentiles: [2.0, 6.0, 7.0, 7.5] };
        let series = SecondsSeries { name: "t".into(), filter: None, points: Gathered::Trend(vec![Some(point), None]) };
        let column = |value| vec![Some(value), None];
        let expected = Points::Trend {
            count: vec![Some(9), None],
            avg: column(2.5),
            min: column(1.0),
            max: column(8.0),
            p50: column(2.0),
            p90: column(6.0),
            p95: column(7.0),
            p99: column(7.5),
        };
        assert_eq!(Series::from(series).points, expected);
    }
}
