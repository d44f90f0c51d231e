//! What went wrong is counted and named: in the summary, in JSON, in a saved result and its report; and it can be
//! limited.

use serde_json::Value;

use crate::lab::Lab;

/// Ten iterations, each with an answer of 404 and an exception.
const FAILING: &str = "import http from 'k6/http';
    export const options = { iterations: 10, vus: 2 };
    export default function () {
      http.get(`${__ENV.TARGET}/status/404`);
      const nothing = undefined;
      nothing.token;
    }";

/// Ten iterations in which all is well, with an answer that the script expects to be 404.
const FINE: &str = "import http from 'k6/http';
    http.setResponseCallback(http.expectedStatuses(200, 404));
    export const options = { iterations: 10 };
    export default function () { http.get(`${__ENV.TARGET}/get`); http.get(`${__ENV.TARGET}/status/404`); }";

#[test]
fn iterations_that_threw_and_error_answers_are_named() {
    let lab = Lab::with(FAILING);
    // k6's exit code: a script says by thresholds what is too much.
    let run = lab.run(&["--serve", "--summary-export", "export.json", "--save", "kept"]).code(0);
    let run = run.prints("  █ ERRORS \n\n    iterations_threw...: 100.00% 10 out of 10\n");
    let run = run.prints("      × 10  TypeError: cannot read property 'token' of undefined (");
    let run = run.prints("script.js:6:").prints("    answers ≥ 400......: 100.00% 10 out of 10\n      404 × 10\n");
    run.prints("    iterations_threw...").prints("404  med=").prints("/status/404\n");
    let export: Value = serde_json::from_str(&lab.read("export.json")).expect("JSON");
    assert_eq!(export["errors"]["exceptions"][0]["count"], 10, "{export}");
    assert_eq!(export["errors"]["answers"][0]["status"], 404, "{export}");
    assert_eq!(export["metrics"]["iterations_threw"]["count"], 10, "{export}");
    let result: Value = serde_json::from_str(&lab.read("kept/result.json")).expect("JSON");
    let first = |list: &str| (result["errors"][list][0].clone(), export["errors"][list][0].clone());
    for ((saved, exported), name) in [(first("exceptions"), "what"), (first("answers"), "status")] {
        assert_eq!((&saved[name], &saved["count"]), (&exported[name], &exported["count"]));
        assert_eq!(saved["first_s"], 0.0, "a result knows when: {saved}");
    }
    let row = &result["requests"]["rows"][0];
    assert_eq!((&row["status"], &row["failed"], &row["durations"]["count"]), (&404.into(), &true.into(), &10.into()));
    lab.onrush(&["report", "kept"]).code(0);
    let report = lab.read("kept/report.html");
    assert!(report.contains("10 of 10 iterations threw; answers from 400 on: 404 × 10"), "{report}");
}

#[test]
fn handle_summary_is_told_too_and_k6s_keys_stay() {
    let handler = "export function handleSummary(data) { return { 'data.json': JSON.stringify(data) }; }";
    let lab = Lab::with(&format!("{FAILING}\n{handler}"));
    lab.run(&["--serve"]).code(0);
    let data: Value = serde_json::from_str(&lab.read("data.json")).expect("JSON");
    let told = &data["errors"]["answers"][0];
    assert_eq!((&told["status"], &told["expected"], &told["count"]), (&404.into(), &false.into(), &10.into()));
    assert!(told["example"].as_str().is_some_and(|example| example.ends_with("/status/404")), "{told}");
    assert_eq!(data["metrics"]["iterations_threw"]["values"]["count"], 10);
    lab.file("script.js", &format!("{FINE}\n{handler}").replace("http.get(`${__ENV.TARGET}/status/404`);", ""));
    lab.run(&["--serve"]).code(0);
    let data: Value = serde_json::from_str(&lab.read("data.json")).expect("JSON");
    let keys: Vec<&String> = data.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["root_group", "options", "state", "metrics"]);
}

#[test]
fn a_run_without_errors_has_k6s_summary() {
    let lab = Lab::with(FINE);
    let run = lab.run(&["--serve", "--fail-on", "errors>0", "--save", "kept"]).code(0);
    assert!(!run.stdout.contains("ERRORS") && !run.stdout.contains("threw"), "{}", run.stdout);
    let result: Value = serde_json::from_str(&lab.read("kept/result.json")).expect("JSON");
    let answer = &result["errors"]["answers"][0];
    let told = (&answer["status"], &answer["expected"], &answer["count"]);
    assert_eq!(told, (&404.into(), &true.into(), &10.into()), "what is expected is counted all the same");
}

#[test]
fn limits_on_the_command_line_end_with_99() {
    let lab = Lab::with(FAILING);
    let told = "--fail-on 'errors>1%': 10 of 10 iterations threw (100.00%), 10 of 10 requests failed (100.00%)";
    lab.run(&["--serve", "--fail-on", "errors>1%", "--save", "kept"]).code(99).says(told);
    let result: Value = serde_json::from_str(&lab.read("kept/result.json")).expect("JSON");
    assert_eq!(result["exit"], serde_json::json!({ "code": 99, "reason": told }));
    lab.run(&["--serve", "--fail-on", "exceptions>10"]).code(0);
    lab.run(&["--serve", "--fail-on", "exceptions>=10"]).code(99).says("10 of 10 iterations threw");
    // Exceptions alone count: no request was made.
    lab.file("script.js", "export default function () { throw new Error('early'); }");
    lab.run(&["--fail-on", "errors>50%"]).code(99).says("1 of 1 iterations threw").prints("× 1  Error: early (");
}

#[test]
fn thresholds_on_the_command_line_join_those_of_the_script() {
    let lab = Lab::with(
        "export const options = { thresholds: { iterations: ['count>5'] } };
         export default function () {}",
    );
    let given = ["--iterations", "2", "--threshold", "iterations: count<10", "--threshold", "iterations:rate>0"];
    let run = lab.run(&given).code(99);
    run.prints("✗ 'count>5' count=2").prints("✓ 'count<10' count=2").prints("✓ 'rate>0' rate=");
    lab.run(&["--threshold", "iterations: count<1", "--no-thresholds"]).code(255).says("contradict each other");
    lab.run(&["--threshold", "iteration: count<1"]).code(104).says("no metric named 'iteration'");
    let url = ["run", "-q", "-n", "2", "--threshold", "http_req_failed: rate<0.5", "http://127.0.0.1:1/"];
    lab.onrush(&url).code(99).prints("✗ 'rate<0.5' rate=100.00%").prints("http_req_duration....: none\n");
}
