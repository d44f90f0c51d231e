//! `onrush convert`: what is converted sends the requests that the file says, run by the real binary against a server
//! that keeps them; and what is said when a file is bad.

mod bad;
mod features;
mod kinds;
mod newman;
mod offline;
mod public;
mod shapes;

use serde_json::json;

use self::shapes::{SHAPES, Shape};
use crate::capture::{Capture, arrived, cases, with_address, write_files};
use crate::lab::{Lab, Run};

const TABLE: &str = include_str!("../../curl/requests.txt");
/// What newman sends, recorded by `cargo xtask convert newman`.
const OF_NEWMAN: &str = include_str!("../../convert/newman.txt");

/// Converts the text, runs the script once, returns the script and what arrived.
fn sent(name: &str, text: &str, server: &Capture) -> (String, Vec<String>) {
    let lab = Lab::new();
    write_files(lab.path()).expect("files in the lab");
    lab.file(name, text);
    let run = lab.onrush(&["convert", name, "-O", "script.js", "--no-timing"]).code(0);
    let script = lab.read("script.js");
    let ran = lab.onrush(&["run", "-q", "script.js"]);
    assert!(ran.code == 0 && !ran.stderr.contains("rror"), "{run:?}\n{script}\n{}{}", ran.stdout, ran.stderr);
    (script, arrived(server))
}

/// k6's FormData says of text parts that they are text.
fn comparable(request: &str) -> String {
    request.replace("| Content-Type: text/plain\\r\\n\n", "").trim_end().to_owned()
}

fn compare(script: &str, sent: &[String], expected: &[String]) {
    let pairs = sent.iter().map(|text| comparable(text)).zip(expected.iter().map(|text| comparable(text)));
    let wrong = pairs.filter(|(sent, expected)| sent != expected);
    let wrong: String = wrong.map(|(sent, expected)| format!("expected\n{expected}\nsent\n{sent}\n\n")).collect();
    assert!(wrong.is_empty(), "{wrong}{script}");
    assert_eq!(sent.len(), expected.len(), "{script}");
}

/// Every shape by one format, in one file.
fn round_trip(name: &str, keeps: impl Fn(&Shape) -> bool, write: impl Fn(&[&Shape], &str) -> String) -> String {
    let server = Capture::start().expect("a server");
    let shapes: Vec<&Shape> = SHAPES.iter().filter(|shape| keeps(shape)).collect();
    let (script, sent) = sent(name, &write(&shapes, &server.address), &server);
    compare(&script, &sent, &shapes.iter().map(|shape| shape.shown()).collect::<Vec<_>>());
    script
}

fn convert(lab: &Lab, name: &str, text: &str) -> Run {
    lab.file(name, text);
    lab.onrush(&["convert", name])
}

#[test]
fn commands_of_curl_send_what_curl_sends() {
    let server = Capture::start().expect("a server");
    let cases = cases(TABLE);
    let text: String = cases.iter().map(|(command, _)| with_address(command, &server.address) + "\n").collect();
    let (script, sent) = sent("requests.sh", &text, &server);
    let expected: Vec<String> = cases.iter().map(|(_, sent)| (*sent).to_owned()).collect();
    compare(&script, &sent, &expected);
}

#[test]
fn collections_send_what_newman_sends() {
    let server = Capture::start().expect("a server");
    let (script, sent) = sent("newman.json", &newman::collection(OF_NEWMAN, &server.address), &server);
    let sent: Vec<String> = sent.iter().map(|request| newman::comparable(request)).collect();
    let expected: Vec<String> = cases(OF_NEWMAN).iter().map(|(_, sent)| (*sent).to_owned()).collect();
    compare(&script, &sent, &expected);
}

#[test]
fn shapes_of_curl() {
    let write = |shapes: &[&Shape], address: &str| shapes.iter().map(|shape| shape.curl(address)).collect();
    let script = round_trip("shapes.sh", |_| true, write);
    assert!(script.contains("JSON.stringify({ a: 1, b: [true, null, 'é'], c: { d: -1.5 } })"), "{script}");
}

#[test]
fn shapes_of_har() {
    let write = |shapes: &[&Shape], address: &str| {
        let entries: Vec<_> = shapes.iter().map(|shape| shape.har(address)).collect();
        json!({ "log": { "version": "1.2", "entries": entries } }).to_string()
    };
    let script = round_trip("shapes.har", |_| true, write);
    assert!(script.contains("const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:"), "{script}");
}

#[test]
fn shapes_of_vegeta() {
    let write =
        |shapes: &[&Shape], address: &str| shapes.iter().map(|shape| format!("{}\n", shape.vegeta(address))).collect();
    round_trip("targets.json", |_| true, write);
    let write = |shapes: &[&Shape], address: &str| shapes.iter().map(|shape| shape.vegeta_lines(address)).collect();
    round_trip("targets.txt", |shape| shape.body.is_none(), write);
}

#[test]
fn shapes_of_postman() {
    let write = |shapes: &[&Shape], address: &str| {
        let items: Vec<_> = shapes.iter().map(|shape| shape.postman(address)).collect();
        json!({ "info": { "name": "shapes", "schema": "https://schema.getpostman.com/" }, "item": items }).to_string()
    };
    // Postman escapes it in a query.
    round_trip("shapes.postman.json", |shape| !shape.target.contains('\''), write);
}

#[test]
fn shapes_of_jmeter() {
    let write = |shapes: &[&Shape], address: &str| {
        let samplers: String = shapes.iter().map(|shape| shape.jmeter(address)).collect();
        format!("<?xml version=\"1.0\"?>\n<jmeterTestPlan><hashTree>\n{samplers}</hashTree></jmeterTestPlan>")
    };
    // In a plan `${x}` is a variable.
    let keeps = |shape: &Shape| {
        let headers = shape.headers.iter().map(|(_, value)| *value);
        !headers.chain(shape.body).any(|text| text.contains("${"))
    };
    round_trip("plan.jmx", keeps, write);
}
