//! The executors, several scenarios at once, segments: counts that must come out exactly.

use crate::lab::Lab;

/// Runs scenarios whose iterations take next to nothing and returns the data of handleSummary.
fn metrics(options: &str, arguments: &[&str]) -> serde_json::Value {
    let lab = Lab::with(&format!(
        "import {{ sleep }} from 'k6';
         export const options = {options};
         export default function () {{ sleep(0.01); }}
         export function slow() {{ sleep(0.4); }}
         export function busy() {{ const end = Date.now() + 12; while (Date.now() < end) {{}} }}
         export function handleSummary(data) {{ return {{ 'out.json': JSON.stringify(data.metrics) }}; }}"
    ));
    lab.run(arguments).code(0);
    serde_json::from_str(&lab.read("out.json")).expect("JSON")
}

fn count(metrics: &serde_json::Value, name: &str) -> u64 {
    metrics[name]["values"]["count"].as_f64().unwrap_or(0.0) as u64
}

#[test]
fn shared_iterations_are_all_run_once() {
    let m = metrics("{ scenarios: { a: { executor: 'shared-iterations', vus: 7, iterations: 103 } } }", &[]);
    assert_eq!(count(&m, "iterations"), 103);
}

#[test]
fn per_vu_iterations_are_run_by_each() {
    let m = metrics("{ scenarios: { a: { executor: 'per-vu-iterations', vus: 5, iterations: 4 } } }", &[]);
    assert_eq!(count(&m, "iterations"), 20);
}

const TWO: &str = "{ scenarios: {
    quick: { executor: 'per-vu-iterations', vus: 5, iterations: 4, tags: { kind: 'q' } },
    late: { executor: 'shared-iterations', vus: 3, iterations: 7, exec: 'slow', startTime: '10m' } } }";

#[test]
fn named_scenarios_run_alone() {
    assert_eq!(count(&metrics(TWO, &["--scenario", "quick"]), "iterations"), 20);
    let lab = Lab::with(&format!(
        "export const options = {TWO}; export default function () {{}} export function slow() {{}}"
    ));
    let text = "found no scenario 'quik', expected some of quick, late; did you mean 'quick'?";
    lab.run(&["--scenario", "late,quik"]).code(104).says(text);
    let text = "--scenario: found an empty name, expected names of scenarios, as in a,b";
    lab.run(&["--scenario", "late,"]).code(255).says(text);
}

#[test]
fn once_runs_an_iteration_of_each_scenario_at_once() {
    let m = metrics(TWO, &["--once"]);
    assert_eq!(count(&m, "iterations"), 2);
    assert!(m["iteration_duration"]["values"]["max"].as_f64().expect("a number") >= 400.0, "slow() ran: {m}");
    assert_eq!(count(&metrics(TWO, &["--once", "--scenario=quick"]), "iterations"), 1);
}

#[test]
fn a_planned_user_whose_init_code_throws_is_an_error_with_every_executor() {
    for scenario in [
        "executor: 'ramping-vus', startVUs: 0, stages: [{ duration: '1s', target: 3 }]",
        "executor: 'constant-vus', vus: 3, duration: '1s'",
        "executor: 'shared-iterations', vus: 3, iterations: 6",
        "executor: 'per-vu-iterations', vus: 3, iterations: 2",
        "executor: 'constant-arrival-rate', rate: 5, duration: '1s', preAllocatedVUs: 3",
        "executor: 'ramping-arrival-rate', startRate: 5, stages: [{ duration: '1s', target: 5 }], preAllocatedVUs: 3",
    ] {
        let lab = Lab::with(&format!(
            "if (__VU === 2) throw new Error('no account left');
             export const options = {{ scenarios: {{ a: {{ {scenario} }} }} }};
             export default function () {{}}"
        ));
        let run = lab.run(&[]).code(107).says("error: could not initialise VU 2: file://");
        assert!(run.stderr.contains("script.js:1:23: Error: no account left"), "{scenario}: {}", run.stderr);
    }
}

#[test]
fn left_over_iterations_are_counted_as_dropped() {
    let m = metrics(
        "{ scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 5, maxDuration: '1s', exec: 'slow' } \
         } }",
        &[],
    );
    assert_eq!(count(&m, "iterations") + count(&m, "dropped_iterations"), 10);
    assert!(count(&m, "dropped_iterations") > 0, "{m}");
}

#[test]
fn arrival_rates_start_what_they_promise() {
    let m = metrics(
        "{ scenarios: { a: { executor: 'constant-arrival-rate', rate: 50, duration: '2s', preAllocatedVUs: 10 } } }",
        &[],
    );
    // One more than rate times duration, as in k6: the first start is at 0 and the last at the very end.
    assert_eq!(count(&m, "iterations") + count(&m, "dropped_iterations"), 101);
    assert!(m["iteration_lag"]["values"]["max"].is_number(), "{m}");
    let m = metrics(
        "{ scenarios: { a: { executor: 'ramping-arrival-rate', startRate: 0, preAllocatedVUs: 10,
           stages: [{ duration: '2s', target: 60 }] } } }",
        &[],
    );
    let started = count(&m, "iterations") + count(&m, "dropped_iterations");
    assert!((59..=61).contains(&started), "{started} starts of a ramp whose area is 60");
}

#[test]
fn poisson_arrivals_are_the_same_on_any_number_of_workers() {
    let starts = |workers: &str| {
        let options = "{ scenarios: { a: { executor: 'constant-arrival-rate', rate: 100, duration: '1s', \
                       preAllocatedVUs: 40, arrivals: 'poisson', seed: 5 } } }";
        let m = metrics(options, &["--workers", workers]);
        count(&m, "iterations") + count(&m, "dropped_iterations")
    };
    let found = starts("1");
    assert!((60..=140).contains(&found), "{found}");
    assert_eq!((starts("2"), starts("4")), (found, found));
}

#[test]
fn a_trace_starts_as_recorded_and_goes_along_in_an_archive() {
    let lab = Lab::with(
        "import http from 'k6/http';
         export const options = { scenarios: { replay: {
           executor: 'trace', file: './times.csv', speed: 10, preAllocatedVUs: 5 } } };
         export default function () { http.get('http://127.0.0.1:1/'); }",
    );
    lab.file("times.csv", "2026-01-01T00:00:01Z,/b\n2026-01-01T00:00:00Z,/a\n2026-01-01T00:00:03Z,/c\n");
    let run = lab.onrush(&["run", "script.js"]).code(0);
    let text = format!("{}{}", run.stdout, run.stderr);
    assert!(
        text.contains("3 iterations over 300ms as in ./times.csv at 10 x (maxVUs: 5, gracefulStop: 30s)"),
        "{text}"
    );
    assert!(text.contains("http_req_duration_from_plan"), "{text}");
    lab.onrush(&["archive", "-q", "-O", "test.tar", "script.js"]).code(0);
    std::fs::remove_file(lab.path().join("times.csv")).expect("it is there");
    let run = lab.onrush(&["run", "test.tar"]).code(0);
    assert!(format!("{}{}", run.stdout, run.stderr).contains("3 iterations over 300ms"), "{}", run.stdout);
    let missing = lab.run(&[]).code(104);
    assert!(missing.stderr.contains("scenario 'replay': cannot read "), "{}", missing.stderr);
    assert!(missing.stderr.contains("times.csv: No such file or directory"), "{}", missing.stderr);
}

#[test]
fn a_late_start_is_part_of_the_duration_from_plan() {
    let m = metrics(
        "{ scenarios: { a: { executor: 'constant-arrival-rate', rate: 100, duration: '1s', preAllocatedVUs: 30, exec: \
         'busy' } } }",
        &["--workers", "1"],
    );
    let average = |name: &str| m[name]["values"]["avg"].as_f64().unwrap_or_else(|| panic!("{name} in {m}"));
    let (lag, duration, whole) =
        (average("iteration_lag"), average("iteration_duration"), average("iteration_duration_from_plan"));
    assert!(lag > 0.0);
    assert!((whole - lag - duration).abs() < 1e-6 * whole, "{whole} is not {lag} + {duration}");
}

#[test]
fn too_few_users_drop_iterations_and_say_so() {
    let lab = Lab::with(
        "import { sleep } from 'k6';
         export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 20, duration: '1s', \
         preAllocatedVUs: 1, maxVUs: 2 } } };
         export default function () { sleep(0.5); }",
    );
    lab.run(&[]).code(0).prints("dropped_iterations").says("Insufficient VUs, reached 2 active VUs");
}

#[test]
fn ramping_users_go_up_and_down() {
    let m = metrics(
        "{ scenarios: { a: { executor: 'ramping-vus', startVUs: 1, gracefulRampDown: '0s',
           stages: [{ duration: '500ms', target: 6 }, { duration: '1s', target: 6 }, { duration: '500ms', target: 0 \
           }] } } }",
        &[],
    );
    assert_eq!(m["vus_max"]["values"]["max"], 6);
    assert!(count(&m, "iterations") > 100, "{m}");
}

#[test]
fn segments_add_up_to_the_whole() {
    let part = |segment: &str| {
        let options = "{ scenarios: { a: { executor: 'shared-iterations', vus: 6, iterations: 31 } } }";
        count(
            &metrics(options, &["--execution-segment", segment, "--execution-segment-sequence", "0,1/3,2/3,1"]),
            "iterations",
        )
    };
    assert_eq!(part("0:1/3") + part("1/3:2/3") + part("2/3:1"), 31);
}

#[test]
fn what_does_not_fit_the_graceful_stop_is_interrupted() {
    let lab = Lab::with(
        "import { sleep } from 'k6';
         export const options = { scenarios: { a: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: \
         '0s' } } };
         export default function () { sleep(30); }",
    );
    let all = ["run", "script.js"];
    lab.onrush(&all).code(0).prints("0 complete and 2 interrupted iterations");
}

#[test]
fn requests_per_second_are_limited() {
    let lab = Lab::with(
        "import http from 'k6/http';
         export const options = { vus: 5, duration: '2s', rps: 20 };
         export default function () { http.get(`${__ENV.TARGET}/`); }
         export function handleSummary(data) { return { stdout: String(data.metrics.http_reqs.values.count) }; }",
    );
    let run = lab.run(&["--serve"]).code(0);
    let requests: u32 = run.stdout.trim().parse().expect("a count");
    assert!((20..=60).contains(&requests), "{requests} requests at 20/s in 2 s");
}
