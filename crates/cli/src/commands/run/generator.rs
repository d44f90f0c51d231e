//! Whether a run's generator can be believed: facts of the run go to `engine::judge`, what it says goes to the summary
//! and the result document.

use engine::judgement::{ClosedLoop, IterationLag};
use engine::{Facts, Health, Judgement};
use metrics::results::{Results, TrendValue, Value};
use report::document::{self, Cause, Environment, Generator, WorkerFigures};

/// A judgement, and whether the user overruled it.
pub struct Judged {
    judgement: Judgement,
    accept_late: bool,
}

impl Judged {
    /// Judges a run.
    pub fn new(
        health: &Health,
        results: &Results,
        unstamped: u64,
        environment: &Environment,
        accept_late: bool,
    ) -> Self {
        let facts = facts(results, unstamped, environment);
        Judged { judgement: engine::judge(health, &facts), accept_late }
    }

    /// For the summary: what is wrong and what helps.
    pub fn lines(&self) -> Vec<String> {
        match &self.judgement {
            Judgement::TooShort | Judgement::OnTime => Vec::new(),
            Judgement::Note(note) => vec![note.clone()],
            Judgement::Limit { complaint, .. } if self.accept_late => vec![document::accepted(complaint)],
            Judgement::Limit { complaint, advice, .. } => vec![complaint.clone(), advice.clone()],
        }
    }

    /// For the result document. `notes` are further lines about the generator.
    pub fn document(self, health: &Health, notes: impl IntoIterator<Item = String>) -> Generator {
        let mut generator = Generator {
            process_cores: health.process_cores,
            workers: health.workers.iter().map(worker).collect(),
            dropped_iterations: health.dropped,
            ..Generator::default()
        };
        match self.judgement {
            Judgement::TooShort => generator.too_short = true,
            Judgement::OnTime => {}
            Judgement::Note(note) => generator.notes.push(note),
            Judgement::Limit { cause, complaint, advice } => {
                generator.saturated = true;
                generator.cause = Some(cause_in_document(cause));
                generator.complaint = Some(complaint);
                generator.advice = Some(advice);
                generator.late_accepted = self.accept_late;
            }
        }
        generator.notes.extend(notes);
        generator
    }
}

fn worker(worker: &engine::health::WorkerHealth) -> WorkerFigures {
    WorkerFigures {
        cpu_share: rounded(worker.cpu_share),
        waited_share: worker.waited_share.map(rounded),
        lag_avg_ms: rounded(worker.lag_avg_ms),
        lag_p50_ms: rounded(worker.lag_p50_ms),
        lag_p99_ms: rounded(worker.lag_p99_ms),
        lag_max_ms: rounded(worker.lag_max_ms),
    }
}

/// To a millionth of a core or of a millisecond: more than these figures are good for, and the file stays small.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn cause_in_document(cause: engine::Cause) -> Cause {
    match cause {
        engine::Cause::Busy => Cause::Busy,
        engine::Cause::HeldUp => Cause::HeldUp,
        engine::Cause::LateStarts => Cause::LateStarts,
    }
}

fn facts(results: &Results, unstamped: u64, environment: &Environment) -> Facts {
    let lag = trend(results, "iteration_lag");
    Facts {
        requests: results.count("http_reqs"),
        unstamped,
        iteration_lag: lag.map(|lag| IterationLag { p95_ms: lag.percentile(95.0), p99_ms: lag.percentile(99.0) }),
        closed: closed(results, lag),
        allowed_cores: environment.allowed_cores.len(),
        stolen: environment.notable_steal(),
        throttled: environment.throttled.unwrap_or_default(),
    }
}

/// Iterations whose start no plan gave: all but those of arrival-rate scenarios.
fn closed(results: &Results, lag: Option<&TrendValue>) -> Option<ClosedLoop> {
    let all = trend(results, "iteration_duration")?;
    let open = trend(results, "iteration_duration_from_plan");
    let iterations = all.count().saturating_sub(open.map_or(0, TrendValue::count)) as f64;
    let share = iterations / all.count() as f64;
    // From the plan an iteration lasts longer by its lag.
    let of_open = open.map_or(0.0, TrendValue::sum) - lag.map_or(0.0, TrendValue::sum);
    let spent_ms = all.sum() - of_open.max(0.0);
    // Who waits for many requests at once, as with http.batch, waits for them once.
    let waiting_ms = share * trend(results, "http_req_duration").map_or(0.0, TrendValue::sum);
    let at_once = if spent_ms > 0.0 { (waiting_ms / spent_ms).max(1.0) } else { 1.0 };
    let requests = results.count("http_reqs") as f64 * share / at_once;
    (iterations > 0.0).then(|| ClosedLoop { waits: requests.max(iterations), spent_ms })
}

/// All samples of a Trend; none when there are none.
fn trend<'a>(results: &'a Results, name: &str) -> Option<&'a TrendValue> {
    match &results.metric(name)?.value {
        Value::Trend(trend) if trend.count() > 0 => Some(trend),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use metrics::results::{GroupResult, MetricResult};
    use metrics::{Contains, Kind, Trend};

    use super::*;

    fn results(metrics: &[(&str, &[f64])]) -> Results {
        let metric = |(name, samples): &(&str, &[f64])| {
            let mut trend = Trend::default();
            samples.iter().for_each(|sample| trend.add(*sample));
            let (kind, value) = match *name {
                "http_reqs" => (Kind::Counter, Value::Counter { count: samples[0], rate: 1.0 }),
                _ => (Kind::Trend, Value::Trend(TrendValue::from(trend))),
            };
            let name = (*name).to_owned();
            MetricResult { name, filter: None, kind, contains: Contains::Time, value, thresholds: Vec::new() }
        };
        Results {
            duration: std::time::Duration::from_secs(5),
            metrics: metrics.iter().map(metric).collect(),
            root: GroupResult::default(),
            checks: Vec::new(),
            scenarios: Vec::new(),
            errors: Vec::new(),
        }
    }

    fn closed_of(metrics: &[(&str, &[f64])]) -> Option<(f64, f64)> {
        let closed = facts(&results(metrics), 0, &Environment::default()).closed;
        closed.map(|closed| (closed.waits, closed.spent_ms))
    }

    #[test]
    fn users_wait_once_for_requests_that_are_made_at_once() {
        let iterations: (&str, &[f64]) = ("iteration_duration", &[100.0, 100.0]);
        assert_eq!(closed_of(&[iterations]), Some((2.0, 200.0)));
        let one_by_one = [iterations, ("http_reqs", &[8.0]), ("http_req_duration", &[20.0; 8])];
        assert_eq!(closed_of(&one_by_one), Some((8.0, 200.0)));
        let batch = [iterations, ("http_reqs", &[8.0]), ("http_req_duration", &[100.0; 8])];
        assert_eq!(closed_of(&batch), Some((2.0, 200.0)));
    }

    #[test]
    fn iterations_of_arrival_rates_lose_no_rate() {
        let all = [("iteration_duration", &[50.0, 50.0][..]), ("iteration_lag", &[5.0, 5.0])];
        let open = ("iteration_duration_from_plan", &[55.0, 55.0][..]);
        assert_eq!(closed_of(&[all[0], all[1], open]), None);
        let mixed = ("iteration_duration", &[50.0, 50.0, 300.0][..]);
        assert_eq!(closed_of(&[mixed, all[1], open]), Some((1.0, 300.0)));
        assert_eq!(closed_of(&[]), None);
    }
}
