//! Runs a plan: starts the workers, gathers what they report, and tells the caller by events.
//!
//! The caller's thread does the gathering, so `events` may do slow things (thresholds, `setup()`, drawing) without touching
//! the request path. `run` must not be called from within an async runtime. It returns when every worker has handed over its
//! last samples, or without those that are stuck in native code past every grace.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::time::Duration;

use metrics::{Recorder, Registry, Snapshot, SystemTags};
use tokio::sync::watch;

use crate::clock::{AnyClock, Clock, FakeClock, Origin, RealClock};
use crate::gathering::{Gathering, Report};
use crate::health::Health;
use crate::plan::Plan;
use crate::rate_limit::RateLimit;
pub use crate::state::RunState;
use crate::stop::{StopCause, Stopper};
use crate::vu::{CreateError, Users};
use crate::worker::{Post, Worker};

/// Called with each worker's recorder before anything is recorded (to tap it).
pub type Prepare = Arc<dyn Fn(usize, &Recorder) + Send + Sync>;

/// How long workers have to hand over their samples after the last possible end.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a run needs beside its plan.
#[derive(Clone)]
pub struct RunConfig {
    /// The run's metrics.
    pub registry: Arc<Registry>,
    /// Counts of the run, from `Plan::state`.
    pub state: Arc<RunState>,
    /// Ends the run; keep a clone.
    pub stopper: Stopper,
    /// Where the run's time starts: before setup and before virtual users are made.
    pub origin: Origin,
    /// Which system tags are on (`scenario` and `group` matter here).
    pub system_tags: SystemTags,
    /// The option `tags`: on every sample.
    pub tags: BTreeMap<String, String>,
    /// The option `minIterationDuration`.
    pub min_iteration_duration: Duration,
    /// The option `rps`, for the whole test; 0 or less is no limit.
    pub rps: f64,
    /// Called with each worker's recorder before anything is recorded.
    pub prepare: Option<Prepare>,
    /// How long a worker that does not come to an end is waited for.
    pub patience: Duration,
}

impl RunConfig {
    /// The defaults, with time starting now.
    pub fn new(registry: Arc<Registry>, state: Arc<RunState>) -> Self {
        RunConfig {
            registry,
            state,
            stopper: Stopper::new(),
            origin: Origin::now(),
            system_tags: SystemTags::default(),
            tags: BTreeMap::new(),
            min_iteration_duration: Duration::ZERO,
            rps: 0.0,
            prepare: None,
            patience: PATIENCE,
        }
    }
}

/// What the caller learns while it runs.
pub enum Event {
    /// Virtual users made so far, and how many there will be.
    Making {
        /// Made.
        done: u64,
        /// In all.
        of: u64,
    },
    /// All planned users are made; the scenarios start when the handler returns. The place to run `setup()`; to give the
    /// run up, use the `Stopper`.
    Made,
    /// The scenarios' time starts at this time of the run's clock.
    Started(Duration),
    /// About once a second, and once at the end.
    Tick(Tick),
    /// To be logged as a warning.
    Warning(String),
    /// A virtual user could not be stopped and is stuck for good: to be logged as an error.
    Lost(String),
}

/// What came in since the last tick.
pub struct Tick {
    /// By the run's clock.
    pub now: Duration,
    /// Until when the snapshots reach, by the run's clock: a worker that is late by more than a moment hands over later.
    pub cut: Duration,
    /// Since the scenarios started.
    pub elapsed: Duration,
    /// To be merged into the aggregate.
    pub snapshots: Vec<Snapshot>,
    /// Whether this is the last one.
    pub is_last: bool,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it ended early; none when all scenarios came to their end.
    pub stopped: Option<StopCause>,
    /// When the scenarios started, by the run's clock; none when they never did.
    pub started: Option<Duration>,
    /// When the last worker was done, by the run's clock.
    pub ended: Duration,
    /// How the generator fared.
    pub health: Health,
    /// Virtual users that could not be stopped.
    pub lost_users: u64,
    /// Workers that did not come to an end: what they recorded in their last second is missing.
    pub stuck_workers: Vec<usize>,
}

/// Why a run could not take place.
#[derive(Debug)]
pub enum RunError {
    /// Init code failed in a virtual user.
    Create(CreateError),
    /// The system refused a thread, timer or event queue.
    System(std::io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Create(error) => error.fmt(f),
            RunError::System(error) => write!(f, "could not start a worker thread: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

/// Runs the plan in real time, one thread a worker.
pub fn run<F: Users>(
    plan: Plan,
    users: Arc<F>,
    config: RunConfig,
    events: impl FnMut(Event),
) -> Result<Outcome, RunError> {
    let origin = config.origin;
    let (posts, reports, mut gathering) = prepare(plan, users, config, AnyClock::Real(RealClock::new(origin)), events);
    for post in posts {
        let name = format!("worker-{}", post.index);
        let thread = std::thread::Builder::new().name(name).spawn(move || work(post, origin));
        thread.map_err(|error| gathering.give_up(error))?;
    }
    while !gathering.is_over() {
        match reports.recv_timeout(gathering.patience()) {
            Ok(report) => gathering.take(report),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        gathering.look();
    }
    gathering.finish()
}

/// Runs the plan in simulated time on this thread, all workers as tasks beside each other: for tests of executors and of
/// virtual users. Deterministic.
pub fn run_simulated<F: Users>(
    plan: Plan,
    users: Arc<F>,
    config: RunConfig,
    clock: &FakeClock,
    events: impl FnMut(Event),
) -> Result<Outcome, RunError> {
    let (posts, reports, mut gathering) = prepare(plan, users, config, AnyClock::Fake(clock.clone()), events);
    clock.run(async {
        let workers: Vec<_> = posts
            .into_iter()
            .map(|post| tokio::task::spawn_local(Worker::new(post, AnyClock::Fake(clock.clone())).run()))
            .collect();
        while !gathering.is_over() {
            match reports.try_recv() {
                Ok(report) => gathering.take(report),
                Err(TryRecvError::Empty) => clock.sleep_until(clock.now() + gathering.patience()).await,
                Err(TryRecvError::Disconnected) => break,
            }
            gathering.look();
        }
        for worker in workers.into_iter().filter(|worker| worker.is_finished()) {
            if let Err(error) = worker.await {
                std::panic::resume_unwind(error.into_panic());
            }
        }
    });
    gathering.finish()
}

/// The body of a worker's thread.
fn work<F: Users>(post: Post<F>, origin: Origin) {
    let (reports, worker) = (post.reports.clone(), post.index);
    let life = AssertUnwindSafe(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build_local(tokio::runtime::LocalOptions::default())?;
        runtime.block_on(async {
            let clock = RealClock::new(origin);
            tokio::task::spawn_local(clock.drive()?);
            Worker::new(post, AnyClock::Real(clock)).run().await;
            Ok::<(), std::io::Error>(())
        })
    });
    let told = match std::panic::catch_unwind(life) {
        Ok(Ok(())) => return,
        Ok(Err(error)) => Report::Refused { worker, error },
        Err(panic) => Report::Panicked(panic),
    };
    // The caller is gone when it gave this worker up as stuck.
    let _ = reports.send(told);
}

/// What each worker is given, where they report, and who gathers it.
fn prepare<F: Users, E: FnMut(Event)>(
    plan: Plan,
    users: Arc<F>,
    config: RunConfig,
    clock: AnyClock,
    events: E,
) -> (Vec<Post<F>>, Receiver<Report>, Gathering<E>) {
    let (reports, receiver): (Sender<Report>, _) = mpsc::channel();
    let (start, started) = watch::channel(None);
    let rps = config.rps * plan.stripes.share();
    let limit = (rps > 0.0).then(|| RateLimit::new(rps));
    let next_user = Arc::new(AtomicU64::new(plan.planned_users() + 1));
    let tags = Arc::new(config.tags.clone());
    let plan = Arc::new(plan);
    let post = |index| Post {
        index,
        plan: Arc::clone(&plan),
        users: Arc::clone(&users),
        state: Arc::clone(&config.state),
        stopper: config.stopper.clone(),
        registry: Arc::clone(&config.registry),
        prepare: config.prepare.clone(),
        system_tags: config.system_tags,
        tags: Arc::clone(&tags),
        limit: limit.clone(),
        min_iteration_duration: config.min_iteration_duration,
        next_user: Arc::clone(&next_user),
        reports: reports.clone(),
        start: started.clone(),
    };
    let posts = (0..plan.workers()).map(post).collect();
    (posts, receiver, Gathering::new(plan, config, clock, start, events))
}
