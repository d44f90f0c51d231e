//! Requests in distributed traces: the headers that a target gets, and the spans that a collector gets.
//!
//! The target takes a known time, which has to be in the span of its request; the ids of the span are those of the
//! header.

mod peer;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::lab::Lab;
use peer::{Peer, Span};

const OK: &str = "200 OK";
/// How long the target takes to answer.
const DELAY: Duration = Duration::from_millis(150);

/// A script whose default function does this, with TARGET for the target's URL.
fn script(target: &Peer, body: &str) -> Lab {
    let target = &target.url;
    Lab::with(&format!(
        "import http from 'k6/http'; const TARGET = '{target}'; export default function () {{ {body} }}"
    ))
}

fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as u64
}

fn names(span: &Span) -> Vec<&str> {
    span.events.iter().map(|event| event.name.as_str()).collect()
}

#[test]
fn the_span_of_a_request_joins_those_of_the_target() {
    let (target, collector) = (Peer::start(DELAY, OK), Peer::start(Duration::ZERO, OK));
    let lab = script(&target, "http.get(`${TARGET}/a?token=hidden`, { tags: { name: 'shop' } })");
    let began = now_ns();
    let output = format!("otel={},proto=http,header.X-Key=mine", collector.url);
    lab.run(&["--traces-output", &output, "--out", "json=out.json", "--save", "kept"]).code(0);

    let (spans, sent) = (collector.spans(), collector.got());
    assert!(sent[0].head.starts_with("post /v1/traces "), "{}", sent[0].head);
    assert_eq!(sent[0].header("content-type"), Some("application/x-protobuf"));
    assert_eq!(sent[0].header("x-key"), Some("mine"));
    let [span] = spans.as_slice() else { panic!("{spans:?}") };
    let traceparent = span.traceparent();
    assert_eq!(target.got()[0].header("traceparent"), Some(traceparent.as_str()));
    assert_eq!((span.name.as_str(), span.kind, &span.status), ("shop", 3, &None));
    assert!(began <= span.start_ns && span.end_ns <= now_ns(), "{span:?}");
    assert!(span.took_ms() >= 149.0, "{span:?}");
    for (key, value) in [
        ("http.request.method", "GET"),
        ("url.full", &format!("{}/a?token=****", target.url)),
        ("server.address", "127.0.0.1"),
        ("http.response.status_code", "200"),
        ("network.protocol.version", "1.1"),
        ("network.peer.address", "127.0.0.1"),
        ("error.type", ""),
        ("test.scenario", "default"),
        ("test.vu", "1"),
        ("test.iteration.number", "0"),
    ] {
        assert_eq!(span.attribute(key), value, "{key}");
    }
    let known = ["blocked", "looking_up", "connecting", "sending", "waiting", "receiving"];
    assert!(names(span).iter().all(|name| known.contains(name)), "{span:?}");
    let waiting = span.events.iter().find(|event| event.name == "waiting").expect("it waited");
    let took: f64 = waiting.attribute("duration_ms").parse().expect("a number");
    assert!(took >= 149.0 && took <= span.took_ms(), "{span:?}");
    let end = waiting.at_ns as f64 + took * 1e6;
    assert!(waiting.at_ns >= span.start_ns && end <= span.end_ns as f64 + 1e3, "{span:?}");

    // The trace is named in log, result and report.
    let id = traceparent.split('-').nth(1).expect("an id").to_owned();
    let result: Value = serde_json::from_str(&lab.read("kept/result.json")).expect("JSON");
    let traces = result["requests"]["traces"].as_array().expect("a list");
    assert_eq!((traces.len(), traces[0]["trace_id"].as_str()), (1, Some(id.as_str())));
    let samples = lab.read("out.json");
    let points = samples.lines().filter(|line| line.contains("\"Point\"") && line.contains("http_req"));
    assert!(points.clone().count() >= 9 && points.clone().all(|line| line.contains(&id)), "{samples}");
    lab.onrush(&["report", "kept"]).code(0);
    assert!(lab.read("kept/report.html").contains(&id));
}

#[test]
fn failures_are_told_by_their_spans_and_in_the_log() {
    let (target, collector) = (Peer::start(Duration::ZERO, "503 Busy"), Peer::start(Duration::ZERO, OK));
    let lab = script(&target, "http.get(TARGET); http.post('http://127.0.0.1:1/', 'x')");
    let run = lab.run(&["--traces-output", &format!("otel={}/v1/traces", collector.url)]).code(0);
    let spans = collector.spans();
    let [busy, refused] = spans.as_slice() else { panic!("{spans:?}") };
    let status = busy.status.clone().expect("an error");
    assert_eq!((status.code, status.message.as_str()), (2, ""));
    assert_eq!((busy.name.as_str(), busy.attribute("error.type")), ("HTTP GET", String::from("503")));
    let status = refused.status.clone().expect("an error");
    assert_eq!((status.code, status.message.as_str()), (2, "dial: connection refused"));
    assert_eq!((refused.name.as_str(), refused.attribute("error.type")), ("HTTP POST", String::from("1212")));
    assert_eq!(refused.attribute("error.message"), "dial: connection refused");
    let traceparent = refused.traceparent();
    let id = traceparent.split('-').nth(1).expect("an id");
    let warning = run.stderr.lines().find(|line| line.contains("Request Failed")).expect("a warning");
    assert!(warning.ends_with(&format!("trace_id={id}")), "{warning}");
    let named = run.stderr.lines().filter(|line| line.contains("failed sampled request: "));
    assert_eq!(named.count(), 2, "{}", run.stderr);
}

#[test]
fn a_fleet_names_the_traces_of_all_its_agents() {
    let (target, collector) = (Peer::start(Duration::ZERO, "503 Busy"), Peer::start(Duration::ZERO, OK));
    let lab = script(&target, "http.get(TARGET)");
    let output = format!("otel={},proto=http", collector.url);
    let run =
        lab.run(&["--agents", "2", "--vus", "2", "--iterations", "8", "--traces-output", &output, "--save", "kept"]);
    let spans = collector.spans();
    assert_eq!(spans.len(), 8, "each agent sends its own: {spans:?}");
    let all: Vec<String> =
        spans.iter().map(|span| span.traceparent().split('-').nth(1).expect("an id").to_owned()).collect();
    let result: Value = serde_json::from_str(&lab.read("kept/result.json")).expect("JSON");
    let traces = result["requests"]["traces"].as_array().expect("a list");
    let (failed, slow): (Vec<&Value>, Vec<&Value>) = traces.iter().partition(|trace| trace["failed"] == true);
    assert_eq!((slow.len(), failed.len()), (3, 3), "{traces:?}");
    let took: Vec<f64> = slow.iter().filter_map(|trace| trace["took_ms"].as_f64()).collect();
    assert!(took.is_sorted_by(|one, other| one >= other), "{took:?}");
    for trace in traces {
        let id = trace["trace_id"].as_str().expect("an id");
        assert!(all.iter().any(|known| known == id), "{id} of {all:?}");
        assert!(run.stderr.contains(&format!("trace {id}")), "{}", run.stderr);
    }
    assert_eq!(run.stderr.matches("slow sampled request: ").count(), 3, "{}", run.stderr);
}

#[test]
fn one_span_covers_all_hops_of_a_request() {
    let (target, collector) = (Peer::start(Duration::ZERO, OK), Peer::start(Duration::ZERO, OK));
    script(&target, "http.get(`${TARGET}/go`)")
        .run(&["--traces-output", &format!("otel={},proto=http", collector.url)]);
    let spans = collector.spans();
    let [span] = spans.as_slice() else { panic!("{spans:?}") };
    assert_eq!(
        (span.attribute("http.request.resend_count"), span.attribute("http.response.status_code")),
        ("1".into(), "200".into())
    );
    let further = span.events.iter().find(|event| event.name == "further_request").expect("a second hop");
    assert_eq!(further.attribute("url.full"), format!("{}/there", target.url));
    let ids: Vec<_> = target.got().iter().map(|got| got.header("traceparent").map(str::to_owned)).collect();
    assert_eq!(ids, [Some(span.traceparent()), Some(span.traceparent())]);
}

#[test]
fn each_request_has_a_header_of_its_own_in_the_wanted_format() {
    let target = Peer::start(Duration::ZERO, OK);
    let same = "for (let i = 0; i < 3; i++) http.get(TARGET, { headers: { 'X-Same': '1' } })";
    let headers = |arguments: &[&str], name: &str| -> Vec<String> {
        let before = target.got().len();
        script(&target, same).run(arguments).code(0);
        target.got()[before..].iter().filter_map(|got| got.header(name).map(str::to_owned)).collect()
    };
    for (context, name, begins, ends, length) in [
        ("w3c", "traceparent", "00-", "-01", 55),
        ("b3", "b3", "", "-1", 51),
        ("b3multi", "x-b3-traceid", "", "", 32),
        ("jaeger", "uber-trace-id", "", ":0:1", 53),
    ] {
        let found = headers(&["--trace-context", context], name);
        let fits = |text: &String| text.starts_with(begins) && text.ends_with(ends) && text.len() == length;
        assert!(found.len() == 3 && found.iter().all(fits), "{context}: {found:?}");
        assert!(found[0] != found[1] && found[1] != found[2], "{found:?}");
    }
    assert_eq!(headers(&["--trace-context", "b3multi"], "x-b3-sampled"), ["1", "1", "1"]);
    let found = headers(&["--trace-context=w3c", "--trace-sampling=0"], "traceparent");
    assert!(found.len() == 3 && found.iter().all(|text| text.ends_with("-00")), "{found:?}");
    assert!(headers(&[], "traceparent").is_empty());
    let wrong = "--trace-sampling: found \"2\", expected a share from 0 to 1";
    script(&target, "").run(&["--trace-sampling", "2"]).code(255).says(wrong);
}

#[test]
fn requests_that_are_kept_from_call_to_call_are_in_traces_of_their_own() {
    let (target, collector) = (Peer::start(Duration::ZERO, OK), Peer::start(Duration::ZERO, OK));
    let lab = Lab::with(&format!(
        "import http from 'k6/http'
         import {{ Client, Request }} from 'k6/x/fasthttp'
         const client = new Client(), request = new Request('{url}')
         export function setup() {{ http.get('{url}') }}
         export default async function () {{
           client.get(request)
           http.batch(['{url}', '{url}'])
           await http.asyncRequest('GET', '{url}')
         }}",
        url = target.url
    ));
    lab.run(&["-i", "3", "--traces-output", &format!("otel={},proto=http", collector.url)]).code(0);
    let mut sent: Vec<_> = target.got().iter().filter_map(|got| got.header("traceparent").map(str::to_owned)).collect();
    let mut spans: Vec<_> = collector.spans().iter().map(Span::traceparent).collect();
    sent.sort();
    spans.sort();
    assert_eq!(sent, spans);
    sent.dedup();
    assert_eq!(sent.len(), 13, "one of setup and four of each iteration, all different");
}

#[test]
fn headers_of_the_script_stay_and_decide_what_is_sampled() {
    let (target, collector) = (Peer::start(Duration::ZERO, OK), Peer::start(Duration::ZERO, OK));
    let own = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";
    let body = format!(
        "http.get(TARGET, {{ headers: {{ traceparent: '{own}-01' }} }});
         http.get(TARGET, {{ headers: {{ traceparent: '{own}-00' }} }});
         http.get(TARGET)"
    );
    let output = format!("otel={},proto=http", collector.url);
    script(&target, &body).run(&["--traces-output", &output, "--trace-context=none"]).code(0);
    let got: Vec<_> = target.got().iter().map(|got| got.header("traceparent").map(str::to_owned)).collect();
    assert_eq!(got, [Some(format!("{own}-01")), Some(format!("{own}-00")), None]);
    let spans: Vec<_> = collector.spans().iter().map(Span::traceparent).collect();
    assert_eq!(spans, [format!("{own}-01")]);
}

#[test]
fn spans_that_nothing_takes_are_counted_and_cost_the_test_nothing() {
    let target = Peer::start(Duration::ZERO, OK);
    let lab = script(&target, "http.get(TARGET)");
    let run = lab.run(&["--traces-output", "otel=http://127.0.0.1:1,proto=http", "-i", "5"]).code(0);
    let lost = "output traces-output lost 5 spans: http://127.0.0.1:1/v1/traces: dial: connection refused";
    assert!(run.stderr.contains(lost), "{}", run.stderr);
    assert!(!run.stdout.contains("SUSPECT"), "{}", run.stdout);
    let problem = "--traces-output otel=h:1: found 'h:1', expected a URL that begins with http:// or https://";
    lab.run(&["--traces-output", "otel=h:1"]).code(255).says(problem);
}
