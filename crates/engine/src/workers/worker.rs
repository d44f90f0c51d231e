//! One worker: a thread's event loop with its own virtual users, recorder and clock.
//!
//! Its life reads from top to bottom in `run`: make the planned users, wait for the start, run the lanes, report what
//! was recorded. A task that panics takes the worker down with it; the caller of the run learns of it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use metrics::{Recorder, SystemTags};
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, spawn_local};

use crate::beats::Beats;
use crate::clock::{AnyClock, Clock, ThreadTimer};
use crate::config::Prepare;
use crate::deadlines::Deadlines;
use crate::health::{LagFigures, WorkerHealth};
use crate::lately::Lately;
use crate::plan::Plan;
use crate::rate_limit::RateLimit;
use crate::record::{LaneRecord, UsersRecord};
use crate::report::Report;
use crate::segment::Stripes;
use crate::state::RunState;
use crate::stop::{Interrupt, StopReason, Stopper};
use crate::vu::{CreateError, Users, VuContext};
use crate::workers::lane::Lane;
use crate::workers::pool::{Member, Pool};

/// How often samples are reported.
pub(crate) const TICK: Duration = Duration::from_secs(1);

/// What a worker is given; everything here may be sent to its thread.
pub(crate) struct WorkerSetup<F> {
    pub(crate) index: usize,
    pub(crate) plan: Arc<Plan>,
    pub(crate) users: Arc<F>,
    pub(crate) state: Arc<RunState>,
    pub(crate) stopper: Stopper,
    pub(crate) registry: Arc<metrics::Registry>,
    pub(crate) prepare: Option<Prepare>,
    pub(crate) system_tags: SystemTags,
    pub(crate) tags: Arc<BTreeMap<String, String>>,
    pub(crate) limit: Option<RateLimit>,
    pub(crate) min_iteration_duration: Duration,
    pub(crate) next_user: Arc<AtomicU64>,
    pub(crate) reports: Sender<Report>,
    pub(crate) start: watch::Receiver<Option<Duration>>,
}

/// What the tasks of one worker share.
pub(crate) struct Worker<F: Users> {
    pub(crate) index: usize,
    pub(crate) clock: AnyClock,
    pub(crate) state: Arc<RunState>,
    pub(crate) stopper: Stopper,
    pub(crate) pool: Pool<F::User>,
    pub(crate) min_iteration_duration: Duration,
    /// Whether a client has changed the number of users: the pool may have too few then.
    pub(crate) is_changed: Cell<bool>,
    /// Held while one of the users is made that the pool has too few of.
    pub(crate) making: tokio::sync::Mutex<()>,
    recorder: Rc<Recorder>,
    /// Until when there was load: the end of the last iteration, or of an arrival rate's plan.
    loaded_until: Cell<Duration>,
    deadlines: Deadlines,
    halt: Notify,
    setup: WorkerSetup<F>,
}

/// Tasks that are waited for together.
#[derive(Default)]
pub(crate) struct Tasks(Vec<JoinHandle<()>>);

impl Tasks {
    pub(crate) fn spawn(&mut self, task: impl Future<Output = ()> + 'static) {
        self.0.push(spawn_local(task));
    }

    /// Waits for all; a panic in one continues here.
    pub(crate) async fn join(self) {
        for task in self.0 {
            if let Err(error) = task.await
                && error.is_panic()
            {
                std::panic::resume_unwind(error.into_panic());
            }
        }
    }

    /// Ends all. Only for tasks that run no virtual user.
    fn abort(self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// How late the event loop is, and what its thread did meanwhile.
struct Pulse {
    timer: ThreadTimer,
    beats: RefCell<Beats>,
}

impl Pulse {
    fn starting(clock: &AnyClock, start: Duration) -> Pulse {
        let timer = clock.thread_timer();
        Pulse { beats: RefCell::new(Beats::starting(start, timer.read())), timer }
    }

    async fn run(&self, clock: &AnyClock) {
        loop {
            let due = self.beats.borrow().due();
            clock.sleep_until(due).await;
            self.beats.borrow_mut().beat(clock.now(), self.timer.read());
        }
    }

    /// In simulated time nobody is late.
    fn catch_up(&self, clock: &AnyClock) {
        if matches!(clock, AnyClock::Real(_)) {
            self.beats.borrow_mut().catch_up(clock.now(), self.timer.read());
        }
    }
}

impl<F: Users> Worker<F> {
    pub(crate) fn new(setup: WorkerSetup<F>, clock: AnyClock) -> Rc<Self> {
        let recorder = Rc::new(Recorder::new(Arc::clone(&setup.registry)));
        if let Some(prepare) = &setup.prepare {
            prepare(setup.index, &recorder);
        }
        Rc::new(Worker {
            index: setup.index,
            clock,
            state: Arc::clone(&setup.state),
            stopper: setup.stopper.clone(),
            pool: Pool::new(),
            min_iteration_duration: setup.min_iteration_duration,
            is_changed: Cell::new(false),
            making: tokio::sync::Mutex::new(()),
            recorder,
            loaded_until: Cell::new(Duration::ZERO),
            deadlines: Deadlines::default(),
            halt: Notify::new(),
            setup,
        })
    }

    /// The worker's whole life.
    pub(crate) async fn run(self: Rc<Self>) {
        let mut background = Tasks::default();
        let worker = Rc::clone(&self);
        background.spawn(async move { worker.halt_when_stopped().await });
        let worker = Rc::clone(&self);
        background.spawn(async move { worker.deadlines.run(&worker.clock).await });
        background.spawn(self.setup.users.drive());
        if let Err(error) = self.make_planned_users().await {
            self.report(Report::Failed(error));
        }
        self.report(Report::Ready);
        let mut health = WorkerHealth::default();
        if let Some(start) = self.wait_for_start().await {
            let before = self.clock.thread_usage();
            let pulse = Rc::new(Pulse::starting(&self.clock, start));
            self.report(Report::Started { worker: self.index, timer: pulse.timer.share() });
            if matches!(self.clock, AnyClock::Real(_)) {
                let (worker, pulse) = (Rc::clone(&self), Rc::clone(&pulse));
                background.spawn(async move { pulse.run(&worker.clock).await });
            }
            let worker = Rc::clone(&self);
            background.spawn(async move {
                worker.clock.sleep_until(start).await;
                worker.state.awake(worker.clock.now().saturating_sub(start));
            });
            let (worker, of_tick) = (Rc::clone(&self), Rc::clone(&pulse));
            background.spawn(async move { worker.tick(start, &of_tick).await });
            self.run_lanes(start).await;
            let after = self.clock.thread_usage();
            pulse.catch_up(&self.clock);
            let beats = pulse.beats.borrow();
            health = WorkerHealth::between(&before, &after, LagFigures::from(&beats.lag), &beats.stops);
        }
        background.abort();
        let (worker, at, snapshot) = (self.index, self.clock.now(), self.recorder.take());
        let loaded_until = self.loaded_until.get();
        self.report(Report::Ended { worker, at, loaded_until, snapshot, health });
        // Only now, because dropping thousands of users takes time that must not count.
        drop(self.pool.drain());
    }

    async fn make_planned_users(&self) -> Result<(), CreateError> {
        for id in &self.setup.plan.users[self.index] {
            if self.is_halted() {
                break;
            }
            let member = self.make_first(*id).await.map_err(|error| error.of(&format!("VU {id}")))?;
            self.pool.put(member);
            self.report(Report::Made);
        }
        Ok(())
    }

    /// Makes the user with this number for the first time: from now on it counts.
    pub(crate) async fn make_first(&self, id: u64) -> Result<Member<F::User>, CreateError> {
        let member = self.make(id).await?;
        self.state.vu_initialised(self.index);
        Ok(member)
    }

    /// Makes the user with this number.
    pub(crate) async fn make(&self, id: u64) -> Result<Member<F::User>, CreateError> {
        assert!(id > 0, "users are numbered from 1");
        let interrupt = Rc::new(Interrupt::new(self.clock.clone(), self.stopper.clone()));
        let context = VuContext {
            id_in_instance: id,
            id_in_test: self.setup.plan.stripes.unscale(id - 1) + 1,
            worker: self.index,
            recorder: Rc::clone(&self.recorder),
            interrupt: Rc::clone(&interrupt),
            run: Arc::clone(&self.state),
            clock: self.clock.clone(),
            limit: self.setup.limit.clone(),
        };
        let user = self.setup.users.create(context).await?;
        Ok(self.pool.add_user(id, user, interrupt))
    }

    /// The number of an unplanned user.
    pub(crate) fn next_user(&self) -> u64 {
        self.setup.next_user.fetch_add(1, Ordering::Relaxed)
    }

    async fn wait_for_start(&self) -> Option<Duration> {
        let mut start = self.setup.start.clone();
        let given = self.unless_halted(async move { start.wait_for(Option::is_some).await.ok().and_then(|at| *at) });
        given.await.flatten()
    }

    async fn run_lanes(self: &Rc<Self>, start: Duration) {
        let mut lanes = Tasks::default();
        for (index, plan) in self.setup.plan.lanes.iter().enumerate().filter(|(_, plan)| plan.has_work()) {
            let lane = Lane::new(Rc::clone(self), index, plan, start);
            lanes.spawn(lane.run(plan.clone()));
        }
        lanes.join().await;
    }

    /// Interrupts all users at once when the test is stopped.
    async fn halt_when_stopped(&self) {
        self.stopper.stopped().await;
        self.halt.notify_waiters();
        self.pool.each_interrupt(|interrupt| interrupt.set(StopReason::Aborted));
    }

    /// Reports the samples every second; the first worker adds the numbers of users.
    async fn tick(&self, start: Duration, pulse: &Pulse) {
        let mut lately = Lately::since(self.clock.thread_usage());
        let users = (self.index == 0).then(|| UsersRecord::new(Rc::clone(&self.recorder), &self.setup.tags));
        for number in 1.. {
            self.clock.sleep_until(start + TICK * number).await;
            let now = self.clock.now();
            if let Some(users) = &users {
                let (active, initialised) = (self.state.counts().active, self.state.vus_initialised());
                users.add(active, initialised, self.clock.epoch_ns(now));
            }
            pulse.catch_up(&self.clock);
            let lately = lately.look(self.clock.thread_usage(), pulse.beats.borrow_mut().report());
            let snapshot = self.recorder.take();
            self.report(Report::Tick { worker: self.index, number, at: now, snapshot, lately });
        }
    }

    /// Wakes users for whom something has arrived.
    pub(crate) fn wake_ready(&self) {
        self.setup.users.wake_ready();
    }

    /// There was load until then.
    #[inline]
    pub(crate) fn loaded(&self, until: Duration) {
        self.loaded_until.set(self.loaded_until.get().max(until));
    }

    /// Arms the interrupt of a user that is about to iterate.
    pub(crate) fn set_deadline(&self, member: &Member<F::User>, deadline: Duration) {
        member.interrupt.clear();
        member.interrupt.set_deadline(Some(deadline));
        if member.watched.replace(Some(deadline)) != Some(deadline) {
            self.deadlines.watch(&member.interrupt, deadline);
        }
    }

    /// Moves the deadline of an iteration that runs.
    pub(crate) fn move_deadline(&self, interrupt: &Rc<Interrupt>, deadline: Duration) {
        interrupt.set_deadline(Some(deadline));
        self.deadlines.watch(interrupt, deadline);
    }

    /// This instance's part of the test.
    pub(crate) fn stripes(&self) -> &Stripes {
        &self.setup.plan.stripes
    }

    /// Whether the test was stopped.
    pub(crate) fn is_halted(&self) -> bool {
        self.stopper.is_stopped()
    }

    /// Sleeps, but not beyond a stop of the test.
    pub(crate) async fn sleep_until(&self, deadline: Duration) {
        if deadline > self.clock.now() {
            self.unless_halted(self.clock.sleep_until(deadline)).await;
        }
    }

    /// Resolves when the test is stopped after this call. For loops that would register with every round of theirs.
    pub(crate) fn halted(&self) -> Notified<'_> {
        self.halt.notified()
    }

    /// What `work` comes to; none when the test is stopped before. `work` must not hold a running iteration.
    pub(crate) async fn unless_halted<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut halt = std::pin::pin!(self.halt.notified());
        // Registered before the flag is read, so that a stop in between is not missed.
        halt.as_mut().enable();
        if self.is_halted() {
            return None;
        }
        tokio::select! {
            biased;
            done = work => Some(done),
            () = halt => None,
        }
    }

    pub(crate) fn lane_record(&self, scenario: (&str, &BTreeMap<String, String>), is_open: bool) -> LaneRecord {
        LaneRecord::new(Rc::clone(&self.recorder), self.setup.system_tags, &self.setup.tags, scenario, is_open)
    }

    pub(crate) fn report(&self, report: Report) {
        // The receiver is gone when the run gave this worker up as stuck.
        let _ = self.setup.reports.send(report);
    }
}
