//! How fast the test is going, in one line beside its progress: rate, 95th percentile and failures of the last seconds.

use std::time::Duration;

use metrics::{Aggregate, MetricId, builtin};
use units::show::{grouped, percent, time};

/// The metrics that it is made of, in a second with requests or without.
pub fn metrics(has_requests: bool) -> [MetricId; 4] {
    let durations = if has_requests { builtin::HTTP_REQ_DURATION } else { builtin::ITERATION_DURATION };
    [builtin::HTTP_REQS, builtin::HTTP_REQ_FAILED, builtin::ITERATIONS, durations]
}

/// `7,775 requests/s, p(95) 477µs, 0.10 % failed`; of iterations where there are no requests. None before anything has
/// ended.
pub fn pace(samples: &Aggregate, over: Duration) -> Option<String> {
    let (what, count, durations) = match samples.samples(builtin::HTTP_REQS) {
        0 => ("iterations", samples.samples(builtin::ITERATIONS), builtin::ITERATION_DURATION),
        requests => ("requests", requests, builtin::HTTP_REQ_DURATION),
    };
    let durations = samples.trend(durations)?;
    let rate = count as f64 / over.as_secs_f64().max(1e-9);
    let rate = if rate < 10.0 { format!("{rate:.1}") } else { grouped(rate.round() as u64) };
    let failures = samples.live(builtin::HTTP_REQ_FAILED);
    let failed = (samples.samples(builtin::HTTP_REQ_FAILED) > 0)
        .then(|| format!(", {} failed", percent(failures / samples.samples(builtin::HTTP_REQ_FAILED) as f64, 2)));
    Some(format!("{rate} {what}/s, p(95) {}{}", time(durations.percentile(95.0)), failed.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use metrics::{Recorder, Registry, TagSet, Thresholds};

    use super::*;

    fn of(samples: &[(MetricId, &[f64])]) -> Option<String> {
        let registry = Registry::new();
        let recorder = Recorder::new(registry.clone());
        for (metric, values) in samples {
            let series = recorder.series(*metric, &TagSet::empty());
            values.iter().for_each(|value| recorder.add(series, *value, 0));
        }
        let mut aggregate = Aggregate::new(registry, Thresholds::default());
        let has_requests = samples.iter().any(|(metric, _)| *metric == builtin::HTTP_REQS);
        aggregate.merge(recorder.take().of_metrics(&metrics(has_requests)));
        pace(&aggregate, Duration::from_secs(2))
    }

    #[test]
    fn rate_percentile_and_failures_are_told_as_far_as_there_are_any() {
        assert_eq!(of(&[]), None);
        let iterations = (builtin::ITERATIONS, &[1.0; 5][..]);
        let durations = (builtin::ITERATION_DURATION, &[400.0; 5][..]);
        assert_eq!(of(&[iterations, durations]).as_deref(), Some("2.5 iterations/s, p(95) 400ms"));
        let requests = (builtin::HTTP_REQS, &[1.0; 3000][..]);
        let took = (builtin::HTTP_REQ_DURATION, &[0.5; 3000][..]);
        let failed = (builtin::HTTP_REQ_FAILED, &[0.0, 0.0, 0.0, 1.0][..]);
        let told = of(&[iterations, durations, requests, took, failed]);
        assert_eq!(told.as_deref(), Some("1,500 requests/s, p(95) 500µs, 25.00 % failed"));
    }
}
