//! Puts together what the workers report, and decides when the run starts, ticks and is over.
//!
//! A state machine without loop or thread: `run` gives it reports and has it check the time, in real or in simulated
//! time alike. Everything the caller learns goes through its `events`.

mod pending_tick;
mod worker_reports;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::clock::{AnyClock, Clock, Usage};
use crate::config::RunConfig;
use crate::event::{Event, Outcome, RunError, Tick};
use crate::health::Health;
use crate::plan::Plan;
use crate::report::Report;
use crate::stop::StopCause;
use crate::workers::worker::TICK;
use pending_tick::PendingTick;
use worker_reports::WorkerReports;

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
    workers: WorkerReports,
    tick: PendingTick,
    started: Option<Duration>,
    stopped_at: Option<Duration>,
    /// What the process had used when the scenarios started.
    used: Usage,
    warned: HashSet<usize>,
    failure: Option<RunError>,
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
            workers: WorkerReports::new(plan.workers()),
            tick: PendingTick::new(plan.workers()),
            plan,
            config,
            clock,
            start,
            events,
            started: None,
            stopped_at: None,
            used: Usage::default(),
            warned: HashSet::new(),
            failure: None,
        }
    }

    pub(crate) fn take(&mut self, report: Report) {
        match report {
            Report::Made => {
                self.workers.made += 1;
                assert!(self.workers.made <= self.plan.planned_users(), "each planned user is made once");
                (self.events)(Event::Making { done: self.workers.made, of: self.plan.planned_users() });
            }
            Report::Ready => {
                if self.workers.make_ready() {
                    self.begin();
                }
            }
            Report::Failed(error) => self.fail(RunError::Create(error)),
            // A user that was not finished because the test was stopped is no mistake of the script.
            Report::NotMade(_) if self.config.stopper.is_stopped() => {}
            Report::NotMade(error) => {
                (self.events)(Event::Warning(error.message));
            }
            Report::Lost(text) => {
                self.workers.lost += 1;
                (self.events)(Event::Lost(text));
            }
            Report::Started { worker, timer } => self.tick.lately.started(worker, timer),
            Report::Tick { worker, number, at, snapshot, lately } => {
                self.tick.lately.take(worker, lately);
                self.tick.add(at, snapshot);
                self.tick.report(number, self.clock.now());
            }
            Report::Insufficient { scenario, vus } => self.warn_insufficient(scenario, vus),
            Report::Ended { worker, at, loaded_until, snapshot, health } => {
                self.tick.add(at, snapshot);
                self.workers.end(worker, at, loaded_until, health);
            }
            Report::Refused { worker, error } => {
                self.workers.refuse(worker);
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
        assert!(self.started.is_none(), "the scenarios start once");
        self.config.state.set_started(start);
        self.started = Some(start);
        self.used = self.clock.process_usage();
        self.tick.lately.start(start, self.used.clone());
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
        let Some(start) = self.started else { return };
        if self.tick.is_due(self.workers.running().count(), start, now) {
            let number = self.tick.advance(start, now);
            self.send_tick(number, false);
        }
    }

    fn send_tick(&mut self, number: u32, is_last: bool) {
        let now = self.clock.now();
        let start = self.started.unwrap_or(now);
        let PendingTick { snapshots, cut, lately, .. } = &mut self.tick;
        debug_assert!(*cut <= now, "no snapshot reaches into the future: {cut:?}, {now:?}");
        let workers = &self.workers;
        let used = self.clock.process_usage();
        let due = (start + TICK * number).min(now);
        let lately = lately.tick((due, now), (&self.config.state, used), |worker| workers.has_ended(worker));
        let elapsed = now.saturating_sub(start);
        (self.events)(Event::Tick(Tick {
            now,
            cut: *cut,
            elapsed,
            snapshots: std::mem::take(snapshots),
            is_last,
            lately,
        }));
    }

    /// When workers that have not ended are stuck.
    fn last_moment(&self) -> Option<Duration> {
        let changed = self.config.state.load().latest_end_of_changed().unwrap_or_default();
        let regular = self.started.map(|start| start + self.plan.requirements().duration.max(changed));
        let end = [regular, self.stopped_at].into_iter().flatten().min()?;
        Some(end + self.config.patience)
    }

    pub(crate) fn is_over(&self) -> bool {
        let is_stuck = || self.last_moment().is_some_and(|last| self.clock.now() > last);
        self.workers.running().next().is_none() || is_stuck()
    }

    /// How long to wait for the next report before looking at the time again.
    pub(crate) fn patience(&self) -> Duration {
        TICK_PATIENCE / 2
    }

    pub(crate) fn finish(mut self) -> Result<Outcome, RunError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.send_tick(self.tick.number, true);
        let stuck_workers: Vec<usize> = self.workers.running().collect();
        let is_stuck = !stuck_workers.is_empty();
        let ended = if is_stuck { self.clock.now() } else { self.workers.last_end };
        // Without an iteration there was no load either: the workers' end is what is left.
        let has_load = !is_stuck && !self.workers.loaded_until.is_zero();
        let loaded_until = if has_load { self.workers.loaded_until } else { ended };
        assert!(loaded_until <= ended, "load until {loaded_until:?}, workers until {ended:?}");
        let counts = self.config.state.counts();
        assert!(
            is_stuck || counts.started == counts.completed + counts.interrupted,
            "each iteration that began has ended: {counts:?}"
        );
        let ran = self.started.map_or(Duration::ZERO, |start| ended.saturating_sub(start));
        let process_cores =
            if self.started.is_some() { self.used.cores_until(&self.clock.process_usage()) } else { 0.0 };
        Ok(Outcome {
            stopped: self.config.stopper.cause().cloned(),
            started: self.started,
            ended,
            loaded_until,
            lost_users: self.workers.lost,
            stuck_workers,
            health: Health {
                workers: self.workers.health(),
                counts,
                arrivals: self.config.state.arrivals(),
                wall: ran,
                process_cores,
            },
        })
    }
}
