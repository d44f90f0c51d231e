//! A load that changes while agents make it: each follows its part of the changed plan, what all of them did is the
//! changed plan of the whole test, and a coordinator that follows one that was killed goes on with it.

#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::scale::{patch, plan_was_kept, port};
use crate::api::{free_port, status, until};
use crate::fleet::{agent, coordinator, result};
use crate::lab::Lab;

const ITERATION: &str = "import { Counter, Trend } from 'k6/metrics'; import exec from 'k6/execution'
    import { sleep } from 'k6'
    const numbers = new Trend('numbers'), done = new Counter('done')
    export default function () { numbers.add(exec.scenario.iterationInTest); done.add(1); sleep(0.02) }";

fn script(scenarios: &Value) -> String {
    format!("{ITERATION}\nexport const options = {{ scenarios: {scenarios} }}")
}

fn metric<'a>(result: &'a Value, name: &str) -> &'a Value {
    let all = result["metrics"].as_array().unwrap();
    &all.iter().find(|metric| metric["name"] == name && metric["filter"].is_null()).unwrap()["value"]
}

/// What a rate that changed once comes to, and that no number of an iteration was missed or given twice.
fn starts_are_those_of_the_plan(result: &Value, rates: [f64; 2], lasts: f64) {
    let changes = result["load_changes"].as_array().unwrap();
    let [change] = changes.as_slice() else { panic!("{changes:?}") };
    assert_eq!([&change["from"], &change["to"]], [&json!(rates[0]), &json!(rates[1])]);
    let at = change["at_s"].as_f64().unwrap();
    let expected = rates[0] * at + rates[1] * (lasts - at);
    let judged = &result["generator"]["judgement"]["iterations"];
    let planned = judged["planned"].as_f64().unwrap();
    assert!((planned - expected).abs() <= 2.0, "{planned} iterations planned, expected {expected}");
    plan_was_kept(result);
    let done = metric(result, "done")["count"].as_f64().unwrap();
    let dropped = judged["dropped"].as_f64().unwrap();
    assert_eq!(done + dropped, planned, "all starts of the plan were made, and no others");
    if dropped == 0.0 {
        let numbers = metric(result, "numbers");
        assert_eq!(numbers["max"].as_f64().unwrap(), planned - 1.0, "{numbers}");
        // The sum of 0 to n - 1: each number once.
        assert_eq!(numbers["sum"].as_f64().unwrap(), planned * (planned - 1.0) / 2.0, "{numbers}");
    }
}

#[test]
fn a_rate_of_agents_turns_at_one_moment_and_every_start_is_made_once() {
    let scenario = json!({ "executor": "constant-arrival-rate", "rate": 20, "duration": "7s",
        "preAllocatedVUs": 40, "maxVUs": 40 });
    let (lab, api) = (Lab::with(&script(&json!({ "a": scenario }))), format!("127.0.0.1:{}", free_port()));
    let run = lab.start(&["run", "--agents", "3", "--address", &api, "--save", "r", "script.js"]);
    until("the load", || metric_is_there(port(&api)) && status(port(&api))["status"] == 7);
    lab.onrush(&["scale", "--vus", "9", "-a", &api]).code(255).says("plans starts and has the users that these need");
    lab.onrush(&["scale", "--rate", "110/s", "--address", &api])
        .code(0)
        .prints("scenario 'a': 20 → 110 iterations/s (by onrush scale)");
    run.wait().code(0).prints("scenario 'a': 20 → 110 iterations/s");
    let result = result(&lab, "r");
    starts_are_those_of_the_plan(&result, [20.0, 110.0], 7.0);
    let notes = result["generator"]["notes"].to_string();
    assert!(!notes.contains("of the load"), "all agents followed, in time: {notes}");
}

fn metric_is_there(port: u16) -> bool {
    crate::api::ask(port, "GET", "/v1/metrics/iterations", "").0 == 200
}

#[test]
fn users_of_agents_come_and_go_within_a_second() {
    let scenarios = json!({
        "a": { "executor": "constant-vus", "vus": 3, "duration": "60s", "gracefulStop": "1s" },
        "b": { "executor": "per-vu-iterations", "vus": 2, "iterations": 1 },
        "few": { "executor": "constant-vus", "vus": 1, "duration": "60s" },
    });
    let (lab, api) = (Lab::with(&script(&scenarios)), format!("127.0.0.1:{}", free_port()));
    let run = lab.start(&["run", "--agents", "2", "--address", &api, "--save", "r", "script.js"]);
    until("the load", || metric_is_there(port(&api)) && status(port(&api))["vus"] == 4);
    let (code, answer) = patch(&api, &json!({ "vus": 5, "scenario": "few" }));
    let why = answer["errors"][0]["detail"].as_str().unwrap();
    let expected =
        "scenario 'few' (constant-vus): found 1 virtual user in its plan for 2 agents, expected one for each";
    assert!(code == 400 && why.starts_with(expected), "{why}");
    for users in [11, 2] {
        let (code, answer) = patch(&api, &json!({ "vus": users, "scenario": "a" }));
        assert_eq!((code, &answer["meta"]["changes"][0]["to"]), (200, &json!(f64::from(users))), "{answer}");
        until("the users", || status(port(&api))["vus"] == users + 1);
    }
    assert_eq!(patch(&api, &json!({ "stopped": true })).0, 200);
    run.wait().code(103).prints("scenario 'a': 3 → 11 users (by REST API)");
    let result = result(&lab, "r");
    plan_was_kept(&result);
    // From one second of all agents to the other, by their own counts.
    let users = result["seconds"]["vus"]["max"].as_array().cloned().unwrap_or_default();
    assert!(users.is_empty() || users.iter().any(|most| most.as_f64() == Some(12.0)), "{users:?}");
}

/// One agent hears of the change from the coordinator that follows, the other had heard already.
#[test]
fn a_change_outlives_the_coordinator_that_ordered_it() {
    let scenario = json!({ "executor": "constant-arrival-rate", "rate": 20, "duration": "9s",
        "preAllocatedVUs": 40, "maxVUs": 40 });
    let (lab, api) = (Lab::with(&script(&json!({ "a": scenario }))), format!("127.0.0.1:{}", free_port()));
    let (run, invitation) = coordinator(&lab, "2", &["--save", "fleet", "--address", &api]);
    let agents = ["0", "1"].map(|index| agent(&lab, &invitation, &["--index", index]));
    until("the load", || metric_is_there(port(&api)) && status(port(&api))["status"] == 7);
    let stopped = Pid::from_raw(agents[1].pid() as i32).unwrap();
    kill_process(stopped, Signal::STOP).unwrap();
    lab.onrush(&["scale", "--rate", "100/s", "--address", &api]).code(0).prints("20 → 100 iterations/s");
    kill_process(Pid::from_raw(run.pid() as i32).unwrap(), Signal::KILL).unwrap();
    let killed = Instant::now();
    assert_eq!(run.wait().code, -1);
    kill_process(stopped, Signal::CONT).unwrap();
    let (_, address) = invitation.rsplit_once('@').unwrap();
    let again = ["--agents", "2", "--fleet-listen", address, "--save", "fleet", "--resume", "--address", &api];
    let second = lab.start(&[&["run"], &again[..], &["script.js"]].concat());
    assert!(killed.elapsed() < Duration::from_secs(60));
    agents.into_iter().for_each(|agent| drop(agent.wait().code(0)));
    second.wait().code(0).says("going on with a test that had begun");
    starts_are_those_of_the_plan(&result(&lab, "fleet"), [20.0, 100.0], 9.0);
}

#[test]
fn changes_are_in_the_journals_of_a_run_and_of_agents() {
    let scenario = json!({ "executor": "constant-arrival-rate", "rate": 10, "duration": "60s",
        "preAllocatedVUs": 20, "maxVUs": 20 });
    let (lab, api) = (Lab::with(&script(&json!({ "a": scenario }))), format!("127.0.0.1:{}", free_port()));
    let run = lab.start(&["run", "-q", "--address", &api, "--save", "killed", "script.js"]);
    until("the load", || metric_is_there(port(&api)) && status(port(&api))["status"] == 7);
    lab.onrush(&["scale", "--rate", "30/s", "--address", &api]).code(0);
    let journal = lab.path().join("killed/journal.frames");
    let length = || std::fs::metadata(&journal).map_or(0, |found| found.len());
    let before = length();
    until("two more seconds", || length() > before + 600);
    std::thread::sleep(Duration::from_millis(1_200));
    drop(run);
    lab.onrush(&["report", "killed"]).code(0);
    let rebuilt = result(&lab, "killed");
    assert_eq!(rebuilt["load_changes"][0]["to"], json!(30.0), "{}", rebuilt["load_changes"]);

    let (run, invitation) = coordinator(&lab, "2", &["--address", &api]);
    let kept = |index: &str| agent(&lab, &invitation, &["--index", index, "--keep", &format!("kept-{index}")]);
    let agents = ["0", "1"].map(kept);
    until("the load", || metric_is_there(port(&api)) && status(port(&api))["status"] == 7);
    lab.onrush(&["scale", "--rate", "40/s", "--address", &api]).code(0);
    std::thread::sleep(Duration::from_millis(2_500));
    assert_eq!(patch(&api, &json!({ "stopped": true })).0, 200);
    run.wait().code(103);
    agents.into_iter().for_each(|agent| drop(agent.wait().code(0)));
    lab.onrush(&["report", "kept-0", "kept-1", "-o", "-"]).code(0).prints("<strong>Load:</strong>changed while it ran");
}
