//! The result document: its schema is the committed one, it reads back as it was written, and what is not one is
//! refused.

#![allow(clippy::disallowed_methods, reason = "told by the environment to write the expected files anew")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use metrics::Trend;
use metrics::results::TrendValue;
use onrush_report::document::{
    Check, Contains, Document, Environment, Exit, Generator, GeneratorSeconds, Group, Histogram, KIND, Metric, Points,
    RequestBlocks, RequestRow, Requests, SCHEMA, Seconds, Series, TargetSeconds, Threshold, Value, WorkerFigures, read,
};
use onrush_report::errors::{Counted, ErrorStatus, Errors};

const SCHEMA_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/result-2.json");

fn document() -> Document {
    let mut trend = Trend::default();
    [0.1, 0.25, 3.31, 1e9, 0.0].iter().for_each(|value| trend.add(*value));
    let metric = |name: &str, value| Metric {
        name: name.to_owned(),
        filter: None,
        percentiles: Vec::new(),
        contains: Contains::Time,
        thresholds: vec![threshold()],
        value,
    };
    Document {
        kind: KIND.into(),
        schema: SCHEMA,
        onrush: "0.1.0".into(),
        started_at: "2026-11-21T18:00:00.000Z".into(),
        duration_s: 2.1,
        load_s: Some(2.0),
        script: "test.js".into(),
        labels: BTreeMap::from([("variant".into(), "old".into())]),
        options: serde_json::json!({ "vus": 2 }),
        environment: Environment { cores: 2, steal_share: Some(0.01), ..Environment::default() },
        generator: Generator { workers: vec![WorkerFigures::default()], ..Generator::default() },
        exit: Exit::default(),
        errors: Errors {
            answers: vec![ErrorStatus { status: 404, expected: true, count: 2, ..Default::default() }],
            unanswered: vec![Counted { what: "dial: connection refused".into(), count: 1, ..Default::default() }],
            ..Errors::default()
        },
        requests: requests(),
        metrics: vec![
            metric("http_req_duration", Value::Trend(Histogram::from(&TrendValue::from(trend)))),
            metric("http_reqs", Value::Counter { count: 5.0, rate: 2.5 }),
            metric("vus", Value::Gauge { value: 2.0, min: 1.0, max: 2.0 }),
            metric("checks", Value::Rate { passes: 4, total: 5 }),
        ],
        checks: vec![Check { name: "is ok".into(), path: "::is ok".into(), passes: 4, fails: 1 }],
        groups: Group::default(),
        scenarios: Vec::new(),
        seconds: Seconds {
            starts_s: vec![0.0, 1.0],
            lengths_s: vec![1.0, 1.1],
            scenarios_start_s: 0.0,
            scenarios_end_s: 2.1,
            series: vec![Series {
                name: "http_reqs".into(),
                filter: None,
                points: Points::Counter { sum: vec![Some(5.0), None] },
            }],
        },
        load_changes: Vec::new(),
        generator_seconds: Some(generator_seconds()),
        steadiness: None,
        messages: None,
    }
}

fn threshold() -> Threshold {
    Threshold {
        source: "p(95)<500".into(),
        ok: true,
        left: 3.31,
        percentile: None,
        inside: false,
        without_samples: false,
    }
}

fn generator_seconds() -> GeneratorSeconds {
    GeneratorSeconds {
        cores: vec![Some(0.5), None],
        busiest_share: vec![Some(0.25), None],
        lag_p99_ms: vec![Some(0.1), None],
        planned_per_second: vec![Some(50.0), Some(5.0)],
        target: Some(TargetSeconds {
            name: "nginx at port 8080".into(),
            cores: vec![Some(1.25), None],
            busiest_thread: vec![Some(0.5), None],
            waited: vec![Some(0.25), None],
        }),
    }
}

/// One kind, of which two requests came in the first block.
fn requests() -> Requests {
    let durations: Trend = {
        let mut trend = Trend::default();
        [1.0, 2.0].iter().for_each(|value| trend.add(*value));
        trend
    };
    let row = RequestRow {
        name: "http://shop.test/".into(),
        method: "GET".into(),
        status: Some(404),
        first_s: Some(0.0),
        last_s: Some(1.0),
        durations: Histogram::from(&TrendValue::from(durations)),
        ..RequestRow::default()
    };
    let (starts_s, lengths_s) = (vec![0.0, 1.0], vec![1.0, 1.1]);
    let blocks = RequestBlocks { starts_s, lengths_s, rows: vec!["ACgBC;;".into()] };
    Requests { rows: vec![row], is_cut: false, blocks, traces: Vec::new() }
}

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("onrush-document-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_schema_is_the_committed_one() {
    let found = serde_json::to_string_pretty(&schemars::schema_for!(Document).to_value()).expect("JSON") + "\n";
    if std::env::var_os("ONRUSH_BLESS").is_some() {
        std::fs::create_dir_all(Path::new(SCHEMA_FILE).parent().expect("a folder")).expect("made");
        std::fs::write(SCHEMA_FILE, &found).expect("written");
    }
    let expected = std::fs::read_to_string(SCHEMA_FILE).expect("docs/schema/result-2.json");
    assert!(found == expected, "the types differ from docs/schema/result-2.json; ONRUSH_BLESS=1 stores the new schema");
}

#[test]
fn it_reads_back_as_it_was_written() {
    let folder = Folder::new("round");
    let written = document();
    written.write(&folder.0).expect("a writable folder");
    assert_eq!(read(&folder.0).expect("a result"), written);
    assert_eq!(read(folder.0.join("result.json")).expect("the file itself"), written);
    let text = std::fs::read_to_string(folder.0.join("result.json")).expect("written");
    assert!(text.starts_with(r#"{"kind":"onrush-result","schema":2,"#), "{}", &text[..60]);
    assert_eq!(std::fs::read_dir(&folder.0).expect("listed").count(), 1, "nothing temporary stays");
}

#[test]
fn a_failed_write_leaves_the_old_result() {
    let folder = Folder::new("keep");
    // The rename cannot replace a directory: the last step of writing fails.
    std::fs::create_dir(folder.0.join("result.json")).expect("made");
    document().write(&folder.0).expect_err("cannot be written");
    assert_eq!(std::fs::read_dir(&folder.0).expect("listed").count(), 1, "nothing temporary stays");
}

#[test]
fn what_is_no_result_is_refused_with_the_reason() {
    let folder = Folder::new("bad");
    let good = serde_json::to_value(document()).expect("JSON");
    let changed = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = good.clone();
        change(&mut value);
        value.to_string()
    };
    let cases: [(String, &str); 7] = [
        ("{".into(), ":1:1: not a result document: EOF"),
        ("{}".into(), "found no kind, expected a result document of kind 'onrush-result'"),
        (r#"{"kind":"onrush-matrix"}"#.into(), "found kind 'onrush-matrix', expected"),
        (
            changed(&|v| v["schema"] = 3.into()),
            "found schema 3, this version reads schemas 1 and 2; read it with the version",
        ),
        (changed(&|v| v["duration_s"] = "x".into()), "invalid type: string \"x\", expected f64"),
        (changed(&|v| v["metrics"][0]["value"]["count"] = 7.into()), "the buckets of http_req_duration do not agree"),
        (changed(&|v| v["seconds"]["lengths_s"] = serde_json::json!([1.0])), "seconds has 2 starts_s and 1 lengths_s"),
    ];
    for (text, expected) in cases {
        std::fs::write(folder.0.join("result.json"), &text).expect("written");
        let message = read(&folder.0).expect_err("refused").to_string();
        assert!(message.contains(expected), "expected {expected:?} in {message:?}");
    }
    let message = read(folder.0.join("nowhere")).expect_err("refused").to_string();
    assert!(message.contains("expected a directory written by 'onrush run --save'"), "{message}");
}

#[test]
fn a_result_of_schema_1_becomes_one_of_schema_2() {
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schema_1/result.json");
    assert!(std::fs::read_to_string(&old).expect("the fixture").contains(r#""schema":1,"#));
    let result = read(&old).expect("schema 1 is read");
    let delay = result.metric("edit_delay").and_then(Metric::histogram).expect("a Trend");
    let trend = delay.trend();
    assert_eq!(
        (result.schema, delay.count, trend.min(), trend.max()),
        (SCHEMA, 1568, 10.003528237846592, 49.9893490783561)
    );
    assert!((trend.sum() - delay.sum).abs() <= delay.sum * 1e-9, "{} != {}", trend.sum(), delay.sum);
    let sizes = result.metric("edit_size").and_then(Metric::histogram).expect("a Trend").trend();
    assert_eq!(sizes.percentile(50.0), 7.0, "whole numbers stay exact");
    let folder = Folder::new("old");
    result.write(&folder.0).expect("a writable folder");
    let text = std::fs::read_to_string(folder.0.join("result.json")).expect("written");
    assert!(text.contains(r#""schema":2,"#) && !text.contains("buckets"), "{text}");
    assert_eq!(read(&folder.0).expect("schema 2 is read"), result);
}
