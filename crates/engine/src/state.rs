//! Counts of a running test that the script, the progress line and the gauges read.
//!
//! Each worker adds to its own cache lines only, so that counting an iteration costs no traffic between cores; a reader
//! sums over the workers. What is read is therefore a moment's picture, exact once the run is over. The one shared
//! counter is that of iteration numbers, and it is touched only by scripts that ask for one.
//!
//! What clients may change while it runs is here, too.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::health::ArrivalCounts;
use crate::load_change::{CHANGE_LEAD, ControlledScenario, LivePlan, LoadChange, LoadControl, LoadWish};
use crate::scenario::ScenarioInfo;
use crate::segment::Stripes;

/// A cache line of its own (two: neighbours are fetched in pairs).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Padded<T>(T);

/// What one worker counts for one scenario.
#[derive(Debug, Default)]
struct Cell {
    started: AtomicU64,
    completed: AtomicU64,
    interrupted: AtomicU64,
    dropped: AtomicU64,
    active: AtomicU64,
    /// How long after its time the last start of an arrival rate was made, in ns.
    behind: AtomicU64,
}

/// What one worker counts for itself.
#[derive(Debug, Default)]
struct WorkerCell {
    initialised: AtomicU64,
}

/// Facts of one scenario that all workers share.
#[derive(Debug)]
struct ScenarioState {
    name: String,
    executor: &'static str,
    /// Whether its starts are planned, free users or not.
    is_open: bool,
    /// Planned start after the run's start.
    start_time: Duration,
    /// Regular time, without graceful stop.
    time: Duration,
    /// Iterations to do, for executors that count them.
    iterations: Option<u64>,
    stripes: Stripes,
    /// Numbers given to iterations that asked.
    numbers: Padded<AtomicU64>,
}

/// What a `RunState` must know of a scenario beforehand.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioFacts {
    pub(crate) name: String,
    pub(crate) executor: &'static str,
    pub(crate) is_open: bool,
    pub(crate) start_time: Duration,
    pub(crate) time: Duration,
    pub(crate) iterations: Option<u64>,
    /// Which of the test's iterations are this instance's.
    pub(crate) stripes: Stripes,
    /// What its workers follow at first.
    pub(crate) live: LivePlan,
}

/// Shared by all workers; each worker writes its own cache lines only.
#[derive(Debug, Default)]
pub struct RunState {
    scenarios: Vec<ScenarioState>,
    cells: Vec<Padded<Cell>>,
    workers: Vec<Padded<WorkerCell>>,
    started: OnceLock<Duration>,
    /// How long after the start the last worker was there, in ns.
    awake_late: AtomicU64,
    load: LoadControl,
}

/// Sums over workers, of one scenario or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Iterations that began.
    pub started: u64,
    /// Iterations that ran to their end.
    pub completed: u64,
    /// Iterations that were cut short.
    pub interrupted: u64,
    /// Iterations that were planned and never began.
    pub dropped: u64,
    /// Virtual users at work now.
    pub active: u64,
}

/// The number of an iteration within its scenario, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationNumber {
    /// `exec.scenario.iterationInInstance`.
    pub in_instance: u64,
    /// `exec.scenario.iterationInTest`: unique over all segments.
    pub in_test: u64,
}

impl RunState {
    /// The state of a run of these scenarios. Without scenarios (`default()`) all counts stay 0: for users outside a
    /// run.
    pub(crate) fn new(scenarios: Vec<ScenarioFacts>, workers: usize) -> Self {
        let cells = (0..workers * scenarios.len()).map(|_| Padded::default()).collect();
        let controlled = |facts: &ScenarioFacts| ControlledScenario {
            name: facts.name.clone(),
            executor: facts.executor,
            start_time: facts.start_time,
            stripes: facts.stripes.clone(),
            planned_users: facts.live.users(),
            plan: watch::Sender::new(facts.live.clone()),
        };
        let load = LoadControl::new(scenarios.iter().map(controlled).collect());
        let state = |facts: ScenarioFacts| ScenarioState {
            name: facts.name,
            executor: facts.executor,
            is_open: facts.is_open,
            start_time: facts.start_time,
            time: facts.time,
            iterations: facts.iterations,
            stripes: facts.stripes,
            numbers: Padded::default(),
        };
        RunState {
            scenarios: scenarios.into_iter().map(state).collect(),
            cells,
            workers: (0..workers).map(|_| Padded::default()).collect(),
            started: OnceLock::new(),
            awake_late: AtomicU64::new(0),
            load,
        }
    }

    /// Names and executors of the scenarios, in the order of their indices.
    pub fn scenarios(&self) -> impl ExactSizeIterator<Item = (&str, &'static str)> {
        self.scenarios.iter().map(|scenario| (scenario.name.as_str(), scenario.executor))
    }

    /// Sums of one scenario.
    pub fn scenario_counts(&self, scenario: usize) -> Counts {
        let mut sum = Counts::default();
        for worker in 0..self.workers.len() {
            sum.add(&self.cells[worker * self.scenarios.len() + scenario].0);
        }
        sum
    }

    /// Sums of the whole run (`exec.instance.iterationsCompleted`, `iterationsInterrupted`, `vusActive`).
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        self.cells.iter().for_each(|cell| sum.add(&cell.0));
        sum
    }

    /// What became of the starts of arrival rates and traces, over all scenarios that have one.
    pub fn arrivals(&self) -> ArrivalCounts {
        let mut sum = ArrivalCounts::default();
        for (index, scenario) in self.scenarios.iter().enumerate().filter(|(_, scenario)| scenario.is_open) {
            let counts = self.scenario_counts(index);
            (sum.started, sum.dropped) = (sum.started + counts.started, sum.dropped + counts.dropped);
            let own = ArrivalCounts { behind: self.behind(index), lasts: scenario.time, ..sum };
            if sum.lasts.is_zero() || own.achieved_share() < sum.achieved_share() {
                sum = own;
            }
        }
        sum
    }

    /// Virtual users whose init code has run (`exec.instance.vusInitialized`).
    pub fn vus_initialised(&self) -> u64 {
        self.workers.iter().map(|worker| worker.0.initialised.load(Ordering::Relaxed)).sum()
    }

    /// When the scenarios' time began, by the run's clock; none during initialisation and `setup`.
    pub fn started(&self) -> Option<Duration> {
        self.started.get().copied()
    }

    /// When a scenario starts or started, by the run's clock.
    pub fn scenario_start(&self, scenario: usize) -> Option<Duration> {
        Some(self.started()? + self.scenarios[scenario].start_time)
    }

    /// Share of a scenario that is done at `now`, 0 to 1: by iterations where the executor counts them, else by time
    /// (`exec.scenario.progress`).
    pub fn progress(&self, scenario: usize, now: Duration) -> f64 {
        let shared = &self.scenarios[scenario];
        if let Some(total) = shared.iterations {
            let counts = self.scenario_counts(scenario);
            return ((counts.completed + counts.interrupted) as f64 / total.max(1) as f64).min(1.0);
        }
        let Some(start) = self.scenario_start(scenario) else { return 0.0 };
        (now.saturating_sub(start).as_secs_f64() / shared.time.as_secs_f64().max(1e-9)).min(1.0)
    }

    /// Regular time of a scenario, without its graceful stop.
    pub fn scenario_time(&self, scenario: usize) -> Duration {
        self.scenarios[scenario].time
    }

    /// Iterations a scenario has to do, where its executor counts them.
    pub fn scenario_iterations(&self, scenario: usize) -> Option<u64> {
        self.scenarios[scenario].iterations
    }

    /// The next number of this scenario's iterations. Unique and without gaps among the iterations that ask; one that
    /// asks twice must keep the answer. Iterations whose number was given in advance have it in `Iteration::number`.
    pub fn next_scenario_iteration(&self, scenario: &ScenarioInfo) -> IterationNumber {
        let number = self.scenarios[scenario.index].numbers.0.fetch_add(1, Ordering::Relaxed);
        self.iteration_number(scenario.index, number)
    }

    /// What a number given in advance means over all segments.
    pub fn iteration_number(&self, scenario: usize, in_instance: u64) -> IterationNumber {
        IterationNumber { in_instance, in_test: self.scenarios[scenario].stripes.unscale(in_instance) }
    }

    /// Changes the load at this time of the run's clock, or says why not. What is refused changes nothing.
    pub fn change_load(&self, wish: &LoadWish, now: Duration) -> Result<Vec<LoadChange>, String> {
        match self.started().filter(|started| *started <= now) {
            Some(started) => self.load.change(wish, now - started + CHANGE_LEAD, 1),
            None => Err(String::from("the load cannot change yet: the scenarios have not begun")),
        }
    }

    /// Changes the load from a moment on, so long after the start of the scenarios, of a test that so many instances
    /// run.
    ///
    /// Each of them takes the same change over. One that does so after the moment has made its starts by the old plan
    /// until then; starts are numbered, so that the number of all starts at the end is that of the changed plan.
    pub fn change_load_from(&self, wish: &LoadWish, at: Duration, instances: u32) -> Result<Vec<LoadChange>, String> {
        self.load.change(wish, at, instances)
    }

    /// All changes of the load so far, in order.
    pub fn load_changes(&self) -> Vec<LoadChange> {
        self.load.changes().clone()
    }

    /// Whether the plan of a scenario is another one than at the start.
    pub fn has_changed(&self, scenario: usize) -> bool {
        self.load.has_changed(scenario)
    }

    pub(crate) fn load(&self) -> &LoadControl {
        &self.load
    }

    pub(crate) fn vu_initialised(&self, worker: usize) {
        self.workers[worker].0.initialised.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes over what another process says of itself: it stands for a worker of this state. `scenarios` are its
    /// counts, and how long after its time the last start of each was made.
    pub fn set_counts(&self, worker: usize, initialised: u64, scenarios: &[(Counts, Duration)]) {
        let Some(own) = self.workers.get(worker) else { return };
        own.0.initialised.store(initialised, Ordering::Relaxed);
        for (scenario, (counts, behind)) in scenarios.iter().enumerate().take(self.scenarios.len()) {
            let cell = self.cell(worker, scenario);
            cell.started.store(counts.started, Ordering::Relaxed);
            cell.completed.store(counts.completed, Ordering::Relaxed);
            cell.interrupted.store(counts.interrupted, Ordering::Relaxed);
            cell.dropped.store(counts.dropped, Ordering::Relaxed);
            cell.active.store(counts.active, Ordering::Relaxed);
            self.arrivals_behind(worker, scenario, *behind);
        }
    }

    /// How long after its time the last start of a scenario's arrival rate was made.
    pub fn behind(&self, scenario: usize) -> Duration {
        let behind = (0..self.workers.len()).map(|worker| self.cell(worker, scenario).behind.load(Ordering::Relaxed));
        Duration::from_nanos(behind.max().unwrap_or_default())
    }

    /// The scenarios start at this time of the run's clock; said once.
    pub fn set_started(&self, at: Duration) {
        let _ = self.started.set(at);
    }

    pub(crate) fn awake(&self, late: Duration) {
        self.awake_late.fetch_max(u64::try_from(late.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// How long after the start of the scenarios the last worker was awake.
    pub fn awake_late(&self) -> Duration {
        Duration::from_nanos(self.awake_late.load(Ordering::Relaxed))
    }

    /// Whether a worker's iterations of a scenario have all ended: what was begun is counted once.
    pub(crate) fn is_settled(&self, worker: usize, scenario: usize) -> bool {
        let cell = self.cell(worker, scenario);
        cell.begun() == cell.ended()
    }

    /// Whether none of a worker's users works in a scenario.
    pub(crate) fn is_at_rest(&self, worker: usize, scenario: usize) -> bool {
        self.cell(worker, scenario).active.load(Ordering::Relaxed) == 0
    }

    fn cell(&self, worker: usize, scenario: usize) -> &Cell {
        debug_assert!(worker < self.workers.len() && scenario < self.scenarios.len(), "{worker}, {scenario}");
        &self.cells[worker * self.scenarios.len() + scenario].0
    }

    #[inline]
    pub(crate) fn iteration_started(&self, worker: usize, scenario: usize) {
        bump(&self.cell(worker, scenario).started, 1);
    }

    #[inline]
    pub(crate) fn iteration_completed(&self, worker: usize, scenario: usize) {
        let cell = self.cell(worker, scenario);
        bump(&cell.completed, 1);
        debug_assert!(cell.ended() <= cell.begun(), "an iteration ends once, after its beginning");
    }

    pub(crate) fn iteration_interrupted(&self, worker: usize, scenario: usize) {
        let cell = self.cell(worker, scenario);
        bump(&cell.interrupted, 1);
        debug_assert!(cell.ended() <= cell.begun(), "an iteration ends once, after its beginning");
    }

    pub(crate) fn iterations_dropped(&self, worker: usize, scenario: usize, count: u64) {
        bump(&self.cell(worker, scenario).dropped, count);
    }

    /// The last start of an arrival rate was made so long after its time.
    pub(crate) fn arrivals_behind(&self, worker: usize, scenario: usize, behind: Duration) {
        let ns = u64::try_from(behind.as_nanos()).unwrap_or(u64::MAX);
        self.cell(worker, scenario).behind.store(ns, Ordering::Relaxed);
    }

    pub(crate) fn vu_active(&self, worker: usize, scenario: usize, is_active: bool) {
        let active = &self.cell(worker, scenario).active;
        debug_assert!(is_active || active.load(Ordering::Relaxed) > 0, "who rests was active before");
        bump(active, if is_active { 1 } else { u64::MAX });
    }
}

/// Adds without a locked instruction: only one thread ever writes this cell.
fn bump(cell: &AtomicU64, by: u64) {
    cell.store(cell.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

impl Cell {
    fn begun(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Whatever way they ended.
    fn ended(&self) -> u64 {
        self.completed.load(Ordering::Relaxed) + self.interrupted.load(Ordering::Relaxed)
    }
}

impl Counts {
    /// What came since an earlier reading; users are those that are active now.
    pub(crate) fn since(&self, earlier: &Counts) -> Counts {
        debug_assert!(
            earlier.started <= self.started && earlier.completed <= self.completed,
            "counts grow: {earlier:?}, then {self:?}"
        );
        Counts {
            started: self.started - earlier.started,
            completed: self.completed - earlier.completed,
            interrupted: self.interrupted - earlier.interrupted,
            dropped: self.dropped - earlier.dropped,
            active: self.active,
        }
    }

    fn add(&mut self, cell: &Cell) {
        self.started += cell.started.load(Ordering::Relaxed);
        self.completed += cell.completed.load(Ordering::Relaxed);
        self.interrupted += cell.interrupted.load(Ordering::Relaxed);
        self.dropped += cell.dropped.load(Ordering::Relaxed);
        self.active += cell.active.load(Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str, start_s: u64, iterations: Option<u64>) -> ScenarioFacts {
        ScenarioFacts {
            name: name.to_owned(),
            executor: "constant-vus",
            is_open: false,
            start_time: Duration::from_secs(start_s),
            time: Duration::from_secs(10),
            iterations,
            stripes: Stripes::whole(),
            live: LivePlan::Fixed,
        }
    }

    /// Two scenarios on two workers, each cell with counts of its own.
    fn state() -> RunState {
        let state = RunState::new(vec![facts("a", 0, None), facts("b", 5, Some(4))], 2);
        for (worker, scenario, count) in [(0, 0, 1), (1, 0, 2), (0, 1, 3), (1, 1, 4)] {
            (0..count * 5).for_each(|_| state.iteration_started(worker, scenario));
            (0..count * 2).for_each(|_| state.iteration_completed(worker, scenario));
            (0..count).for_each(|_| state.iteration_interrupted(worker, scenario));
            (0..count * 3).for_each(|_| state.vu_active(worker, scenario, true));
            (0..count).for_each(|_| state.vu_active(worker, scenario, false));
            state.iterations_dropped(worker, scenario, count * 7);
        }
        state
    }

    #[test]
    fn counts_are_sums_over_workers_and_over_scenarios() {
        let state = state();
        let of = |n: u64| Counts { started: 5 * n, completed: 2 * n, interrupted: n, dropped: 7 * n, active: 2 * n };
        assert_eq!([state.scenario_counts(0), state.scenario_counts(1), state.counts()], [of(3), of(7), of(10)]);
        assert_eq!(state.vus_initialised(), 0);
        state.vu_initialised(0);
        state.vu_initialised(1);
        state.vu_initialised(1);
        assert_eq!(state.vus_initialised(), 3);
    }

    #[test]
    fn starts_of_traces_count_among_those_of_arrival_rates() {
        let trace = ScenarioFacts { executor: "trace", is_open: true, ..facts("a", 0, None) };
        let state = RunState::new(vec![facts("b", 0, None), trace], 1);
        (0..3).for_each(|scenario| state.iteration_started(0, scenario % 2));
        state.iterations_dropped(0, 1, 4);
        let arrivals = state.arrivals();
        assert_eq!((arrivals.started, arrivals.dropped, arrivals.lasts), (1, 4, Duration::from_secs(10)));
    }

    #[test]
    fn progress_is_by_iterations_where_they_are_counted_and_else_by_time() {
        let at = Duration::from_secs;
        let state = RunState::new(vec![facts("a", 5, None), facts("b", 0, Some(4))], 1);
        assert_eq!((state.progress(0, at(100)), state.started(), state.scenario_start(0)), (0.0, None, None));
        state.set_started(at(2));
        assert_eq!((state.started(), state.scenario_start(0)), (Some(at(2)), Some(at(7))));
        assert_eq!([6, 7, 12, 17, 30].map(|s| state.progress(0, at(s))), [0.0, 0.0, 0.5, 1.0, 1.0]);
        assert_eq!(state.progress(1, at(100)), 0.0);
        (0..11).for_each(|_| state.iteration_started(0, 1));
        state.iteration_completed(0, 1);
        state.iteration_interrupted(0, 1);
        assert_eq!(state.progress(1, at(0)), 0.5);
        (0..9).for_each(|_| state.iteration_completed(0, 1));
        assert_eq!(state.progress(1, at(0)), 1.0);
    }

    #[test]
    fn scenarios_are_told_as_they_were_given() {
        let state = state();
        assert_eq!(state.scenarios().collect::<Vec<_>>(), [("a", "constant-vus"), ("b", "constant-vus")]);
        assert_eq!((state.scenario_iterations(0), state.scenario_iterations(1)), (None, Some(4)));
        assert_eq!(state.scenario_time(1), Duration::from_secs(10));
        let number = |in_instance| IterationNumber { in_instance, in_test: in_instance };
        assert_eq!(state.iteration_number(0, 3), number(3));
    }
}
