//! Real threads and real time: what simulation cannot show. No test asserts how fast anything is.

#![allow(clippy::disallowed_macros, reason = "prints a figure for whoever runs it alone")]

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use metrics::{Aggregate, Registry, Thresholds};
use onrush_engine::clock::Clock;
use onrush_engine::scenario::Scenarios;
use onrush_engine::segment::Stripes;
use onrush_engine::{
    CreateError, Event, Iteration, IterationEnd, Outcome, Plan, RunConfig, RunError, StopCause, Stopper, Users,
    VuContext, run,
};
use serde_json::{Value, json};

mod by_future;

use by_future::{ByFuture, Iterate};

/// What each iteration of a user does.
#[derive(Clone, Copy)]
enum Habit {
    /// Sleeps on the run's clock.
    Sleep(Duration),
    /// Computes until it is interrupted, without ever giving the event loop its turn.
    Spin,
    /// Computes for this long, without ever giving the event loop its turn.
    Compute(Duration),
    /// Waits for a turn of the option `rps`.
    WaitTurn,
    /// Is stuck in native code for good, on the second worker only.
    Hang,
    /// Returns at once, having counted the users that ever had a turn.
    Count(&'static AtomicU64),
    /// Has a bug.
    Panic,
}

struct Simple(Habit);

struct SimpleUser(Habit, VuContext);

impl Users for Simple {
    type User = ByFuture<SimpleUser>;

    async fn create(&self, seat: VuContext) -> Result<ByFuture<SimpleUser>, CreateError> {
        Ok(ByFuture::new(SimpleUser(self.0, seat)))
    }
}

impl Iterate for SimpleUser {
    async fn iterate(self: Rc<Self>, iteration: Iteration) -> IterationEnd {
        let clock = &self.1.clock;
        match self.0 {
            Habit::Sleep(time) => clock.sleep(time).await,
            Habit::WaitTurn => self.1.wait_turn().await,
            Habit::Count(users) => _ = users.fetch_add(u64::from(iteration.in_scenario == 0), Ordering::Relaxed),
            Habit::Panic => panic!("a bug in a user"),
            Habit::Hang if self.1.worker == 1 => loop {
                std::thread::park();
            },
            Habit::Hang => {}
            Habit::Compute(time) => {
                let end = clock.now() + time;
                while clock.now() < end {
                    std::hint::spin_loop();
                }
            }
            Habit::Spin => {
                while self.1.interrupt.reason().is_none() {
                    std::hint::spin_loop();
                }
                return IterationEnd::Interrupted;
            }
        }
        IterationEnd::Completed
    }
}

struct Ran {
    outcome: Outcome,
    iterations: u64,
    state: Arc<onrush_engine::RunState>,
}

#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
fn run_real(habit: Habit, scenario: Value, configure: impl FnOnce(&mut RunConfig)) -> Result<Ran, RunError> {
    let scenarios = Scenarios::from_json(&json!({ "a": scenario })).unwrap();
    let plan = Plan::new(&scenarios, &Stripes::whole(), 2).unwrap();
    let (registry, state) = (Registry::new(), plan.state());
    let mut config = RunConfig::new(Arc::clone(&registry), Arc::clone(&state));
    configure(&mut config);
    let mut aggregate = Aggregate::new(registry, Thresholds::default());
    let outcome = run(plan, Arc::new(Simple(habit)), config, |event| {
        if let Event::Tick(tick) = event {
            tick.snapshots.into_iter().for_each(|snapshot| aggregate.merge(snapshot));
        }
    })?;
    let iterations = aggregate.live(metrics::builtin::ITERATIONS) as u64;
    Ok(Ran { outcome, iterations, state })
}

fn iterations(vus: u64, iterations: u64) -> Value {
    json!({ "executor": "per-vu-iterations", "vus": vus, "iterations": iterations, "maxDuration": "20s" })
}

#[test]
fn the_last_start_is_one_that_began() {
    let load = json!({
        "executor": "constant-arrival-rate", "rate": 100, "duration": "1s", "preAllocatedVUs": 202,
    });
    let ran = run_real(Habit::Compute(Duration::from_millis(40)), load, |_| {}).unwrap();
    // 50 iterations of 40 ms at the least on each of two threads, begun one after the other.
    let arrivals = ran.outcome.health.arrivals;
    assert!(arrivals.behind >= Duration::from_millis(900), "users were free, and their starts waited: {arrivals:?}");
}

#[test]
fn iterations_of_two_threads_are_counted_once() {
    let ran = run_real(Habit::Sleep(Duration::from_millis(5)), iterations(50, 6), |_| {}).unwrap();
    assert_eq!((ran.iterations, ran.state.counts().completed, ran.state.vus_initialised()), (300, 300, 50));
    let took = ran.outcome.ended - ran.outcome.started.unwrap();
    assert!(took >= Duration::from_millis(30), "nobody sleeps too short: {took:?}");
    assert_eq!((ran.outcome.stopped, ran.outcome.stuck_workers), (None, vec![]));
    assert_eq!(ran.outcome.health.workers.len(), 2);
}

#[test]
fn an_endless_loop_is_broken_by_the_end_of_its_grace() {
    let scenario = json!({
        "executor": "per-vu-iterations", "vus": 2, "maxDuration": "1s", "gracefulStop": "100ms",
    });
    let ran = run_real(Habit::Spin, scenario, |_| {}).unwrap();
    assert_eq!((ran.iterations, ran.state.counts().interrupted), (0, 2));
    assert_eq!((ran.outcome.stopped, ran.outcome.stuck_workers), (None, vec![]));
}

#[test]
fn an_endless_loop_is_broken_by_a_stop_from_another_thread() {
    let stopper = Stopper::new();
    let other = stopper.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(150));
        other.stop(StopCause::Signal("SIGTERM"));
    });
    let ran = run_real(Habit::Spin, iterations(4, 1), |config| config.stopper = stopper).unwrap();
    assert_eq!(ran.outcome.stopped, Some(StopCause::Signal("SIGTERM")));
    assert_eq!(
        (ran.state.counts().interrupted, ran.outcome.stuck_workers),
        (2, vec![]),
        "one on each thread had begun"
    );
}

#[test]
fn a_worker_stuck_in_native_code_is_named_and_left_behind() {
    let stopper = Stopper::new();
    let other = stopper.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        other.stop(StopCause::Requested);
    });
    let ran = run_real(Habit::Hang, iterations(2, 1), |config| {
        config.stopper = stopper;
        config.patience = Duration::from_millis(200);
    });
    let ran = ran.unwrap();
    assert_eq!(ran.outcome.stuck_workers, [1]);
    assert_eq!(ran.iterations, 1, "what the other worker did is counted");
}

#[test]
fn users_that_never_wait_leave_each_other_their_turn() {
    static USERS: AtomicU64 = AtomicU64::new(0);
    let scenario = json!({ "executor": "constant-vus", "vus": 6, "duration": "1s" });
    let ran = run_real(Habit::Count(&USERS), scenario, |_| {}).unwrap();
    assert_eq!(USERS.load(Ordering::Relaxed), 6);
    assert_eq!(ran.iterations, ran.state.counts().completed);
    println!("{} iterations a second on two workers", ran.iterations);
}

#[test]
fn a_worker_tells_how_late_its_event_loop_was_and_what_it_used() {
    let ran = run_real(Habit::Compute(Duration::from_millis(100)), iterations(1, 3), |_| {}).unwrap();
    let [busy, _idle] = &ran.outcome.health.workers[..] else { panic!("two workers") };
    // Nobody else had a turn for 100 ms, and the loop looks every 10 ms how late it is.
    assert!(busy.lag_max_ms >= 89.0 && busy.lag_avg_ms > 0.0, "{busy:?}");
    assert!(busy.cpu_share > 0.0, "{busy:?}");
    assert_eq!(ran.outcome.health.counts.dropped, 0);
    assert!(ran.outcome.health.wall >= Duration::from_millis(300), "{:?}", ran.outcome.health);
    assert!(ran.outcome.health.process_cores > 0.0, "{:?}", ran.outcome.health);
}

#[test]
fn rps_is_one_limit_for_all_workers() {
    let ran = run_real(Habit::WaitTurn, iterations(10, 5), |config| config.rps = 200.0).unwrap();
    let took = ran.outcome.ended - ran.outcome.started.unwrap();
    assert_eq!(ran.iterations, 50);
    assert!(took >= Duration::from_millis(49 * 5), "50 turns are 49 intervals of 5 ms: {took:?}");
}

#[test]
#[should_panic(expected = "a bug in a user")]
fn a_panic_on_a_worker_goes_on_in_the_caller() {
    let _ = run_real(Habit::Panic, iterations(2, 1), |_| {});
}
