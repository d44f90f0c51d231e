//! What a plan says of a test before it runs, and the counts that it hands to the run.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use onrush_engine::Plan;
use onrush_engine::scenario::Scenarios;
use onrush_engine::segment::{Segment, Sequence, Stripes};
use serde_json::{Value, json};

fn scenarios(value: &Value) -> Scenarios {
    Scenarios::from_json(value).unwrap()
}

fn quarter() -> Stripes {
    Stripes::new(Some(Segment::parse("1/4:1/2").unwrap()), None).unwrap()
}

/// Each executor with 8 users at most, by what it starts with and what it may have.
fn each_executor() -> Value {
    let stages = json!([{ "duration": "2s", "target": 8 }, { "duration": "3s", "target": 4 }]);
    json!({
        "shared": { "executor": "shared-iterations", "vus": 8, "iterations": 21, "maxDuration": "6s" },
        "each": { "executor": "per-vu-iterations", "vus": 8, "iterations": 3, "maxDuration": "7s" },
        "constant": { "executor": "constant-vus", "vus": 8, "duration": "4s", "startTime": "9s" },
        "ramp": { "executor": "ramping-vus", "startVUs": 2, "stages": stages },
        "rate": { "executor": "constant-arrival-rate", "rate": 1, "duration": "5s", "preAllocatedVUs": 3, "maxVUs": 8 },
        "rates": { "executor": "ramping-arrival-rate", "stages": stages, "preAllocatedVUs": 8 },
    })
}

#[test]
fn the_largest_scenario_says_how_many_users_are_needed_at_least() {
    for (name, scenario) in each_executor().as_object().unwrap() {
        let alone = scenarios(&json!({ name: scenario }));
        assert_eq!(Plan::least_users(&alone, &Stripes::whole()), Ok(8), "{name}");
        assert_eq!(Plan::least_users(&alone, &quarter()), Ok(2), "{name}");
    }
    let of = |vus: u64| {
        let constant = |vus: u64| json!({ "executor": "constant-vus", "vus": vus, "duration": "1s" });
        Plan::least_users(&scenarios(&json!({ "a": constant(3), "b": constant(vus) })), &Stripes::whole())
    };
    assert_eq!((of(2), of(1_000_000)), (Ok(3), Ok(1_000_000)));
    let problem = "scenario 'b': found 1000001 virtual users, expected at most 1000000";
    assert_eq!(of(1_000_001).unwrap_err().problems, [problem]);
}

#[test]
fn counts_begin_with_what_the_plan_knows() {
    let plan = Plan::new(&scenarios(&each_executor()), &Stripes::whole(), 3).unwrap();
    assert_eq!((plan.workers(), plan.scenarios().len()), (3, 6));
    let state = plan.state();
    let of: Vec<(&str, Option<u64>, u64)> = state
        .scenarios()
        .enumerate()
        .map(|(at, (name, _))| (name, state.scenario_iterations(at), state.scenario_time(at).as_secs()))
        .collect();
    let expected = [
        ("shared", Some(21), 6),
        ("each", Some(24), 7),
        ("constant", None, 4),
        ("ramp", None, 5),
        ("rate", None, 5),
        ("rates", None, 5),
    ];
    assert_eq!(of, expected);
}

#[test]
fn a_segment_plans_its_share() {
    let plan = Plan::new(&scenarios(&each_executor()), &quarter(), 1).unwrap();
    let state = plan.state();
    assert_eq!((state.scenario_iterations(1), plan.requirements().duration), (Some(6), Duration::from_secs(43)));
    let quarters = Sequence::parse("0,1/4,1/2,3/4,1").unwrap();
    let shared: u64 = ["0:1/4", "1/4:1/2", "1/2:3/4", "3/4:1"]
        .map(|segment| {
            let stripes = Stripes::new(Some(Segment::parse(segment).unwrap()), Some(&quarters)).unwrap();
            Plan::new(&scenarios(&each_executor()), &stripes, 1).unwrap().state().scenario_iterations(0).unwrap()
        })
        .iter()
        .sum();
    assert_eq!(shared, 21);
}

#[test]
fn there_is_one_worker_at_least() {
    let one = scenarios(&json!({ "a": { "executor": "constant-vus", "duration": "1s" } }));
    assert_eq!(Plan::new(&one, &Stripes::whole(), 0).unwrap().workers(), 1);
}

#[test]
fn a_rate_that_cannot_be_planned_is_named() {
    let rate = json!({ "executor": "constant-arrival-rate", "rate": 9, "duration": "721h", "preAllocatedVUs": 1 });
    let error = Plan::new(&scenarios(&json!({ "a": rate })), &Stripes::whole(), 1).unwrap_err();
    let expected = "scenario 'a': the rate is too high for its duration, expected at most 10 million iterations a \
                    second and 30 days";
    assert_eq!(error.to_string(), expected);
}
