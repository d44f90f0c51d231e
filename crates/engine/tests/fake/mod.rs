//! Virtual users for the engine's tests: they sleep for a given time on the run's clock and keep a diary of what
//! happened.
//!
//! They obey their `Interrupt` the way a script does: whoever sleeps is woken and ends as interrupted, unless told to
//! ignore it.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use metrics::{Aggregate, Registry, Results, Thresholds};
use onrush_engine::clock::{Clock, FakeClock};
use onrush_engine::run::run_simulated;
use onrush_engine::scenario::Scenarios;
use onrush_engine::segment::Stripes;
use onrush_engine::{
    CreateError, Event, Iteration, IterationEnd, Outcome, Plan, RunConfig, RunError, RunState, Stopper, Users,
    VuContext,
};
use serde_json::Value;

#[path = "../by_future/mod.rs"]
mod by_future;

use by_future::{ByFuture, Iterate};

/// One iteration of the diary. Times in ms since the start of the scenarios.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub scenario: String,
    pub user: u64,
    pub worker: usize,
    pub planned: u64,
    pub began: u64,
    pub ended: u64,
    pub completed: bool,
    pub in_scenario: u64,
    pub number: Option<u64>,
    pub in_test: u64,
}

/// What an iteration does.
pub type Act = Arc<dyn Fn(&Iteration, &VuContext) -> Doing + Send + Sync>;

pub enum Doing {
    Sleep(Duration),
    Abort(&'static str),
    /// Sleeps, and then turns out to be stuck.
    Stick(Duration),
}

pub struct FakeUsers {
    pub act: Act,
    pub diary: Arc<Mutex<Vec<Entry>>>,
    pub made: Arc<Mutex<Vec<(u64, u64, usize)>>>,
    pub fail_at: Option<u64>,
    /// The user with this number cannot be made a second time.
    pub fail_again: Option<u64>,
}

impl FakeUsers {
    pub fn sleeping(ms: u64) -> Self {
        FakeUsers::acting(move |_, _| Doing::Sleep(Duration::from_millis(ms)))
    }

    pub fn acting(act: impl Fn(&Iteration, &VuContext) -> Doing + Send + Sync + 'static) -> Self {
        FakeUsers { act: Arc::new(act), diary: Arc::default(), made: Arc::default(), fail_at: None, fail_again: None }
    }
}

pub struct FakeUser {
    seat: VuContext,
    act: Act,
    diary: Arc<Mutex<Vec<Entry>>>,
}

impl Users for FakeUsers {
    type User = ByFuture<FakeUser>;

    async fn create(&self, seat: VuContext) -> Result<ByFuture<FakeUser>, CreateError> {
        let is_again = || self.made.lock().unwrap().iter().any(|made| made.0 == seat.id_in_instance);
        if self.fail_at == Some(seat.id_in_instance) || self.fail_again == Some(seat.id_in_instance) && is_again() {
            return Err(CreateError { message: "init code failed".into(), exit_code: 107 });
        }
        self.made.lock().unwrap().push((seat.id_in_instance, seat.id_in_test, seat.worker));
        Ok(ByFuture::new(FakeUser { seat, act: Arc::clone(&self.act), diary: Arc::clone(&self.diary) }))
    }
}

impl Iterate for FakeUser {
    async fn iterate(self: Rc<Self>, iteration: Iteration) -> IterationEnd {
        let clock = self.seat.clock.clone();
        let began = clock.now();
        let number = match iteration.number {
            Some(number) => self.seat.run.iteration_number(iteration.scenario.index, number),
            None => self.seat.run.next_scenario_iteration(&iteration.scenario),
        };
        let end = match (self.act)(&iteration, &self.seat) {
            Doing::Abort(message) => IterationEnd::abort_test(message.into()),
            Doing::Sleep(time) => self.sleep(began + time).await,
            Doing::Stick(time) => {
                self.sleep(began + time).await;
                IterationEnd::lost(format!("user {} is stuck", self.seat.id_in_instance))
            }
        };
        let start = self.seat.run.started().unwrap();
        let ms = |at: Duration| (at - start).as_millis() as u64;
        self.diary.lock().unwrap().push(Entry {
            scenario: iteration.scenario.name.clone(),
            user: self.seat.id_in_instance,
            worker: self.seat.worker,
            planned: ms(iteration.planned),
            began: ms(began),
            ended: ms(clock.now()),
            completed: end == IterationEnd::Completed,
            in_scenario: iteration.in_scenario,
            number: iteration.number,
            in_test: number.in_test,
        });
        end
    }
}

impl FakeUser {
    async fn sleep(&self, until: Duration) -> IterationEnd {
        let mut sleep = pin!(self.seat.clock.sleep_until(until));
        poll_fn(|context| {
            self.seat.interrupt.register(context.waker());
            if self.seat.interrupt.reason().is_some() {
                return Poll::Ready(IterationEnd::Interrupted);
            }
            sleep.as_mut().poll(context).map(|()| IterationEnd::Completed)
        })
        .await
    }
}

/// What a simulated run came to.
pub struct Ran {
    pub outcome: Outcome,
    pub diary: Vec<Entry>,
    pub made: Vec<(u64, u64, usize)>,
    pub results: Results,
    pub state: Arc<RunState>,
    pub warnings: Vec<String>,
    pub ticks: usize,
    /// Everything but warnings, in order, a line each.
    pub events: Vec<String>,
}

/// A run to be set up.
pub struct Simulation {
    pub scenarios: Value,
    pub users: FakeUsers,
    pub workers: usize,
    pub stripes: Stripes,
    pub stopper: Stopper,
    pub configure: Box<dyn FnOnce(&mut RunConfig)>,
    /// Called at each tick with the elapsed time.
    pub on_tick: Box<dyn FnMut(Duration)>,
}

pub fn simulation(scenarios: Value, users: FakeUsers) -> Simulation {
    Simulation {
        scenarios,
        users,
        workers: 1,
        stripes: Stripes::whole(),
        stopper: Stopper::new(),
        configure: Box::new(|_| {}),
        on_tick: Box::new(|_| {}),
    }
}

impl Simulation {
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    pub fn run(self) -> Ran {
        self.try_run().unwrap()
    }

    pub fn try_run(mut self) -> Result<Ran, RunError> {
        let plan = Plan::new(&Scenarios::from_json(&self.scenarios).unwrap(), &self.stripes, self.workers).unwrap();
        let registry = Registry::new();
        let state = plan.state();
        let mut config = RunConfig::new(Arc::clone(&registry), Arc::clone(&state));
        config.stopper = self.stopper;
        (self.configure)(&mut config);
        let mut aggregate = Aggregate::new(registry, Thresholds::default());
        let (mut warnings, mut ticks, mut events, mut started) = (Vec::new(), 0, Vec::new(), Duration::ZERO);
        let (diary, made) = (Arc::clone(&self.users.diary), Arc::clone(&self.users.made));
        let outcome = run_simulated(plan, Arc::new(self.users), config, &FakeClock::new(), |event| match event {
            Event::Tick(tick) => {
                ticks += 1;
                let (elapsed, cut) = (tick.elapsed.as_secs(), tick.cut - started);
                let last = if tick.is_last { ", the last" } else { "" };
                events.push(format!("tick after {elapsed}s: {} until {cut:?}{last}", tick.snapshots.len()));
                tick.snapshots.into_iter().for_each(|snapshot| aggregate.merge(snapshot));
                (self.on_tick)(tick.elapsed);
            }
            Event::Warning(text) | Event::Lost(text) => warnings.push(text),
            Event::Making { done, of } => events.push(format!("making {done} of {of}")),
            Event::Made => events.push("made".to_owned()),
            Event::Started(at) => {
                started = at;
                events.push("started".to_owned());
            }
        })?;
        let results = aggregate.results(outcome.ended, false);
        let (diary, made) = (diary.lock().unwrap().clone(), made.lock().unwrap().clone());
        Ok(Ran { outcome, diary, made, results, state, warnings, ticks, events })
    }
}

impl Ran {
    /// The sum of a Counter metric; 0 without samples.
    pub fn counter(&self, name: &str) -> u64 {
        match self
            .results
            .metrics
            .iter()
            .find(|metric| metric.name == name && metric.filter.is_none())
            .map(|m| &m.value)
        {
            Some(metrics::results::Value::Counter { count, .. }) => *count as u64,
            None => 0,
            Some(other) => panic!("{name} is no counter: {other:?}"),
        }
    }

    /// The distribution of a Trend metric.
    pub fn trend(&self, name: &str) -> &metrics::results::TrendValue {
        match self.results.metrics.iter().find(|metric| metric.name == name).map(|metric| &metric.value) {
            Some(metrics::results::Value::Trend(trend)) => trend,
            other => panic!("{name} is no trend: {other:?}"),
        }
    }

    /// Completed iterations.
    pub fn completed(&self) -> usize {
        self.diary.iter().filter(|entry| entry.completed).count()
    }

    /// Interrupted iterations.
    pub fn interrupted(&self) -> Vec<&Entry> {
        self.diary.iter().filter(|entry| !entry.completed).collect()
    }

    /// When iterations began, in order.
    pub fn begins(&self) -> Vec<u64> {
        let mut begins: Vec<u64> = self.diary.iter().map(|entry| entry.began).collect();
        begins.sort_unstable();
        begins
    }
}
