//! Puts together what the workers report, and decides when the run starts, ticks and is over.
//!
//! A state machine without loop or thread: `run` gives it reports and has it check the time, in real or in simulated
//! time alike. Everything the caller learns goes through its `events`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use metrics::Snapshot;
use tokio::sync::watch;

use crate::clock::{AnyClock, Clock, Usage};
use crate::config::RunConfig;
use crate::event::{Event, Outcome, RunError, Tick};
use crate::health::{Health, WorkerHealth};
use crate::lately::LatelyOfAll;
use crate::plan::Plan;
use crate::report::Report;
use crate::stop::StopCause;
use crate::workers::worker::TICK;

/// How long a tick waits for the slowest worker.
const TICK_PATIENCE: Duration = Duration::from_millis(200);
/// From the decision to start until the start, so that all workers start at the same time.
const LEAD: Duration = Duration::from_millis(2);

/// Puts together what the workers report.
pub(crate) struct Collector<E> {
    plan: Arc<Plan>,
    config: RunConfig,
    clock: AnyClock,
    start: watch::Sender<Option<Duration>>,
    events: E,
    made: u64,
    ready: usize,
    started: Option<Duration>,
    stopped_at: Option<Duration>,
    /// One a worker, once it has ended.
    ended: Vec<Option<WorkerHealth>>,
    last_end: Duration,
    loaded_until: Duration,
    snapshots: Vec<Snapshot>,
    /// Until when the snapshots reach.
    cut: Duration,
    /// The tick being put together: its number, which workers have reported, and since when.
    tick: (u32, usize, Option<Duration>),
    warned: HashSet<usize>,
    failure: Option<RunError>,
    /// What the process had used when the scenarios started.
    used: Usage,
    lost: u64,
    lately: LatelyOfAll,
}

impl<E: FnMut(Event)> Collector<E> {
    pub(crate) fn new(
        plan: Arc<Plan>,
        config: RunConfig,
        clock: AnyClock,
        start: watch::Sender<Option<Duration>>,
        events: E,
    ) -> Self {
        Collector {
            ended: vec![None; plan.workers()],
            lately: LatelyOfAll::new(plan.workers()),
            plan,
            config,
            clock,
            start,
            events,
            made: 0,
            ready: 0,
            started: None,
            stopped_at: None,
            last_end: Duration::ZERO,
            loaded_until: Duration::ZERO,
            snapshots: Vec::new(),
            cut: Duration::ZERO,
            tick: (1, 0, None),
            warned: HashSet::new(),
            failure: None,
            used: Usage::default(),
            lost: 0,
        }
    }

    pub(crate) fn take(&mut self, report: Report) {
        match report {
            Report::Made => {
                self.made += 1;
                (self.events)(Event::Making { done: self.made, of: self.plan.planned_users() });
            }
            Report::Ready => {
                self.ready += 1;
                if self.ready == self.plan.workers() {
                    self.begin();
                }
            }
            Report::Failed(error) => self.fail(RunError::Create(error)),
            // A user that was not finished because the test was stopped is no mistake of the script.
            Report::NotMade(_) if self.config.stopper.is_stopped() => {}
            Report::NotMade(error) => {
                (self.events)(Event::Warning(format!("could not initialise an unplanned VU: {}", error.message)));
            }
            Report::Lost(text) => {
                self.lost += 1;
                (self.events)(Event::Lost(text));
            }
            Report::Started { worker, timer } => self.lately.started(worker, timer),
            Report::Tick { worker, number, at, snapshot, lately } => {
                self.lately.take(worker, lately);
                self.take_tick(number, at, snapshot);
            }
            Report::Insufficient { scenario, vus } => self.warn_insufficient(scenario, vus),
            Report::Ended { worker, at, loaded_until, snapshot, health } => {
                self.snapshots.push(snapshot);
                self.last_end = self.last_end.max(at);
                self.loaded_until = self.loaded_until.max(loaded_until);
                self.cut = self.cut.max(at);
                self.ended[worker] = Some(health);
            }
            Report::Refused { worker, error } => {
                self.ended[worker] = Some(WorkerHealth::default());
                self.ready += 1;
                self.fail(RunError::System(error));
            }
            Report::Panicked(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// All users are made: lets the caller run setup, then starts.
    fn begin(&mut self) {
        if self.failure.is_some() || self.config.stopper.is_stopped() {
            return;
        }
        (self.events)(Event::Made);
        if self.config.stopper.is_stopped() {
            return;
        }
        let agreed = self.config.start_at.get().copied().unwrap_or_default();
        let start = agreed.max(self.clock.now() + LEAD);
        self.config.state.set_started(start);
        self.started = Some(start);
        self.used = self.clock.process_usage();
        self.lately.start(start, self.used.clone());
        (self.events)(Event::Started(start));
        let _ = self.start.send(Some(start));
    }

    fn fail(&mut self, error: RunError) {
        if self.config.stopper.is_stopped() {
            // What breaks while the run is being stopped broke because of that: init code is interrupted, too.
            return;
        }
        self.failure = Some(error);
        // The other workers end by the same way as any stop.
        self.config.stopper.stop(StopCause::Requested);
    }

    pub(crate) fn give_up(&mut self, error: std::io::Error) -> RunError {
        self.config.stopper.stop(StopCause::Requested);
        RunError::System(error)
    }

    fn take_tick(&mut self, number: u32, at: Duration, snapshot: Snapshot) {
        self.snapshots.push(snapshot);
        self.cut = self.cut.max(at);
        if number == self.tick.0 {
            self.tick.1 += 1;
            self.tick.2.get_or_insert(self.clock.now());
        }
    }

    fn warn_insufficient(&mut self, scenario: usize, vus: u64) {
        if self.warned.insert(scenario) {
            let name = self.plan.scenarios().nth(scenario).map_or("", |scenario| scenario.name.as_str());
            let text = format!(
                "Insufficient VUs, reached {vus} active VUs and cannot initialize more (scenario '{name}'): \
                 iterations are dropped; raise maxVUs"
            );
            (self.events)(Event::Warning(text));
        }
    }

    /// Looks at the time: is a tick due.
    pub(crate) fn check_time(&mut self) {
        let now = self.clock.now();
        if self.config.stopper.is_stopped() {
            self.stopped_at.get_or_insert(now);
        }
        let running = self.ended.iter().filter(|ended| ended.is_none()).count();
        let (number, reported, since) = self.tick;
        let Some(start) = self.started else { return };
        let is_whole = since.is_some() && reported >= running;
        // Where all workers stand still there is a tick all the same: somebody wants to know.
        let is_late = now >= since.unwrap_or(start + TICK * number) + TICK_PATIENCE;
        if running > 0 && (is_whole || is_late) {
            let passed = now.saturating_sub(start).as_secs() / TICK.as_secs();
            self.tick = (number.max(u32::try_from(passed).unwrap_or(u32::MAX)).saturating_add(1), 0, None);
            self.send_tick(number, false);
        }
    }

    fn send_tick(&mut self, number: u32, is_last: bool) {
        let now = self.clock.now();
        let start = self.started.unwrap_or(now);
        let snapshots = std::mem::take(&mut self.snapshots);
        let ended = &self.ended;
        let used = self.clock.process_usage();
        let due = (start + TICK * number).min(now);
        let lately = self.lately.tick((due, now), (&self.config.state, used), |worker| ended[worker].is_some());
        let elapsed = now.saturating_sub(start);
        (self.events)(Event::Tick(Tick { now, cut: self.cut, elapsed, snapshots, is_last, lately }));
    }

    /// When workers that have not ended are stuck.
    fn last_moment(&self) -> Option<Duration> {
        let regular = self.started.map(|start| start + self.plan.requirements().duration);
        let end = [regular, self.stopped_at].into_iter().flatten().min()?;
        Some(end + self.config.patience)
    }

    pub(crate) fn is_over(&self) -> bool {
        let is_stuck = || self.last_moment().is_some_and(|last| self.clock.now() > last);
        self.ended.iter().all(Option::is_some) || is_stuck()
    }

    /// How long to wait for the next report before looking at the time again.
    pub(crate) fn patience(&self) -> Duration {
        TICK_PATIENCE / 2
    }

    pub(crate) fn finish(mut self) -> Result<Outcome, RunError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.send_tick(self.tick.0, true);
        let is_stuck = self.ended.iter().any(Option::is_none);
        let ended = if is_stuck { self.clock.now() } else { self.last_end };
        // Without an iteration there was no load either: the workers' end is what is left.
        let has_load = !is_stuck && !self.loaded_until.is_zero();
        let loaded_until = if has_load { self.loaded_until } else { ended };
        let ran = self.started.map_or(Duration::ZERO, |start| ended.saturating_sub(start));
        let process_cores =
            if self.started.is_some() { self.used.cores_until(&self.clock.process_usage()) } else { 0.0 };
        let stuck = self.ended.iter().enumerate().filter(|(_, ended)| ended.is_none());
        Ok(Outcome {
            stopped: self.config.stopper.cause().cloned(),
            started: self.started,
            ended,
            loaded_until,
            lost_users: self.lost,
            stuck_workers: stuck.map(|(worker, _)| worker).collect(),
            health: Health {
                workers: self.ended.iter().cloned().map(Option::unwrap_or_default).collect(),
                counts: self.config.state.counts(),
                arrivals: self.config.state.arrivals(),
                wall: ran,
                process_cores,
            },
        })
    }
}
