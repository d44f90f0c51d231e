//! Remote write: Prometheus's messages, packed by snappy.

use std::collections::{BTreeMap, BTreeSet};

use metrics::{Contains, Kind};
use prost::Message;

use crate::http::{Manner, Receiver};
use crate::run::{BEGIN, Run};

#[derive(Clone, PartialEq, Message)]
struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    timeseries: Vec<TimeSeries>,
}

#[derive(Clone, PartialEq, Message)]
struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    histograms: Vec<Histogram>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(double, tag = "1")]
    value: f64,
    #[prost(int64, tag = "2")]
    timestamp: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Histogram {
    #[prost(uint64, tag = "1")]
    count: u64,
    #[prost(double, tag = "3")]
    sum: f64,
    #[prost(sint32, tag = "4")]
    schema: i32,
    #[prost(double, tag = "5")]
    zero_threshold: f64,
    #[prost(uint64, tag = "6")]
    zero_count: u64,
    #[prost(message, repeated, tag = "8")]
    negative_spans: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "9")]
    negative_deltas: Vec<i64>,
    #[prost(message, repeated, tag = "11")]
    positive_spans: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "12")]
    positive_deltas: Vec<i64>,
    #[prost(int64, tag = "15")]
    timestamp: i64,
}

#[derive(Clone, PartialEq, Message)]
struct BucketSpan {
    #[prost(sint32, tag = "1")]
    offset: i32,
    #[prost(uint32, tag = "2")]
    length: u32,
}

fn unpacked(body: &[u8]) -> WriteRequest {
    let body = snap::raw::Decoder::new().decompress_vec(body).expect("snappy");
    WriteRequest::decode(&body[..]).expect("a write request")
}

/// The labels of each name that is sent, whether as samples or as histograms.
pub fn series_of(body: &[u8]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for mut series in unpacked(body).timeseries {
        let labels = series.labels.split_off(1);
        all.entry(series.labels.remove(0).value).or_default().extend(labels.into_iter().map(|label| label.name));
    }
    all
}

/// `name{label="value",…}` of each series, with its one value and time.
fn values(request: &WriteRequest) -> BTreeMap<String, (f64, i64)> {
    let named = |series: &TimeSeries| {
        let sorted: Vec<&str> = series.labels.iter().map(|label| label.name.as_str()).collect();
        assert!(sorted.is_sorted(), "Prometheus wants labels in order: {sorted:?}");
        assert_eq!(sorted[0], "__name__");
        let labels: Vec<String> =
            series.labels[1..].iter().map(|label| format!("{}={}", label.name, label.value)).collect();
        format!("{}{{{}}}", series.labels[0].value, labels.join(","))
    };
    let series = request.timeseries.iter().filter(|series| !series.samples.is_empty());
    series.map(|series| (named(series), (series.samples[0].value, series.samples[0].timestamp))).collect()
}

const AT: i64 = BEGIN as i64 / 1_000_000;

#[test]
fn series_have_k6s_names_units_and_values() {
    let receiver = Receiver::start(Manner::Answers(204));
    let address = format!("http://u:p@{}/api/v1/write", receiver.address);
    let output = format!("experimental-prometheus-rw={address}");
    let run = Run::start(
        &output,
        &[
            ("K6_PROMETHEUS_RW_TREND_STATS", "count,sum,min,max,avg,med,p(99.9)"),
            ("K6_PROMETHEUS_RW_STALE_MARKERS", "true"),
            ("K6_PROMETHEUS_RW_HTTP_HEADERS", "X-A:b, X-C:d e"),
            ("K6_PROMETHEUS_RW_HEADERS_X-Own", "own"),
        ],
    );
    run.add_all_kinds();
    assert_eq!(run.finish(), (vec![], vec![]));
    let got = receiver.got();
    let [(head, body), (_, end)] = &got[..] else { panic!("two requests, not {}", got.len()) };
    for line in [
        "POST /api/v1/write HTTP/1.1",
        "Content-Encoding: snappy",
        "Content-Type: application/x-protobuf",
        "X-Prometheus-Remote-Write-Version: 0.1.0",
        "Authorization: Basic dTpw",
        "X-A: b",
        "X-C: d e",
        "X-Own: own",
    ] {
        assert!(head.lines().any(|found| found == line), "{line} in {head}");
    }
    let duration = |statistic: &str| format!("k6_http_req_duration_{statistic}{{url=/a b}}");
    let found = values(&unpacked(body));
    let expected: BTreeMap<String, (f64, i64)> = [
        (String::from("k6_http_reqs_total{status=200,url=/a b}"), (3.0, AT + 2_000)),
        (duration("count"), (4.0, AT + 3_000)),
        (duration("sum"), (0.3095, AT + 3_000)),
        (duration("min"), (0.0, AT + 3_000)),
        (duration("max"), (0.3, AT + 3_000)),
        (duration("avg"), (0.077375, AT + 3_000)),
        (duration("med"), (0.00475, AT + 3_000)),
        (duration("p999"), (0.299121, AT + 3_000)),
        (String::from("k6_vus{}"), (4.0, AT + 2_000)),
        (String::from("k6_checks_rate{check=is, \"200\"}"), (0.75, AT + 3_000)),
        (String::from("k6_data_sent_total{}"), (120.5, AT + 1_000)),
    ]
    .into();
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, (value, at)) in &expected {
        let (found, found_at) = found[name];
        assert!((found - value).abs() < 1e-9 && found_at == *at, "{name}: {found} at {found_at}, not {value} at {at}");
    }
    let stale = values(&unpacked(end));
    assert_eq!(stale.len(), expected.len());
    assert!(stale.values().all(|(value, _)| value.to_bits() == 0x7ff0_0000_0000_0002), "{stale:?}");
}

#[test]
fn trends_are_native_histograms_when_they_are_asked_for() {
    let receiver = Receiver::start(Manner::Answers(204));
    let url = format!("http://{}/w", receiver.address);
    let env = [("K6_PROMETHEUS_RW_SERVER_URL", url.as_str()), ("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true")];
    let run = Run::start("experimental-prometheus-rw", &env);
    run.add_all_kinds();
    run.add(run.define("sizes", Kind::Trend, Contains::Data), &[], &[-4.0, -4.0, 0.0, 3.5]);
    assert_eq!(run.finish(), (vec![], vec![]));
    let request = unpacked(&receiver.got()[0].1);
    let find = |name: &str| {
        let series = request.timeseries.iter().find(|series| series.labels[0].value == name).expect(name);
        assert!(series.labels.iter().any(|label| label.name == "k6_feature_native_histograms"), "as k6 has it");
        series.histograms[0].clone()
    };
    let span = |offset, length| BucketSpan { offset, length };
    let sizes = find("k6_sizes_bytes");
    assert_eq!((sizes.count, sizes.sum, sizes.schema, sizes.zero_count), (4, -4.5, 3, 1));
    // 4 = 2^(16/8) and 3.5 < 2^(15/8), as in what k6 2.2 sent for these values.
    assert_eq!((sizes.negative_spans, sizes.negative_deltas), (vec![span(16, 1)], vec![2]));
    assert_eq!((sizes.positive_spans, sizes.positive_deltas), (vec![span(15, 1)], vec![1]));
    let times = find("k6_http_req_duration_seconds");
    assert_eq!((times.count, times.zero_count, times.timestamp), (4, 1, AT + 3_000));
    assert_eq!(
        times
            .positive_deltas
            .iter()
            .scan(0, |at, delta| {
                *at += delta;
                Some(*at)
            })
            .sum::<i64>(),
        3
    );
}

#[test]
fn what_has_no_new_samples_is_not_sent_again() {
    let receiver = Receiver::start(Manner::Answers(204));
    let output = format!("experimental-prometheus-rw=http://{}/w", receiver.address);
    let run = Run::start(&output, &[("K6_PROMETHEUS_RW_PUSH_INTERVAL", "50ms")]);
    run.add_all_kinds();
    run.recorder.take();
    while receiver.got().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    run.add(metrics::builtin::VUS, &[], &[9.0]);
    assert_eq!(run.finish(), (vec![], vec![]));
    assert_eq!(values(&unpacked(&receiver.got()[1].1)).into_keys().collect::<Vec<_>>(), ["k6_vus{}"]);
}

#[test]
fn a_refusal_is_told_with_its_reason() {
    let receiver = Receiver::start(Manner::Answers(400));
    let run = Run::start(&format!("experimental-prometheus-rw=http://{}/w", receiver.address), &[]);
    run.add_all_kinds();
    let (lost, told) = run.finish();
    let why = format!("http://{}/w answered 400 Because: the database is on fire", receiver.address);
    assert_eq!(told, [format!("output experimental-prometheus-rw: {why}")]);
    assert_eq!(lost, [format!("output experimental-prometheus-rw lost 5 points: {why}")]);
}
