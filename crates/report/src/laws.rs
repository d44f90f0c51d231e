//! Laws that the figures of every run keep. Where a run breaks one, a figure was measured wrongly.
//!
//! Phases of requests add up to their durations; what is counted twice is counted alike; order statistics are in order;
//! no time is below 0; users that begin again when they have ended spend no more time in iterations than there was.

use metrics::results::{Results, TrendValue, Value};
use units::show::time;

/// What durations of requests are made of.
const PHASES: [&str; 3] = ["http_req_sending", "http_req_waiting", "http_req_receiving"];
/// A counter, and the trend that has a value for each of its counts.
const COUNTED_TWICE: [(&str, &str); 2] = [("http_reqs", "http_req_duration"), ("iterations", "iteration_duration")];
/// Times are whole nanoseconds, and sums of them are not exact beyond this share.
const ROUNDING: f64 = 1e-9;
const NANOSECOND_MS: f64 = 1e-6;
/// Iterations may go on for a moment when the time is over.
const GRACE: f64 = 1.02;

/// The laws that these figures break, in words with the figures. `users`: of scenarios without a plan for their starts,
/// where all are of that kind.
pub fn broken(results: &Results, users: Option<u64>) -> Vec<String> {
    let mut broken = Vec::new();
    for (counter, name) in COUNTED_TWICE {
        let (counted, values) = (results.count(counter), trend(results, name).map_or(0, TrendValue::count));
        if counted != values {
            broken.push(format!("{counter} counts {counted}, and {name} has {values} values"));
        }
    }
    broken.extend(phases(results));
    for metric in results.metrics.iter().filter(|metric| metric.filter.is_none()) {
        let Value::Trend(trend) = &metric.value else { continue };
        let [min, med, p99, max] = [trend.min(), trend.percentile(50.0), trend.percentile(99.0), trend.max()];
        if trend.count() > 0 && !(min <= med && med <= p99 && p99 <= max) && trend.censored() == 0 {
            broken.push(format!("{}: min {min}, med {med}, p(99) {p99}, max {max} are not in order", metric.name));
        }
        if metric.name.starts_with("http_req_") && min < 0.0 {
            broken.push(format!("{}: the shortest is {min} ms", metric.name));
        }
    }
    let spent = trend(results, "iteration_duration").map_or(0.0, TrendValue::sum);
    let seconds = results.duration.as_secs_f64();
    if let Some(users) = users.filter(|users| spent > (*users as f64) * (seconds * GRACE + 1.0) * 1e3) {
        broken.push(format!("iterations took {} in all, and {users} users had {seconds:.1} s each", time(spent)));
    }
    broken
}

fn phases(results: &Results) -> Option<String> {
    let whole = trend(results, "http_req_duration")?;
    let parts: Vec<&TrendValue> = PHASES.iter().filter_map(|name| trend(results, name)).collect();
    if parts.len() < PHASES.len() || parts.iter().any(|part| part.count() != whole.count()) {
        return None;
    }
    let sum: f64 = parts.iter().map(|part| part.sum()).sum();
    let allowed = ROUNDING * whole.sum().abs() + NANOSECOND_MS * 3.0 * whole.count() as f64;
    let is_same = (sum - whole.sum()).abs() <= allowed;
    (!is_same).then(|| {
        format!("sending, waiting and receiving take {} in all, http_req_duration {}", time(sum), time(whole.sum()))
    })
}

fn trend<'a>(results: &'a Results, name: &str) -> Option<&'a TrendValue> {
    match &results.metric(name)?.value {
        Value::Trend(trend) => Some(trend),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metrics::{Aggregate, Recorder, Registry, TagSet, Thresholds, builtin};

    use super::*;

    /// Requests with these phases, in ms, and as many iterations of ten times that.
    fn results(phases: [f64; 3], duration: f64, requests: u64, iterations: f64) -> Results {
        let registry = Registry::new();
        let recorder = Recorder::new(registry.clone());
        let add = |metric, value| recorder.add(recorder.series(metric, &TagSet::empty()), value, 0);
        let metrics = [builtin::HTTP_REQ_SENDING, builtin::HTTP_REQ_WAITING, builtin::HTTP_REQ_RECEIVING];
        metrics.into_iter().zip(phases).for_each(|(metric, value)| add(metric, value));
        add(builtin::HTTP_REQ_DURATION, duration);
        add(builtin::HTTP_REQS, requests as f64);
        add(builtin::ITERATIONS, 1.0);
        add(builtin::ITERATION_DURATION, iterations);
        let mut aggregate = Aggregate::new(registry, Thresholds::default());
        aggregate.merge(recorder.take());
        aggregate.results(Duration::from_secs(10), false)
    }

    #[test]
    fn figures_that_agree_break_nothing() {
        assert_eq!(broken(&results([0.1, 2.0, 0.4], 2.5, 1, 9_000.0), Some(1)), Vec::<String>::new());
    }

    #[test]
    fn each_contradiction_is_named_with_its_figures() {
        let told = broken(&results([0.1, 2.0, 0.4], 2.6, 1, 9.0), None);
        assert_eq!(told, ["sending, waiting and receiving take 2.5ms in all, http_req_duration 2.6ms"]);
        assert_eq!(
            broken(&results([0.1, 2.0, 0.4], 2.5, 2, 9.0), None),
            ["http_reqs counts 2, and http_req_duration has 1 values"]
        );
        assert_eq!(
            broken(&results([-0.1, 2.2, 0.4], 2.5, 1, 9.0), None),
            ["http_req_sending: the shortest is -0.1 ms"]
        );
        let told = broken(&results([0.1, 2.0, 0.4], 2.5, 1, 12_000.0), Some(1));
        assert_eq!(told, ["iterations took 12s in all, and 1 users had 10.0 s each"]);
        assert_eq!(broken(&results([0.1, 2.0, 0.4], 2.5, 1, 12_000.0), Some(2)), Vec::<String>::new());
    }
}
