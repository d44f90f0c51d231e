//! A load that changes while it runs: by `onrush scale` and by requests to the REST API. What is held: the new load is
//! there, the result says what was changed, and the plan that the verdict counts by is the changed one.

#![allow(clippy::unwrap_used)]

use std::os::unix::process::CommandExt;

use serde_json::{Value, json};

use crate::api::{ask, free_port, status, until};
use crate::lab::{Lab, Started, finish};

const TARGET: &str = "import http from 'k6/http'; import { sleep } from 'k6';
    export default function () { http.get(__ENV.TARGET); sleep(0.02); }";

/// A run with its API, once its scenarios have begun.
fn running(scenarios: &Value, more: &[&str]) -> (Lab, Started, String) {
    let script = format!("export const options = {{ scenarios: {scenarios} }};\n{TARGET}");
    let (lab, port) = (Lab::with(&script), free_port());
    let address = format!("127.0.0.1:{port}");
    let arguments = [&["run", "-q", "--serve", "--address", &address], more, &["script.js"]].concat();
    let run = lab.start(&arguments);
    until("the load", || ask(port, "GET", "/v1/metrics/iterations", "").0 == 200 && status(port)["status"] == 7);
    (lab, run, address)
}

pub fn port(address: &str) -> u16 {
    address.rsplit(':').next().unwrap().parse().unwrap()
}

pub fn patch(address: &str, attributes: &Value) -> (u16, Value) {
    let body = json!({ "data": { "type": "status", "id": "default", "attributes": attributes } });
    let (status, text) = ask(port(address), "PATCH", "/v1/status", &body.to_string());
    (status, serde_json::from_str(&text).unwrap())
}

fn result(lab: &Lab) -> Value {
    serde_json::from_str(&lab.read("r/result.json")).unwrap()
}

/// A busy machine may doubt a run, its plan must not.
pub fn plan_was_kept(result: &Value) {
    let judgement = &result["generator"]["judgement"];
    let causes = judgement["causes"].as_array().unwrap();
    assert!(causes.iter().all(|found| found["cause"] != "figures_disagree"), "{judgement}");
    let of = |name: &str| judgement["iterations"][name].as_u64().unwrap();
    assert_eq!(of("planned"), of("ended") + of("dropped") + of("interrupted"));
}

#[test]
fn a_rate_that_is_scaled_is_the_plan_that_counts() {
    for executor in ["constant-arrival-rate", "ramping-arrival-rate"] {
        let shape = match executor {
            "constant-arrival-rate" => json!({ "rate": 20, "duration": "8s" }),
            // Alone it would have come to 100 starts in these seconds, and in the end to 1 a second.
            _ => {
                let stages = json!([{ "duration": "5s", "target": 20 }, { "duration": "3s", "target": 1 }]);
                json!({ "startRate": 20, "stages": stages })
            }
        };
        let mut scenario = json!({ "executor": executor, "preAllocatedVUs": 40, "maxVUs": 40 });
        scenario.as_object_mut().unwrap().extend(shape.as_object().unwrap().clone());
        let (lab, run, address) = running(&json!({ "a": scenario }), &["--save", "r"]);
        let scaled = lab.onrush(&["scale", "--rate", "100/s", "--address", &address]).code(0);
        scaled.prints("scenario 'a': 20 → 100 iterations/s (by onrush scale)");
        run.wait().code(0).prints("changed while it ran: at ").prints("scenario 'a': 20 → 100 iterations/s");
        let result = result(&lab);
        let changes = result["load_changes"].as_array().unwrap();
        let [change] = changes.as_slice() else { panic!("{changes:?}") };
        assert_eq!(
            [&change["scenario"], &change["quantity"], &change["from"], &change["to"], &change["by"]],
            [&json!("a"), &json!("rate"), &json!(20.0), &json!(100.0), &json!("onrush scale")]
        );
        let at = change["at_s"].as_f64().unwrap();
        let expected = 20.0 * at + 100.0 * (8.0 - at);
        let planned = result["generator"]["judgement"]["iterations"]["planned"].as_f64().unwrap();
        assert!((planned - expected).abs() <= 2.0, "{executor}: {planned} iterations planned, expected {expected}");
        plan_was_kept(&result);
        let by_second = result["generator_seconds"]["planned_per_second"].as_array().unwrap();
        let of_second = |second: usize| by_second[second].as_f64().unwrap();
        assert!((of_second(0) - 20.0).abs() < 1.0 && (of_second(6) - 100.0).abs() < 1.0, "{by_second:?}");
        let page = lab.onrush(&["report", "r", "-o", "-"]).code(0);
        page.prints("<strong>Load:</strong>changed while it ran").prints("<path class=\"changed\"");
    }
}

#[test]
fn users_come_and_go_by_requests_and_by_the_command() {
    let constant = json!({ "executor": "constant-vus", "vus": 2, "duration": "60s", "gracefulStop": "1s" });
    let stages = json!([{ "duration": "1s", "target": 2 }, { "duration": "59s", "target": 2 }]);
    let ramping = json!({ "executor": "ramping-vus", "startVUs": 2, "stages": stages, "gracefulStop": "1s" });
    for scenario in [constant, ramping] {
        let (lab, run, address) = running(
            &json!({ "a": scenario, "b": {
            "executor": "shared-iterations", "vus": 1, "iterations": 1 } }),
            &["--save", "r"],
        );
        let active = || status(port(&address))["vus"].clone();
        let (code, answer) = patch(&address, &json!({ "vus": 7, "vus-max": 9 }));
        assert_eq!((code, &answer["meta"]["changes"][0]["to"]), (200, &json!(7.0)), "{answer}");
        until("seven users", || active() == 7);
        assert_eq!(status(port(&address))["vus-max"], 9);
        lab.onrush(&["scale", "--vus", "10", "-a", &address])
            .code(255)
            .says("expected at most 9, the limit that was set");
        lab.onrush(&["scale", "--users", "1", "-a", &address]).code(0).prints("7 → 1 users (by onrush scale)");
        until("one user", || active() == 1);
        lab.onrush(&["scale", "-u", "0", "--scenario", "a", "-a", &address]).code(0);
        until("no user", || active() == 0);
        lab.onrush(&["scale", "-u", "3", "-a", &format!("http://{address}/")]).code(0);
        until("three users", || active() == 3);
        assert_eq!(patch(&address, &json!({ "stopped": true })).0, 200);
        run.wait().code(103).prints("scenario 'a': 2 → 7 users (by REST API)");
        let result = result(&lab);
        let changes = result["load_changes"].as_array().unwrap();
        let told: Vec<_> = changes.iter().map(|change| (change["to"].as_f64().unwrap(), &change["by"])).collect();
        let (rest, scale) = (&json!("REST API"), &json!("onrush scale"));
        assert_eq!(told, [(7.0, rest), (1.0, scale), (0.0, scale), (3.0, scale)]);
        let times: Vec<f64> = changes.iter().map(|change| change["at_s"].as_f64().unwrap()).collect();
        assert!(times.is_sorted(), "{times:?}");
        plan_was_kept(&result);
    }
}

#[test]
fn what_cannot_change_is_refused_by_name() {
    let scenarios = json!({
        "some": { "executor": "constant-vus", "vus": 1, "duration": "60s" },
        "more": { "executor": "ramping-vus", "startVUs": 1, "stages": [{ "duration": "60s", "target": 1 }] },
        "count": { "executor": "per-vu-iterations", "vus": 1, "iterations": 100000 },
        "open": { "executor": "constant-arrival-rate", "rate": 2, "duration": "60s", "preAllocatedVUs": 2 },
    });
    let (lab, _run, address) = running(&scenarios, &[]);
    for (attributes, code, says) in [
        (json!({ "vus": "5" }), 400, "vus: found \"5\", expected a whole number of users, 0 or more"),
        (json!({ "rate": "fast" }), 400, "rate: found 'fast', expected iterations per second, minute or hour"),
        (json!({ "scenario": "some" }), 400, "found the scenario 'some' and no load"),
        (
            json!({ "vus": 5 }),
            400,
            "found several scenarios, expected the name of one of 'some' (constant-vus), 'more'",
        ),
        (json!({ "vus": 5, "scenario": "none" }), 400, "there is no scenario 'none', expected any of 'some'"),
        (
            json!({ "vus": 5, "scenario": "count" }),
            400,
            "'count' (per-vu-iterations) does a given number of iterations",
        ),
        (json!({ "vus": 5, "scenario": "open" }), 400, "'open' (constant-arrival-rate) plans starts"),
        (json!({ "rate": 5, "scenario": "some" }), 400, "'some' (constant-vus) has users and plans no rate"),
        (json!({ "vus": 9_000_000, "scenario": "some" }), 400, "file descriptors"),
    ] {
        let (status, answer) = patch(&address, &attributes);
        let detail = answer["errors"][0]["detail"].as_str().unwrap_or_default();
        assert!(status == code && detail.contains(says), "{attributes}: {status} {answer}");
    }
    assert_eq!(status(port(&address))["vus-max"], 5, "what was refused is not the new maximum");
    let scale = |more: &[&str]| lab.onrush(&[&["scale", "-a", &address], more].concat());
    scale(&[]).code(255).says("scale: found no load, expected --vus, --max or --rate");
    scale(&["--rate", "3", "--vus", "4"]).says("cannot be used with");
    scale(&["--rate", "3/d"]).says("found '3/d', expected iterations per second, minute or hour: 200/s, 90/m, 1.5/s");
    scale(&["--vus", "3", "--scenario", "count"]).code(255).says("does a given number of iterations");
    scale(&["--rate", "0/s"]).code(0).prints("scenario 'open': 2 → 0 iterations/s");
    let nowhere = format!("127.0.0.1:{}", free_port());
    let run = lab.onrush(&["scale", "--vus", "3", "-a", &nowhere]).code(255);
    run.says(&format!("cannot ask the REST API at {nowhere}: Connection refused")).says("run the test with --address");
}

/// k6 of this version has no load that could change: under its name the API says so in its words.
#[test]
fn under_the_name_of_k6_users_cannot_change() {
    let lab = Lab::with(&format!("export const options = {{ vus: 1, duration: '20s' }};\n{TARGET}"));
    let port = free_port();
    let mut command = lab.command(&["run", "-q", "--serve", "--address", &format!("127.0.0.1:{port}"), "script.js"]);
    command.arg0("k6");
    let run = crate::lab::begin(command);
    until("the load", || ask(port, "GET", "/v1/status", "").0 == 200 && status(port)["status"] == 7);
    let (code, answer) = patch(&format!("127.0.0.1:{port}"), &json!({ "vus": 3 }));
    assert_eq!(code, 500);
    assert_eq!(answer["errors"][0]["detail"], "live VU configuration updates are not supported");
    drop(run);
}

#[test]
fn a_test_that_waits_cannot_change() {
    let script = format!("export const options = {{ vus: 1, duration: '20s' }};\n{TARGET}");
    let says = "the load cannot change yet: the scenarios have not begun";
    for more in [&["--paused"][..], &["--paused", "--agents", "1"]] {
        let (lab, port) = (Lab::with(&script), free_port());
        let address = format!("127.0.0.1:{port}");
        let _run = lab.start(&[&["run", "-q", "--serve", "--address", &address], more, &["script.js"]].concat());
        until("the API", || ask(port, "GET", "/v1/status", "").0 == 200);
        lab.onrush(&["scale", "--vus", "3", "-a", &address]).code(255).says(says);
    }
}

#[test]
fn the_address_may_come_from_the_environment() {
    let scenario = json!({ "executor": "constant-vus", "vus": 1, "duration": "60s" });
    let (lab, _run, address) = running(&json!({ "a": scenario }), &[]);
    let mut command = lab.command(&["scale", "--vus", "2"]);
    command.env("K6_ADDRESS", &address);
    finish(command).code(0).prints("scenario 'a': 1 → 2 users");
}
