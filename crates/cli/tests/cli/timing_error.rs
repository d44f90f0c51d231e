//! How far response times are from the truth: measured in each run, by the kernel's transmit stamps.

use serde_json::Value;

use crate::lab::Lab;

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
