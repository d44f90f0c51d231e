//! Results told to the last bit, and without how they are kept: histograms of one distribution may lie differently in
//! memory.

use std::fmt::Write;

use onrush_metrics::Results;
use onrush_metrics::results::{GroupResult, MetricResult, Value};

/// Everything that a summary, a report or a threshold could ask of these results.
pub fn told(results: &Results) -> String {
    let mut text = format!("{:?} {:?} {:?}\n", results.duration, results.errors, results.checks);
    metrics(&mut text, &results.metrics);
    group(&mut text, &results.root);
    for scenario in &results.scenarios {
        writeln!(text, "scenario {} {:?}", scenario.name, scenario.checks).expect("text has room");
        metrics(&mut text, &scenario.metrics);
        group(&mut text, &scenario.root);
    }
    text
}

fn group(text: &mut String, of: &GroupResult) {
    writeln!(text, "group {} {} {:?}", of.name, of.path, of.checks).expect("text has room");
    metrics(text, &of.metrics);
    of.groups.iter().for_each(|inner| group(text, inner));
}

fn metrics(text: &mut String, all: &[MetricResult]) {
    for metric in all {
        let MetricResult { name, filter, kind, contains, value, thresholds } = metric;
        writeln!(text, "{name} {filter:?} {kind:?} {contains:?} {} {thresholds:?}", figures(value))
            .expect("text has room");
    }
}

/// Everything that could be asked of a metric.
pub fn figures(value: &Value) -> String {
    let bits = |figures: &[f64]| figures.iter().map(|figure| format!("{figure:?}={:x} ", figure.to_bits())).collect();
    match value {
        Value::Counter { count, rate } => bits(&[*count, *rate]),
        Value::Gauge { value, min, max } => bits(&[*value, *min, *max]),
        Value::Rate { passes, total } => format!("{passes} {total}"),
        Value::Trend(trend) => {
            let percents = [0.0, 1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 100.0].map(|percent| trend.percentile(percent));
            let of = [trend.sum(), trend.avg(), trend.min(), trend.max()];
            let means: Vec<f64> = trend.as_ref().buckets().map(|(mean, _)| mean).collect();
            let numbers: Vec<(i32, u64)> = trend.numbers().collect();
            let (of, percents, means): (String, String, String) = (bits(&of), bits(&percents), bits(&means));
            format!("{} {} {of} {percents} {means} {numbers:?} {:?}", trend.count(), trend.censored(), trend.places())
        }
    }
}
