//! Runs a plan: starts the workers, collects what they report, and tells the caller by events.
//!
//! The caller's thread collects, so `events` may do slow things (thresholds, `setup()`, drawing) without touching
//! the request path. `run` must not be called from within an async runtime. It returns when every worker has handed
//! over its last samples, or without those that are stuck in native code past every grace.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};

use tokio::sync::watch;

use crate::clock::{AnyClock, Clock, FakeClock, Origin, RealClock};
use crate::collector::Collector;
use crate::config::RunConfig;
use crate::event::{Event, Outcome, RunError};
use crate::plan::Plan;
use crate::rate_limit::RateLimit;
use crate::report::Report;
use crate::vu::Users;
use crate::workers::worker::{Worker, WorkerSetup};

/// Runs the plan in real time, one thread a worker.
pub fn run<F: Users>(
    plan: Plan,
    users: Arc<F>,
    config: RunConfig,
    events: impl FnMut(Event),
) -> Result<Outcome, RunError> {
    let origin = config.origin;
    let (setups, reports, mut collector) = prepare(plan, users, config, AnyClock::Real(RealClock::new(origin)), events);
    for setup in setups {
        let name = format!("worker-{}", setup.index);
        let thread = std::thread::Builder::new().name(name).spawn(move || work(setup, origin));
        thread.map_err(|error| collector.give_up(error))?;
    }
    while !collector.is_over() {
        match reports.recv_timeout(collector.patience()) {
            Ok(report) => collector.take(report),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        collector.check_time();
    }
    collector.finish()
}

/// Runs the plan in simulated time on this thread, all workers as tasks beside each other: for tests of executors and
/// of virtual users. Deterministic.
pub fn run_simulated<F: Users>(
    plan: Plan,
    users: Arc<F>,
    config: RunConfig,
    clock: &FakeClock,
    events: impl FnMut(Event),
) -> Result<Outcome, RunError> {
    let (setups, reports, mut collector) = prepare(plan, users, config, AnyClock::Fake(clock.clone()), events);
    clock.run(async {
        let workers: Vec<_> = setups
            .into_iter()
            .map(|setup| tokio::task::spawn_local(Worker::new(setup, AnyClock::Fake(clock.clone())).run()))
            .collect();
        while !collector.is_over() {
            match reports.try_recv() {
                Ok(report) => collector.take(report),
                Err(TryRecvError::Empty) => clock.sleep_until(clock.now() + collector.patience()).await,
                Err(TryRecvError::Disconnected) => break,
            }
            collector.check_time();
        }
        for worker in workers.into_iter().filter(|worker| worker.is_finished()) {
            if let Err(error) = worker.await {
                std::panic::resume_unwind(error.into_panic());
            }
        }
    });
    collector.finish()
}

/// The body of a worker's thread.
fn work<F: Users>(setup: WorkerSetup<F>, origin: Origin) {
    let (reports, worker) = (setup.reports.clone(), setup.index);
    let life = AssertUnwindSafe(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build_local(tokio::runtime::LocalOptions::default())?;
        runtime.block_on(async {
            let clock = RealClock::new(origin);
            tokio::task::spawn_local(clock.drive()?);
            Worker::new(setup, AnyClock::Real(clock)).run().await;
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

/// What each worker is given, where they report, and who collects it.
fn prepare<F: Users, E: FnMut(Event)>(
    plan: Plan,
    users: Arc<F>,
    config: RunConfig,
    clock: AnyClock,
    events: E,
) -> (Vec<WorkerSetup<F>>, Receiver<Report>, Collector<E>) {
    assert_eq!(config.state.scenarios().len(), plan.scenarios().len(), "the counts are those of this plan");
    let (reports, receiver): (Sender<Report>, _) = mpsc::channel();
    let (start, started) = watch::channel(None);
    let rps = config.rps * plan.stripes.share();
    let limit = (rps > 0.0).then(|| RateLimit::new(rps));
    let next_user = Arc::new(AtomicU64::new(plan.planned_users() + 1));
    let tags = Arc::new(config.tags.clone());
    let plan = Arc::new(plan);
    let setup = |index| WorkerSetup {
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
    let setups = (0..plan.workers()).map(setup).collect();
    (setups, receiver, Collector::new(plan, config, clock, start, events))
}
