//! The samples that the engine itself adds: iterations, their durations and lag, what was dropped, the number of users.
//!
//! Series are resolved once a lane; a user whose tags differ from its scenario's (a script that sets its own) has them
//! resolved when the tags change.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::Duration;

use metrics::{Bundle, Member, MetricId, Recorder, Series, SystemTag, SystemTags, TagSet, builtin, ms, ns};

use crate::vu::VirtualUser;

/// Tag sets of users that are remembered: scripts may make ever new ones.
const OTHERS: usize = 1_000;

/// Adds the samples of one lane.
pub(crate) struct LaneRecord {
    recorder: Rc<Recorder>,
    own: Bundle,
    dropped: Series,
    interrupted: Series,
    lag: Option<Series>,
    /// What every sample of an iteration carries.
    tags: TagSet,
    others: RefCell<HashMap<u32, Bundle>>,
}

/// Where an iteration is counted: its duration, its number, and for an arrival rate its duration from plan.
fn iteration_series(recorder: &Recorder, tags: &TagSet, is_open: bool) -> Bundle {
    let from_plan = is_open.then_some(builtin::ITERATION_DURATION_FROM_PLAN);
    // Resolved in the order in which summaries tell of them.
    let iterations = recorder.series(builtin::ITERATIONS, tags);
    let duration = recorder.series(builtin::ITERATION_DURATION, tags);
    let from_plan = from_plan.map(|metric| recorder.series(metric, tags));
    let members = [Member::Measured(duration), Member::Constant(iterations, 1.0)];
    recorder.bundle_of(&members.into_iter().chain(from_plan.map(Member::Measured)).collect::<Vec<Member>>())
}

impl LaneRecord {
    /// `run_tags` are on every sample; dropped iterations carry neither the scenario's own tags nor a group, as in k6.
    pub(crate) fn new(
        recorder: Rc<Recorder>,
        system: SystemTags,
        run_tags: &BTreeMap<String, String>,
        (name, tags): (&str, &BTreeMap<String, String>),
        is_open: bool,
    ) -> Self {
        let scenario = system.has(SystemTag::Scenario).then_some(("scenario", name));
        let group = system.has(SystemTag::Group).then_some(("group", ""));
        let run = || run_tags.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let own = tags.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let full = TagSet::new(run().chain(scenario).chain(group).chain(own));
        let plain = TagSet::new(run().chain(scenario));
        LaneRecord {
            own: iteration_series(&recorder, &full, is_open),
            dropped: recorder.series(builtin::DROPPED_ITERATIONS, &plain),
            interrupted: recorder.series(builtin::INTERRUPTED_ITERATIONS, &full),
            lag: is_open.then(|| recorder.series(builtin::ITERATION_LAG, &full)),
            others: RefCell::default(),
            tags: full,
            recorder,
        }
    }

    /// An iteration of `user` that ran to its end, so long after its start and after its planned start.
    pub(crate) fn completed(&self, user: &impl VirtualUser, took: Duration, from_plan: Duration, at_ns: u64) {
        debug_assert!(took <= from_plan, "an iteration starts when it is planned or later: {took:?}, {from_plan:?}");
        let series = match user.tags_key() {
            0 => self.own,
            key => self.series_of(key, user),
        };
        self.recorder.annotate(|| user.note());
        match self.lag {
            None => self.recorder.add_durations(series, &[ns(took)], || at_ns),
            Some(_) => self.recorder.add_durations(series, &[ns(took), ns(from_plan)], || at_ns),
        }
    }

    /// An iteration that starts so long after it was planned.
    pub(crate) fn lag(&self, lag: Duration, at_ns: u64) {
        if let Some(series) = self.lag {
            self.recorder.annotate(|| None);
            self.recorder.add(series, ms(ns(lag)), at_ns);
        }
    }

    /// Planned iterations that will not start. Those of an arrival rate are visitors whom nobody served: from the plan
    /// they wait for longer than all others.
    pub(crate) fn dropped(&self, count: u64, at_ns: u64) {
        if count == 0 {
            return;
        }
        self.recorder.annotate(|| None);
        self.recorder.add(self.dropped, count as f64, at_ns);
        if self.lag.is_some() {
            for metric in [builtin::ITERATION_DURATION_FROM_PLAN, builtin::HTTP_REQ_DURATION_FROM_PLAN] {
                self.recorder.add_censored(self.recorder.series(metric, &self.tags), count);
            }
        }
    }

    /// An iteration that was cut short.
    pub(crate) fn interrupted(&self, at_ns: u64) {
        self.recorder.annotate(|| None);
        self.recorder.add(self.interrupted, 1.0, at_ns);
    }

    fn series_of(&self, key: u32, user: &impl VirtualUser) -> Bundle {
        let mut others = self.others.borrow_mut();
        if others.len() >= OTHERS {
            others.clear();
        }
        *others.entry(key).or_insert_with(|| iteration_series(&self.recorder, &user.tags(), self.lag.is_some()))
    }
}

/// Adds `vus` and `vus_max`; one worker does it for all.
pub(crate) struct UsersRecord {
    recorder: Rc<Recorder>,
    active: Series,
    initialised: Series,
}

impl UsersRecord {
    pub(crate) fn new(recorder: Rc<Recorder>, run_tags: &BTreeMap<String, String>) -> Self {
        let tags = TagSet::new(run_tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        let series = |metric: MetricId| recorder.series(metric, &tags);
        let (active, initialised) = (series(builtin::VUS), series(builtin::VUS_MAX));
        UsersRecord { recorder, active, initialised }
    }

    pub(crate) fn add(&self, active: u64, initialised: u64, at_ns: u64) {
        self.recorder.annotate(|| None);
        self.recorder.add(self.active, active as f64, at_ns);
        self.recorder.add(self.initialised, initialised as f64, at_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Context;

    use crate::vu::{Iteration, IterationEnd, Progress};
    use metrics::Registry;

    /// A user whose tags are named by this key.
    struct User(u32);

    impl VirtualUser for User {
        fn begin(&mut self, _: Iteration) {}
        fn resume(&mut self, _: &mut Context<'_>) -> Progress<IterationEnd> {
            Progress::Over(IterationEnd::Completed)
        }
        fn tags_key(&self) -> u32 {
            self.0
        }
        fn tags(&self) -> TagSet {
            TagSet::new([("own", self.0.to_string())])
        }
    }

    /// What is recorded, as `metric{tags} value at`.
    fn seen(record: impl FnOnce(&Rc<Recorder>)) -> Vec<String> {
        let registry = Registry::new();
        let names = registry.definitions();
        let recorder = Rc::new(Recorder::new(registry));
        let log: Rc<RefCell<Vec<String>>> = Rc::default();
        let lines = Rc::clone(&log);
        recorder.set_tap(Box::new(move |sample| {
            let tags: Vec<String> = sample.tags.iter().map(|(key, value)| format!("{key}:{value}")).collect();
            let name = &names[sample.metric.0 as usize].name;
            lines.borrow_mut().push(format!("{name}{{{}}} {} {}", tags.join(","), sample.value, sample.at_ns));
        }));
        record(&recorder);
        log.take()
    }

    fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    fn lane(recorder: &Rc<Recorder>, system: SystemTags, is_open: bool) -> LaneRecord {
        let (run, own) = (texts(&[("run", "r")]), texts(&[("mine", "m")]));
        LaneRecord::new(Rc::clone(recorder), system, &run, ("a", &own), is_open)
    }

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn an_arrival_rate_records_how_late_it_was_and_what_a_visitor_waited() {
        let lines = seen(|recorder| {
            let lane = lane(recorder, SystemTags::default(), true);
            lane.lag(3 * MS, 1);
            lane.completed(&User(0), 20 * MS, 23 * MS, 2);
            lane.dropped(2, 3);
            lane.dropped(0, 4);
        });
        let tags = "{group:,mine:m,run:r,scenario:a}";
        let expected = [
            format!("iteration_lag{tags} 3 1"),
            format!("iteration_duration{tags} 20 2"),
            format!("iterations{tags} 1 2"),
            format!("iteration_duration_from_plan{tags} 23 2"),
            "dropped_iterations{run:r,scenario:a} 2 3".to_owned(),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_closed_scenario_has_no_plan_and_tags_are_those_that_are_on() {
        let lines = seen(|recorder| {
            let lane = lane(recorder, SystemTags::parse([""]).unwrap(), false);
            lane.lag(3 * MS, 1);
            lane.completed(&User(0), 20 * MS, 23 * MS, 2);
            lane.dropped(1, 3);
        });
        let expected =
            ["iteration_duration{mine:m,run:r} 20 2", "iterations{mine:m,run:r} 1 2", "dropped_iterations{run:r} 1 3"];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_user_with_tags_of_its_own_is_counted_with_these() {
        let lines = seen(|recorder| {
            let lane = lane(recorder, SystemTags::default(), true);
            lane.completed(&User(7), MS, 2 * MS, 1);
        });
        let expected =
            ["iteration_duration{own:7} 1 1", "iterations{own:7} 1 1", "iteration_duration_from_plan{own:7} 2 1"];
        assert_eq!(lines, expected);
    }

    #[test]
    fn remembered_tags_are_bounded() {
        let recorder = Rc::new(Recorder::new(Registry::new()));
        let lane = lane(&recorder, SystemTags::default(), false);
        let known = |keys: u32| {
            (1..=keys).for_each(|key| lane.completed(&User(key), MS, MS, 0));
            lane.others.borrow().len()
        };
        assert_eq!(known(OTHERS as u32), OTHERS);
        assert_eq!(known(1), 1, "they were forgotten, because the next one may be new");
    }

    #[test]
    fn numbers_of_users_carry_the_tags_of_the_run() {
        let lines = seen(|recorder| UsersRecord::new(Rc::clone(recorder), &texts(&[("run", "r")])).add(3, 5, 9));
        assert_eq!(lines, ["vus{run:r} 3 9", "vus_max{run:r} 5 9"]);
    }
}
