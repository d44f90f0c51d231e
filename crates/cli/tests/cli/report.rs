//! `onrush report`: from a saved result to one HTML file. What is in it is tested in `report`.

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
