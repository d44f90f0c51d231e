//! TRUSTED, SUSPECT, INVALID: causes that are provoked for real, what every output says of them, `--strict`, and that
//! everything which was started is in the result.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::lab::{Lab, finish};

/// An arrival rate of requests with a user for each.
const RATE: &str = "
import http from 'k6/http'
export const options = { scenarios: { load: {
  executor: 'constant-arrival-rate', rate: 100, duration: '3s', preAllocatedVUs: 100 } } }
export default () => http.get(__ENV.TARGET || __ENV.BASE)";

/// Answers nobody, for a second and a half.
const EXHAUSTED: &str = "
import http from 'k6/http'
export const options = {
  thresholds: { http_req_duration_from_plan: ['p(99)<100000'] },
  scenarios: { load: {
    executor: 'constant-arrival-rate', rate: 100, duration: '1500ms', preAllocatedVUs: 2, maxVUs: 2 } } }
export default () => http.get(`${__ENV.TARGET}/delay/400ms`)";

fn judgement(lab: &Lab, result: &str) -> Value {
    let document: Value = serde_json::from_str(&lab.read(result)).expect("a result");
    document["generator"]["judgement"].clone()
}

/// Names of the causes that are no notes.
fn causes(judgement: &Value) -> Vec<&str> {
    let causes = judgement["causes"].as_array().expect("a list").iter();
    causes.filter(|cause| cause["severity"] != "note").filter_map(|cause| cause["cause"].as_str()).collect()
}

fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args([name, &process.to_string()]).status().expect("kill");
    assert!(sent.success(), "{name}");
}

#[test]
fn a_generator_that_was_stopped_is_not_trusted() {
    let lab = Lab::with(RATE);
    let running = lab.start(&["run", "-q", "--serve", "--save", "stopped", "--strict", "script.js"]);
    std::thread::sleep(Duration::from_millis(1500));
    signal(running.pid(), "-STOP");
    std::thread::sleep(Duration::from_millis(800));
    signal(running.pid(), "-CONT");
    let run = running.wait();
    let found = judgement(&lab, "stopped/result.json");
    assert!(causes(&found).contains(&"event_loop_gap"), "{found}");
    assert!(run.stdout.contains("event loop stood still"), "{}", run.stdout);
    assert!([115, 116].contains(&run.code), "{}", run.code);
    let page = lab.onrush(&["report", "stopped", "-o", "-"]).code(0).stdout;
    assert!(page.contains("event loop stood still: "), "{page}");
}

#[test]
fn dropped_iterations_are_invalid_longer_than_all_others_and_named() {
    let lab = Lab::with(EXHAUSTED);
    let run = lab.run(&["--serve", "--save", "dry", "--summary-export", "dry.json"]).code(99);
    let first = run.stdout.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    assert!(first.starts_with("  INVALID: ") && first.contains("users exhausted ("), "{}", run.stdout);
    let found = judgement(&lab, "dry/result.json");
    assert!(causes(&found).contains(&"users_exhausted"), "{found}");
    let parts = ["planned", "ended", "dropped", "interrupted"].map(|part| found["iterations"][part].as_u64());
    let [Some(planned), Some(ended), Some(dropped), Some(interrupted)] = parts else { panic!("{found}") };
    assert!(dropped > ended && planned == ended + dropped + interrupted, "{found}");
    assert!(run.stdout.contains(&format!("planned iterations: {planned} = {ended} ended + {dropped} dropped")));
    let export: Value = serde_json::from_str(&lab.read("dry.json")).expect("JSON");
    let from_plan = &export["metrics"]["http_req_duration_from_plan"];
    assert_eq!((&from_plan["p(95)"], &from_plan["dropped"]), (&Value::Null, &dropped.into()), "{from_plan}");
    assert!(export["metrics"]["http_req_duration"]["p(95)"].is_number());
    assert_eq!(export["judgement"]["verdict"], "INVALID");
}

#[test]
fn strict_is_an_exit_code_unless_somebody_accepts_the_run() {
    let lab = Lab::with(EXHAUSTED);
    lab.run(&["--serve", "--no-thresholds"]).code(0);
    lab.run(&["--serve", "--no-thresholds", "--strict"]).code(116);
    lab.run(&["--serve", "--no-thresholds", "--strict", "--accept-late"]).code(0).prints("INVALID, accepted");
}

#[test]
fn few_samples_are_suspect_where_a_threshold_judges_by_them() {
    let lab = Lab::with(
        "import http from 'k6/http'; import { sleep } from 'k6';
         export const options = { vus: 1, duration: '1500ms', thresholds: { http_req_waiting: ['p(99)<60000'] } };
         export default () => { http.get(__ENV.TARGET); sleep(0.05) }",
    );
    let run = lab.run(&["--serve", "--save", "few"]).code(0);
    let found = judgement(&lab, "few/result.json");
    assert!(causes(&found).contains(&"too_few_samples"), "{found}");
    assert!(run.stdout.contains("p(99) of http_req_waiting comes from "), "{}", run.stdout);
}

#[test]
fn smoke_runs_and_runs_of_milliseconds_have_no_verdict() {
    let lab = Lab::with("import http from 'k6/http'; export default () => http.get(__ENV.TARGET)");
    for flags in [&["--serve", "--strict", "--save", "one"][..], &["--serve", "--strict", "--save", "one", "-i", "20"]]
    {
        let run = lab.run(flags).code(0);
        for verdict in ["TRUSTED", "SUSPECT", "INVALID", "GENERATOR"] {
            assert!(!run.stdout.contains(verdict), "{}", run.stdout);
        }
        assert_eq!(judgement(&lab, "one/result.json")["verdict"], "NOT JUDGED");
    }
}

/// Keeps its connections and never answers.
fn silent_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        let streams: Vec<TcpStream> = listener.incoming().flatten().collect();
        drop(streams);
    });
    base
}

#[test]
fn descriptors_that_ran_out_are_named() {
    let lab = Lab::with(
        "import http from 'k6/http'
         export const options = { vus: 1, iterations: 2, batch: 200, batchPerHost: 200 }
         export default () => http.batch(Array.from({ length: 200 }, () =>
           ({ method: 'GET', url: __ENV.BASE, params: { timeout: '1s' } })))",
    );
    let inner = lab.command(&["run", "--save", "files", "-e", &format!("BASE={}", silent_server()), "script.js"]);
    let mut limited = Command::new("sh");
    limited.arg("-c").arg("ulimit -n 100; exec \"$0\" \"$@\"").arg(inner.get_program()).args(inner.get_args());
    limited.current_dir(lab.path());
    let run = finish(limited);
    let found = judgement(&lab, "files/result.json");
    assert_eq!(
        (&found["verdict"], &found["causes"][0]["cause"]),
        (&"INVALID".into(), &"files_exhausted".into()),
        "{found}"
    );
    assert!(run.stdout.contains("open files exhausted"), "{}", run.stdout);
}

#[test]
fn requests_that_the_end_cut_short_are_counted_with_their_bytes() {
    let lab = Lab::with(
        "import http from 'k6/http'
         export const options = { scenarios: { load: {
           executor: 'constant-vus', vus: 3, duration: '1s', gracefulStop: '0s' } } }
         export default () => http.get(__ENV.BASE)",
    );
    let base = format!("BASE={}", silent_server());
    let run = lab.run(&["-e", &base, "--summary-export", "cut.json"]).code(0);
    assert!(run.stdout.contains("planned iterations: 3 = 0 ended + 0 dropped + 3 interrupted"), "{}", run.stdout);
    let export: Value = serde_json::from_str(&lab.read("cut.json")).expect("JSON");
    let count = |name: &str| export["metrics"][name]["count"].as_u64();
    assert_eq!(
        [count("interrupted_iterations"), count("http_reqs_interrupted"), count("http_reqs")],
        [Some(3), Some(3), None]
    );
    assert!(count("data_sent").is_some_and(|bytes| bytes > 3 * 40), "{export}");
}

#[test]
fn bytes_of_a_handshake_that_the_end_cut_short_are_counted() {
    let lab = Lab::with(
        "import http from 'k6/http'
         export const options = { scenarios: { load: {
           executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' } } }
         export default () => http.get(__ENV.BASE.replace('http:', 'https:'))",
    );
    lab.run(&["-e", &format!("BASE={}", silent_server()), "--summary-export", "cut.json"]).code(0);
    let export: Value = serde_json::from_str(&lab.read("cut.json")).expect("JSON");
    let sent = &export["metrics"]["data_sent"]["count"];
    assert!(sent.as_u64().is_some_and(|bytes| bytes > 2 * 100), "two ClientHellos: {sent}");
    assert!(export["metrics"]["http_reqs_interrupted"].is_null(), "no request was sent");
}

#[test]
fn requests_that_a_limit_of_setup_or_an_exception_cut_short_are_counted() {
    let base = format!("BASE={}", silent_server());
    for (script, code) in [
        ("export const options = { setupTimeout: '500ms' }; export function setup() { http.get(__ENV.BASE) };", 100),
        ("export const options = { iterations: 1 };", 0),
    ] {
        let lab = Lab::with(&format!(
            "import http from 'k6/http'; {script}
             export default async () => {{
               http.asyncRequest('GET', __ENV.BASE); await new Promise((done) => setTimeout(done, 300));
               throw new Error('no more') }}"
        ));
        lab.run(&["-e", &base, "--summary-export", "cut.json"]).code(code);
        let export: Value = serde_json::from_str(&lab.read("cut.json")).expect("JSON");
        let count = |name: &str| export["metrics"][name]["count"].as_u64();
        assert_eq!(count("http_reqs_interrupted"), Some(1), "{script} {export}");
        assert!(count("data_sent").is_some_and(|bytes| bytes > 40), "{export}");
    }
}

#[test]
fn an_answer_that_cut_an_upload_is_said() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("BASE=http://{}", listener.local_addr().expect("an address"));
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let _ = stream.read(&mut [0; 1024]).expect("the beginning of a request");
        stream
            .write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .expect("an answer");
        stream
    });
    let lab = Lab::with(
        "import http from 'k6/http'
         const body = 'x'.repeat(30000000)
         export default () => http.post(__ENV.BASE, body)",
    );
    lab.run(&["-e", &base]).code(0).prints("1 request was answered before the whole body was sent");
    drop(server.join());
}

const WITHOUT_SAMPLES: &str = "import http from 'k6/http'
    export const options = { iterations: 3, thresholds: {
      'http_req_failed{name:logn}': ['rate<0.01'], 'http_req_duration{name:logn}': ['p(95)<500'],
      http_req_duration: ['p(95)<60000'] } }
    export default () => {
      http.get(`${__ENV.TARGET}/get`, { tags: { name: 'login' } })
      http.get(`${__ENV.TARGET}/get`, { tags: { name: 'search' } })
    }";

#[test]
fn a_threshold_without_a_sample_is_not_held_and_names_what_was_seen() {
    let lab = Lab::with(WITHOUT_SAMPLES);
    let run = lab.run(&["--serve", "--save", "r", "--junit", "junit.xml"]).code(0);
    let run = run.prints("? 'p(95)<500' no sample; seen: name: login, search");
    run.prints("? 'rate<0.01' no sample; seen: name: login, search").prints("✓ 'p(95)<60000' p(95)=");
    let junit = lab.read("junit.xml");
    assert!(junit.contains("no sample was measured for it, so it was not judged"), "{junit}");
    lab.onrush(&["report", "r"]).code(0);
    let page = lab.read("r/report.html");
    assert!(
        page.contains("1 threshold held, 2 had no sample") && page.contains("? no sample"),
        "no word in the report"
    );
}

#[test]
fn strict_runs_and_thresholds_of_flags_fail_without_a_sample() {
    let lab = Lab::with(WITHOUT_SAMPLES);
    let said = "thresholds on metrics 'http_req_duration{name:logn}, http_req_failed{name:logn}' were not judged: they \
        have no sample";
    lab.run(&["--serve", "--strict"]).code(99).says(said);
    let flag = ["--serve", "--threshold", "http_req_waiting{name:nothing}: p(95)<1"];
    lab.run(&flag).code(99).says("'http_req_waiting{name:nothing}' were not judged");
}
