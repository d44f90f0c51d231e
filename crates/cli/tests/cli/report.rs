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
    // Every statistic of the line is in the table. A result keeps percentiles to a few billionths, and times are
    // cut, not rounded: the last digit may be one off.
    let line =
        summary.lines().find(|line| line.trim_start().starts_with("http_req_duration.")).expect("in the summary");
    for stat in line.split_whitespace().filter_map(|part| part.split_once('=')) {
        let is_there = [-1, 0, 1].iter().any(|off| page.contains(&format!(">{}</td>", last_digit_moved(stat.1, *off))));
        assert!(is_there, "{stat:?} of {line}");
    }
    lab.onrush(&["report", "r/result.json", "-o", "other.html"]).code(0).prints("wrote other.html");
    assert_eq!(lab.read("other.html"), page);
    assert_eq!(lab.onrush(&["report", "r", "-o", "-"]).code(0).stdout, page);
}

/// `192.08µs` moved by -1 is `192.07µs`; trailing zeros are not shown.
fn last_digit_moved(text: &str, off: i64) -> String {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    if off == 0 {
        return text.to_owned();
    }
    let hundredths = (number.parse::<f64>().expect("a number") * 100.0).round() as i64 + off;
    let moved = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("{}{unit}", moved.trim_end_matches('0').trim_end_matches('.'))
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
