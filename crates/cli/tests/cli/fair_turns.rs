//! A worker's users beside each other: whoever asks without a pause or computes leaves the others their turn, and the
//! timers theirs. Counts are compared with those of a run without the neighbours; no test says how fast anything is.

use serde_json::Value;

use crate::lab::Lab;

/// Metrics of a run on one worker of `script`, in which `__ENV.BESIDE` says which neighbours there are.
fn metrics(script: &str, beside: &str) -> Value {
    let lab = Lab::with(script);
    let env = format!("BESIDE={beside}");
    lab.run(&["--serve", "--workers", "1", "--summary-export", "s.json", "-e", &env]).code(0);
    let summary: Value = serde_json::from_str(&lab.read("s.json")).expect("JSON");
    summary["metrics"].clone()
}

fn figure(metrics: &Value, metric: &str, part: &str) -> f64 {
    metrics[metric][part].as_f64().unwrap_or_else(|| panic!("{metric} {part} in {metrics}"))
}

/// Neighbours: `asking` loop on a fast server, `computing` loop without one.
const NEIGHBOURS: &str = "import http from 'k6/http'; import { sleep } from 'k6'; import { Counter } from 'k6/metrics';
    const times = { executor: 'constant-vus', duration: '3s', gracefulStop: '1s' };
    const neighbours = {
      none: {},
      asking: { asking: { ...times, exec: 'asking', vus: 100 } },
      computing: { computing: { ...times, exec: 'computing', vus: 60 } } }[__ENV.BESIDE];
    export function asking() { http.get(__ENV.TARGET); }
    export function computing() { let sum = 0; for (let at = 0; at < 4e6; at++) sum += at; return sum; }";

#[test]
fn timers_fire_between_turns_of_users_that_ask_without_a_pause() {
    let script = format!(
        "{NEIGHBOURS}
         const slept = new Counter('slept'), fired = new Counter('fired'), resolved = new Counter('resolved');
         export const options = {{ scenarios: {{
           sleeping: {{ ...times, exec: 'sleeping', vus: 1 }}, timed: {{ ...times, exec: 'timed', vus: 1 }},
           awaiting: {{ ...times, exec: 'awaiting', vus: 1 }}, ...neighbours }} }};
         export function sleeping() {{ sleep(0.01); slept.add(1); }}
         export function timed() {{ setTimeout(() => fired.add(1), 10); }}
         export async function awaiting() {{
           await new Promise((done) => setTimeout(done, 10));
           resolved.add(1);
         }}"
    );
    let (alone, beside) = (metrics(&script, "none"), metrics(&script, "asking"));
    for counter in ["slept", "fired", "resolved"] {
        let (alone, beside) = (figure(&alone, counter, "count"), figure(&beside, counter, "count"));
        assert!(beside > alone / 20.0, "{counter}: {beside} beside users that ask, {alone} alone");
    }
    assert!(figure(&beside, "http_reqs", "count") > 300.0, "the neighbours did ask");
}

#[test]
fn starts_are_later_beside_a_blocked_worker_than_beside_requests() {
    let script = format!(
        "{NEIGHBOURS}
         export const options = {{ scenarios: {{ ...neighbours,
           starts: {{ executor: 'constant-arrival-rate', rate: 100, duration: '3s', preAllocatedVUs: 50, \
         exec: 'starts' }} }} }};
         export function starts() {{}}"
    );
    let lag = |beside: &str| figure(&metrics(&script, beside), "iteration_lag", "med");
    let (asking, computing) = (lag("asking"), lag("computing"));
    assert!(asking < computing, "a median of {asking} ms beside requests, {computing} ms beside computing users");
}

#[test]
fn requests_go_on_beside_users_that_compute() {
    const USERS: u32 = 20;
    // Some 200 ms at a time; the second one spends them within calls of the engine's own code.
    for computing in [
        "const end = Date.now() + 200; while (Date.now() < end);",
        "const end = Date.now() + 200; do parseFloat('1'.repeat(2e7)); while (Date.now() < end);",
    ] {
        let script = format!(
            "{NEIGHBOURS}
             const computed = new Counter('computed');
             export const options = {{ scenarios: {{
               all: {{ ...times, exec: 'asking', vus: {USERS} }}, one: {{ ...times, exec: 'one', vus: 1 }} }} }};
             export function one() {{ {computing} computed.add(1); }}"
        );
        let metrics = metrics(&script, "none");
        let [requests, computed] = ["http_reqs", "computed"].map(|name| figure(&metrics, name, "count"));
        // A user that gave way between its iterations alone would leave each of the others one turn for each of them.
        let turns = requests / f64::from(USERS) / computed;
        assert!(turns > 3.0, "{computing}: {requests} requests of {USERS} users beside {computed} times of it");
    }
}
