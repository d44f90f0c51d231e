//! How fast the test is going, in one line beside its progress: rate, 95th percentile and failures of the last second.

use std::time::Duration;

use metrics::{Snapshot, builtin};
use units::show::{grouped, percent, time};

use super::samples::Total;

/// `7,775 requests/s, p(95) 477µs, 0.10 % failed`; of iterations where there are no requests. None where nothing has
/// ended.
pub fn pace(snapshots: &[Snapshot], over: Duration) -> Option<String> {
    let total = |metric| Total::of(snapshots, metric);
    let (what, count, durations) = match total(builtin::HTTP_REQS).count {
        0 => ("iterations", total(builtin::ITERATIONS).count, builtin::ITERATION_DURATION),
        requests => ("requests", requests, builtin::HTTP_REQ_DURATION),
    };
    let durations = Snapshot::trend(snapshots, durations)?;
    let rate = count as f64 / over.as_secs_f64().max(1e-9);
    let rate = if rate < 10.0 { format!("{rate:.1}") } else { grouped(rate.round() as u64) };
    let Total { count: judged, sum: failures } = total(builtin::HTTP_REQ_FAILED);
    let failed = (judged > 0).then(|| format!(", {} failed", percent(failures / judged as f64, 2)));
    Some(format!("{rate} {what}/s, p(95) {}{}", time(durations.percentile(95.0)), failed.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use metrics::{MetricId, Recorder, Registry, TagSet};

    use super::*;

    fn of(workers: &[&[(MetricId, &[f64])]]) -> Option<String> {
        let registry = Registry::new();
        let worker = |samples: &&[(MetricId, &[f64])]| {
            let recorder = Recorder::new(registry.clone());
            for (metric, values) in *samples {
                let series = recorder.series(*metric, &TagSet::empty());
                values.iter().for_each(|value| recorder.add(series, *value, 0));
            }
            recorder.take()
        };
        pace(&workers.iter().map(worker).collect::<Vec<_>>(), Duration::from_secs(2))
    }

    #[test]
    fn rate_percentile_and_failures_are_told_as_far_as_there_are_any() {
        assert_eq!(of(&[]), None);
        let iterations = (builtin::ITERATIONS, &[1.0; 5][..]);
        let durations = (builtin::ITERATION_DURATION, &[400.0; 5][..]);
        assert_eq!(of(&[&[iterations, durations]]).as_deref(), Some("2.5 iterations/s, p(95) 400ms"));
        let requests = (builtin::HTTP_REQS, &[1.0; 3000][..]);
        let took = (builtin::HTTP_REQ_DURATION, &[0.5; 3000][..]);
        let failed = (builtin::HTTP_REQ_FAILED, &[0.0, 0.0, 0.0, 1.0][..]);
        let told = of(&[&[iterations, durations, requests, took, failed], &[requests, took]]);
        assert_eq!(told.as_deref(), Some("3,000 requests/s, p(95) 500µs, 25.00 % failed"));
    }
}
