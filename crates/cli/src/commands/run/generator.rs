//! Whether a run's generator can be believed: facts of the run go to `engine::judge`, what it says goes to the summary and the
//! result document.

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
        cpu_share: worker.cpu_share,
        waited_share: worker.waited_share,
        lag_avg_ms: worker.lag_avg_ms,
        lag_p50_ms: worker.lag_p50_ms,
        lag_p99_ms: worker.lag_p99_ms,
        lag_max_ms: worker.lag_max_ms,
    }
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
        requests: count(results, "http_reqs") as u64,
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
    // From the plan an iteration lasts longer by its lag.
    let of_open = open.map_or(0.0, TrendValue::sum) - lag.map_or(0.0, TrendValue::sum);
    let requests = count(results, "http_reqs") * iterations / all.count() as f64;
    let closed = ClosedLoop { waits: requests.max(iterations), spent_ms: all.sum() - of_open.max(0.0) };
    (iterations > 0.0).then_some(closed)
}

/// All samples of a Trend; none when there are none.
fn trend<'a>(results: &'a Results, name: &str) -> Option<&'a TrendValue> {
    match total(results, name)? {
        Value::Trend(trend) if trend.count() > 0 => Some(trend),
        _ => None,
    }
}

fn count(results: &Results, name: &str) -> f64 {
    match total(results, name) {
        Some(Value::Counter { count, .. }) => *count,
        _ => 0.0,
    }
}

fn total<'a>(results: &'a Results, name: &str) -> Option<&'a Value> {
    results.metrics.iter().find(|metric| metric.name == name && metric.filter.is_none()).map(|metric| &metric.value)
}
