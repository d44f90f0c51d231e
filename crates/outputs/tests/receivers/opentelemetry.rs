//! OTLP: a collector that speaks HTTP, and one that speaks gRPC.

use prost::Message;

use crate::grpc::{Answer, collector};
use crate::http::{Manner, Receiver};
use crate::run::{BEGIN, Run};

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeMetrics {
    #[prost(message, repeated, tag = "2")]
    metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "3")]
    unit: String,
    #[prost(message, optional, tag = "5")]
    gauge: Option<Numbers>,
    #[prost(message, optional, tag = "7")]
    sum: Option<Numbers>,
    #[prost(message, optional, tag = "9")]
    histogram: Option<Histogram>,
}

#[derive(Clone, PartialEq, Message)]
struct Numbers {
    #[prost(message, repeated, tag = "1")]
    points: Vec<Number>,
    #[prost(int32, tag = "2")]
    temporality: i32,
    #[prost(bool, tag = "3")]
    is_monotonic: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Number {
    #[prost(message, repeated, tag = "7")]
    attributes: Vec<KeyValue>,
    #[prost(fixed64, tag = "2")]
    start: u64,
    #[prost(fixed64, tag = "3")]
    at: u64,
    #[prost(double, optional, tag = "4")]
    double: Option<f64>,
    #[prost(sfixed64, optional, tag = "6")]
    int: Option<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Histogram {
    #[prost(message, repeated, tag = "1")]
    points: Vec<Distribution>,
    #[prost(int32, tag = "2")]
    temporality: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Distribution {
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(fixed64, tag = "4")]
    count: u64,
    #[prost(double, tag = "5")]
    sum: f64,
    #[prost(fixed64, repeated, tag = "6")]
    counts: Vec<u64>,
    #[prost(double, repeated, tag = "7")]
    borders: Vec<f64>,
    #[prost(double, tag = "11")]
    min: f64,
    #[prost(double, tag = "12")]
    max: f64,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(string, tag = "1")]
    text: String,
}

fn pairs(attributes: &[KeyValue]) -> Vec<String> {
    let text = |pair: &KeyValue| format!("{}={}", pair.key, pair.value.as_ref().map_or("", |value| &value.text));
    attributes.iter().map(text).collect()
}

/// Checks a request made by `add_all_kinds`.
fn check(body: &[u8], prefix: &str) {
    let request = Request::decode(body).expect("a request");
    let [of_resource] = &request.resource_metrics[..] else { panic!("one resource") };
    let resource = pairs(&of_resource.resource.as_ref().expect("a resource").attributes);
    assert!(resource.contains(&String::from("service.name=shop")), "{resource:?}");
    let metrics = &of_resource.scope_metrics[0].metrics;
    let find = |name: &str| metrics.iter().find(|metric| metric.name == format!("{prefix}{name}")).expect(name);
    let requests = find("http_reqs").sum.as_ref().expect("a sum");
    assert_eq!((requests.temporality, requests.is_monotonic), (2, true));
    let point = &requests.points[0];
    assert_eq!((point.double, pairs(&point.attributes)), (Some(3.0), vec!["status=200".into(), "url=/a b".into()]));
    assert_eq!((point.start, point.at), (BEGIN, BEGIN + 3_000_000_000));
    let checks = find("checks.total").sum.as_ref().expect("a sum");
    let counted: Vec<(Option<i64>, Vec<String>)> =
        checks.points.iter().map(|point| (point.int, pairs(&point.attributes))).collect();
    let check = String::from("check=is, \"200\"");
    let expected = [
        (Some(3), vec![check.clone(), String::from("condition=nonzero")]),
        (Some(1), vec![check, String::from("condition=zero")]),
    ];
    assert_eq!(counted, expected);
    assert_eq!(find("vus").gauge.as_ref().expect("a gauge").points[0].double, Some(4.0));
    assert_eq!((find("data_sent").unit.as_str(), find("http_req_duration").unit.as_str()), ("By", "ms"));
    let histogram = find("http_req_duration").histogram.as_ref().expect("a histogram");
    let point = &histogram.points[0];
    assert_eq!((histogram.temporality, point.count, point.sum, point.min, point.max), (2, 4, 309.5, 0.0, 300.0));
    // 0; up to 5; up to 10; up to 500.
    let counted: Vec<(usize, u64)> = point.counts.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
    assert_eq!((counted, point.borders.len()), (vec![(0, 1), (1, 1), (2, 1), (8, 1)], 15));
}

#[test]
fn a_collector_gets_the_state_of_all_series_by_http() {
    let receiver = Receiver::start(Manner::Answers(200));
    let address = receiver.address.to_string();
    let run = Run::start(
        "opentelemetry",
        &[
            ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf"),
            ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true"),
            ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", &address),
            ("K6_OTEL_HEADERS", "a=b%20c,d=e"),
            ("K6_OTEL_METRIC_PREFIX", "pre_"),
            ("K6_OTEL_SERVICE_NAME", "shop"),
        ],
    );
    run.add_all_kinds();
    assert_eq!(run.finish(), (vec![], vec![]));
    let got = receiver.got();
    let [(head, body)] = &got[..] else { panic!("one request") };
    for line in ["POST /v1/metrics HTTP/1.1", "Content-Type: application/x-protobuf", "a: b c", "d: e"] {
        assert!(head.lines().any(|found| found == line), "{line} in {head}");
    }
    check(body, "pre_");
}

#[test]
fn a_collector_gets_them_by_grpc() {
    let (address, calls) = collector(Answer::Status("0", ""));
    let run = Run::start(
        "experimental-opentelemetry",
        &[
            ("K6_OTEL_GRPC_EXPORTER_INSECURE", "true"),
            ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", &address),
            ("K6_OTEL_SERVICE_NAME", "shop"),
        ],
    );
    run.add_all_kinds();
    assert_eq!(run.finish(), (vec![], vec![]));
    let (call, body) = calls.recv().unwrap();
    assert_eq!(call, "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export application/grpc");
    let length = u32::from_be_bytes(body[1..5].try_into().unwrap()) as usize;
    assert_eq!((body[0], length), (0, body.len() - 5));
    check(&body[5..], "");
}

#[test]
fn what_a_collector_refuses_is_told_with_its_reason() {
    let (address, _calls) = collector(Answer::Status("8", "quota is used up"));
    let env = [("K6_OTEL_GRPC_EXPORTER_INSECURE", "true"), ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", address.as_str())];
    let run = Run::start("opentelemetry", &env);
    run.add_all_kinds();
    let (lost, told) = run.finish();
    let why = format!("{address}: gRPC status 8: quota is used up");
    assert_eq!(told, [format!("output opentelemetry: {why}")]);
    assert_eq!(lost, [format!("output opentelemetry lost 6 points: {why}")]);
}
