//! Conditions that decide whether a test passed.
//!
//! `ThresholdSpecs` is the option as written in the script; `Thresholds::resolve` checks it against the metrics of the
//! run and makes the sub-metrics it asks for; the `Aggregate` judges it while the test runs and once at the end.
//! Resolve before any recorder resolves a series, else sub-metrics miss samples.

pub mod evaluate;
pub mod parse;
mod spec;

pub use evaluate::{Moment, Standing, Thresholds, Verdict};
pub use parse::{Aggregation, Expression, Operator, ParseError, parse};
pub(crate) use spec::split_key;
pub use spec::{ThresholdError, ThresholdSpec, ThresholdSpecs};

use crate::naming::metric::MetricId;
use crate::registry::SubMetricId;

/// What a threshold is set on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// All samples of a metric.
    Metric(MetricId),
    /// Those that a filter selects.
    Sub(SubMetricId),
}
