//! A percentile with how sure it is: the interval that holds the true one with 95 %, and whether it has enough samples.
//!
//! `metrics::trend` calculates it. An end that the samples do not give is null, as an end is that lies among values
//! which nobody measured.

use metrics::results::{MetricResult, ThresholdResult, TrendValue, Value as Measured};
use metrics::threshold::{self, Aggregation, Operator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A percentile and where the true one lies with 95 %, if samples are independent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PercentileFigure {
    /// Above 0, below 100.
    pub percent: f64,
    /// As summaries show it; null when it lies among values that were never measured.
    pub value: Option<f64>,
    /// Lower end of the interval; null when the samples give none.
    pub low: Option<f64>,
    /// Upper end; null when the samples give none, or when it lies among values that were never measured.
    pub high: Option<f64>,
    /// Whether it has fewer than ten samples beyond it.
    pub too_few: bool,
}

impl PercentileFigure {
    /// Of a distribution; none without samples, and of the extremes.
    pub fn of(trend: &TrendValue, percent: f64) -> Option<PercentileFigure> {
        let known = |value: f64| value.is_finite().then_some(value);
        trend.interval(percent).map(|interval| PercentileFigure {
            percent,
            value: known(trend.percentile(percent)),
            low: known(interval.low),
            high: known(interval.high),
            too_few: trend.is_thin(percent),
        })
    }

    /// Several of a metric, which has none when it is no Trend.
    pub fn shown(metric: &MetricResult, percents: &[f64]) -> Vec<PercentileFigure> {
        let Measured::Trend(trend) = &metric.value else { return Vec::new() };
        percents.iter().filter_map(|percent| PercentileFigure::of(trend, *percent)).collect()
    }

    /// The percentile that a threshold judges by.
    pub fn judged(metric: &MetricResult, threshold: &ThresholdResult) -> Option<PercentileFigure> {
        let Measured::Trend(trend) = &metric.value else { return None };
        match threshold::parse(&threshold.source).ok()?.aggregation {
            Aggregation::Percentile(percent) => PercentileFigure::of(trend, percent),
            Aggregation::Med => PercentileFigure::of(trend, 50.0),
            _ => None,
        }
    }

    /// Whether one end of the interval keeps a threshold and the other does not.
    pub fn straddles(&self, source: &str) -> bool {
        let Ok(expression) = threshold::parse(source) else { return false };
        if matches!(expression.operator, Operator::Equal | Operator::NotEqual) {
            return false;
        }
        let (low, high) = (self.low.unwrap_or(f64::NEG_INFINITY), self.high.unwrap_or(f64::INFINITY));
        expression.operator.holds(low, expression.limit) != expression.operator.holds(high, expression.limit)
    }

    /// Its interval in words, with a way to show values: `198ms to 231ms`.
    pub fn interval(&self, show: impl Fn(f64) -> String) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) => format!("{} to {}", show(low), show(high)),
            (Some(low), None) => format!("{} to unbounded", show(low)),
            (None, Some(high)) => format!("unbounded to {}", show(high)),
            (None, None) => String::from("unbounded"),
        }
    }
}

#[cfg(test)]
mod tests {
    use metrics::Trend;

    use super::*;

    fn figure(count: u32, percent: f64) -> PercentileFigure {
        let mut trend = Trend::default();
        (1..=count).for_each(|value| trend.add(f64::from(value)));
        PercentileFigure::of(&TrendValue::from(trend), percent).expect("samples")
    }

    #[test]
    fn a_limit_inside_of_the_interval_is_neither_kept_nor_broken_for_sure() {
        let p95 = figure(1000, 95.0);
        let (low, high) = (p95.low.expect("an end"), p95.high.expect("an end"));
        assert!(low < 940.0 && high > 960.0 && !p95.too_few, "{p95:?}");
        for (source, expected) in [
            ("p(95)<950", true),
            ("p(95)<965.5", false),
            ("p(95)>=930", false),
            ("p(95) > 955", true),
            ("p(95)==950", false),
            ("no threshold", false),
        ] {
            assert_eq!(p95.straddles(source), expected, "{source}: {p95:?}");
        }
        assert!(figure(60, 95.0).straddles("p(95)<1000000"), "60 samples say nothing of what is beyond the largest");
    }

    #[test]
    fn ends_that_are_missing_are_said() {
        let whole = |value: f64| format!("{value:.0}");
        assert_eq!(figure(10, 50.0).interval(whole), "2 to 9");
        assert_eq!(figure(60, 95.0).interval(whole), "53 to unbounded");
        assert_eq!(figure(60, 5.0).interval(whole), "unbounded to 8");
        assert_eq!(figure(5, 50.0).interval(whole), "unbounded");
        assert_eq!((figure(199, 95.0).too_few, figure(200, 95.0).too_few), (true, false));
    }
}
