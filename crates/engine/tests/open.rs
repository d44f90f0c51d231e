//! Arrival rates in simulated time: planned starts, dropped ones, unplanned users.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "prints how long it took")]

mod fake;

use fake::{FakeUsers, simulation};
use onrush_engine::segment::{Sequence, Stripes};
use serde_json::{Value, json};
use std::time::Instant;

#[test]
fn a_constant_rate_starts_on_time_whatever_iterations_take() {
    let scenarios =
        json!({ "a": { "executor": "constant-arrival-rate", "rate": 10, "duration": "2s", "preAllocatedVUs": 20 } });
    for workers in [1, 2] {
        let ran = simulation(scenarios.clone(), FakeUsers::sleeping(730)).workers(workers).run();
        assert_eq!(ran.begins(), (0..=20).map(|k| k * 100).collect::<Vec<_>>(), "21 starts, as k6");
        assert!(ran.diary.iter().all(|entry| entry.planned == entry.began));
        assert_eq!((ran.counter("iterations"), ran.counter("dropped_iterations")), (21, 0));
        assert_eq!((ran.trend("iteration_lag").count(), ran.trend("iteration_lag").max()), (21, 0.0));
        assert_eq!(ran.trend("iteration_duration_from_plan").count(), 21);
    }
}

#[test]
fn a_ramp_follows_its_integral() {
    let scenarios = json!({ "a": { "executor": "ramping-arrival-rate", "preAllocatedVUs": 5, "stages": [
        { "duration": "2s", "target": 10 }, { "duration": "0s", "target": 5 }, { "duration": "1s", "target": 5 },
    ]}});
    let ran = simulation(scenarios, FakeUsers::sleeping(1)).run();
    let expected = [632, 894, 1095, 1264, 1414, 1549, 1673, 1788, 1897, 2000, 2200, 2400, 2600, 2800, 3000];
    assert_eq!(ran.begins(), expected, "measured with k6");
}

#[test]
fn a_start_that_finds_nobody_free_is_dropped_and_wants_one_more_user() {
    let scenarios = json!({ "a": {
        "executor": "constant-arrival-rate", "rate": 10, "duration": "1s", "preAllocatedVUs": 1, "maxVUs": 3,
    }});
    let ran = simulation(scenarios, FakeUsers::sleeping(350)).run();
    // 100 finds nobody and has the second user made, 300 the third; at 700 all three are at work.
    assert_eq!(ran.begins(), [0, 200, 400, 500, 600, 800, 900, 1000]);
    assert_eq!((ran.counter("dropped_iterations"), ran.state.counts().dropped), (3, 3));
    assert_eq!(ran.made.iter().map(|made| made.0).collect::<Vec<_>>(), [1, 2, 3]);
    let expected = "Insufficient VUs, reached 3 active VUs and cannot initialize more (scenario 'a'): \
                    iterations are dropped; raise maxVUs";
    assert_eq!(ran.warnings, [expected]);
}

#[test]
fn without_more_users_the_warning_comes_once() {
    let scenarios =
        json!({ "a": { "executor": "constant-arrival-rate", "rate": 100, "duration": "1s", "preAllocatedVUs": 2 } });
    let ran = simulation(scenarios, FakeUsers::sleeping(400)).run();
    assert_eq!(ran.warnings.len(), 1);
    assert_eq!(ran.counter("iterations") + ran.counter("dropped_iterations"), 101);
    assert_eq!(ran.begins(), [0, 10, 400, 410, 800, 810]);
}

#[test]
fn an_iteration_beyond_the_grace_is_interrupted() {
    let scenarios = json!({ "a": {
        "executor": "constant-arrival-rate", "rate": 1, "duration": "2s", "preAllocatedVUs": 5, "gracefulStop": "1s",
    }});
    let ran = simulation(scenarios, FakeUsers::sleeping(2500)).run();
    assert_eq!(
        ran.interrupted().iter().map(|entry| (entry.began, entry.ended)).collect::<Vec<_>>(),
        [(1000, 3000), (2000, 3000)]
    );
    assert_eq!(ran.completed(), 1);
}

#[test]
fn users_take_turns() {
    let scenarios =
        json!({ "a": { "executor": "constant-arrival-rate", "rate": 10, "duration": "1s", "preAllocatedVUs": 3 } });
    let ran = simulation(scenarios, FakeUsers::sleeping(1)).run();
    assert_eq!(ran.diary.iter().map(|entry| entry.user).take(7).collect::<Vec<_>>(), [1, 2, 3, 1, 2, 3, 1]);
}

#[test]
fn any_number_of_agents_plans_the_starts_of_one_process() {
    let with_seed = json!({ "arrivals": "poisson", "seed": 7 });
    let rate = |more: &Value| {
        let mut scenario = json!({
            "executor": "ramping-arrival-rate", "startRate": 40, "preAllocatedVUs": 128,
            "stages": [{ "duration": "3s", "target": 90 }, { "duration": "2s", "target": 20 }],
        });
        scenario.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "a": scenario })
    };
    for scenarios in [rate(&json!({})), rate(&with_seed)] {
        // Numbers of iterations are given in the order of a process; which of them start when is what has to agree.
        let starts = |agents: u64| {
            let borders: Vec<String> = (0..=agents).map(|at| format!("{at}/{agents}")).collect();
            let sequence = Sequence::parse(&borders.join(",")).unwrap();
            let mut all = Vec::new();
            for part in sequence.segments() {
                let mut simulation = simulation(scenarios.clone(), FakeUsers::sleeping(1));
                simulation.stripes = Stripes::new(Some(*part), Some(&sequence)).unwrap();
                let diary = simulation.run().diary;
                all.extend(diary.into_iter().map(|entry| (entry.planned, entry.in_test)));
            }
            all.sort_unstable();
            all
        };
        let one = starts(1);
        assert!(one.len() > 250, "{}", one.len());
        for agents in [2, 7, 64] {
            assert_eq!(starts(agents), one, "{agents} agents");
        }
    }
}

#[test]
fn an_hour_of_ramping_is_a_short_test() {
    let began = Instant::now();
    let scenarios = json!({ "a": { "executor": "ramping-arrival-rate", "preAllocatedVUs": 40, "stages": [
        { "duration": "30m", "target": 20 }, { "duration": "30m", "target": 0 },
    ]}});
    let ran = simulation(scenarios, FakeUsers::sleeping(1000)).workers(3).run();
    assert_eq!((ran.counter("iterations"), ran.counter("dropped_iterations")), (36_000, 0));
    assert_eq!(ran.begins().len(), 36_000);
    println!("an hour took {:?}", began.elapsed());
}
