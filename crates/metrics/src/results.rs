//! The outcome of a run, as plain values: what the summary prints and `handleSummary` receives.
//!
//! Made by `Aggregate::results`. Nothing here is formatted: times are ms, data is bytes, shares are counts, and a Trend
//! can still be asked for any percentile.

use std::sync::Arc;
use std::time::Duration;

use crate::errors::ErrorCount;
use crate::naming::metric::{Contains, Kind};
use crate::requests::RequestTable;
use crate::trend::{RankInterval, Trend};

/// Everything measured in a run.
#[derive(Clone, Debug)]
pub struct Results {
    /// The time of the load, which rates divide by: from the start of the first scenario to the end of the last
    /// iteration. k6 divides by the whole run, `setup()` and `teardown()` included.
    pub duration: Duration,
    /// Metrics that have samples or thresholds, by name; a sub-metric follows its parent.
    pub metrics: Vec<MetricResult>,
    /// Checks and groups, in the order they were first seen. The root has an empty name.
    pub root: GroupResult,
    /// All checks in the order they were first seen, those of one name from different groups added up.
    pub checks: Vec<CheckResult>,
    /// Per scenario, only when the breakdown was asked for (summary mode `full`).
    pub scenarios: Vec<ScenarioResult>,
    /// What went wrong, the most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Requests by kind, those that failed in front.
    pub requests: RequestTable,
}

impl Results {
    /// The metric of this name that covers all samples.
    pub fn metric(&self, name: &str) -> Option<&MetricResult> {
        self.metrics.iter().find(|metric| metric.name == name && metric.filter.is_none())
    }

    /// The sum of a counter; 0 without samples.
    pub fn count(&self, name: &str) -> u64 {
        match self.metric(name).map(|metric| &metric.value) {
            Some(Value::Counter { count, .. }) => *count as u64,
            _ => 0,
        }
    }
}

/// One metric or sub-metric.
#[derive(Clone, Debug)]
pub struct MetricResult {
    /// Name without filter: `http_req_duration`.
    pub name: String,
    /// For a sub-metric the text between the braces: `status:200`.
    pub filter: Option<String>,
    /// How samples were combined.
    pub kind: Kind,
    /// What the values are.
    pub contains: Contains,
    /// The combined samples.
    pub value: Value,
    /// Thresholds on it, in the order given.
    pub thresholds: Vec<ThresholdResult>,
}

/// The combined samples of a metric. Times in ms, data in bytes.
#[derive(Clone, Debug)]
pub enum Value {
    /// Sum and, by the run's duration, rate per second.
    Counter {
        /// Sum of the samples.
        count: f64,
        /// `count` per second of the run.
        rate: f64,
    },
    /// Last, lowest and highest sample.
    Gauge {
        /// Last.
        value: f64,
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
    },
    /// Samples that were not zero among all.
    Rate {
        /// Not zero.
        passes: u64,
        /// All.
        total: u64,
    },
    /// A distribution.
    Trend(TrendValue),
}

/// A distribution that can still be asked for any percentile. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TrendValue(Arc<Trend>);

impl From<Trend> for TrendValue {
    fn from(trend: Trend) -> Self {
        TrendValue(Arc::new(trend))
    }
}

impl AsRef<Trend> for TrendValue {
    fn as_ref(&self) -> &Trend {
        &self.0
    }
}

impl TrendValue {
    /// Its buckets in ascending order: the number of each and how many samples it has (`Trend::numbers`).
    pub fn numbers(&self) -> impl Iterator<Item = (i32, u64)> {
        self.0.numbers()
    }
    /// Where in their buckets the common percentiles lie (`Trend::places`).
    pub fn places(&self) -> Vec<(i32, u32)> {
        self.0.places()
    }
    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.0.count()
    }
    /// Values that were never measured and are larger than all samples: `Trend::add_censored`.
    pub fn censored(&self) -> u64 {
        self.0.censored()
    }
    /// Sum of the samples.
    pub fn sum(&self) -> f64 {
        self.0.sum()
    }
    /// Mean; 0 when empty.
    pub fn avg(&self) -> f64 {
        self.0.avg()
    }
    /// Lowest, exact; 0 when empty.
    pub fn min(&self) -> f64 {
        self.0.min()
    }
    /// Highest, exact; 0 when empty.
    pub fn max(&self) -> f64 {
        self.0.max()
    }
    /// The value below which `percent` (0-100) of the samples lie, interpolated as k6 does, relative error ≤ 0.1 %.
    pub fn percentile(&self, percent: f64) -> f64 {
        self.0.percentile(percent)
    }
    /// Where that lies with 95 %: `Trend::interval`.
    pub fn interval(&self, percent: f64) -> Option<RankInterval> {
        self.0.interval(percent)
    }
    /// Whether it has fewer than ten samples beyond it.
    pub fn is_thin(&self, percent: f64) -> bool {
        self.0.is_thin(percent)
    }
}

/// A threshold and how it ended.
#[derive(Clone, Debug)]
pub struct ThresholdResult {
    /// As written: `p(95)<500`.
    pub source: String,
    /// Its left side: `p(95)`.
    pub label: String,
    /// The value of its left side (`p(95)` → 3.31).
    pub left: f64,
    /// Whether it held. Without samples k6 takes what was not measured as 0, or as held.
    pub ok: bool,
    /// Whether there was anything to judge. A Counter without samples is 0.
    pub has_samples: bool,
}

/// Checks and groups of one level.
#[derive(Clone, Debug, Default)]
pub struct GroupResult {
    /// Last part of the path; empty for the root.
    pub name: String,
    /// `::outer::inner`; empty for the root.
    pub path: String,
    /// Checks made directly in this group.
    pub checks: Vec<CheckResult>,
    /// Groups inside, in order of first use.
    pub groups: Vec<GroupResult>,
    /// Metrics of samples made directly in this group; only with the breakdown.
    pub metrics: Vec<MetricResult>,
}

/// One check.
#[derive(Clone, Debug)]
pub struct CheckResult {
    /// As the script names it.
    pub name: String,
    /// `::outer::inner::name`.
    pub path: String,
    /// Times it held.
    pub passes: u64,
    /// Times it did not.
    pub fails: u64,
}

/// Metrics and checks of one scenario.
#[derive(Clone, Debug)]
pub struct ScenarioResult {
    /// Name of the scenario.
    pub name: String,
    /// Its metrics.
    pub metrics: Vec<MetricResult>,
    /// Its checks and groups.
    pub root: GroupResult,
    /// Its checks without groups, as `Results::checks`.
    pub checks: Vec<CheckResult>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_answers_for_its_trend() {
        let mut trend = Trend::default();
        [1.0, 2.0, 9.0].iter().for_each(|value| trend.add(*value));
        let value = TrendValue::from(trend);
        assert_eq!((value.count(), value.sum(), value.avg()), (3, 12.0, 4.0));
        assert_eq!((value.min(), value.percentile(50.0), value.max()), (1.0, 2.0, 9.0));
        assert_eq!(value.numbers().collect::<Vec<_>>(), [(1_047_553, 1), (1_048_577, 1), (1_050_753, 1)]);
        assert_eq!(value.places(), [(1_047_553, 0), (1_048_577, 0), (1_050_753, 0)], "the lowest of their buckets");
    }
}
