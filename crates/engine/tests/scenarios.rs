//! The option `scenarios`: what each field may be, what it becomes, and what is said of a wrong one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use onrush_engine::scenario::{Scenario, Scenarios};
use serde_json::{Value, json};

fn read(value: Value) -> Result<Scenario, Vec<String>> {
    let all = Scenarios::from_json(&json!({ "a": value }));
    all.map(|all| all.iter().next().unwrap().clone()).map_err(|error| error.problems)
}

fn refused(value: Value) -> Vec<String> {
    read(value).unwrap_err()
}

/// The problem of a scenario that has one.
fn problem(executor: &str, field: &str, value: Value) -> String {
    let mut given = match executor {
        "constant-vus" => json!({ "duration": "1s" }),
        "ramping-vus" => json!({ "stages": [{ "duration": "1s", "target": 1 }] }),
        _ => json!({}),
    };
    given["executor"] = executor.into();
    given[field] = value;
    let problems = refused(given);
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.concat()
}

#[test]
fn names_have_letters_digits_and_two_signs() {
    let of = |name: &str| Scenarios::from_json(&json!({ name: { "executor": "per-vu-iterations" } }));
    for name in ["login", "Login_2", "a-b", "_", "-"] {
        assert!(of(name).is_ok(), "{name}");
    }
    for name in ["", "a b", "a.b", "é"] {
        let message = of(name).unwrap_err().to_string();
        let expected = "its name has other characters than letters, digits, '_' and '-'";
        assert_eq!(message, format!("scenario '{name}': {expected}"));
    }
}

#[test]
fn every_executor_is_read_timed_and_written() {
    let stages = json!([{ "duration": "2s", "target": 7 }, { "duration": "3s", "target": 1 }]);
    let counted = json!({ "vus": 2, "iterations": 2, "maxDuration": "8s" });
    let constant_rate = json!({ "rate": 4, "timeUnit": "1m0s", "duration": "7s", "preAllocatedVUs": 2, "maxVUs": 4 });
    let ramping_rate = json!({ "startRate": 3, "timeUnit": "2s", "stages": stages, "preAllocatedVUs": 0, "maxVUs": 3 });
    for (name, own, seconds) in [
        ("shared-iterations", counted.clone(), 8),
        ("per-vu-iterations", counted, 8),
        ("constant-vus", json!({ "vus": 3, "duration": "9s" }), 9),
        ("ramping-vus", json!({ "startVUs": 0, "stages": stages, "gracefulRampDown": "1s" }), 5),
        ("constant-arrival-rate", constant_rate, 7),
        ("ramping-arrival-rate", ramping_rate, 5),
    ] {
        let mut given = json!({
            "executor": name, "startTime": "1s", "gracefulStop": "3s", "env": { "a": "b" }, "exec": "own",
            "tags": { "c": "d" },
        });
        given.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        let scenario = read(given.clone()).unwrap();
        assert_eq!((scenario.executor.name(), scenario.executor.time().as_secs()), (name, seconds));
        assert_eq!(Scenarios::single(scenario).to_json(), json!({ "a": given }));
        for field in ["startTime", "gracefulStop", "env", "exec", "tags"] {
            given.as_object_mut().unwrap().remove(field);
        }
        let shown = Scenarios::single(read(given).unwrap()).to_json();
        assert!(["startTime", "gracefulStop", "env", "exec", "tags"].iter().all(|field| shown["a"][field].is_null()));
    }
}

#[test]
fn counts_are_whole_numbers_from_their_least_on() {
    for (value, vus) in [(json!(1), 1), (json!(7.0), 7), (json!("12"), 12)] {
        let scenario = read(json!({ "executor": "constant-vus", "duration": "1s", "vus": value })).unwrap();
        assert_eq!(Scenarios::single(scenario).to_json()["a"]["vus"], vus);
    }
    for value in [json!(1.5), json!("many"), json!(true), json!(9.1e18), json!(-9e18)] {
        let expected = format!("scenario 'a': vus is {value}, expected a whole number");
        assert_eq!(problem("constant-vus", "vus", value), expected);
    }
    let of = |executor, field, value: i64| problem(executor, field, json!(value));
    assert_eq!(of("constant-vus", "vus", 0), "scenario 'a': vus is 0, expected at least 1");
    assert_eq!(of("ramping-vus", "startVUs", -1), "scenario 'a': startVUs is -1, expected 0 or more");
}

#[test]
fn durations_begin_at_their_least() {
    let of = |field, value| problem("constant-vus", field, value);
    assert_eq!(of("duration", json!("999ms")), "scenario 'a': duration is 999ms, expected at least 1s");
    assert_eq!(of("gracefulStop", json!("-1ms")), "scenario 'a': gracefulStop is -1ms, expected 0s or more");
    assert!(of("startTime", json!([])).starts_with("scenario 'a': startTime: "));
    let least = json!({ "executor": "constant-vus", "duration": "1s", "gracefulStop": "0s", "startTime": 0 });
    assert!(read(least).is_ok());
}

#[test]
fn tags_and_variables_are_texts_or_become_texts() {
    let given = json!({ "executor": "per-vu-iterations", "tags": { "n": 1.5, "on": true, "t": "x" }, "exec": "" });
    let scenario = read(given).unwrap();
    let tags: Vec<(&str, &str)> = scenario.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!((tags, scenario.exec.as_str()), (vec![("n", "1.5"), ("on", "true"), ("t", "x")], "default"));
    let of = |value| problem("per-vu-iterations", "env", value);
    assert_eq!(of(json!({ "K": [] })), "scenario 'a': env.K is [], expected a text");
    assert_eq!(of(json!(3)), "scenario 'a': env is 3, expected an object of texts");
}

#[test]
fn shared_iterations_are_one_for_each_user_at_least() {
    let of = |iterations: u64| read(json!({ "executor": "shared-iterations", "vus": 3, "iterations": iterations }));
    assert!(of(3).is_ok());
    assert_eq!(of(2), Err(vec!["scenario 'a': iterations is 2, expected at least as many as vus (3)".to_owned()]));
}

#[test]
fn an_arrival_rate_keeps_the_users_that_it_begins_with() {
    let of = |most: u64| {
        let stages = json!([{ "duration": "1s", "target": 1 }]);
        read(json!({ "executor": "ramping-arrival-rate", "preAllocatedVUs": 3, "maxVUs": most, "stages": stages }))
    };
    assert!(of(3).is_ok());
    assert_eq!(of(2), Err(vec!["scenario 'a': maxVUs is 2, expected at least preAllocatedVUs (3)".to_owned()]));
}

#[test]
fn a_ramp_needs_somebody_at_some_time() {
    let of = |start: u64, target: u64| {
        let stages = json!([{ "duration": "1s", "target": 0 }, { "duration": "1s", "target": target }]);
        read(json!({ "executor": "ramping-vus", "startVUs": start, "stages": stages }))
    };
    assert!(of(1, 0).is_ok() && of(0, 1).is_ok());
    assert_eq!(of(0, 0), Err(vec!["scenario 'a': startVUs and all targets are 0, expected one above 0".to_owned()]));
}

#[test]
fn scenarios_are_an_object_with_something_in_it() {
    let of = |value: Value| Scenarios::from_json(&value).unwrap_err().to_string();
    assert_eq!(of(json!([])), "scenarios is [], expected an object of scenarios by name");
    assert_eq!(of(json!({})), "scenarios is empty, expected at least one scenario");
    let both = of(json!({ "a": 1, "b": 2 }));
    let expected = "scenario 'a' is 1, expected an object with an executor\n\
                    scenario 'b' is 2, expected an object with an executor";
    assert_eq!(both, expected);
}

#[test]
fn stages_are_checked_one_by_one() {
    let stages = json!([{ "target": 1 }, { "duration": "-1s", "target": 5 }, { "duration": "1s" }]);
    let expected = [
        "scenario 'a': stages[0]: duration is missing, expected a duration like 30s",
        "scenario 'a': stages[1]: duration is -1s, expected 0s or more",
        "scenario 'a': stages[2]: target is missing, expected a whole number",
    ];
    assert_eq!(refused(json!({ "executor": "ramping-vus", "stages": stages })), expected);
    let stages = json!([{ "duration": "1s", "target": 0 }]);
    let found = refused(json!({ "executor": "ramping-vus", "startVUs": 0, "stages": stages }));
    assert_eq!(found, ["scenario 'a': startVUs and all targets are 0, expected one above 0"]);
    let found = refused(json!({ "executor": "ramping-vus", "stages": [] }));
    assert_eq!(found, ["scenario 'a': stages is missing or empty, expected at least one {duration, target}"]);
}

#[test]
fn what_a_script_writes_is_told_though_it_changes_nothing() {
    let given = json!({
        "a": { "executor": "ramping-arrival-rate", "startRate": 0, "preAllocatedVUs": 3, "maxVUs": 3,
               "stages": [{ "duration": "1s", "target": 1 }] },
        "b": { "executor": "per-vu-iterations", "exec": "default", "env": {}, "maxDuration": "10m" },
    });
    let told = Scenarios::from_json(&given).unwrap().to_json();
    let fields = |scenario: &str, names: &[&str]| names.iter().map(|name| told[scenario][name].clone()).collect();
    let a: Vec<_> = fields("a", &["startRate", "maxVUs", "timeUnit", "exec"]);
    assert_eq!(a, [json!(0), json!(3), Value::Null, Value::Null]);
    let b: Vec<_> = fields("b", &["exec", "env", "maxDuration", "vus", "iterations", "tags"]);
    assert_eq!(b, [json!("default"), json!({}), json!("10m0s"), Value::Null, Value::Null, Value::Null]);
}
