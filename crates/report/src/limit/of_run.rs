//! The limit of an ordinary run, from what was measured of it. There is no light load to compare with. Of an arrival
//! rate the first second stands for it, when a queue has not grown yet; of users that begin again when they have ended
//! the fastest answer does, where all requests are of one kind.

use metrics::results::{Results, Value};

use super::{AnswerCourse, ClosedUse, LimitFacts, Slower, TargetUse, limit};
use crate::document::{Judgement, RunLimit, TargetSeconds, Trust};
use crate::errors::Errors;

/// What was planned, as far as a limit asks for it.
#[derive(Clone, Debug, Default)]
pub struct RunLoad {
    /// Users of scenarios without a plan for their starts, where all scenarios are of that kind.
    pub users: Option<f64>,
    /// Whether all scenarios have an arrival rate.
    pub is_planned: bool,
    /// Bandwidth of the link of a user in bits per second, where all have the same: towards the user, and from it.
    pub link_bps: [Option<f64>; 2],
    /// How long answers took over time.
    pub course: AnswerCourse,
}

/// Fewer requests have no median worth a name.
const FEWEST: u64 = 100;
/// What answers take together, by protocol.
const WAITING: [&str; 3] = ["http_req_duration", "grpc_req_duration", "ws_session_duration"];
/// Of one queue for all users a request waits for those of nearly all others: the time of the fastest answer for each.
const OF_USERS: std::ops::Range<f64> = 0.5..1.3;
/// And all wait about as long: a tenth less than this share of what a tenth takes longer than.
const EVEN: f64 = 0.6;
/// Fewer users make no queue that is told from answers that take twice as long by themselves.
const FEWEST_USERS: f64 = 8.0;

/// Names the limit; none where nothing was judged.
pub fn of_run(results: &Results, judgement: &Judgement, target: Option<TargetUse>, load: &RunLoad) -> Option<RunLimit> {
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
    let users = load.users.unwrap_or(1.0).max(1.0);
    let carried = ["data_received", "data_sent"].map(|metric| results.count(metric) as f64 * 8.0 / seconds / users);
    let shares = load.link_bps.iter().zip(carried).filter_map(|(bps, carried)| Some(carried / (*bps)?));
    let judged = &judgement.iterations;
    let of_one_kind = results.requests.rows.len() == 1;
    let all = trend("http_req_duration").filter(|trend| trend.count() >= FEWEST && of_one_kind);
    let ends = load.course.ends().filter(|_| of_one_kind);
    let slower = match load.is_planned {
        true => ends.map(|(first, end)| Slower {
            light: first.p10,
            now: end.p10,
            light_is: "those of the first second took",
        }),
        false => {
            all.map(|trend| Slower { light: trend.min(), now: trend.percentile(50.0), light_is: "the fastest took" })
        }
    };
    let is_one_queue = ends.zip(slower).is_some_and(|((_, end), slower)| {
        let of_users = slower.now / slower.light.max(1e-6) / users;
        users >= FEWEST_USERS && OF_USERS.contains(&of_users) && end.p10 >= EVEN * end.p90
    });
    let is_broken = results.metrics.iter().any(|metric| metric.thresholds.iter().any(|threshold| !threshold.ok));
    Some(limit(&LimitFacts {
        findings: &judgement.causes,
        target,
        requests: results.count("http_reqs") as f64,
        refused: Errors::from(results).refused() as f64,
        planned: load.is_planned.then(|| (judged.planned as f64, (judged.planned - judged.dropped) as f64)),
        closed,
        link: shares.filter(|_| load.users.is_some()).reduce(f64::max),
        slower,
        is_one_queue,
        is_broken: is_broken && load.is_planned,
    }))
}

/// The target's use of CPU, where it was seen.
pub fn used(target: &TargetSeconds) -> Option<TargetUse> {
    let (busiest, waited) = target.mean_of_busiest();
    Some(TargetUse { name: target.name.clone(), cores: target.mean()?, busiest, waited })
}
