//! How a run ends before its scenarios do.

mod fake;

use std::time::Duration;

use fake::{Doing, FakeUsers, simulation};
use onrush_engine::{RunError, StopCause, Stopper};
use serde_json::json;

fn long_scenarios() -> serde_json::Value {
    json!({
        "a": { "executor": "constant-vus", "vus": 2, "duration": "1h" },
        "b": { "executor": "constant-arrival-rate", "rate": 1, "duration": "1h", "preAllocatedVUs": 10 },
        "c": { "executor": "ramping-vus", "startVUs": 0, "stages": [{ "duration": "1h", "target": 5 }] },
        "d": { "executor": "shared-iterations", "vus": 1, "iterations": 100, "startTime": "30m" },
    })
}

#[test]
fn the_script_aborts_the_test_and_everybody_is_interrupted_at_once() {
    let users = FakeUsers::acting(|iteration, seat| {
        let is_last = seat.id_in_instance == 1 && iteration.in_scenario == 2;
        let takes = Duration::from_millis(if seat.id_in_instance == 1 { 700 } else { 1000 });
        if is_last { Doing::Abort("enough") } else { Doing::Sleep(takes) }
    });
    let ran =
        simulation(json!({ "a": { "executor": "constant-vus", "vus": 3, "duration": "1h" } }), users).workers(2).run();
    assert_eq!(ran.outcome.stopped, Some(StopCause::Script("enough".into())));
    assert_eq!(ran.completed(), 4);
    assert_eq!(ran.interrupted().iter().map(|entry| entry.ended).collect::<Vec<_>>(), [1400; 3]);
    assert_eq!((ran.counter("iterations"), ran.state.counts().interrupted, ran.state.counts().active), (5, 2, 0));
}

#[test]
fn users_that_are_stuck_count_as_interrupted_and_are_made_anew_where_they_are_needed() {
    let users = FakeUsers::acting(|iteration, seat| match (iteration.scenario.name.as_str(), seat.id_in_instance) {
        ("a", 2) => Doing::Stick(Duration::from_millis(500)),
        _ => Doing::Sleep(Duration::from_millis(1000)),
    });
    // Not at the same time, so that two users are enough.
    let each = |start: &str| {
        json!({ "executor": "per-vu-iterations", "vus": 2, "iterations": 2, "startTime": start,
                "maxDuration": "5s", "gracefulStop": "0s" })
    };
    let ran = simulation(json!({ "a": each("0s"), "b": each("10s") }), users).run();
    assert_eq!(ran.warnings, ["user 2 is stuck", "user 2 is stuck"]);
    assert_eq!(ran.outcome.lost_users, 2);
    assert_eq!(ran.made.iter().map(|made| made.0).collect::<Vec<_>>(), [1, 2, 2, 2], "once more for `a`, once for `b`");
    assert_eq!((ran.completed(), ran.state.counts().interrupted, ran.state.counts().active), (6, 2, 0));
    assert_eq!(ran.state.vus_initialised(), 2);
}

#[test]
fn a_stop_from_outside_reaches_every_kind_of_scenario() {
    let stopper = Stopper::new();
    let mut simulation = simulation(long_scenarios(), FakeUsers::sleeping(400)).workers(2);
    simulation.stopper = stopper.clone();
    simulation.on_tick = Box::new(move |elapsed| {
        if elapsed >= Duration::from_secs(10) {
            stopper.stop(StopCause::Signal("SIGINT"));
        }
    });
    let ran = simulation.run();
    assert_eq!(ran.outcome.stopped, Some(StopCause::Signal("SIGINT")));
    let ran_for = ran.outcome.ended - ran.outcome.started.unwrap();
    assert!((Duration::from_secs(10)..Duration::from_secs(11)).contains(&ran_for), "{ran_for:?}");
    assert!(ran.diary.iter().all(|entry| entry.ended < 11_000));
    assert_eq!(ran.counter("iterations") as usize, ran.completed());
    assert_eq!(ran.counter("dropped_iterations"), 0);
}

#[test]
fn a_stop_during_initialisation_starts_nothing() {
    let mut simulation = simulation(long_scenarios(), FakeUsers::sleeping(400));
    simulation.stopper.stop(StopCause::Requested);
    simulation.workers = 3;
    let ran = simulation.run();
    assert_eq!((ran.outcome.started, ran.diary.len()), (None, 0));
}

#[test]
fn init_code_that_fails_ends_the_run_with_its_error() {
    let mut users = FakeUsers::sleeping(1);
    users.fail_at = Some(3);
    let scenarios = json!({ "a": { "executor": "constant-vus", "vus": 5, "duration": "1s" } });
    match simulation(scenarios, users).workers(2).try_run() {
        Err(RunError::Create(error)) => {
            assert_eq!((error.message.as_str(), error.exit_code), ("could not initialise VU 3: init code failed", 107))
        }
        other => panic!("{:?}", other.map(|ran| ran.outcome)),
    }
}

#[test]
fn a_user_that_cannot_be_made_again_ends_the_run_with_its_error() {
    let mut users = FakeUsers::acting(|_, seat| match seat.id_in_instance {
        2 => Doing::Stick(Duration::from_millis(100)),
        _ => Doing::Sleep(Duration::from_millis(100)),
    });
    users.fail_again = Some(2);
    let scenarios = json!({ "a": {
        "executor": "ramping-vus", "startVUs": 1, "gracefulRampDown": "0s",
        "stages": [
            { "duration": "1s", "target": 2 }, { "duration": "1s", "target": 2 }, { "duration": "1s", "target": 0 },
        ],
    }});
    match simulation(scenarios, users).try_run() {
        Err(RunError::Create(error)) => assert_eq!(
            (error.message.as_str(), error.exit_code),
            ("could not initialise VU 2 for scenario 'a', in place of one that was given up: init code failed", 107)
        ),
        other => panic!("{:?}", other.map(|ran| ran.outcome)),
    }
}

#[test]
fn an_unplanned_user_that_cannot_be_made_is_a_warning() {
    let mut users = FakeUsers::sleeping(300);
    users.fail_at = Some(2);
    let scenarios = json!({ "a": {
        "executor": "constant-arrival-rate", "rate": 10, "duration": "1s", "preAllocatedVUs": 1, "maxVUs": 2,
    }});
    let ran = simulation(scenarios, users).run();
    assert_eq!(ran.warnings[0], "could not initialise unplanned VU 2: init code failed");
}
