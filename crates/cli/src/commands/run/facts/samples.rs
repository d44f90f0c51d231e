//! What of the samples a judgement needs: of a whole run, or of one of its seconds.

use engine::judgement::IterationLag;
use metrics::results::{Results, TrendValue, Value};
use metrics::{ErrorKind, MetricId, Snapshot, Trend, builtin};

/// From here on an iteration starts late, as the engine judges it.
const LATE_MS: f64 = 10.0;
/// How the text of an error ends that this machine made, not the target.
const NO_FILE: [&str; 2] = ["too many open files", "too many open files in system"];
const NO_PORT: &str = "cannot assign requested address";

/// How many samples of a metric there are, and their sum.
#[derive(Clone, Copy, Default)]
pub struct Total {
    /// Samples.
    pub count: u64,
    /// Of all of them; of a Rate those that were not 0.
    pub sum: f64,
}

/// What of the samples a judgement needs.
#[derive(Clone, Default)]
pub struct Samples {
    /// `http_reqs`.
    pub requests: u64,
    /// `http_req_duration`.
    pub request_durations: Total,
    /// `iteration_duration`.
    pub iterations: Total,
    /// `iteration_duration_from_plan`.
    pub iterations_from_plan: Total,
    /// `iteration_lag`, and its sum.
    pub lag: Option<(IterationLag, f64)>,
    /// Requests that got no answer because there were no descriptors.
    pub without_file: u64,
    /// Those for which there was no local port.
    pub without_port: u64,
}

impl Total {
    /// Of a metric in these snapshots.
    pub fn of(snapshots: &[Snapshot], metric: MetricId) -> Total {
        let totals = snapshots.iter().map(|snapshot| snapshot.total(metric));
        totals.fold(Total::default(), |all, (count, sum)| Total { count: all.count + count, sum: all.sum + sum })
    }

    fn and(self, other: Total) -> Total {
        Total { count: self.count + other.count, sum: self.sum + other.sum }
    }
}

impl Samples {
    /// Of one second.
    pub fn of_second(snapshots: &[Snapshot]) -> Samples {
        let errors = || snapshots.iter().flat_map(Snapshot::errors);
        let lag = Snapshot::trend(snapshots, builtin::ITERATION_LAG);
        Samples {
            requests: Total::of(snapshots, builtin::HTTP_REQS).count,
            request_durations: Total::of(snapshots, builtin::HTTP_REQ_DURATION),
            iterations: Total::of(snapshots, builtin::ITERATION_DURATION),
            iterations_from_plan: Total::of(snapshots, builtin::ITERATION_DURATION_FROM_PLAN),
            lag: lag.as_deref().map(|lag| (iteration_lag(lag), lag.sum())),
            without_file: failures(errors(), is_without_file),
            without_port: failures(errors(), is_without_port),
        }
    }

    /// Both together. Percentiles of a lag are the worse ones.
    pub fn and(&self, other: &Samples) -> Samples {
        Samples {
            requests: self.requests + other.requests,
            request_durations: self.request_durations.and(other.request_durations),
            iterations: self.iterations.and(other.iterations),
            iterations_from_plan: self.iterations_from_plan.and(other.iterations_from_plan),
            lag: match (self.lag, other.lag) {
                (Some(one), Some(other)) => Some((worse(&one.0, &other.0), one.1 + other.1)),
                (one, other) => one.or(other),
            },
            without_file: self.without_file + other.without_file,
            without_port: self.without_port + other.without_port,
        }
    }
}

fn worse(one: &IterationLag, other: &IterationLag) -> IterationLag {
    let starts = one.starts + other.starts;
    let late = one.late_share * one.starts as f64 + other.late_share * other.starts as f64;
    IterationLag {
        starts,
        late_share: late / starts.max(1) as f64,
        p95_ms: one.p95_ms.max(other.p95_ms),
        p99_ms: one.p99_ms.max(other.p99_ms),
        max_ms: one.max_ms.max(other.max_ms),
    }
}

impl From<&Results> for Samples {
    fn from(results: &Results) -> Samples {
        let total = |name| {
            let total = |trend: &TrendValue| Total { count: trend.count(), sum: trend.sum() };
            trend(results, name).map(total).unwrap_or_default()
        };
        let errors = || results.errors.iter().map(|error| (&error.kind, error.count));
        Samples {
            requests: results.count("http_reqs"),
            request_durations: total("http_req_duration"),
            iterations: total("iteration_duration"),
            iterations_from_plan: total("iteration_duration_from_plan"),
            lag: trend(results, "iteration_lag").map(|lag| (iteration_lag(lag.as_ref()), lag.sum())),
            without_file: failures(errors(), is_without_file),
            without_port: failures(errors(), is_without_port),
        }
    }
}

fn iteration_lag(lag: &Trend) -> IterationLag {
    IterationLag {
        starts: lag.count(),
        late_share: lag.share_from(LATE_MS),
        p95_ms: lag.percentile(95.0),
        p99_ms: lag.percentile(99.0),
        max_ms: lag.max(),
    }
}

/// Requests without an answer whose error reads so.
fn failures<'a>(errors: impl Iterator<Item = (&'a ErrorKind, u64)>, is: fn(&str) -> bool) -> u64 {
    let kinds = errors.filter(|(kind, _)| matches!(kind, ErrorKind::NoAnswer(text) if is(text)));
    kinds.map(|(_, count)| count).sum()
}

fn is_without_file(text: &str) -> bool {
    NO_FILE.iter().any(|end| text.ends_with(end))
}

fn is_without_port(text: &str) -> bool {
    text.ends_with(NO_PORT)
}

/// All samples of a Trend; none when there are none.
pub fn trend<'a>(results: &'a Results, name: &str) -> Option<&'a TrendValue> {
    match &results.metric(name)?.value {
        Value::Trend(trend) if trend.count() > 0 => Some(trend),
        _ => None,
    }
}
