//! What a reader has to know of how sure the figures are, a line each: thresholds whose limit lies within the doubt,
//! and percentiles of too few samples that somebody asked for.

use metrics::results::{MetricResult, Results, Value};
use units::show::grouped;

use crate::document::PercentileFigure;
use crate::export::key;
use crate::format;
use crate::options::{SummaryOptions, TimeUnit, TrendStat};

/// The lines. A percentile of too few samples that a threshold judges by is no line here: it is a cause of the verdict.
pub fn lines(results: &Results, options: &SummaryOptions) -> Vec<String> {
    let doubtful = results.metrics.iter().flat_map(|metric| doubtful(metric, options.time_unit));
    doubtful.chain(thin(results, &options.trend_stats)).collect()
}

fn doubtful(metric: &MetricResult, unit: Option<TimeUnit>) -> Vec<String> {
    let show = |value: f64| format::value(value, metric.contains, unit);
    let line = |threshold: &metrics::results::ThresholdResult| {
        let figure = PercentileFigure::judged(metric, threshold)?;
        let is_doubtful = !figure.too_few && figure.straddles(&threshold.source);
        is_doubtful.then(|| {
            format!(
                "{} of {} is {}, somewhere from {}: the limit of '{}' lies inside, run for longer to be sure",
                threshold.label,
                key(metric),
                show(threshold.left),
                figure.interval(show),
                threshold.source
            )
        })
    };
    metric.thresholds.iter().filter_map(line).collect()
}

/// The main Trend's percentiles that have too few samples, where somebody chose which to show.
fn thin(results: &Results, stats: &[TrendStat]) -> Option<String> {
    if stats == TrendStat::defaults() {
        return None;
    }
    let main = ["http_req_duration", "iteration_duration"].into_iter().find_map(|name| {
        let metric = results.metric(name)?;
        let Value::Trend(trend) = &metric.value else { return None };
        (trend.count() > 0).then_some((metric, trend))
    });
    let (metric, trend) = main?;
    let thin: Vec<&str> = stats
        .iter()
        .filter(|stat| stat.percent().is_some_and(|percent| trend.is_thin(percent)))
        .map(TrendStat::label)
        .collect();
    let samples = grouped(trend.count() + trend.censored());
    let named = thin.join(", ");
    (!thin.is_empty())
        .then(|| format!("too few samples for {named} of {}: {samples} leave fewer than ten beyond it", key(metric)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metrics::results::{GroupResult, ThresholdResult, TrendValue};
    use metrics::{Contains, Kind, Trend};

    use super::*;

    fn results(samples: u32, source: &str) -> Results {
        let mut trend = Trend::default();
        (1..=samples).for_each(|value| trend.add(f64::from(value)));
        let left = trend.percentile(95.0);
        let threshold =
            ThresholdResult { source: source.into(), label: String::from("p(95)"), left, ok: true, has_samples: true };
        let metric = MetricResult {
            name: String::from("http_req_duration"),
            filter: None,
            kind: Kind::Trend,
            contains: Contains::Time,
            value: Value::Trend(TrendValue::from(trend)),
            thresholds: vec![threshold],
        };
        Results {
            duration: Duration::from_secs(5),
            metrics: vec![metric],
            root: GroupResult::default(),
            checks: Vec::new(),
            scenarios: Vec::new(),
            errors: Vec::new(),
            requests: Default::default(),
        }
    }

    #[test]
    fn a_limit_within_the_doubt_is_said() {
        let options = SummaryOptions::default();
        let said = lines(&results(1000, "p(95)<955"), &options);
        let expected = "p(95) of http_req_duration is 950.05ms, somewhere from 936ms to 964ms: the limit of \
                        'p(95)<955' lies inside, run for longer to be sure";
        assert_eq!(said, [expected]);
        assert_eq!(lines(&results(1000, "p(95)<1100"), &options), [""; 0]);
        assert_eq!(lines(&results(100, "p(95)<95"), &options), [""; 0], "too few are a cause of the verdict");
    }

    #[test]
    fn percentiles_that_somebody_chose_are_marked_when_they_have_too_few_samples() {
        let asked = |words: &[&str]| SummaryOptions {
            trend_stats: crate::parse_trend_stats(words).expect("statistics"),
            ..SummaryOptions::default()
        };
        let said = |words| lines(&results(150, "p(95)<1000"), &asked(words));
        assert_eq!(
            said(&["med", "p(90)", "p(95)", "p(99.9)"]),
            ["too few samples for p(95), p(99.9) of http_req_duration: 150 leave fewer than ten beyond it"]
        );
        assert_eq!(said(&["med", "p(90)"]), [""; 0]);
        assert_eq!(said(&["avg", "min", "med", "max", "p(90)", "p(95)"]), [""; 0], "nobody chose the usual ones");
    }
}
