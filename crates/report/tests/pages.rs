//! Whole reports of a run and whole tables of a matrix against stored ones: every figure, tick and point of a line.
//!
//! Run with `ONRUSH_BLESS=1` to store what is made now, and read the difference before committing it.

#![allow(clippy::disallowed_methods, reason = "told by the environment to write the expected files anew")]

use std::path::{Path, PathBuf};

use metrics::Trend;
use metrics::results::TrendValue;
use onrush_report::document::{Document, Histogram, Metric};
use onrush_report::html::run::page;
use onrush_report::matrix::document::{self, MatrixDocument, Outcome};
use onrush_report::matrix::table::{self, Pivot, TableOptions};
use serde_json::{Value, json};

fn compare(name: &str, found: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("ONRUSH_BLESS").is_some() {
        std::fs::write(&path, found).expect("the golden can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{name} differs from what is stored; ONRUSH_BLESS=1 stores the new text:\n{found}");
}

/// What a page shows, an element a line.
fn body(html: &str) -> String {
    let body = html.split_once("<body>").map_or(html, |(_, body)| body);
    let shown = body.split("<script>").next().unwrap_or(body);
    shown.replace("><", ">\n<") + "\n"
}

fn metric(name: &str, filter: Option<&str>, contains: &str, value: Value) -> Value {
    let (Value::Object(mut metric), Value::Object(value)) =
        (json!({ "name": name, "filter": filter, "contains": contains }), value)
    else {
        unreachable!("both are objects")
    };
    metric.extend(value);
    Value::Object(metric)
}

fn counter(count: f64) -> Value {
    json!({ "kind": "counter", "value": { "count": count, "rate": count / 5.0 } })
}

fn rate(passes: u64, total: u64) -> Value {
    json!({ "kind": "rate", "value": { "passes": passes, "total": total } })
}

/// `samples` values, each higher than the one before by this share.
fn trend(samples: i32, first: f64, growth: f64) -> Value {
    let mut trend = Trend::default();
    (0..samples).for_each(|n| trend.add(first * growth.powi(n)));
    json!({ "kind": "trend", "value": Histogram::from(&TrendValue::from(trend)) })
}

/// Five seconds and a setup of half a second; the third is slow, in the fourth nothing ended.
fn seconds() -> Value {
    let distribution = |first: f64| {
        let column = |factor: f64| json!([first, first * factor, first * 1.5, first * 9.0 * factor, null, first * 1.1]);
        json!({ "count": [1, 10, 12, 4, null, 9], "avg": column(1.0), "min": column(0.5), "max": column(2.5),
                "p50": column(0.9), "p90": column(1.5), "p95": column(1.7), "p99": column(2.2) })
    };
    let series = |name: &str, kind: &str, points: Value| json!({ "name": name, "kind": kind, "points": points });
    let counts = json!({ "sum": [1.0, 10.0, 12.0, 4.0, null, 9.0] });
    let bytes = json!({ "sum": [100.0, 1000.0, 1200.0, 40000.0, null, 900.0] });
    let failed = json!({ "passes": [0, 0, 1, 3, null, 0], "total": [1, 10, 12, 4, null, 9] });
    json!({
        "starts_s": [0.0, 0.5, 1.5, 2.5, 3.5, 4.5], "lengths_s": [0.5, 1.0, 1.0, 1.0, 1.0, 0.9],
        "scenarios_start_s": 0.5, "scenarios_end_s": 5.4,
        "series": [
            series("checks", "rate", json!({ "passes": [1, 9, 12, 3, null, 9], "total": [1, 10, 12, 4, null, 9] })),
            series("data_received", "counter", bytes.clone()),
            series("data_sent", "counter", bytes),
            series("http_req_blocked", "trend", distribution(0.2)),
            series("http_req_duration", "trend", distribution(20.0)),
            series("http_req_failed", "rate", failed),
            series("http_req_waiting", "trend", distribution(19.0)),
            series("http_reqs", "counter", counts.clone()),
            series("iteration_duration", "trend", distribution(25.0)),
            series("iterations", "counter", counts.clone()),
            series("message_delay", "trend", distribution(3.0)),
            series("message_sends", "counter", counts.clone()),
            series("vus", "gauge", json!({ "last": [null, 1.0, 2.0, 2.0, 2.0, 1.0] })),
            series("ws_connecting", "trend", distribution(5.0)),
            series("ws_sessions", "counter", counts),
        ],
    })
}

fn metrics() -> Vec<Value> {
    let failed = json!([{ "source": "rate<0.01", "ok": false, "left": 0.1111 }]);
    let fast =
        json!([{ "source": "p(95)<500", "ok": true, "left": 91.5 }, { "source": "avg<30", "ok": false, "left": 41.0 }]);
    let with = |mut metric: Value, thresholds: &Value| {
        metric["thresholds"] = thresholds.clone();
        metric
    };
    vec![
        metric("checks", None, "default", rate(34, 36)),
        metric("data_received", None, "data", counter(43_200.0)),
        metric("data_sent", None, "data", counter(43_200.0)),
        metric("http_req_blocked", None, "time", trend(36, 0.01, 1.2)),
        with(metric("http_req_duration", None, "time", trend(200, 4.0, 1.03)), &fast),
        metric("http_req_duration", Some("expected_response:true"), "time", trend(32, 18.0, 1.01)),
        with(metric("http_req_failed", None, "default", rate(4, 36)), &failed),
        metric("http_req_waiting", None, "time", trend(36, 9.0, 1.1)),
        metric("http_reqs", None, "default", counter(36.0)),
        metric("iteration_duration", None, "time", trend(36, 9.0, 1.1)),
        metric("iterations", None, "default", counter(36.0)),
        metric("message_delay", None, "time", trend(80, 1.0, 1.05)),
        metric("message_delay", Some("event:edit"), "time", trend(60, 1.0, 1.05)),
        metric("message_delay", Some("event:join"), "time", trend(20, 1.0, 1.2)),
        metric("message_hop", Some("event:edit,hop:up"), "time", trend(60, 0.2, 1.01)),
        metric("message_hop", Some("event:edit,hop:down"), "time", trend(60, 0.4, 1.02)),
        metric("message_sends", None, "default", counter(36.0)),
        metric("message_sends", Some("event:edit"), "default", counter(30.0)),
        metric("price", None, "default", trend(10, -3.0, 1.5)),
        metric("vus", None, "default", json!({ "kind": "gauge", "value": { "value": 1.0, "min": 1.0, "max": 2.0 } })),
        metric("ws_connecting", None, "time", trend(36, 4.0, 1.02)),
        metric("ws_sessions", None, "default", counter(36.0)),
    ]
}

fn run() -> Document {
    let check =
        |name: &str, path: &str, fails: u64| json!({ "name": name, "path": path, "passes": 17, "fails": fails });
    let worker = json!({ "cpu_share": 0.34, "waited_share": 0.02, "lag_avg_ms": 0.1, "lag_p50_ms": 0.1,
                         "lag_p99_ms": 0.4, "lag_max_ms": 2.0 });
    let inner =
        json!({ "name": "cart", "path": "::cart", "checks": [check("is full", "::cart::is full", 2)], "groups": [] });
    let document = json!({
        "kind": "onrush-result", "schema": 1, "onrush": "0.1.0", "started_at": "2026-11-21T18:00:00.123Z",
        "duration_s": 5.4, "script": "shop.js", "labels": { "variant": "new" },
        "options": { "vus": 2, "summaryTrendStats": ["avg", "p(90)"], "scenarios": {
            "buy": { "executor": "constant-vus", "vus": 2, "env": {}, "duration": "5s", "exec": "default" } } },
        "environment": { "os": "Linux", "kernel": "6.1", "cpu_model": "cpu", "cores": 2, "allowed_cores": [0, 1],
            "memory_bytes": 8_000_000_000_u64, "load_average_1m_start": 0.5, "load_average_1m_end": 1.5,
            "steal_share": 0.03, "throttled": 2, "machine_id": "0123456789abcdef" },
        "generator": { "process_cores": 0.68, "workers": [worker.clone(), worker], "dropped_iterations": 3,
            "saturated": false, "complaint": null, "notes": ["a note"] },
        "exit": { "code": 99, "reason": "thresholds failed" },
        "errors": { "exceptions": [{ "what": "Error: no", "count": 1 }],
            "answers": [{ "status": 503, "expected": false, "count": 3 },
                        { "status": 404, "expected": true, "count": 2 }],
            "unanswered": [{ "what": "dial: connection refused", "count": 1 }] },
        "metrics": metrics(), "checks": [check("is ok", "::is ok", 0), check("is full", "::cart::is full", 2)],
        "groups": { "name": "", "path": "", "checks": [check("is ok", "::is ok", 0)], "groups": [inner] },
        "seconds": seconds(), "messages": { "files": ["messages-0.ndjson.gz"], "written": 41, "dropped": 1 },
    });
    serde_json::from_value(document).expect("a result")
}

#[test]
fn a_report_shows_every_figure_of_its_run() {
    let run = run();
    assert_eq!(run.metric("price").and_then(Metric::histogram).map(|histogram| histogram.count), Some(10));
    compare("run.report.html", &body(&page(&run)));
}

/// Twelve runs: two failed, and of all but one it is known what their servers counted.
fn matrix() -> MatrixDocument {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schema_1/matrix.json");
    let mut matrix = document::read(&path).expect("the fixture");
    for (at, run) in matrix.runs.iter_mut().enumerate() {
        let counted = json!({ "before": { "accepts": 1, "polls": 5 }, "after": { "accepts": 9 + at, "polls": 5 } });
        run.server_stats = serde_json::from_value(counted).ok();
        if at == 7 {
            run.server_stats = serde_json::from_value(json!({ "problem": "connection refused" })).ok();
        }
        if [4, 5].contains(&at) {
            (run.outcome, run.reason) = (Outcome::Failed, Some(String::from("its load exited with 3")));
        }
    }
    matrix
}

#[test]
fn tables_show_every_figure_of_their_matrix() {
    let matrix = matrix();
    let tables = table::tables(&matrix, &TableOptions::default()).expect("tables");
    compare("matrix.txt", &table::text(&tables));
    compare("matrix.md", &table::markdown(&tables));
    compare("matrix.csv", &table::csv(&tables));
    compare("matrix.html", &body(&table::html(&matrix, &tables)));
    let lines = table::lines(&matrix);
    compare("matrix.lines.txt", &table::text_lines(&lines));
    compare("matrix.lines.csv", &table::csv_lines(&lines));
}

#[test]
fn grids_show_the_same_figures() {
    let pivot = Some(Pivot { rows: vec![String::from("variant")], columns: vec![String::from("connections")] });
    let tables = table::tables(&matrix(), &TableOptions { pivot, ..TableOptions::default() }).expect("tables");
    compare("matrix.pivot.txt", &table::text(&tables));
    compare("matrix.pivot.csv", &table::csv(&tables));
}
