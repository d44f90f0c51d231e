//! Causes of a verdict that the script or a neighbour provokes, and that they are said while the test runs. Those that
//! need a machine of their own (control groups, network namespaces, a clock that is set) are in `cargo xtask truth`.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::lab::{Lab, Run};

/// Computes: a thousand turns take some 10 µs of a core. Users that compute take turns.
const COMPUTE: &str = "const compute = (thousands) => {
  let sum = 0; for (let at = 0; at < thousands * 1000; at++) sum += at; return sum };";

struct Judged {
    run: Run,
    causes: Vec<String>,
}

/// Runs with `--save` and these flags.
fn judged(lab: &Lab, flags: &[&str]) -> Judged {
    judged_with(lab, flags, 0)
}

fn judged_with(lab: &Lab, flags: &[&str], code: i32) -> Judged {
    let run = lab.run(&[&["--save", "r", "--workers", "1"], flags].concat()).code(code);
    let document: Value = serde_json::from_str(&lab.read("r/result.json")).expect("a result");
    let causes = document["generator"]["judgement"]["causes"].as_array().expect("a list").iter();
    let causes = causes.filter(|cause| cause["severity"] != "note");
    let causes = causes.filter_map(|cause| cause["cause"].as_str().map(str::to_owned)).collect();
    Judged { run, causes }
}

impl Judged {
    fn names(&self, cause: &str, live: &str) {
        assert!(self.causes.iter().any(|found| found == cause), "{cause} in {:?}", self.causes);
        let said = self.run.stderr.lines().any(|line| line.contains(" from here on: ") && line.contains(live));
        assert!(said, "'{live}' while it runs, in {}", self.run.stderr);
    }
}

#[test]
fn starts_that_come_too_late_are_said_as_they_come() {
    let lab = Lab::with(&format!(
        "{COMPUTE} export const options = {{ scenarios: {{ load: {{
           executor: 'constant-arrival-rate', rate: 100, duration: '3s', preAllocatedVUs: 300 }} }} }};
         export default () => compute(4000)"
    ));
    let judged = judged(&lab, &[]);
    judged.names("late_starts", "late starts (");
    judged.names("below_rate", "below the planned rate (");
}

#[test]
fn a_full_worker_is_the_limit() {
    let lab = Lab::with(&format!(
        "{COMPUTE} import http from 'k6/http'; export const options = {{ vus: 2, duration: '3s' }};
         export default () => {{ http.get(__ENV.TARGET); compute(4000) }}"
    ));
    let judged = judged(&lab, &["--serve"]);
    // On a machine without a free core the worker cannot be full.
    let reasons = ["cpu", "run_queue", "shared_core", "throttled", "steal"];
    assert!(judged.causes.iter().any(|cause| reasons.contains(&cause.as_str())), "{:?}", judged.causes);
    assert!(judged.run.stderr.contains(" from here on: "), "{}", judged.run.stderr);
}

#[test]
fn late_timings_without_stamps_are_said() {
    let lab = Lab::with(&format!(
        "{COMPUTE} import http from 'k6/http';
         export const options = {{ vus: 4, duration: '3s', hosts: {{ 'app.test': `unix:${{__ENV.SOCKET}}` }} }};
         export default () => {{ http.get('http://app.test/'); compute(2000) }}"
    ));
    let path = lab.path().join("app.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    let answer = |stream: UnixStream| {
        let (lines, mut out) = (BufReader::new(stream.try_clone().expect("a socket")).lines(), stream);
        for line in lines {
            let is_end = line.is_ok_and(|line| line.is_empty());
            if is_end && out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").is_err() {
                return;
            }
        }
    };
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|stream| drop(std::thread::spawn(move || answer(stream))));
    });
    judged(&lab, &["-e", &format!("SOCKET={}", path.display())]).names("stamps_missing", "no kernel stamps (");
}

#[test]
fn an_output_that_loses_samples_is_a_cause() {
    let lab = Lab::with(
        "import { sleep } from 'k6'; export const options = { vus: 1, duration: '1500ms' };
         export default () => sleep(0.1)",
    );
    // A port that nobody listens on.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let database = format!("influxdb=http://{}/k6", listener.local_addr().expect("an address"));
    drop(listener);
    let judged = judged_with(&lab, &["--out", &database], 111);
    assert!(judged.causes.iter().any(|cause| cause == "output_backpressure"), "{:?}", judged.causes);
}

#[test]
fn a_stop_is_said_when_it_is_over_and_not_again() {
    let lab = Lab::with(
        "export const options = { scenarios: { load: {
           executor: 'constant-arrival-rate', rate: 50, duration: '6s', preAllocatedVUs: 100 } } };
         export default () => {}",
    );
    let running = lab.start(&["run", "-q", "--workers", "1", "script.js"]);
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &running.pid().to_string()]).status().expect("kill");
        assert!(sent.success(), "{name}");
    };
    std::thread::sleep(Duration::from_millis(1500));
    signal("-STOP");
    std::thread::sleep(Duration::from_millis(900));
    signal("-CONT");
    let run = running.wait();
    let said: Vec<&str> = run.stderr.lines().filter(|line| line.contains("event loop stood still (")).collect();
    assert_eq!(said.len(), 1, "{}", run.stderr);
}

#[test]
fn accepted_and_smoke_runs_say_nothing() {
    let lab = Lab::with(&format!("{COMPUTE} export default () => compute(200000)"));
    for flags in [&["-i", "1"][..], &["--accept-late", "--vus", "2", "-i", "2"]] {
        let run = lab.run(flags).code(0);
        assert!(!run.stderr.contains(" from here on: "), "{}", run.stderr);
    }
}
