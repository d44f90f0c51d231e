//! `onrush capacity` against targets of a known limit: what it finds, what it says, and what it refuses.
//!
//! The search itself is simulated in `report` and by `cargo xtask stats`; here are a few of its probes, with real
//! processes and sockets. They count although the machine of the tests is busy: `--accept-late`.

use std::sync::Mutex;
use std::time::Instant;

use serde_json::Value;

use crate::lab::{Lab, Run};
use crate::peer::{Peer, Then, say};

/// Answers so many requests a second, and 429 to the others.
const RATE: f64 = 100.0;
/// So many may come at once.
const BURST: f64 = 8.0;

fn capacity(lab: &Lab, arguments: &[&str]) -> Run {
    lab.onrush(&[&["capacity", "--quiet"], arguments].concat())
}

/// A bucket of tokens.
fn bucket() -> Peer {
    let state = Mutex::new((BURST, Instant::now()));
    Peer::on_tcp(move |socket, _| {
        let is_served = {
            let (tokens, at) = &mut *state.lock().expect("no test panics in it");
            *tokens = (*tokens + at.elapsed().as_secs_f64() * RATE).min(BURST);
            *at = Instant::now();
            let is_served = *tokens >= 1.0;
            *tokens -= f64::from(u8::from(is_served));
            is_served
        };
        match is_served {
            true => say(socket, "ok"),
            false => drop(socket.write_all(b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n")),
        }
        Then::Next
    })
}

#[test]
fn the_limit_of_a_target_is_found_with_its_name_and_its_curve() {
    let lab = Lab::new();
    let peer = bucket();
    let run = capacity(
        &lab,
        &[
            "--accept-late",
            "--from",
            "60",
            "--budget",
            "80s",
            "--precision",
            "20%",
            "--objective",
            "http_req_failed: rate<0.05",
            "--json",
            "--save",
            "kept",
            "--at-least",
            "10",
            &peer.url,
        ],
    );
    let run = run.code(0);
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON alone");
    let number = |name: &str| answer[name].as_f64().unwrap_or_else(|| panic!("{name}: {answer:#}"));
    // A twentieth of what comes may be refused.
    let truth = RATE / 0.95;
    assert!(number("low") <= truth && truth <= number("high"), "{answer:#}");
    assert!((number("high") - number("low")) / (number("high") + number("low")) <= 0.2 + 1e-9, "{answer:#}");
    assert_eq!((&answer["unit"], &answer["limit"]["name"]), (&"requests".into(), &"target_refuses".into()));
    assert_eq!(answer["objectives"], serde_json::json!(["http_req_failed: rate<0.05"]));
    let probes = answer["probes"].as_array().expect("probes");
    assert!(probes.iter().any(|probe| probe["said"] == "held") && probes.iter().any(|probe| probe["said"] == "broken"));
    let kept: Value = serde_json::from_str(&lab.read("kept/capacity.json")).expect("the same");
    assert_eq!(kept["low"], answer["low"]);
    lab.onrush(&["report", "kept/probe-01", "-o", "probe.html"]).code(0);
}

#[test]
fn what_holds_up_to_the_end_holds_at_least_that() {
    let lab = Lab::new();
    let peer = bucket();
    lab.file(
        "script.js",
        "import http from 'k6/http';
        export const options = {
            thresholds: { 'http_req_duration{name:page}': ['p(90)<400'] },
            scenarios: {
                all: { executor: 'shared-iterations', vus: 2, iterations: 2, exec: 'visit', env: { N: 'page' } },
            },
        };
        export function visit() { http.get(__ENV.URL, { tags: { name: __ENV.N } }); }",
    );
    let variable = format!("URL={}", peer.url);
    let run = capacity(
        &lab,
        &[
            "--accept-late",
            "--from",
            "20",
            "--to",
            "30",
            "--budget",
            "60s",
            "--at-least",
            "50",
            "-e",
            &variable,
            "script.js",
        ],
    );
    let run = run.code(99).says("--at-least 50.0/s: ");
    assert!(run.stdout.contains("holds at least ") && run.stdout.contains("iterations a second"), "{}", run.stdout);
    assert!(run.stdout.contains("objectives    http_req_duration{name:page}: p(90)<400"), "{}", run.stdout);
    assert!(run.stdout.contains("nothing broke up to --to"), "{}", run.stdout);
}

#[test]
fn what_cannot_be_searched_for_ends_after_the_first_probe_or_before() {
    let lab = Lab::with("export default function () {}");
    let says = |arguments: &[&str], code: i32, text: &str| drop(capacity(&lab, arguments).code(code).says(text));
    says(&["script.js", "--budget", "5s"], 255, "--budget: found '5s', expected at least 20s");
    says(&["script.js", "--vus", "5"], 255, "--vus: the load is what capacity searches for");
    says(&["script.js", "--objective", "http_reqs: count>5"], 255, "expected a rate");
    says(&["nothing.js"], 255, "there is no script");
    says(&["script.js"], 104, "found no objective: the script has no thresholds");
    says(&["script.js", "--objective", "http_req_duration: p(95)<5"], 104, "found no sample of it in the first probe");
    says(&["script.js", "--objective", "mine: p(95)<5"], 104, "no metric named 'mine'");
    let port = crate::api::free_port();
    says(&[&format!("http://127.0.0.1:{port}/")], 113, "no request of the first probe succeeded");
}
