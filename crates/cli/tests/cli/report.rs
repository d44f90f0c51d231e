//! `onrush report`: from a saved result to one HTML file. What is in it is tested in `report`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::lab::Lab;

const SCRIPT: &str = "import http from 'k6/http'; import { check } from 'k6';
    export const options = { iterations: 5 };
    export default function () { check(http.get(__ENV.TARGET), { ok: (r) => r.status === 200 }); }";

#[test]
fn a_saved_result_becomes_a_page() {
    let lab = Lab::with(SCRIPT);
    let summary = lab.run(&["--serve", "--save", "r"]).code(0).stdout;
    let said = lab.onrush(&["report", "r"]).code(0);
    assert_eq!(said.stdout, "wrote r/report.html\n");
    let page = lab.read("r/report.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("<h1>script.js</h1>"), "{page}");
    // The very text of the summary: every statistic of the line is in the table.
    let line =
        summary.lines().find(|line| line.trim_start().starts_with("http_req_duration.")).expect("in the summary");
    for stat in line.split_whitespace().filter_map(|part| part.split_once('=')) {
        assert!(page.contains(&format!(">{}<", stat.1)), "{stat:?} of {line}");
    }
    lab.onrush(&["report", "r/result.json", "-o", "other.html"]).code(0).prints("wrote other.html");
    assert_eq!(lab.read("other.html"), page);
    assert_eq!(lab.onrush(&["report", "r", "-o", "-"]).code(0).stdout, page);
}

#[test]
fn what_cannot_be_read_or_written_is_said() {
    let lab = Lab::with(SCRIPT);
    lab.onrush(&["report", "nowhere"])
        .code(255)
        .says("no result at nowhere: expected a directory written by 'onrush run --save', or its result.json");
    lab.file("result.json", "{\"kind\":\"onrush-result\",\"schema\":7}");
    lab.onrush(&["report", "."]).code(255).says("./result.json: found schema 7, this version reads schemas 1 and 2");
    lab.file("result.json", "{\"kind\":");
    lab.onrush(&["report", "result.json"]).code(255).says("result.json:1:8: not a result document: EOF");
    lab.run(&["--serve", "--save", "."]).code(0);
    lab.onrush(&["report", ".", "-o", "no/such/place.html"])
        .code(111)
        .says("cannot write the report to no/such/place.html: ");
}

#[test]
fn an_earlier_run_is_shown_beside() {
    let lab = Lab::with(SCRIPT);
    lab.run(&["--serve", "--save", "old"]).code(0);
    lab.file("script.js", &SCRIPT.replace("__ENV.TARGET)", "`${__ENV.TARGET}/status/503`)"));
    lab.run(&["--serve", "--save", "new"]).code(0);
    lab.onrush(&["report", "new", "--against", "old"]).code(0).prints("wrote new/report.html");
    let page = lab.read("new/report.html");
    assert!(page.contains(">What changed</h2>") && page.contains("<td class=\"n\">0 → 5</td>"), "{page}");
    assert!(page.contains("status 503") && page.contains("for example GET http://"), "{page}");
    lab.onrush(&["report", "new", "--against", "nowhere"]).code(255).says("--against: no result at nowhere: expected");
}

/// The target's CPU in a saved result.
fn target_of(lab: &Lab, folder: &str) -> Value {
    let result: Value = serde_json::from_str(&lab.read(&format!("{folder}/result.json"))).expect("JSON");
    result["generator_seconds"]["target"].clone()
}

#[test]
fn the_targets_cpu_stands_beside_the_generators() {
    let lab = Lab::with(&SCRIPT.replace("iterations: 5", "duration: '2s'"));
    lab.run(&["--serve", "--save", "own"]).code(0);
    let target = target_of(&lab, "own");
    assert_eq!(target["name"], "the target of --serve", "{target}");
    let used = target["cores"].as_array().expect("a column").iter().filter_map(Value::as_f64);
    assert!(used.sum::<f64>() > 0.0, "{target}");
    lab.onrush(&["report", "own"]).code(0);
    let page = lab.read("own/report.html");
    for text in ["<h3>CPU of generator and target</h3>", "the target of --serve, of a core", "of --serve used 0."] {
        assert!(page.contains(text), "{text}: {page}");
    }

    let mut serve = lab.command(&["serve", "--listen", "tcp://127.0.0.1:0"]);
    let mut serve = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(serve.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let port = line.rsplit(':').next().expect("a port").trim().trim_end_matches('/').to_owned();
    let address = format!("TARGET=http://127.0.0.1:{port}/");
    lab.run(&["-e", &address, "--save", "other"]).code(0);
    serve.kill().expect("it ends");
    serve.wait().expect("it ended");
    let target = target_of(&lab, "other");
    assert_eq!(target["name"], format!("onrush at port {port}"), "{target}");

    lab.file("script.js", "export default function () {}");
    lab.run(&["--save", "none", "-d", "1s"]).code(0);
    assert_eq!(target_of(&lab, "none"), Value::Null);
    lab.onrush(&["report", "none"]).code(0);
    assert!(!lab.read("none/report.html").contains("CPU of generator and target"));
}
