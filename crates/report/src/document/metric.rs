//! A metric in a result document, and the ways between it and `metrics::results`.
//!
//! Numbers that JSON cannot hold (infinite sums) become the nearest it can.

use metrics::metric::{Contains as Meaning, Kind};
use metrics::results::{
    CheckResult, GroupResult, MetricResult, ScenarioResult, ThresholdResult, TrendValue, Value as Measured,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::histogram::Histogram;
use super::metric_list;
use super::percentile::PercentileFigure;

/// One metric or sub-metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// Name without filter: `http_req_duration`.
    pub name: String,
    /// For a sub-metric the text between the braces: `status:200`; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// What the values are.
    pub contains: Contains,
    /// Thresholds on it, in the order given; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<Threshold>,
    /// Of a Trend, the percentiles that the summary shows, each with how sure it is; absent without samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<PercentileFigure>,
    /// `kind` and `value`.
    #[serde(flatten)]
    pub value: Value,
}

/// What the values of a metric are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Contains {
    /// Plain numbers.
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl From<Meaning> for Contains {
    fn from(meaning: Meaning) -> Contains {
        match meaning {
            Meaning::Default => Contains::Default,
            Meaning::Time => Contains::Time,
            Meaning::Data => Contains::Data,
        }
    }
}

impl From<Contains> for Meaning {
    fn from(contains: Contains) -> Meaning {
        match contains {
            Contains::Default => Meaning::Default,
            Contains::Time => Meaning::Time,
            Contains::Data => Meaning::Data,
        }
    }
}

/// A threshold and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Threshold {
    /// As written: `p(95)<500`.
    pub source: String,
    /// Whether it held.
    pub ok: bool,
    /// The value of its left side.
    pub left: f64,
    /// How sure that is; absent unless it is a percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<PercentileFigure>,
    /// Whether its limit lies inside of the interval of that percentile: more samples could turn it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inside: bool,
    /// Whether nothing was measured for it, so that it was not judged; `ok` is what k6 makes of that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_samples: bool,
}

/// The combined samples, by the kind of the metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "value", rename_all = "lowercase")]
pub enum Value {
    /// A sum.
    Counter {
        /// Sum of the samples.
        count: f64,
        /// `count` per second of the run.
        rate: f64,
    },
    /// A level.
    Gauge {
        /// Last sample.
        value: f64,
        /// Lowest.
        min: f64,
        /// Highest.
        max: f64,
    },
    /// A share.
    Rate {
        /// Samples that were not zero.
        passes: u64,
        /// All samples.
        total: u64,
    },
    /// A distribution.
    Trend(Histogram),
}

/// One check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// As the script names it.
    pub name: String,
    /// `::outer::inner::name`.
    pub path: String,
    /// Times it held.
    pub passes: u64,
    /// Times it did not.
    pub fails: u64,
}

/// Checks and groups of one level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Last part of the path; empty for the root.
    pub name: String,
    /// `::outer::inner`; empty for the root.
    pub path: String,
    /// Checks made directly in this group.
    pub checks: Vec<Check>,
    /// Groups inside, in order of first use.
    pub groups: Vec<Group>,
}

/// The outcome of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Its metrics, by name.
    #[serde(with = "metric_list")]
    #[schemars(with = "Vec<metric_list::MetricEntry<'static>>")]
    pub metrics: Vec<Metric>,
    /// Its checks.
    pub checks: Vec<Check>,
}

impl Metric {
    /// A metric with these percentiles, each with how sure it is.
    pub fn of(metric: &MetricResult, percents: &[f64]) -> Metric {
        Metric { percentiles: PercentileFigure::shown(metric, percents), ..Metric::from(metric) }
    }

    /// How samples were combined.
    pub fn kind(&self) -> Kind {
        match self.value {
            Value::Counter { .. } => Kind::Counter,
            Value::Gauge { .. } => Kind::Gauge,
            Value::Rate { .. } => Kind::Rate,
            Value::Trend(_) => Kind::Trend,
        }
    }

    /// The histogram of a Trend.
    pub fn histogram(&self) -> Option<&Histogram> {
        match &self.value {
            Value::Trend(histogram) => Some(histogram),
            _ => None,
        }
    }

    /// `name` or `name{filter}`.
    pub fn key(&self) -> String {
        match &self.filter {
            Some(filter) => format!("{}{{{filter}}}", self.name),
            None => self.name.clone(),
        }
    }

    /// The tags its filter asks for; empty without one.
    pub fn tags(&self) -> Vec<(&str, &str)> {
        let parts = self.filter.as_deref().unwrap_or_default().split(',').map(str::trim);
        parts
            .filter_map(|part| part.split_once(':'))
            .map(|(name, value)| (name.trim(), unquoted(value.trim())))
            .collect()
    }

    /// Whether its filter asks for exactly these tags.
    pub fn has_tags(&self, tags: &[(&str, &str)]) -> bool {
        let own = self.tags();
        self.filter.is_some() && own.len() == tags.len() && tags.iter().all(|tag| own.contains(tag))
    }

    /// `contains` as the formats of the summaries take it.
    pub fn result_contains(&self) -> Meaning {
        self.contains.into()
    }

    /// The metric as the summaries take it.
    pub fn result(&self) -> MetricResult {
        let value = match &self.value {
            Value::Counter { count, rate } => Measured::Counter { count: *count, rate: *rate },
            Value::Gauge { value, min, max } => Measured::Gauge { value: *value, min: *min, max: *max },
            Value::Rate { passes, total } => Measured::Rate { passes: *passes, total: *total },
            Value::Trend(histogram) => Measured::Trend(TrendValue::from(histogram.trend())),
        };
        let contains = self.result_contains();
        let thresholds = self.thresholds.iter().map(Threshold::result).collect();
        MetricResult {
            name: self.name.clone(),
            filter: self.filter.clone(),
            kind: self.kind(),
            contains,
            value,
            thresholds,
        }
    }
}

/// Values of a filter may stand in quotes.
fn unquoted(text: &str) -> &str {
    let inner = |mark: char| text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

impl Threshold {
    fn of(metric: &MetricResult, threshold: &ThresholdResult) -> Self {
        let ThresholdResult { source, ok, left, .. } = threshold;
        let percentile = PercentileFigure::judged(metric, threshold);
        let inside = percentile.is_some_and(|percentile| percentile.straddles(source));
        let without_samples = !threshold.has_samples;
        Threshold { source: source.clone(), ok: *ok, left: finite(*left), percentile, inside, without_samples }
    }

    fn result(&self) -> ThresholdResult {
        // The left side of `p(95)<500` is what is before the operator.
        let label = self.source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
        ThresholdResult {
            source: self.source.clone(),
            label: label.to_owned(),
            left: self.left,
            ok: self.ok,
            has_samples: !self.without_samples,
        }
    }
}

impl From<&MetricResult> for Metric {
    fn from(metric: &MetricResult) -> Self {
        let value = match &metric.value {
            Measured::Counter { count, rate } => Value::Counter { count: finite(*count), rate: finite(*rate) },
            Measured::Gauge { value, min, max } => {
                Value::Gauge { value: finite(*value), min: finite(*min), max: finite(*max) }
            }
            Measured::Rate { passes, total } => Value::Rate { passes: *passes, total: *total },
            Measured::Trend(trend) => Value::Trend(Histogram::from(trend)),
        };
        let contains = metric.contains.into();
        let thresholds = metric.thresholds.iter().map(|threshold| Threshold::of(metric, threshold)).collect();
        let (name, filter) = (metric.name.clone(), metric.filter.clone());
        Metric { name, filter, contains, thresholds, percentiles: Vec::new(), value }
    }
}

impl From<&CheckResult> for Check {
    fn from(check: &CheckResult) -> Self {
        let CheckResult { name, path, passes, fails } = check.clone();
        Check { name, path, passes, fails }
    }
}

impl Scenario {
    /// A scenario whose metrics have these percentiles.
    pub fn of(scenario: &ScenarioResult, percents: &[f64]) -> Self {
        Scenario {
            name: scenario.name.clone(),
            metrics: scenario.metrics.iter().map(|metric| Metric::of(metric, percents)).collect(),
            checks: scenario.checks.iter().map(Check::from).collect(),
        }
    }
}

impl From<&GroupResult> for Group {
    fn from(group: &GroupResult) -> Self {
        Group {
            name: group.name.clone(),
            path: group.path.clone(),
            checks: group.checks.iter().map(Check::from).collect(),
            groups: group.groups.iter().map(Group::from).collect(),
        }
    }
}

/// A number that JSON can hold.
pub(super) fn finite(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(f64::MIN, f64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sub(filter: &str) -> Metric {
        let value = Value::Rate { passes: 0, total: 0 };
        Metric {
            name: "m".into(),
            filter: Some(filter.into()),
            contains: Contains::Default,
            thresholds: vec![],
            percentiles: vec![],
            value,
        }
    }

    #[test]
    fn filters_are_read_as_tags() {
        assert_eq!(sub("event:edit,hop:total").tags(), [("event", "edit"), ("hop", "total")]);
        assert_eq!(sub(" url:\"http://a/b\" ").tags(), [("url", "http://a/b")]);
        assert!(sub("event:edit, hop:total").has_tags(&[("hop", "total"), ("event", "edit")]));
        assert!(!sub("event:edit,hop:total").has_tags(&[("hop", "total")]));
    }

    #[test]
    fn numbers_stay_within_what_json_holds() {
        assert_eq!(finite(f64::INFINITY), f64::MAX);
        assert_eq!(finite(f64::NAN), 0.0);
        assert_eq!(finite(-2.5), -2.5);
    }
}
