//! What a printed rate counts, and what it divides by: the load alone. `setup()` and `teardown()` take their time, and
//! what they count is in the totals.

use report::document::{Document, Value, read};

use crate::lab::Lab;

const SCRIPT: &str = "import http from 'k6/http'; import { sleep } from 'k6'; import { Counter } from 'k6/metrics';
    const mine = new Counter('mine');
    export const options = {
      thresholds: { mine: ['rate>0'] },
      scenarios: { load: {
        executor: 'constant-arrival-rate', rate: 20, duration: '2s', preAllocatedVUs: 4, startTime: '500ms' } } };
    export function setup() { sleep(1); mine.add(100); }
    export function teardown() { sleep(0.5); mine.add(100); }
    export default function () { http.get(__ENV.TARGET); mine.add(1); }";

fn counter(result: &Document, name: &str) -> (f64, f64) {
    match result.metric(name).map(|metric| &metric.value) {
        Some(Value::Counter { count, rate }) => (*count, *rate),
        other => panic!("{name} is no counter: {other:?}"),
    }
}

#[test]
fn rates_are_those_of_the_load_alone() {
    let lab = Lab::with(SCRIPT);
    let run = lab.run(&["--serve", "--save", "r", "--summary-export", "summary.json"]).code(0);
    let result = read(lab.path().join("r")).unwrap_or_else(|error| panic!("{error}"));
    let load = result.load_s.expect("the time of the load");
    // The scenario's two seconds; not the second of setup, and not the half before the scenario starts.
    assert!(load >= 2.0 && load < result.duration_s - 1.4, "{load} of {}", result.duration_s);
    let (iterations, rate) = counter(&result, "iterations");
    assert!((rate - iterations / load).abs() < 1e-9, "{rate}");
    let (mine, rate) = counter(&result, "mine");
    assert_eq!(mine, iterations + 200.0, "the total has what setup and teardown added");
    assert!((rate - iterations / load).abs() < 1e-9, "and the rate has not: {rate}");
    let threshold = &result.metric("mine").expect("it").thresholds[0];
    assert_eq!(threshold.left, rate, "a threshold judges what is printed");
    let line = run.stdout.lines().find(|line| line.trim_start().starts_with("mine..")).expect("its line");
    assert!(line.ends_with(&format!("{}/s", shown(rate))), "{line}");
    let export: serde_json::Value = serde_json::from_str(&lab.read("summary.json")).expect("JSON");
    assert_eq!(export["metrics"]["mine"]["rate"].as_f64(), Some(rate));
}

/// As the summary prints a number.
fn shown(rate: f64) -> String {
    let text = format!("{rate:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
