//! What a test needs before it starts: its scenarios cut to this instance's segment, divided over the workers, and the
//! virtual users that have to be made for them.
//!
//! Virtual users of scenarios that do not overlap are the same ones, so a worker needs as many as its scenarios use at
//! the busiest moment, graces included. Pure: the same options give the same plan.
//!
//! A closed scenario is spread over all workers. An arrival rate is spread only so far that each worker keeps at least
//! eight virtual users: the starts are striped over the workers in advance, and a worker with one or two users would
//! drop starts for which another worker has a free one.

mod live;

use std::sync::Arc;
use std::time::Duration;

use crate::pacer::{ActiveSpan, Arrivals, Ramp, SharedIterations};
use crate::scenario::{ConfigError, Executor, MOST_USERS, Scenario, Scenarios};
use crate::segment::Stripes;
use crate::spread::Spread;
use crate::state::{RunState, ScenarioFacts};

/// Fewest virtual users that an arrival rate gives to a worker.
const FEWEST_USERS: u64 = 8;

/// Everything decided before a run. Built from checked scenarios.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) lanes: Vec<LanePlan>,
    /// Numbers (`__VU`) of the users that each worker makes before the start.
    pub(crate) users: Vec<Vec<u64>>,
    pub(crate) stripes: Stripes,
    requirements: Requirements,
}

/// What a test needs at most, as `inspect --execution-requirements` tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// Virtual users made before the start.
    pub planned_vus: u64,
    /// Virtual users at the busiest moment, with those that arrival rates may add.
    pub max_vus: u64,
    /// Start to last possible end, graces included.
    pub duration: Duration,
}

/// One scenario as this instance runs it.
#[derive(Clone, Debug)]
pub(crate) struct LanePlan {
    pub(crate) scenario: Scenario,
    pub(crate) work: Work,
    /// Which of the test's iterations are this instance's.
    pub(crate) stripes: Stripes,
    pub(crate) spread: Spread,
}

/// What the executor does, times after the scenario's start.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Looping { vus: u64, most: Option<u64>, iterations: Option<Arc<SharedIterations>>, end: Duration, hard: Duration },
    Ramping { vus: u64, ramp: Arc<Ramp>, stripes: Stripes },
    Arriving { arrivals: Arc<Arrivals>, stripes: Stripes, pre_allocated: u64, max: u64, hard: Duration },
}

impl Plan {
    /// Users that this instance needs at least: those of its largest scenario. Found without planning, which takes time
    /// and memory for each user; refuses what `new` would refuse for the number alone.
    pub fn least_users(scenarios: &Scenarios, stripes: &Stripes) -> Result<u64, ConfigError> {
        let too_many = |scenario: &Scenario| {
            let users = most_users(&scenario.executor);
            let problem = format!("found {users} virtual users, expected at most {MOST_USERS}");
            (users > MOST_USERS).then(|| format!("scenario '{}': {problem}", scenario.name))
        };
        let problems: Vec<String> = scenarios.iter().filter_map(too_many).collect();
        let users = scenarios.iter().map(|scenario| stripes.scale(most_users(&scenario.executor)));
        if problems.is_empty() { Ok(users.max().unwrap_or(0)) } else { Err(ConfigError { problems }) }
    }

    /// Plans these scenarios for one instance with this many workers (at least one).
    pub fn new(scenarios: &Scenarios, stripes: &Stripes, workers: usize) -> Result<Plan, ConfigError> {
        let workers = workers.max(1);
        assert!(scenarios.iter().next().is_some(), "checked scenarios are never none");
        Plan::least_users(scenarios, stripes)?;
        let (mut lanes, mut problems) = (Vec::new(), Vec::new());
        for scenario in scenarios.iter() {
            match LanePlan::new(scenario, stripes, workers) {
                Ok(lane) => lanes.push(lane),
                Err(problem) => problems.push(format!("scenario '{}': {problem}", scenario.name)),
            }
        }
        let most = lanes.iter().fold(0_u64, |sum, lane| sum.saturating_add(lane.users(true)));
        if most > MOST_USERS {
            problems.push(format!("found {most} virtual users in all scenarios, expected at most {MOST_USERS}"));
        }
        if !problems.is_empty() {
            return Err(ConfigError { problems });
        }
        place(&mut lanes, workers);
        let needs = (0..workers).map(|worker| busiest(lanes.iter().flat_map(|lane| lane.uses_on(worker))));
        let users = number(&needs.collect::<Vec<_>>());
        let requirements = Requirements {
            planned_vus: busiest(lanes.iter().flat_map(|lane| lane.uses(false))),
            max_vus: busiest(lanes.iter().flat_map(|lane| lane.uses(true))),
            duration: lanes.iter().filter_map(LanePlan::ends).max().unwrap_or_default(),
        };
        let made: u64 = users.iter().map(|users| users.len() as u64).sum();
        assert!(requirements.planned_vus <= made, "{made} users for {requirements:?}");
        assert!(requirements.planned_vus <= requirements.max_vus, "{requirements:?}");
        Ok(Plan { lanes, users, stripes: stripes.clone(), requirements })
    }

    /// What the test needs at most.
    pub fn requirements(&self) -> Requirements {
        self.requirements
    }

    /// Worker threads.
    pub fn workers(&self) -> usize {
        self.users.len()
    }

    /// Virtual users made before the start, on all workers.
    pub fn planned_users(&self) -> u64 {
        self.users.iter().map(|users| users.len() as u64).sum()
    }

    /// The scenarios, in the order of their indices.
    pub fn scenarios(&self) -> impl ExactSizeIterator<Item = &Scenario> {
        self.lanes.iter().map(|lane| &lane.scenario)
    }

    /// The counts of a run of this plan, to be shared with `setup` and `run`.
    pub fn state(&self) -> Arc<RunState> {
        let facts = self.lanes.iter().map(|lane| ScenarioFacts {
            name: lane.scenario.name.clone(),
            executor: lane.scenario.executor.name(),
            is_open: lane.is_open(),
            start_time: lane.scenario.start_time,
            time: lane.scenario.executor.time(),
            iterations: lane.iterations(),
            stripes: lane.stripes.clone(),
            live: lane.live(),
        });
        Arc::new(RunState::new(facts.collect(), self.workers()))
    }
}

/// Users of all instances that the executor names.
fn most_users(executor: &Executor) -> u64 {
    match executor {
        Executor::ConstantVus { vus, .. }
        | Executor::PerVuIterations { vus, .. }
        | Executor::SharedIterations { vus, .. } => *vus,
        Executor::RampingVus { start_vus, stages, .. } => {
            stages.iter().map(|stage| stage.target).fold(*start_vus, u64::max)
        }
        Executor::ConstantArrivalRate { pre_allocated_vus, max_vus, .. }
        | Executor::RampingArrivalRate { pre_allocated_vus, max_vus, .. }
        | Executor::Trace { pre_allocated_vus, max_vus, .. } => *pre_allocated_vus.max(max_vus),
    }
}

impl LanePlan {
    fn new(scenario: &Scenario, stripes: &Stripes, workers: usize) -> Result<Self, String> {
        let hard = |end: Duration| end + scenario.graceful_stop;
        let looping = |vus, most, iterations, end| Work::Looping { vus, most, iterations, end, hard: hard(end) };
        let mut own = stripes.clone();
        let work = match &scenario.executor {
            Executor::ConstantVus { vus, duration } => looping(stripes.scale(*vus), None, None, *duration),
            Executor::PerVuIterations { vus, iterations, max_duration } => {
                looping(stripes.scale(*vus), Some(*iterations), None, *max_duration)
            }
            Executor::SharedIterations { vus, iterations, max_duration } => {
                own = stripes.of_users(*vus);
                let users = stripes.scale(*vus);
                looping(users, None, Some(SharedIterations::new(own.scale(*iterations), users)), *max_duration)
            }
            Executor::RampingVus { start_vus, stages, graceful_ramp_down } => {
                let ramp = Ramp::new(*start_vus, stages, *graceful_ramp_down, scenario.graceful_stop);
                let vus = stripes.scale(ramp.peak());
                Work::Ramping { vus, ramp: Arc::new(ramp), stripes: stripes.clone() }
            }
            Executor::ConstantArrivalRate { pre_allocated_vus: vus, max_vus, .. }
            | Executor::RampingArrivalRate { pre_allocated_vus: vus, max_vus, .. }
            | Executor::Trace { pre_allocated_vus: vus, max_vus, .. } => {
                own = stripes.of_users(*max_vus);
                let arrivals = Arc::new(arrivals(&scenario.executor)?);
                let hard = hard(arrivals.end());
                let (pre_allocated, max) = (stripes.scale(*vus), stripes.scale(*max_vus));
                assert!(pre_allocated <= max, "a checked scenario has no more users at first than at most");
                Work::Arriving { arrivals, stripes: own.clone(), pre_allocated, max, hard }
            }
        };
        let taking_part = match &work {
            Work::Arriving { max, .. } => *max / FEWEST_USERS,
            Work::Looping { vus, .. } | Work::Ramping { vus, .. } => *vus,
        };
        let most = scenario.most_workers.unwrap_or(workers).clamp(1, workers);
        let taking_part = usize::try_from(taking_part).unwrap_or(workers).clamp(1, most);
        let spread = Spread { first: 0, taking_part, workers };
        Ok(LanePlan { scenario: scenario.clone(), work, stripes: own, spread })
    }

    /// Whether this instance has anything to do in the scenario.
    pub(crate) fn has_work(&self) -> bool {
        self.users(true) > 0
    }

    /// Whether its starts are planned, free users or not: an arrival rate or a trace.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.work, Work::Arriving { .. })
    }

    fn users(&self, with_unplanned: bool) -> u64 {
        match &self.work {
            Work::Looping { vus, .. } | Work::Ramping { vus, .. } => *vus,
            Work::Arriving { max, .. } if with_unplanned => *max,
            Work::Arriving { pre_allocated, .. } => *pre_allocated,
        }
    }

    /// Iterations this instance does, where they are counted.
    fn iterations(&self) -> Option<u64> {
        match &self.work {
            Work::Looping { vus, most: Some(most), .. } => Some(vus * most),
            Work::Looping { iterations: Some(all), .. } => Some(all.total()),
            _ => None,
        }
    }

    /// The last possible end after the start of the test.
    fn ends(&self) -> Option<Duration> {
        let end = match &self.work {
            _ if !self.has_work() => return None,
            Work::Looping { hard, .. } | Work::Arriving { hard, .. } => *hard,
            Work::Ramping { ramp, stripes, vus } => {
                let hard = (0..*vus).flat_map(|k| ramp.spans(stripes.unscale(k))).map(|span| span.hard).max();
                hard.unwrap_or_default().max(ramp.end())
            }
        };
        Some(self.scenario.start_time + end)
    }

    /// When the users at all positions are in use.
    fn uses(&self, with_unplanned: bool) -> Vec<(Duration, Duration)> {
        (0..self.users(with_unplanned)).flat_map(|k| self.use_of(k)).collect()
    }

    /// When the planned users on one worker are in use.
    fn uses_on(&self, worker: usize) -> Vec<(Duration, Duration)> {
        self.spread.positions(worker, self.users(false)).flat_map(|k| self.use_of(k)).collect()
    }

    /// When the user at a position of this instance is in use.
    fn use_of(&self, position: u64) -> Vec<(Duration, Duration)> {
        let start = self.scenario.start_time;
        match &self.work {
            Work::Looping { hard, .. } | Work::Arriving { hard, .. } => vec![(start, start + *hard)],
            Work::Ramping { ramp, stripes, .. } => {
                let spans = ramp.spans(stripes.unscale(position));
                let next = spans.iter().skip(1).map(|next| next.from).chain([Duration::MAX]);
                // A user that is wanted for a moment only has to be there, together with those that leave in that
                // moment; one whose grace bridges a gap is there once.
                let until = |span: &ActiveSpan| span.hard.max(span.to + Duration::from_nanos(1));
                let in_use = |(span, next): (&ActiveSpan, Duration)| (start + span.from, start + until(span).min(next));
                spans.iter().zip(next).map(in_use).collect()
            }
        }
    }
}

/// The schedule of an arrival-rate executor.
fn arrivals(executor: &Executor) -> Result<Arrivals, String> {
    let arrivals = match executor {
        Executor::ConstantArrivalRate { rate, time_unit, duration, spacing, .. } => {
            Arrivals::constant(*rate, *time_unit, *duration).map(|arrivals| arrivals.spaced(*spacing))
        }
        Executor::RampingArrivalRate { start_rate, time_unit, stages, spacing, .. } => {
            Arrivals::ramping(*start_rate, *time_unit, stages).map(|arrivals| arrivals.spaced(*spacing))
        }
        Executor::Trace { times, .. } => Ok(Arrivals::trace(Arc::clone(times))),
        other => unreachable!("bug: {} has no arrival rate", other.name()),
    };
    arrivals.map_err(|too_fast| too_fast.to_string())
}

/// Chooses the workers of scenarios that do not need all of them: where they cost the fewest additional users, else
/// where the fewest are.
fn place(lanes: &mut [LanePlan], workers: usize) {
    let mut placed: Vec<Vec<(Duration, Duration)>> = vec![Vec::new(); workers];
    for lane in lanes {
        if lane.spread.taking_part < workers {
            let cost = |first: &usize| {
                let spread = Spread { first: *first, ..lane.spread };
                let mine = LanePlan { spread, ..lane.clone() };
                let needs = |worker: usize| busiest(placed[worker].iter().copied().chain(mine.uses_on(worker)));
                let needs: Vec<u64> = (0..workers).map(needs).collect();
                (needs.iter().sum::<u64>(), needs.into_iter().max())
            };
            lane.spread.first = (0..workers).min_by_key(cost).expect("there is at least one worker");
        }
        for (worker, uses) in placed.iter_mut().enumerate() {
            uses.extend(lane.uses_on(worker));
        }
    }
}

/// The most intervals that overlap; one that ends where another begins does not overlap it.
fn busiest(uses: impl IntoIterator<Item = (Duration, Duration)>) -> u64 {
    let mut changes: Vec<(Duration, bool)> = Vec::new();
    for (from, to) in uses.into_iter().filter(|(from, to)| from < to) {
        changes.extend([(from, true), (to, false)]);
    }
    changes.sort_unstable();
    let (mut now, mut most) = (0u64, 0);
    for (_, is_start) in changes {
        now = if is_start { now + 1 } else { now - 1 };
        most = most.max(now);
    }
    debug_assert_eq!(now, 0, "each use that begins ends");
    most
}

/// Numbers the users from 1 so that each worker gets every n-th: the first users of a ramp are then the first numbers.
fn number(needs: &[u64]) -> Vec<Vec<u64>> {
    let mut users: Vec<Vec<u64>> = vec![Vec::new(); needs.len()];
    let mut next = 1;
    for round in 0..needs.iter().copied().max().unwrap_or(0) {
        for (worker, _) in needs.iter().enumerate().filter(|(_, need)| **need > round) {
            users[worker].push(next);
            next += 1;
        }
    }
    assert_eq!(next - 1, needs.iter().sum::<u64>(), "each user that is needed has a number");
    users
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{Segment, Sequence};
    use serde_json::{Value, json};

    fn plan_of(scenarios: Value, stripes: &Stripes, workers: usize) -> Plan {
        Plan::new(&Scenarios::from_json(&scenarios).unwrap(), stripes, workers).unwrap()
    }

    fn needs(scenarios: Value) -> (u64, u64, u64) {
        let found = plan_of(scenarios, &Stripes::whole(), 1).requirements();
        (found.planned_vus, found.max_vus, found.duration.as_secs())
    }

    fn constant(vus: u64, start: &str) -> Value {
        json!({ "executor": "constant-vus", "vus": vus, "duration": "5s", "startTime": start })
    }

    #[test]
    fn absurdly_many_users_are_refused() {
        let plan = |vus: u64| {
            let scenarios = json!({ "a": constant(vus, "0s"), "b": constant(5, "0s") });
            Plan::new(&Scenarios::from_json(&scenarios).unwrap(), &Stripes::whole(), 2)
        };
        let expected = "found 1000005 virtual users in all scenarios, expected at most 1000000";
        assert!(plan(1_000_000).is_err_and(|error| error.problems == [expected]));
        let expected = "scenario 'a': found 2147483648 virtual users, expected at most 1000000";
        assert!(plan(2_147_483_648).is_err_and(|error| error.problems == [expected]));
        let many = u64::MAX / 2;
        let stages = json!([{ "target": 5, "duration": "1s" }]);
        for scenario in [
            json!({ "executor": "shared-iterations", "vus": many, "iterations": many }),
            json!({ "executor": "ramping-vus", "startVUs": many, "stages": stages }),
            json!({ "executor": "ramping-arrival-rate", "preAllocatedVUs": 1, "maxVUs": many, "stages": stages }),
        ] {
            let scenarios = Scenarios::from_json(&json!({ "a": scenario })).unwrap();
            assert!(Plan::new(&scenarios, &Stripes::whole(), 2).is_err(), "{scenario}");
        }
    }

    /// The figures are those of k6 2.2's `inspect --execution-requirements`.
    #[test]
    fn requirements_are_those_of_k6() {
        assert_eq!(
            needs(json!({ "a": constant(5, "0s"), "b": constant(4, "34s"), "c": constant(3, "69s") })),
            (9, 9, 104)
        );
        assert_eq!(needs(json!({ "a": constant(5, "0s"), "b": constant(4, "35s") })), (5, 5, 70));
        let ramp = |more: Value| {
            let mut all =
                json!({ "executor": "ramping-vus", "startVUs": 10, "stages": [{ "duration": "10s", "target": 0 }] });
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            all
        };
        let back = json!([{ "duration": "10s", "target": 0 }, { "duration": "10s", "target": 3 }]);
        let short = ramp(json!({ "gracefulRampDown": "1s", "stages": back }));
        let other =
            json!({ "executor": "constant-vus", "vus": 8, "duration": "5s", "gracefulStop": "0s", "startTime": "9s" });
        assert_eq!(needs(json!({ "a": short, "b": other })), (10, 10, 50));
        assert_eq!(
            needs(json!({ "a": ramp(json!({ "gracefulRampDown": "90s", "gracefulStop": "5s" })) })),
            (10, 10, 15)
        );
        let up = json!([{ "duration": "10s", "target": 10 }, { "duration": "5s", "target": 0 }]);
        assert_eq!(
            needs(json!({ "a": ramp(json!({ "startVUs": 0, "gracefulRampDown": "3s", "stages": up })) })),
            (10, 10, 18)
        );
        let rate = json!({
            "executor": "constant-arrival-rate", "rate": 10, "duration": "10s", "preAllocatedVUs": 5, "maxVUs": 20,
        });
        assert_eq!(
            needs(json!({ "a": rate, "b": json!({ "executor": "constant-vus", "vus": 8, "duration": "5s" }) })),
            (13, 28, 40)
        );
        let end = json!([{ "duration": "10s", "target": 1 }, { "duration": "1s", "target": 8 }]);
        let end = ramp(json!({ "startVUs": 5, "gracefulRampDown": "10s", "gracefulStop": "0s", "stages": end }));
        assert_eq!(needs(json!({ "a": end })), (8, 8, 11));
        let jump = json!([{ "duration": "10s", "target": 5 }, { "duration": "0s", "target": 0 }]);
        let jump = ramp(json!({ "startVUs": 0, "gracefulRampDown": "0s", "stages": jump }));
        assert_eq!(needs(json!({ "a": jump })), (5, 5, 10));
        assert_eq!(needs(json!({ "a": json!({ "executor": "per-vu-iterations" }) })), (1, 1, 630));
    }

    #[test]
    fn segments_add_up() {
        let scenarios = json!({
            "a": { "executor": "shared-iterations", "vus": 5, "iterations": 103 },
            "b": { "executor": "ramping-vus", "startVUs": 0, "stages": [{ "duration": "7s", "target": 11 }] },
            "c": { "executor": "constant-arrival-rate", "rate": 7, "duration": "9s", "preAllocatedVUs": 4 },
        });
        let sequence = Sequence::parse("0,1/7,1/2,5/6,1").unwrap();
        let (mut users, mut iterations, mut starts) = (0, 0, Vec::new());
        for segment in sequence.segments() {
            let stripes = Stripes::new(Some(*segment), Some(&sequence)).unwrap();
            let plan = plan_of(scenarios.clone(), &stripes, 2);
            users += plan.planned_users();
            iterations += plan.lanes[0].iterations().unwrap();
            let Work::Arriving { arrivals, stripes, max, .. } = &plan.lanes[2].work else { panic!() };
            if *max > 0 {
                let mut own = arrivals.starts();
                starts.extend((0..).map_while(|k| own.at(stripes.unscale(k))));
            }
        }
        starts.sort_unstable();
        assert_eq!((users, iterations), (20, 103));
        let whole = Arrivals::constant(7, Duration::from_secs(1), Duration::from_secs(9)).unwrap();
        let mut all = whole.starts();
        assert_eq!(starts, (0..64).map_while(|k| all.at(k)).collect::<Vec<_>>());
    }

    #[test]
    fn a_segment_without_users_does_nothing() {
        let scenarios = json!({ "a": constant(1, "0s") });
        let sequence = Sequence::parse("0,1/2,1").unwrap();
        let plans: Vec<Plan> = ["0:1/2", "1/2:1"]
            .map(|segment| {
                let stripes = Stripes::new(Some(Segment::parse(segment).unwrap()), Some(&sequence)).unwrap();
                plan_of(scenarios.clone(), &stripes, 1)
            })
            .into();
        assert_eq!(plans.iter().map(Plan::planned_users).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(plans[1].requirements().duration, Duration::ZERO);
    }

    #[test]
    fn users_are_dealt_in_turn_and_numbered_without_gaps() {
        let plan = plan_of(json!({ "a": constant(5, "0s") }), &Stripes::whole(), 2);
        assert_eq!(plan.users, [vec![1, 3, 5], vec![2, 4]]);
    }

    #[test]
    fn a_small_arrival_rate_stays_on_few_workers() {
        let rate = |max: u64| {
            json!({
                "executor": "constant-arrival-rate", "rate": 9, "duration": "9s", "preAllocatedVUs": 1, "maxVUs": max,
            })
        };
        let parts = |max| plan_of(json!({ "a": rate(max) }), &Stripes::whole(), 4).lanes[0].spread.taking_part;
        assert_eq!([parts(1), parts(15), parts(16), parts(100)], [1, 1, 2, 4]);
    }

    #[test]
    fn scenarios_one_after_the_other_share_users_of_one_worker() {
        let plan = plan_of(json!({ "a": constant(1, "0s"), "b": constant(1, "35s") }), &Stripes::whole(), 4);
        assert_eq!(plan.planned_users(), 1);
        let plan = plan_of(json!({ "a": constant(1, "0s"), "b": constant(1, "0s") }), &Stripes::whole(), 4);
        assert_eq!(plan.users.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 0, 0]);
    }
}
