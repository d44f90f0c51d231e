//! `--out`: every sample in k6's lines, several outputs at once, what is wrong with one said before the test.

use std::collections::BTreeMap;
use std::io::Read;

use serde_json::Value;

use crate::lab::Lab;

const SCRIPT: &str = r#"
import http from 'k6/http'
import { check, group } from 'k6'
import { Counter, Trend } from 'k6/metrics'
import exec from 'k6/execution'
const mine = new Counter('mine')
const sizes = new Trend('sizes')
export const options = {
  vus: 2, iterations: 20, tags: { run: 'a "b", c' },
  thresholds: {
    mine: ['count>0', { threshold: 'count>1', abortOnFail: true, delayAbortEval: '90s' }],
    'mine{k:b}': ['count>=0'],
  },
}
export function setup() { mine.add(7) }
export default function () {
  check(http.get(`${__ENV.TARGET}/`), { 'is 200': (r) => r.status === 200 })
  group('g', () => mine.add(1, { k: 'b' }))
  sizes.add(0.5)
  exec.vu.metrics.tags.own = 'x'
  mine.add(1)
}
export function teardown() { mine.add(9) }
"#;

/// Points of JSON lines: metric, tags, value.
fn points(text: &str) -> Vec<(String, BTreeMap<String, String>, f64)> {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}")));
    let points = lines.filter(|line| line["type"] == "Point");
    let point = |line: Value| {
        let tags = line["data"]["tags"].as_object().expect("tags");
        let tags = tags.iter().map(|(key, value)| (key.clone(), value.as_str().expect("a text").to_owned())).collect();
        (line["metric"].as_str().expect("a name").to_owned(), tags, line["data"]["value"].as_f64().expect("a number"))
    };
    points.map(point).collect()
}

fn of<'a>(
    all: &'a [(String, BTreeMap<String, String>, f64)],
    name: &str,
) -> Vec<&'a (String, BTreeMap<String, String>, f64)> {
    all.iter().filter(|(metric, ..)| metric == name).collect()
}

#[test]
fn json_has_each_sample_with_its_tags_and_each_metric_once() {
    let lab = Lab::with(SCRIPT);
    lab.run(&["--serve", "--out", "json=out.json", "--summary-export", "sum.json"]).code(0);
    let text = lab.read("out.json");
    let all = points(&text);
    let summary: Value = serde_json::from_str(&lab.read("sum.json")).unwrap();
    for (name, metric) in summary["metrics"].as_object().unwrap() {
        if let Some(count) = metric["count"].as_f64().filter(|_| !name.contains('{')) {
            let sum: f64 = of(&all, name).iter().map(|(.., value)| value).sum();
            assert!((sum - count).abs() < 1e-6, "{name}: {sum} in the lines, {count} in the summary");
        }
    }
    let requests = of(&all, "http_reqs");
    assert_eq!(requests.len(), 20);
    let tags = &requests[0].1;
    let names: Vec<&str> = tags.keys().map(String::as_str).collect();
    let first = ["expected_response", "group", "method", "name", "proto", "run", "scenario", "status", "url"];
    assert_eq!(names, first);
    assert_eq!((tags["run"].as_str(), tags["group"].as_str()), ("a \"b\", c", ""));
    assert_eq!(of(&all, "mine")[0].1["group"], "::setup");
    assert_eq!(of(&all, "mine").last().unwrap().2, 9.0, "teardown");
    assert!(of(&all, "iteration_duration").iter().all(|(_, tags, _)| tags["own"] == "x"));
    for metric in ["http_reqs", "checks", "mine", "vus"] {
        let announcement = format!("{{\"type\":\"Metric\",\"data\":{{\"name\":\"{metric}\"");
        let place = text.find(&announcement).unwrap_or(usize::MAX);
        let first = text.find(&format!("{{\"metric\":\"{metric}\"")).unwrap_or(usize::MAX);
        assert!(place <= first && text.matches(&announcement).count() <= 1, "{metric} is announced once, before");
    }
    let expected = concat!(
        r#"{"type":"Metric","data":{"name":"mine","type":"counter","contains":"default","thresholds":["count>0","#,
        r#"{"threshold":"count>1","abortOnFail":true,"delayAbortEval":"1m30s"}],"submetrics":[{"name":"mine{k:b}","#,
        r#""suffix":"k:b","tags":{"k":"b"}}]},"metric":"mine"}"#,
    );
    assert!(text.lines().any(|line| line == expected), "{text}");
}

#[test]
fn several_outputs_get_the_same_and_csv_has_a_column_a_tag() {
    let lab = Lab::with(SCRIPT);
    let packed = "json=out.json.gz";
    lab.run(&["--serve", "--out", packed, "-o", "csv=fileName=out.csv,timeFormat=unix_nano"]).code(0);
    let file = std::fs::File::open(lab.path().join("out.json.gz")).unwrap();
    let mut json = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut json).unwrap();
    let csv = lab.read("out.csv");
    let mut lines = csv.lines();
    let header = "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,\
                  scenario,service,status,subproto,tls_version,url,extra_tags,metadata";
    assert_eq!(lines.next(), Some(header));
    assert_eq!(lines.clone().count(), points(&json).len());
    let check = lines.clone().find(|line| line.starts_with("checks,")).expect("a check");
    let (_, rest) = check.split_once(',').unwrap();
    let (at, rest) = rest.split_once(',').unwrap();
    assert_eq!(at.len(), 19, "nanoseconds: {at}");
    assert_eq!(rest, r#"1.000000,is 200,,,,,,,,default,,,,,,"run=a ""b"", c","#);
    assert!(lines.any(|line| line.starts_with("sizes,") && line.contains(",0.500000,")), "{csv}");
}

#[test]
fn standard_output_has_the_lines_alone_and_k6_out_names_several() {
    let lab = Lab::with(SCRIPT);
    let mut command = lab.command(&["run", "--serve", "--summary-mode", "disabled", "script.js"]);
    command.env("K6_OUT", "json,csv=out.csv");
    let run = crate::lab::finish(command).code(0);
    assert_eq!(of(&points(&run.stdout), "http_reqs").len(), 20);
    assert!(run.stderr.contains("scenarios: "), "the banner is there: {}", run.stderr);
    assert_eq!(lab.read("out.csv").lines().filter(|line| line.starts_with("http_reqs,")).count(), 20);
}

#[test]
fn what_is_wrong_with_an_output_is_said_before_the_test() {
    let lab = Lab::with("export default function () { console.log('it ran') }");
    let names = "json, csv, experimental-prometheus-rw, influxdb, opentelemetry, statsd, xk6-influxdb";
    let cases = [
        ("foo", format!("unknown output 'foo' (expected one of {names})")),
        ("jsn=x", format!("unknown output 'jsn'; did you mean 'json'? (expected one of {names})")),
        (
            "cloud",
            String::from(
                "Grafana Cloud k6 is not offered; Grafana Cloud takes metrics from experimental-prometheus-rw and \
                 opentelemetry",
            ),
        ),
        (
            "output-kafka=brokers=h",
            String::from(
                "not offered; use opentelemetry and a collector that writes to Kafka, or write json and send the \
                 lines on",
            ),
        ),
        (
            "xk6-timescaledb",
            String::from(
                "not offered; use influxdb or opentelemetry, or write csv and load the file into the database (COPY)",
            ),
        ),
        (
            "output-elasticsearch",
            String::from("not offered; use opentelemetry, which Elastic takes, or write json and send the lines on"),
        ),
        ("xk6-influxdb", String::from("found no bucket, expected K6_INFLUXDB_BUCKET or http://HOST:8086/BUCKET")),
        ("json=no/such/file", String::from("cannot write 'no/such/file': No such file or directory (os error 2)")),
        ("csv=a=b", String::from("unknown key 'a', expected one of fileName, saveInterval, timeFormat")),
        (
            "csv=timeFormat=unx",
            String::from(
                "timeFormat: found 'unx'; did you mean 'unix'?, expected one of unix, unix_milli, unix_micro, \
                 unix_nano, rfc3339, rfc3339_nano",
            ),
        ),
        (
            "csv=saveInterval=x",
            String::from(
                "saveInterval: 'x' is not a duration: expected a form like 10s, 1h30m, 1d or a number of milliseconds",
            ),
        ),
    ];
    for (output, message) in cases {
        let run = lab.run(&["--out", output]).code(255);
        assert_eq!(run.stderr, format!("error: --out {output}: {message}\n"));
    }
}

#[test]
fn a_full_disk_loses_samples_which_is_said_and_no_success() {
    let run = Lab::with(SCRIPT).run(&["--serve", "--out", "json=/dev/full"]).code(111);
    let line = run.stderr.lines().find(|line| line.contains("output json lost")).expect("a line");
    assert!(line.contains("samples: No space left on device"), "{line}");
    assert!(run.stdout.contains("http_reqs"), "{}", run.stdout);
}

#[test]
fn a_receiver_that_hangs_changes_nothing_of_the_load() {
    let script = r#"
        import http from 'k6/http'
        export const options = { scenarios: { s: {
          executor: 'constant-arrival-rate', rate: 200, timeUnit: '1s', duration: '3s', preAllocatedVUs: 20 } } }
        export default function () { http.get(`${__ENV.TARGET}/`) }"#;
    // Accepts connections and says nothing.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let hanging = format!("influxdb=http://{}/db", listener.local_addr().unwrap());
    let gone = "experimental-prometheus-rw=http://127.0.0.1:1/w";
    let lab = Lab::with(script);
    let arguments = ["--serve", "--out", &hanging, "--out", gone, "--summary-export", "sum.json"];
    let run = lab.run(&arguments).code(111);
    let summary: Value = serde_json::from_str(&lab.read("sum.json")).unwrap();
    let iterations = summary["metrics"]["iterations"]["count"].as_f64().unwrap();
    assert!((594.0..=606.0).contains(&iterations), "{iterations} iterations of 600");
    assert!(summary["metrics"]["dropped_iterations"]["count"].as_f64().unwrap_or(0.0) < 6.0, "{}", run.stdout);
    for line in ["output influxdb lost ", "output experimental-prometheus-rw lost "] {
        assert_eq!(run.stderr.matches(line).count(), 1, "{line} in {}", run.stderr);
    }
}

/// The names of metrics in a query.
fn names(query: &str) -> impl Iterator<Item = &str> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    query.split(move |c| !word(c)).filter(|name| name.starts_with("k6_"))
}

#[test]
fn the_dashboard_asks_for_what_is_sent() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dashboards/prometheus.json");
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let queries = dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries: Vec<&str> = queries.map(|target| target["expr"].as_str().unwrap()).collect();
    assert!(queries.len() > 10);
    for name in queries.iter().flat_map(|query| names(query)) {
        let is_sent = metrics::builtin::ALL.iter().any(|metric| {
            let suffix = match metric.kind {
                metrics::Kind::Counter => "_total",
                metrics::Kind::Gauge => "",
                metrics::Kind::Rate => "_rate",
                metrics::Kind::Trend => "_p99",
            };
            name == format!("k6_{}{suffix}", metric.name)
        });
        assert!(is_sent, "{name} is not sent by default");
    }
}

#[test]
fn a_test_that_is_stopped_has_all_its_samples_in_its_outputs() {
    let script = r#"
        import http from 'k6/http'
        export const options = { vus: 2, duration: '60s' }
        export default function () { http.get(`${__ENV.TARGET}/`) }"#;
    let lab = Lab::with(script);
    let outputs = ["--out", "json=out.json", "--out", "csv=out.csv.gz", "--summary-export", "sum.json"];
    let run = lab.start(&[&["run", "-q", "--serve"], &outputs[..], &["script.js"]].concat());
    // Something has been written as soon as a worker has handed over.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while std::fs::metadata(lab.path().join("out.json")).map_or(0, |file| file.len()) == 0 {
        assert!(std::time::Instant::now() < end, "nothing is written");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let kill = std::process::Command::new("kill").args(["-INT", &run.pid().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    run.wait().code(105);
    let summary: Value = serde_json::from_str(&lab.read("sum.json")).unwrap();
    let requests = summary["metrics"]["http_reqs"]["count"].as_u64().unwrap() as usize;
    assert_eq!(of(&points(&lab.read("out.json")), "http_reqs").len(), requests);
    let file = std::fs::File::open(lab.path().join("out.csv.gz")).unwrap();
    let mut csv = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut csv).unwrap();
    assert_eq!(csv.lines().filter(|line| line.starts_with("http_reqs,")).count(), requests);
}
