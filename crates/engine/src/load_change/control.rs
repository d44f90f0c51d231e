//! The plans that workers follow, and how clients change them: each change is checked against the scenario that it is
//! of, and told to its workers.
//!
//! One at a time, in order. What a change replaces stays in the list: who reads a result must know that the plan was
//! another one, and since when.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::{LivePlan, LoadChange, LoadWish, Quantity};
use crate::pacer::{Arrivals, Ramp, Rate};
use crate::scenario::MOST_USERS;
use crate::segment::Stripes;

/// The name of the executor whose starts are a list.
const TRACE: &str = "trace";

/// What clients may change of a run.
#[derive(Debug, Default)]
pub(crate) struct LoadControl {
    scenarios: Vec<ControlledScenario>,
    changes: Mutex<Vec<LoadChange>>,
}

/// One scenario, and what its workers follow.
#[derive(Debug)]
pub(crate) struct ControlledScenario {
    pub(crate) name: String,
    pub(crate) executor: &'static str,
    /// After the start of the run.
    pub(crate) start_time: Duration,
    pub(crate) stripes: Stripes,
    /// Users that the plan has at most before any change.
    pub(crate) planned_users: u64,
    pub(crate) plan: watch::Sender<LivePlan>,
}

/// What a change asks of one scenario, and since when after its start.
struct ChangeRequest<'a> {
    scenario: &'a ControlledScenario,
    wish: &'a LoadWish,
    at: Duration,
    since: Duration,
    instances: u32,
    place: String,
}

impl LoadControl {
    pub(crate) fn new(scenarios: Vec<ControlledScenario>) -> LoadControl {
        LoadControl { scenarios, changes: Mutex::default() }
    }

    /// Changes the load from so long after the start of the scenarios on, or says why not. What is refused changes
    /// nothing. `instances`: so many run this test, each a segment of it.
    pub(crate) fn change(&self, wish: &LoadWish, at: Duration, instances: u32) -> Result<Vec<LoadChange>, String> {
        let mut all = self.changes();
        let scenario = self.meant(wish)?;
        let at = at.max(scenario.start_time);
        let place = format!("scenario '{}' ({})", scenario.name, scenario.executor);
        let request = ChangeRequest { scenario, wish, at, since: at - scenario.start_time, instances, place };
        let (plan, changes) = request.plan()?;
        scenario.plan.send_replace(plan);
        all.extend(changes.iter().cloned());
        Ok(changes)
    }

    /// All so far, in order.
    pub(crate) fn changes(&self) -> MutexGuard<'_, Vec<LoadChange>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has_changed(&self, scenario: usize) -> bool {
        self.scenarios[scenario].plan.borrow().is_changed()
    }

    pub(crate) fn follow(&self, scenario: usize) -> watch::Receiver<LivePlan> {
        self.scenarios[scenario].plan.subscribe()
    }

    /// When the last iteration of changed users ends at the latest, after the start of the scenarios.
    pub(crate) fn latest_end_of_changed(&self) -> Option<Duration> {
        let end = |scenario: &ControlledScenario| match &*scenario.plan.borrow() {
            LivePlan::Users { ramp, is_changed: true, .. } => Some(scenario.start_time + ramp.hard_end()),
            _ => None,
        };
        self.scenarios.iter().filter_map(end).max()
    }

    /// The scenario with this name, or the only one that has what the wish is about.
    fn meant(&self, wish: &LoadWish) -> Result<&ControlledScenario, String> {
        if let Some(name) = &wish.scenario {
            let found = self.scenarios.iter().find(|scenario| scenario.name == *name);
            return found.ok_or_else(|| {
                format!("there is no scenario '{name}', expected any of {}", named(self.scenarios.iter()))
            });
        }
        let can = |scenario: &&ControlledScenario| match (&*scenario.plan.borrow(), wish.users, wish.rate) {
            (LivePlan::Fixed, ..) => false,
            (LivePlan::Users { .. }, _, rate) => rate.is_none(),
            (LivePlan::Starts { .. }, users, rate) => users.is_none() && (rate.is_none() || scenario.executor != TRACE),
        };
        let able: Vec<&ControlledScenario> = self.scenarios.iter().filter(can).collect();
        match (able.as_slice(), self.scenarios.as_slice()) {
            ([one], _) => Ok(one),
            ([], [one]) => Ok(one),
            ([], _) => Err(format!("no scenario has that: found {}", named(self.scenarios.iter()))),
            _ => Err(format!("found several scenarios, expected the name of one of {}", named(able.into_iter()))),
        }
    }
}

fn named<'a>(scenarios: impl Iterator<Item = &'a ControlledScenario>) -> String {
    let one = |scenario: &ControlledScenario| format!("'{}' ({})", scenario.name, scenario.executor);
    scenarios.map(one).collect::<Vec<_>>().join(", ")
}

impl ChangeRequest<'_> {
    /// The plan with what is wished for, and what that changes.
    fn plan(&self) -> Result<(LivePlan, Vec<LoadChange>), String> {
        let (wish, place) = (self.wish, &self.place);
        if let Some(users) = wish.users.max(wish.most).filter(|users| *users > MOST_USERS) {
            return Err(format!("{place}: found {users} virtual users, expected at most {MOST_USERS}"));
        }
        if wish.users.is_some() && wish.rate.is_some() {
            return Err(format!("{place}: found users and a rate, expected one of them"));
        }
        match &*self.scenario.plan.borrow() {
            LivePlan::Fixed => Err(format!(
                "{place} does a given number of iterations with the users it has: constant-vus, ramping-vus and \
                 arrival rates can change"
            )),
            LivePlan::Users { ramp, most, is_changed } => self.users(ramp, *most, *is_changed),
            LivePlan::Starts { arrivals, most, .. } => self.starts(arrivals, *most),
        }
    }

    /// `most`: the limit that was set before.
    fn users(
        &self,
        ramp: &Arc<Ramp>,
        most: Option<u64>,
        is_changed: bool,
    ) -> Result<(LivePlan, Vec<LoadChange>), String> {
        let (wish, place) = (self.wish, &self.place);
        self.check_time(ramp.last_wanted(self.scenario.stripes.unscale(0)))?;
        if wish.rate.is_some() {
            return Err(format!("{place} has users and plans no rate: change its users"));
        }
        let (now, most) = (ramp.number(self.since), wish.most.or(most));
        let wanted = wish.users.unwrap_or(now);
        if let Some(most) = most.filter(|most| wanted > *most) {
            return Err(format!("{place}: found {wanted} users, expected at most {most}, the limit that was set"));
        }
        let Some(users) = wish.users else {
            return Ok((LivePlan::Users { ramp: Arc::clone(ramp), most, is_changed }, Vec::new()));
        };
        self.check_instances()?;
        let ramp = Arc::new(ramp.with_number_from(self.since, users));
        let change = self.change(Quantity::Users, now as f64, users as f64);
        Ok((LivePlan::Users { ramp, most, is_changed: true }, vec![change]))
    }

    fn starts(&self, arrivals: &Arc<Arrivals>, most: u64) -> Result<(LivePlan, Vec<LoadChange>), String> {
        let (wish, place) = (self.wish, &self.place);
        self.check_time(arrivals.end())?;
        if wish.users.is_some() {
            let text = "plans starts and has the users that these need: change its rate, or its users at most";
            return Err(format!("{place} {text}"));
        }
        let wanted = wish.most.unwrap_or(most);
        if wanted < most {
            return Err(format!("{place}: found {wanted} users at most, expected {most} or more: users stay"));
        }
        if wanted > most {
            self.check_instances()?;
        }
        let mut changes = Vec::new();
        changes.extend((wanted > most).then(|| self.change(Quantity::MostUsers, most as f64, wanted as f64)));
        let mut arrivals = Arc::clone(arrivals);
        if let Some(rate) = wish.rate {
            changes.push(self.change(Quantity::Rate, arrivals.rate_at(self.since), rate.per_second()));
            arrivals = Arc::new(self.at_rate(&arrivals, rate).map_err(|why| format!("{place}: {why}"))?);
        }
        Ok((LivePlan::Starts { arrivals, most: wanted, is_changed: true }, changes))
    }

    fn at_rate(&self, arrivals: &Arrivals, rate: Rate) -> Result<Arrivals, String> {
        if self.scenario.executor == TRACE {
            return Err(String::from("it starts at the times of a file: only its users at most can change"));
        }
        arrivals.with_rate_from(self.since, rate).map_err(|too_fast| too_fast.to_string())
    }

    fn check_time(&self, end: Duration) -> Result<(), String> {
        let is_over = self.since >= end;
        if is_over { Err(format!("{} has ended: there is nothing to change", self.place)) } else { Ok(()) }
    }

    /// An instance whose part of a scenario is empty does not run it: users who come later have no place there.
    fn check_instances(&self) -> Result<(), String> {
        let (instances, planned) = (u64::from(self.instances), self.scenario.planned_users);
        if planned >= instances {
            return Ok(());
        }
        let have = units::show::counted(usize::try_from(planned).unwrap_or(usize::MAX), "virtual user");
        Err(format!(
            "{}: found {have} in its plan for {instances} agents, expected one for each at least: an agent without a \
             user of the scenario cannot get one later",
            self.place
        ))
    }

    fn change(&self, quantity: Quantity, from: f64, to: f64) -> LoadChange {
        LoadChange { at: self.at, scenario: self.scenario.name.clone(), quantity, from, to, by: self.wish.by }
    }
}
