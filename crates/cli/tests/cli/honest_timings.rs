//! Timings of many users of one worker: each step has its own beginning and end, however many share a turn, and answers
//! have come when the kernel had them. Durations are compared with pauses of the server, with what the script saw by
//! its own clock, and with the time of the run; none is compared with a fixed limit from above.

use std::time::Duration;

use serde_json::Value;

use crate::lab::Lab;
use crate::peer::{Peer, Then, read_body, say};

fn metrics(lab: &Lab, flags: &[&str]) -> Value {
    lab.run(&[&["--workers", "1", "--summary-export", "s.json", "--save", "r"], flags].concat()).code(0);
    let summary: Value = serde_json::from_str(&lab.read("s.json")).expect("JSON");
    summary["metrics"].clone()
}

fn figure(metrics: &Value, metric: &str, part: &str) -> f64 {
    metrics[metric][part].as_f64().unwrap_or_else(|| panic!("{metric} {part} in {metrics}"))
}

#[test]
fn sending_lasts_until_the_kernel_has_the_request() {
    const PAUSE: Duration = Duration::from_millis(300);
    // It reads late, and answers late once it has read.
    let peer = Peer::on_tcp(|socket, request| {
        std::thread::sleep(PAUSE);
        read_body(socket, request.length);
        std::thread::sleep(PAUSE / 2);
        say(socket, "ok");
        Then::Next
    });
    let lab = Lab::with(
        "import http from 'k6/http';
         export const options = { scenarios: { all: { executor: 'per-vu-iterations', vus: 4, iterations: 2 } } };
         // A receive buffer grows as its program reads, on some kernels until it holds all of a second request.
         options.noConnectionReuse = true;
         const large = 'x'.repeat(16e6);
         export default function () {
           http.post(__ENV.PEER, large, { tags: { size: 'large' } });
           http.post(__ENV.PEER, 'small', { tags: { size: 'small' } });
         }
         options.thresholds = { };
         for (const step of ['sending', 'waiting'])
           for (const size of ['large', 'small']) options.thresholds[`http_req_${step}{size:${size}}`] = [];",
    );
    let metrics = metrics(&lab, &["-e", &format!("PEER={}", peer.url)]);
    let of = |step: &str, size: &str, part: &str| figure(&metrics, &format!("http_req_{step}{{size:{size}}}"), part);
    let pause = PAUSE.as_secs_f64() * 1000.0;
    // Pauses of the server are known, and so is the step that each belongs to.
    assert!(of("sending", "large", "min") > pause * 0.8, "{metrics}");
    assert!(of("waiting", "large", "min") > pause * 0.4, "{metrics}");
    assert!(of("waiting", "large", "med") < of("sending", "large", "med"), "{metrics}");
    assert!(of("sending", "small", "med") < of("sending", "large", "min") / 5.0, "{metrics}");
    assert!(of("waiting", "small", "min") > pause * 1.3, "{metrics}");
}

#[test]
fn users_that_share_a_turn_do_not_share_the_time_it_takes_to_send() {
    let lab = Lab::with(
        "import http from 'k6/http';
         export const options = { vus: 200, duration: '3s', summaryTrendStats: ['min', 'avg', 'count'] };
         export default function () { http.get(__ENV.TARGET); }",
    );
    let metrics = metrics(&lab, &["--serve"]);
    let [avg, count, min] = ["avg", "count", "min"].map(|part| figure(&metrics, "http_req_sending", part));
    let result: Value = serde_json::from_str(&lab.read("r/result.json")).expect("JSON");
    let took = result["load_s"].as_f64().expect("the time of the load") * 1000.0;
    // One thread sends one request after the other, and each of these fits into its socket at once.
    assert!(avg * count <= took, "{count} requests were sent for {} ms in all, in a run of {took} ms", avg * count);
    assert!(min > 0.0, "a request that took no time to send");
}

#[test]
fn answers_have_come_when_the_kernel_had_them() {
    const PAUSE: Duration = Duration::from_millis(20);
    let peer = Peer::on_tcp(|socket, _| {
        std::thread::sleep(PAUSE);
        let _gone = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
        std::thread::sleep(PAUSE);
        let _gone = socket.write_all(b"ok");
        Then::Next
    });
    // Those that ask have their turn after two hundred others that compute. `seen` is what the script's own clock says.
    let lab = Lab::with(
        "import http from 'k6/http'; import { Counter, Trend } from 'k6/metrics';
         const seen = new Trend('seen'), unlike = new Counter('unlike'), answers = new Counter('answers');
         const times = { executor: 'constant-vus', duration: '4s', gracefulStop: '2s' };
         export const options = { scenarios: {
           computing: { ...times, exec: 'computing', vus: 200 }, asking: { ...times, exec: 'asking', vus: 10 } } };
         export function computing() { let sum = 0; for (let at = 0; at < 4e6; at++) sum += at; return sum; }
         export function asking() {
           const asked = Date.now(), { timings: t } = http.get(__ENV.PEER), took = Date.now() - asked;
           seen.add(took);
           answers.add(1);
           // Both readings of this clock are whole milliseconds.
           const parts = [t.sending, t.waiting, t.receiving];
           const isWithin = t.duration <= took + 2 && parts.every((part) => part >= 0);
           unlike.add(isWithin && Math.abs(t.duration - t.sending - t.waiting - t.receiving) < 1e-6 ? 0 : 1);
         }",
    );
    let metrics = metrics(&lab, &["-e", &format!("PEER={}", peer.url)]);
    let median = |metric: &str| figure(&metrics, metric, "med");
    let (seen, pause) = (median("seen"), PAUSE.as_secs_f64() * 1000.0);
    assert!(figure(&metrics, "answers", "count") > 10.0, "{metrics}");
    assert_eq!(figure(&metrics, "unlike", "count"), 0.0, "steps add up, and to no more than the script saw: {metrics}");
    // Both parts of an answer may have come by the time of the first read: then all of it is waiting.
    let took = median("http_req_duration");
    assert!(took > 2.0 * pause * 0.9, "{metrics}");
    assert!(took < seen / 1.5, "{took} ms of the {seen} ms that passed until the user had its turn");
}

// How far response times are from the truth: measured in each run, by the kernel's transmit stamps.

fn timing_error(lab: &Lab) -> Value {
    let document: Value = serde_json::from_str(&lab.read("r/result.json")).expect("a result");
    document["generator"]["judgement"]["timing_error"].clone()
}

const REQUESTS: &str = "import http from 'k6/http'
    export const options = { scenarios: { load: {
      executor: 'constant-arrival-rate', rate: 400, duration: '2s', preAllocatedVUs: 20 } } }
    export default () => {
      http.get(`${__ENV.TARGET}/get`)
      if (__ENV.BODY) http.post(`${__ENV.TARGET}/post`, 'x'.repeat(Number(__ENV.BODY)))
    }";

#[test]
fn each_run_says_how_far_its_response_times_are_from_the_truth() {
    let lab = Lab::with(REQUESTS);
    let run = lab.run(&["--serve", "--workers", "1", "--save", "r", "-e", "BODY=1000"]).code(0);
    let found = timing_error(&lab);
    let figure = |name: &str| found[name].as_f64().unwrap_or(f64::NAN);
    // From its beginning to its last byte on the wire a request takes some time.
    assert!(figure("med_ms") > 0.0 && figure("within_ms") >= figure("med_ms"), "{found}");
    assert!(figure("checked") >= 36.0 && figure("checked") <= 1600.0 && figure("of_100") >= 90.0, "{found}");
    assert!(figure("checkable_share") > 0.5, "small bodies are checked, too: {found}");
    let lines: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("  response times are right")).collect();
    assert!(lines.len() == 1 && lines[0].ends_with(" checked)"), "{}", run.stdout);
    lab.onrush(&["report", "r"]).code(0);
    let page = lab.read("r/report.html");
    assert!(page.contains("Timing:") && page.contains("response times are right within"), "no line in the report");
}

#[test]
fn large_bodies_are_not_checked() {
    let lab = Lab::with(REQUESTS);
    lab.run(&["--serve", "--workers", "1", "--save", "r", "-e", "BODY=20000"]).code(0);
    let found = timing_error(&lab);
    let share = found["checkable_share"].as_f64().unwrap_or(f64::NAN);
    assert!((0.2..0.8).contains(&share), "half of the requests have none: {found}");
}

#[test]
fn where_nothing_can_be_checked_it_says_so() {
    let lab = Lab::with(
        "import http from 'k6/http'
         export const options = { vus: 2, duration: '2s', network: { latency: '1ms' } }
         export default () => http.get(`${__ENV.TARGET}/get`)",
    );
    let run = lab.run(&["--serve", "--save", "r"]).code(0);
    run.prints("response times: error not measured, no request could be checked");
    assert_eq!(timing_error(&lab)["checked"], 0);
    assert!(timing_error(&lab)["within_ms"].is_null());
}
