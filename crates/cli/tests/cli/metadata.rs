//! Metadata, `exec.vu.metrics.metadata` and the system tags `vu` and `iter`: in the lines of outputs, sample by sample,
//! and nowhere else.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::lab::Lab;

const SCRIPT: &str = r#"
import http from 'k6/http'
import exec from 'k6/execution'
import { Counter } from 'k6/metrics'
import { check, sleep } from 'k6'
const mine = new Counter('mine')
export const options = {
  systemTags: ['scenario', 'iter', 'vu'],
  scenarios: {
    a: { executor: 'per-vu-iterations', vus: 3, iterations: 3 },
    b: { executor: 'per-vu-iterations', vus: 1, iterations: 1, startTime: '1s', exec: 'other' },
  },
  thresholds: { mine: ['count==9'] },
}
export function setup() { exec.vu.metrics.metadata.s = 's'; mine.add(0) }
export default function () {
  mine.add(1)
  sleep(Math.random() / 50)
  if (exec.vu.iterationInInstance === 1) exec.vu.metrics.metadata.trace = `t&"${exec.vu.idInInstance}"`
  http.get(`${__ENV.TARGET}/`)
  check(1, { one: (x) => x === 1 })
  sleep(Math.random() / 50)
}
export function other() {}
"#;

/// Each iteration's samples: how many of a metric carry which metadata.
fn counted(text: &str) -> BTreeMap<(String, String), u32> {
    let mut counted = BTreeMap::new();
    for line in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}"))) {
        if line["type"] == "Point" {
            let metadata = line["data"].get("metadata").map_or_else(String::new, Value::to_string);
            *counted.entry((line["metric"].as_str().expect("a name").to_owned(), metadata)).or_default() += 1;
        }
    }
    counted
}

#[test]
fn each_sample_carries_the_metadata_of_its_user_and_iteration() {
    let lab = Lab::with(SCRIPT);
    lab.run(&["--serve", "--out", "json=out.json", "--out", "csv=fileName=out.csv"]).code(0);
    let text = lab.read("out.json");
    let counted = counted(&text);
    let all: Vec<(u64, u64)> = (1..=3).flat_map(|vu| (0..3).map(move |iteration| (vu, iteration))).collect();
    for (vu, iteration) in all {
        let (vu, iter) = (vu.to_string(), iteration.to_string());
        let traced = json!({ "iter": iter, "trace": format!("t&\"{vu}\""), "vu": vu }).to_string();
        let plain = json!({ "iter": iter, "vu": vu }).to_string();
        let count = |metric: &str, metadata: &String| counted.get(&(metric.to_owned(), metadata.clone()));
        // Set in the second iteration, after its first sample; kept in the third.
        let before = if iteration == 2 { &traced } else { &plain };
        let after = if iteration == 0 { &plain } else { &traced };
        assert_eq!(count("mine", before), Some(&1), "{counted:?}");
        for metric in ["http_reqs", "http_req_duration", "checks", "iterations", "iteration_duration", "data_sent"] {
            assert_eq!(count(metric, after), Some(&1), "{metric} {after}: {counted:?}");
        }
    }
    let of =
        |name: &'static str| counted.keys().filter(move |(metric, _)| metric == name).map(|(_, data)| data.as_str());
    assert!(of("vus").chain(of("vus_max")).all(str::is_empty), "{counted:?}");
    assert!(of("mine").any(|data| data == r#"{"iter":"0","s":"s"}"#), "setup: {counted:?}");
    // Another scenario begins anew.
    let other = of("iterations").find(|data| data.contains("\"iter\":\"0\"") && !data.contains("trace")).is_some();
    assert!(other && !text.contains("\"iter\":\"0\",\"trace\""), "{counted:?}");
    let csv = lab.read("out.csv");
    assert!(
        csv.lines()
            .next()
            .is_some_and(|header| header == "metric_name,timestamp,metric_value,scenario,extra_tags,metadata")
    );
    assert!(csv.contains(r#",a,,"iter=1&trace=t&""1""&vu=1""#), "{csv}");
    assert!(csv.lines().any(|line| line.starts_with("mine,") && line.ends_with(",a,,iter=0&vu=3")), "{csv}");
}

#[test]
fn without_metadata_lines_are_as_before() {
    let lab = Lab::with("export default function () {}");
    lab.run(&["--out", "json=out.json"]).code(0);
    assert!(!lab.read("out.json").contains("metadata"));
}
