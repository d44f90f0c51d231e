//! How fast the test went in the last second: rate, percentiles and failures.

use std::time::Duration;

use metrics::{Snapshot, builtin};

use crate::commands::run::facts::samples::Total;
use crate::live::Pace;

/// Of requests; of iterations where there are none. None where nothing has ended.
pub fn pace(snapshots: &[Snapshot], over: Duration) -> Option<Pace> {
    let total = |metric| Total::of(snapshots, metric);
    let (what, count, durations) = match total(builtin::HTTP_REQS).count {
        0 => ("iterations", total(builtin::ITERATIONS).count, builtin::ITERATION_DURATION),
        requests => ("requests", requests, builtin::HTTP_REQ_DURATION),
    };
    let durations = Snapshot::trend(snapshots, durations)?;
    let Total { count: judged, sum: failures } = total(builtin::HTTP_REQ_FAILED);
    debug_assert!(failures <= judged as f64, "{failures} of {judged} requests failed");
    Some(Pace {
        what,
        per_second: count as f64 / over.as_secs_f64().max(1e-9),
        percentiles: durations.percentiles([50.0, 95.0, 99.0]),
        failed: (judged > 0).then(|| failures / judged as f64),
    })
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
        pace(&workers.iter().map(worker).collect::<Vec<_>>(), Duration::from_secs(2)).map(|pace| pace.to_string())
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
