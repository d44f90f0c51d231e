//! The limit of an ordinary run, from what was measured of it. There is no light load to compare with: where all
//! requests are of one kind, the fastest answer stands for it.

use metrics::results::{Results, Value};

use super::{ClosedUse, LimitFacts, Slower, TargetUse, limit};
use crate::document::{Judgement, RunLimit, TargetSeconds, Trust};
use crate::errors::Errors;

/// What was planned, as far as a limit asks for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunLoad {
    /// Users of scenarios without a plan for their starts, where all scenarios are of that kind.
    pub users: Option<f64>,
    /// Whether all scenarios have an arrival rate.
    pub is_planned: bool,
    /// Of the link of a user the bandwidth towards it, in bits per second, where all have the same.
    pub link_bps: Option<f64>,
}

/// Fewer requests have no median worth a name.
const FEWEST: u64 = 100;
/// What answers take together, by protocol.
const WAITING: [&str; 3] = ["http_req_duration", "grpc_req_duration", "ws_session_duration"];

/// Names the limit; none where nothing was judged.
pub fn of_run(
    results: &Results,
    judgement: &Judgement,
    target: Option<&TargetSeconds>,
    load: &RunLoad,
) -> Option<RunLimit> {
    if judgement.verdict == Trust::NotJudged {
        return None;
    }
    let trend = |name: &str| match results.metric(name).map(|metric| &metric.value) {
        Some(Value::Trend(trend)) if trend.count() > 0 => Some(trend),
        _ => None,
    };
    let seconds = results.duration.as_secs_f64().max(1e-3);
    let iterations = trend("iteration_duration").map(|trend| trend.sum());
    let waited: f64 = WAITING.iter().filter_map(|name| trend(name)).map(|trend| trend.sum()).sum();
    let closed = load.users.zip(iterations.filter(|spent| *spent > 0.0));
    let closed = closed.map(|(users, spent)| ClosedUse { users, waiting: (waited / spent).min(1.0) });
    let received = results.count("data_received") as f64 * 8.0;
    let users = load.users.unwrap_or(1.0).max(1.0);
    let judged = &judgement.iterations;
    let slower = trend("http_req_duration").filter(|trend| trend.count() >= FEWEST && results.requests.rows.len() == 1);
    let is_broken = results.metrics.iter().any(|metric| metric.thresholds.iter().any(|threshold| !threshold.ok));
    Some(limit(&LimitFacts {
        findings: &judgement.causes,
        target: target.and_then(used),
        requests: results.count("http_reqs") as f64,
        refused: Errors::from(results).refused() as f64,
        planned: load.is_planned.then(|| (judged.planned as f64, (judged.planned - judged.dropped) as f64)),
        closed,
        link: load.link_bps.filter(|_| load.users.is_some()).map(|bps| received / seconds / users / bps),
        slower: slower.map(|trend| Slower {
            light: trend.min(),
            now: trend.percentile(50.0),
            light_is: "the fastest answer took",
        }),
        is_broken: is_broken && load.is_planned,
    }))
}

/// The target's use of CPU, where it was seen.
pub fn used(target: &TargetSeconds) -> Option<TargetUse> {
    let (busiest, waited) = target.mean_of_busiest();
    Some(TargetUse { name: target.name.clone(), cores: target.mean()?, busiest, waited })
}
