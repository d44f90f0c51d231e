//! Closed executors in simulated time: how many iterations, when, by whom, and what is left over.

mod fake;

use fake::{Doing, FakeUsers, simulation};
use onrush_engine::segment::{Sequence, Stripes};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn constant_vus_fill_their_time_and_finish_gracefully() {
    let scenarios = json!({ "a": { "executor": "constant-vus", "vus": 2, "duration": "1s", "gracefulStop": "500ms" } });
    let ran = simulation(scenarios, FakeUsers::sleeping(400)).run();
    assert_eq!(ran.begins(), [0, 0, 400, 400, 800, 800], "as k6 does it");
    assert_eq!((ran.completed(), ran.counter("iterations")), (6, 6));
    assert_eq!(ran.trend("iteration_duration").max(), 400.0);
    let counts = ran.state.counts();
    assert_eq!((counts.completed, counts.interrupted, counts.dropped, counts.active), (6, 0, 0, 0));
    assert_eq!(ran.outcome.ended - ran.outcome.started.unwrap(), Duration::from_millis(1200));
}

#[test]
fn an_iteration_longer_than_the_grace_is_interrupted_at_its_end() {
    let scenarios = json!({ "a": { "executor": "constant-vus", "vus": 3, "duration": "1s", "gracefulStop": "500ms" } });
    let ran = simulation(scenarios, FakeUsers::sleeping(800)).run();
    assert_eq!((ran.completed(), ran.counter("iterations")), (3, 3));
    assert_eq!(ran.interrupted().iter().map(|entry| (entry.began, entry.ended)).collect::<Vec<_>>(), [(800, 1500); 3]);
    assert_eq!(ran.state.counts().interrupted, 3);
    assert_eq!(ran.outcome.stopped, None);
}

#[test]
fn per_vu_iterations_count_for_each_user() {
    let scenarios = json!({ "a": { "executor": "per-vu-iterations", "vus": 3, "iterations": 4 } });
    let ran = simulation(scenarios, FakeUsers::sleeping(100)).workers(2).run();
    assert_eq!((ran.completed(), ran.counter("dropped_iterations")), (12, 0));
    for user in 1..=3 {
        let mut own: Vec<u64> = ran.diary.iter().filter(|entry| entry.user == user).map(|e| e.in_scenario).collect();
        own.sort_unstable();
        assert_eq!(own, [0, 1, 2, 3]);
    }
    let mut numbers: Vec<u64> = ran.diary.iter().map(|entry| entry.in_test).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..12).collect::<Vec<_>>());
}

#[test]
fn leftovers_at_the_maximum_duration_are_dropped() {
    let limits = json!({ "vus": 2, "iterations": 5, "maxDuration": "1s", "gracefulStop": "0s" });
    let of = |executor: &str, iterations: u64| {
        let mut scenario = limits.clone();
        scenario["executor"] = executor.into();
        scenario["iterations"] = iterations.into();
        let ran = simulation(json!({ "a": scenario }), FakeUsers::sleeping(400)).workers(2).run();
        (
            ran.counter("iterations"),
            ran.interrupted().len(),
            ran.counter("dropped_iterations"),
            ran.state.counts().dropped,
        )
    };
    // The same scenarios under k6: 4 complete, 2 interrupted, 4 and 44 dropped.
    assert_eq!(of("per-vu-iterations", 5), (4, 2, 4, 4));
    assert_eq!(of("shared-iterations", 50), (4, 2, 44, 44));
}

#[test]
fn shared_iterations_go_to_whoever_is_free() {
    let scenarios = json!({ "a": { "executor": "shared-iterations", "vus": 2, "iterations": 11 } });
    let users = FakeUsers::acting(|_, seat| {
        Doing::Sleep(Duration::from_millis(if seat.id_in_instance == 1 { 1000 } else { 100 }))
    });
    let ran = simulation(scenarios, users).run();
    let of = |user| ran.diary.iter().filter(|entry| entry.user == user).count();
    assert_eq!((of(1), of(2)), (1, 10));
    let mut numbers: Vec<u64> = ran.diary.iter().map(|entry| entry.number.unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..11).collect::<Vec<_>>());
    assert_eq!(ran.state.progress(0, Duration::ZERO), 1.0);
}

#[test]
fn shared_iterations_are_all_done_on_many_workers() {
    let scenarios = json!({ "a": { "executor": "shared-iterations", "vus": 13, "iterations": 5000 } });
    let ran = simulation(scenarios, FakeUsers::sleeping(3)).workers(4).run();
    assert_eq!((ran.completed(), ran.counter("iterations"), ran.counter("dropped_iterations")), (5000, 5000, 0));
    assert!((0..4).all(|worker| ran.diary.iter().any(|entry| entry.worker == worker)));
}

#[test]
fn a_worker_without_users_leaves_shared_iterations_to_the_others() {
    let scenarios = json!({ "a": { "executor": "shared-iterations", "vus": 1, "iterations": 50 } });
    let ran = simulation(scenarios, FakeUsers::sleeping(3)).workers(3).run();
    assert_eq!((ran.completed(), ran.counter("dropped_iterations")), (50, 0));
}

#[test]
fn ramping_vus_come_and_go_at_the_times_of_k6() {
    let scenarios = json!({ "a": {
        "executor": "ramping-vus", "startVUs": 0, "gracefulRampDown": "200ms",
        "stages": [{ "duration": "2s", "target": 4 },
            { "duration": "0s", "target": 2 }, { "duration": "1s", "target": 0 }],
    }});
    let ran = simulation(scenarios, FakeUsers::sleeping(100)).workers(2).run();
    let active = |at: u64| ran.diary.iter().filter(|entry| entry.began <= at && at < entry.ended).count();
    assert_eq!([499, 501, 1001, 1501, 1999, 2101, 2499, 2601, 2999].map(active), [0, 1, 2, 3, 3, 2, 2, 1, 1]);
    assert_eq!(ran.counter("iterations"), 25 + 15 + 5, "as k6 does it");
    assert_eq!(ran.interrupted().len(), 0);
}

#[test]
fn ramping_down_interrupts_after_its_own_grace() {
    let scenarios = json!({ "a": {
        "executor": "ramping-vus", "startVUs": 2, "gracefulRampDown": "1s", "gracefulStop": "30s",
        "stages": [{ "duration": "2s", "target": 1 }, { "duration": "8s", "target": 1 }],
    }});
    let ran = simulation(scenarios, FakeUsers::sleeping(5000)).run();
    assert_eq!(ran.interrupted().iter().map(|entry| (entry.began, entry.ended)).collect::<Vec<_>>(), [(0, 3000)]);
    assert_eq!(ran.begins(), [0, 0, 5000]);
}

#[test]
fn scenarios_start_at_their_time_and_share_users_that_are_free() {
    let scenarios = json!({
        "a": { "executor": "per-vu-iterations", "vus": 2, "maxDuration": "1s", "gracefulStop": "1s" },
        "b": { "executor": "per-vu-iterations", "vus": 2, "startTime": "2s", "exec": "other" },
        "c": { "executor": "constant-vus", "vus": 1, "duration": "1s", "startTime": "500ms" },
    });
    let ran = simulation(scenarios, FakeUsers::sleeping(1000)).run();
    let of = |name: &str| {
        ran.diary.iter().filter(|e| e.scenario == name).map(|e| (e.began, e.in_scenario)).collect::<Vec<_>>()
    };
    assert_eq!(of("a"), [(0, 0); 2]);
    assert_eq!(of("b"), [(2000, 0); 2], "counted for each scenario");
    assert_eq!(of("c"), [(500, 0)]);
    assert_eq!(ran.made.len(), 3);
    assert_eq!(ran.state.scenarios().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn min_iteration_duration_spaces_iterations_without_being_measured() {
    let scenarios = json!({ "a": { "executor": "constant-vus", "vus": 1, "duration": "1s" } });
    let mut simulation = simulation(scenarios, FakeUsers::sleeping(10));
    simulation.configure = Box::new(|config| config.min_iteration_duration = Duration::from_millis(300));
    let ran = simulation.run();
    assert_eq!(ran.begins(), [0, 300, 600, 900]);
    assert_eq!(ran.trend("iteration_duration").max(), 10.0);
}

#[test]
fn segments_together_do_the_whole_test() {
    let scenarios = json!({
        "a": { "executor": "shared-iterations", "vus": 2, "iterations": 101 },
        "b": { "executor": "ramping-vus", "startVUs": 0, "gracefulRampDown": "0s", "gracefulStop": "0s",
               "stages": [{ "duration": "3s", "target": 7 }, { "duration": "3s", "target": 0 }] },
        "c": { "executor": "constant-arrival-rate", "rate": 13, "duration": "4s", "preAllocatedVUs": 9 },
        "d": { "executor": "per-vu-iterations", "vus": 5, "iterations": 3 },
    });
    let run = |stripes: Stripes| {
        let mut simulation = simulation(scenarios.clone(), FakeUsers::sleeping(130)).workers(2);
        simulation.stripes = stripes;
        simulation.run()
    };
    let whole = run(Stripes::whole());
    let sequence = Sequence::parse("0,1/4,1/3,1").unwrap();
    let parts = sequence.segments().iter().map(|part| run(Stripes::new(Some(*part), Some(&sequence)).unwrap()));
    let parts: Vec<fake::Ran> = parts.collect();
    for name in ["a", "b", "c", "d"] {
        // When shared iterations begin depends on how many users there are; everything else is at the same times.
        let of = |ran: &fake::Ran| -> Vec<(u64, u64)> {
            let own = ran.diary.iter().filter(|entry| entry.scenario == name);
            own.map(|entry| if name == "a" { (0, entry.in_test) } else { (entry.began, 0) }).collect()
        };
        let (mut all, mut together) = (of(&whole), parts.iter().flat_map(of).collect::<Vec<_>>());
        all.sort_unstable();
        together.sort_unstable();
        assert_eq!(all, together, "{name}");
    }
    let ids = parts.iter().flat_map(|ran| ran.made.iter().map(|made| made.1));
    let distinct: std::collections::HashSet<u64> = ids.collect();
    assert_eq!(distinct.len(), whole.made.len(), "idInTest is unique over all instances");
}

#[test]
fn numbers_of_users_are_gauged_every_second() {
    let scenarios = json!({ "a": { "executor": "constant-vus", "vus": 3, "duration": "3s" } });
    let ran = simulation(scenarios, FakeUsers::sleeping(700)).workers(2).run();
    for name in ["vus", "vus_max"] {
        let metric = ran.results.metrics.iter().find(|metric| metric.name == name).unwrap();
        let metrics::results::Value::Gauge { min, max, .. } = metric.value else { panic!() };
        assert_eq!((name, min, max), (name, 3.0, 3.0));
    }
    assert_eq!(ran.ticks, 4, "one a second and the last");
}

#[test]
fn a_run_is_told_event_by_event() {
    let scenarios = json!({ "a": { "executor": "constant-vus", "vus": 3, "duration": "2500ms" } });
    let ran = simulation(scenarios, FakeUsers::sleeping(500)).workers(2).run();
    let expected = [
        "making 1 of 3",
        "making 2 of 3",
        "making 3 of 3",
        "made",
        "started",
        "tick after 1s: 2 until 1s",
        "tick after 2s: 2 until 2s",
        "tick after 2s: 2 until 2.5s, the last",
    ];
    assert_eq!(ran.events, expected, "each tick has the samples of both workers");
    let mut made = ran.made;
    made.sort_unstable();
    assert_eq!(made, [(1, 1, 0), (2, 2, 1), (3, 3, 0)], "number in the instance, in the test, and worker");
    let health = &ran.outcome.health;
    assert_eq!((health.wall, health.counts.dropped, health.workers.len()), (Duration::from_millis(2500), 0, 2));
    assert_eq!(health.process_cores, 0.0, "nothing is used in simulated time");
}

#[test]
fn nothing_is_said_of_iterations_that_were_not_dropped() {
    let limits = json!({ "executor": "per-vu-iterations", "vus": 1, "maxDuration": "1s", "gracefulStop": "0s" });
    let names = |iterations: u64| {
        let mut scenario = limits.clone();
        scenario["iterations"] = iterations.into();
        let ran = simulation(json!({ "a": scenario }), FakeUsers::sleeping(400)).run();
        let names: Vec<String> = ran.results.metrics.into_iter().map(|metric| metric.name).collect();
        (names.contains(&"dropped_iterations".to_owned()), ran.outcome.health.counts.dropped)
    };
    assert_eq!([names(2), names(5)], [(false, 0), (true, 2)]);
}

#[test]
fn a_worker_that_has_ended_reports_nothing_more() {
    let scenarios = json!({ "a": { "executor": "per-vu-iterations", "vus": 2 } });
    let users = FakeUsers::acting(|_, seat| Doing::Sleep(Duration::from_millis([500, 2500][seat.worker])));
    let ran = simulation(scenarios, users).workers(2).run();
    let expected = ["tick after 1s: 2 until 1s", "tick after 2s: 1 until 2s", "tick after 2s: 1 until 2.5s, the last"];
    assert_eq!(ran.events[4..], expected);
}

#[test]
fn iterations_carry_the_tags_of_their_scenario() {
    let scenarios = json!({ "a": { "executor": "per-vu-iterations", "tags": { "mine": "m" } } });
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&seen);
    let mut simulation = simulation(scenarios, FakeUsers::sleeping(10));
    simulation.configure = Box::new(move |config| {
        config.prepare = Some(Arc::new(move |_, recorder| {
            let log = Arc::clone(&log);
            recorder.set_tap(Box::new(move |sample| {
                let tags: Vec<String> = sample.tags.iter().map(|(key, value)| format!("{key}:{value}")).collect();
                log.lock().unwrap().push(tags.join(","));
            }));
        }));
    });
    simulation.run();
    assert_eq!(*seen.lock().unwrap(), ["group:,mine:m,scenario:a"; 2], "the iteration and its duration");
}
