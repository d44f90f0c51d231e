//! The REST API: a run seen and led from outside, by requests over a socket.

#![allow(clippy::unwrap_used)]

mod scale;
mod scale_agents;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::lab::Lab;

/// A port that is free now.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Status and body of an answer; status 0 while nobody listens.
pub fn ask(port: u16, method: &str, path: &str, body: &str) -> (u16, String) {
    ask_with(port, (method, path), body, "")
}

/// The same of a request with more header fields.
fn ask_with(port: u16, (method, path): (&str, &str), body: &str, more: &str) -> (u16, String) {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return (0, String::new()) };
    let length = body.len();
    let fields = format!("Host: 127.0.0.1:{port}\r\nContent-Length: {length}\r\nConnection: close\r\n{more}");
    stream.write_all(format!("{method} {path} HTTP/1.1\r\n{fields}\r\n{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

/// The JSON that is there.
pub fn get(port: u16, path: &str) -> Value {
    let (status, body) = ask(port, "GET", path, "");
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// The attributes of `/v1/status`.
pub fn status(port: u16) -> Value {
    get(port, "/v1/status")["data"]["attributes"].take()
}

fn patch(port: u16, attributes: Value) -> (u16, String) {
    let body = json!({ "data": { "type": "status", "id": "default", "attributes": attributes } });
    ask(port, "PATCH", "/v1/status", &body.to_string())
}

/// Waits until something holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "{what} never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A page of another site can neither read a run nor stop it.
#[test]
fn requests_of_other_sites_are_refused() {
    let lab = Lab::with(SCRIPT);
    let port = free_port();
    let _run = lab.start(&["run", "-q", "--address", &format!("127.0.0.1:{port}"), "script.js"]);
    until("the API", || ask(port, "GET", "/v1/status", "").0 == 200);
    let stop = r#"{"data":{"type":"status","id":"default","attributes":{"stopped":true}}}"#;
    for (more, expected) in [
        ("Origin: https://attacker.example\r\n", 403),
        ("Origin: null\r\n", 403),
        ("Sec-Fetch-Site: cross-site\r\n", 403),
    ] {
        assert_eq!(ask_with(port, ("PATCH", "/v1/status"), stop, more).0, expected, "{more}");
        assert_eq!(ask_with(port, ("GET", "/v1/setup"), "", more).0, expected, "{more}");
    }
    let form = ask_with(port, ("POST", "/v1/teardown"), "x", "Content-Type: text/plain\r\n");
    assert_eq!(form.0, 415, "{form:?}");
    let mut rebound = TcpStream::connect(("127.0.0.1", port)).unwrap();
    rebound.write_all(b"GET /v1/setup HTTP/1.1\r\nHost: attacker.example\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    rebound.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 421 ") && !answer.contains("from"), "{answer}");
    assert_eq!(status(port)["stopped"], false);
}

const SCRIPT: &str = "import { check, group, sleep } from 'k6'; import { Counter } from 'k6/metrics';
    const mine = new Counter('mine');
    export const options = { vus: 2, duration: '50s', thresholds: { checks: ['rate>0.5'], mine: ['count>=0'] } };
    export function setup() { mine.add(1); console.log('setup'); return { from: 'setup' } }
    export function teardown(data) { console.log('teardown', JSON.stringify(data)) }
    export default function (data) {
      group('outer', () => { group('inner', () => check(data, { 'is there': (d) => d.from })); });
      check(data, { never: () => false });
      sleep(0.05);
    }";

#[test]
fn a_run_is_seen_and_stopped() {
    let (lab, port) = (Lab::with(SCRIPT), free_port());
    let run = lab.start(&["run", "-q", "--address", &format!("127.0.0.1:{port}"), "script.js"]);
    until("results", || ask(port, "GET", "/v1/metrics/iterations", "").0 == 200 && status(port)["running"] == true);
    let seen = status(port);
    assert_eq!((&seen["status"], &seen["vus"], &seen["vus-max"]), (&json!(7), &json!(2), &json!(2)), "{seen}");
    assert_eq!((&seen["paused"], &seen["stopped"]), (&json!(false), &json!(false)));
    let metrics = get(port, "/v1/metrics");
    let of = |id: &str| {
        let all = metrics["data"].as_array().unwrap();
        all.iter().find(|metric| metric["id"] == id).unwrap_or_else(|| panic!("{id}: {metrics}"))["attributes"].clone()
    };
    let checks = of("checks");
    assert_eq!((&checks["type"], &checks["tainted"]), (&"rate".into(), &false.into()));
    assert_eq!(checks["sample"].as_object().unwrap().len(), 1);
    assert!(of("iteration_duration")["sample"]["p(95)"].as_f64().unwrap() > 0.0);
    assert_eq!(of("iterations")["tainted"], Value::Null);
    let groups = get(port, "/v1/groups")["data"].take();
    assert_eq!(groups.as_array().unwrap().len(), 3);
    assert_eq!(groups[2]["attributes"]["path"], "::outer::inner");
    assert_eq!(groups[2]["attributes"]["checks"][0]["name"], "is there");
    let root = groups[0]["id"].as_str().unwrap();
    assert_eq!(get(port, &format!("/v1/groups/{root}"))["data"]["attributes"]["checks"][0]["name"], "never");
    assert_eq!(groups[1]["relationships"]["parent"]["data"]["id"], root);
    assert_eq!(get(port, "/v1/setup")["data"]["attributes"]["data"], json!({ "from": "setup" }));
    for (method, path, body, code, says) in [
        ("GET", "/v1/metrics/none", "", 404, "No metric with that ID was found"),
        ("GET", "/v1/groups/none", "", 404, "No group with that ID was found"),
        ("GET", "/v1/nothing", "", 404, "404 page not found"),
        ("DELETE", "/v1/status", "", 405, ""),
        ("POST", "/v1/metrics/checks", "", 405, ""),
        ("PATCH", "/v1/status", "none", 400, "Invalid data"),
        ("POST", "/v1/setup", "", 500, "start it with --paused"),
        ("PUT", "/v1/setup", "{", 400, "Error parsing request body"),
    ] {
        let (status, text) = ask(port, method, path, body);
        assert!(status == code && text.contains(says), "{method} {path}: {status} {text}");
    }
    assert!(patch(port, json!({ "paused": true })).1.contains("cannot be paused once it has begun"));
    assert!(patch(port, json!({ "vus": "five" })).1.contains("expected a whole number of users"));
    assert_eq!(patch(port, json!({})).0, 200);
    let (code, answer) = patch(port, json!({ "stopped": true }));
    assert!(code == 200 && answer.contains(r#""stopped":true"#), "{answer}");
    run.wait().code(103).says("the test was stopped by the REST API").says(r#"teardown {\"from\":\"setup\"}"#);
}

#[test]
fn a_paused_run_is_prepared_and_resumed_and_lingers() {
    let (lab, port) = (Lab::with(&SCRIPT.replace("'50s'", "'1s'")), free_port());
    let address = format!("127.0.0.1:{port}");
    let run = lab.start(&["run", "--paused", "--linger", "--no-setup", "--address", &address, "script.js"]);
    until("the pause", || ask(port, "GET", "/v1/status", "").0 == 200 && status(port)["status"] == 4);
    assert_eq!((&status(port)["paused"], &status(port)["vus-max"]), (&json!(true), &json!(2)));
    let data = |(code, body): (u16, String)| -> Value {
        assert_eq!(code, 200, "{body}");
        serde_json::from_str::<Value>(&body).unwrap()["data"]["attributes"]["data"].take()
    };
    assert_eq!(data(ask(port, "POST", "/v1/setup", "")), json!({ "from": "setup" }));
    assert_eq!(data(ask(port, "PUT", "/v1/setup", r#"{"from":"outside"}"#)), json!({ "from": "outside" }));
    assert_eq!(ask(port, "POST", "/v1/teardown", "").0, 200);
    assert_eq!(patch(port, json!({ "paused": true })).0, 200);
    assert_eq!(patch(port, json!({ "paused": false })).0, 200);
    until("the end", || status(port)["status"] == 9);
    assert_eq!((&status(port)["running"], &status(port)["vus"]), (&json!(false), &json!(0)));
    assert!(get(port, "/v1/metrics/checks")["data"]["attributes"]["sample"]["rate"].as_f64().unwrap() > 0.0);
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(run.pid() as i32).unwrap(),
        rustix::process::Signal::INT,
    )
    .unwrap();
    // Half of the checks fail, which the threshold allows or not: what counts is that the signal is no part of it.
    let run = run.wait();
    assert!([0, 99].contains(&run.code), "{run:?}");
    assert_eq!(run.stderr.matches("msg=setup").count(), 1, "{}", run.stderr);
    assert_eq!(run.stderr.matches(r#"teardown {\"from\":\"outside\"}"#).count(), 2, "{}", run.stderr);
}

#[test]
fn addresses_that_cannot_be_are_refused() {
    let lab = Lab::with("export default function () {}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    lab.run(&["--address", &address]).code(106).says(&format!("--address {address}: the REST API cannot start"));
    lab.run(&["--address", "nonsense"]).code(106).says("expected HOST:PORT");
    lab.run(&["--paused"]).code(104).says("nobody could resume the test; give --address HOST:PORT as well");
    lab.run(&["--address", "127.0.0.1:0"]).code(0).says("the REST API listens at http://127.0.0.1:");
    lab.run(&["--address", ""]).code(0);
}
