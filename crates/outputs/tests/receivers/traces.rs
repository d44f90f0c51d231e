//! Spans by OTLP, over HTTP and gRPC; what a hanging collector costs.
//!
//! The messages are decoded by prost, field by field as OTLP numbers them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use metrics::span::{SpanAttribute, SpanEvent, TraceSpan};
use metrics::{Registry, SystemTags, ThresholdSpecs};
use onrush_outputs::{Outputs, Setup, is_about_spans};
use prost::Message;

use crate::grpc::{Answer, collector};
use crate::http::{Manner, Receiver};
use crate::run::BEGIN;

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resources: Vec<Resources>,
}

#[derive(Clone, PartialEq, Message)]
struct Resources {
    #[prost(message, repeated, tag = "2")]
    scopes: Vec<Scope>,
}

#[derive(Clone, PartialEq, Message)]
struct Scope {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message)]
struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(fixed64, tag = "8")]
    end_ns: u64,
}

fn outputs(wanted: &str) -> Outputs {
    let setup = Setup {
        registry: Registry::new(),
        thresholds: &ThresholdSpecs::new(),
        system_tags: SystemTags::default(),
        env: &BTreeMap::new(),
        stdout: &|| unreachable!("spans do not go there"),
        tell: Arc::new(|_| {}),
    };
    let mut outputs = Outputs::default();
    outputs.open_traces(wanted, &setup).unwrap_or_else(|error| panic!("{error}"));
    outputs
}

fn span(number: u64, text: &str) -> TraceSpan {
    TraceSpan {
        trace_id: 1 << 127 | u128::from(number),
        span_id: number,
        name: Arc::from("HTTP GET"),
        start_ns: BEGIN,
        end_ns: BEGIN + number,
        attributes: vec![SpanAttribute::text("url.full", text)],
        events: vec![SpanEvent { name: "waiting", at_ns: BEGIN, attributes: Vec::new() }],
        error: None,
    }
}

fn put(outputs: &Outputs, count: u64, text: &str) {
    let sink = outputs.spans().unwrap();
    (1..=count).for_each(|number| sink.put(span(number, text)));
}

/// The numbers of the spans of these bodies, which are in order.
fn numbers(bodies: &[Vec<u8>]) -> Vec<u64> {
    let requests = bodies.iter().map(|body| Request::decode(body.as_slice()).unwrap());
    let spans = requests.flat_map(|request| request.resources).flat_map(|all| all.scopes).flat_map(|all| all.spans);
    let number = |span: Span| {
        let number = u64::from_be_bytes(span.span_id.try_into().unwrap());
        assert_eq!((span.name.as_str(), span.end_ns), ("HTTP GET", BEGIN + number));
        assert_eq!(span.trace_id, (1 << 127 | u128::from(number)).to_be_bytes());
        number
    };
    spans.map(number).collect()
}

#[test]
fn a_collector_gets_all_spans_in_batches_by_http_and_by_grpc() {
    let receiver = Receiver::start(Manner::Answers(200));
    let http = outputs(&format!("otel=http://{},proto=http", receiver.address));
    put(&http, 600, "http://h/");
    assert_eq!(http.finish(), [""; 0]);
    let got = receiver.got();
    assert!(got.iter().all(|(head, _)| head.starts_with("POST /v1/traces HTTP/1.1")), "{got:?}");
    assert!(got.len() > 1, "512 spans leave before the second is over");

    let (address, calls) = collector(Answer::Status("0", ""));
    let grpc = outputs(&format!("otel=http://{address},proto=grpc"));
    put(&grpc, 600, "http://h/");
    assert_eq!(grpc.finish(), [""; 0]);
    let calls: Vec<_> = calls.try_iter().collect();
    let path = "/opentelemetry.proto.collector.trace.v1.TraceService/Export application/grpc";
    assert!(calls.iter().all(|(found, _)| found == path), "{calls:?}");
    // Five bytes of framing are in front of each message.
    let bodies: Vec<Vec<u8>> = calls.iter().map(|(_, body)| body[5..].to_vec()).collect();
    assert_eq!(numbers(&bodies), (1..=600).collect::<Vec<_>>());
}

#[test]
fn a_collector_that_hangs_costs_spans_and_neither_memory_nor_the_test() {
    let receiver = Receiver::start(Manner::Hangs);
    let outputs = outputs(&format!("otel=http://{},proto=http", receiver.address));
    let began = Instant::now();
    // A hundred megabytes.
    put(&outputs, 100_000, &"x".repeat(1000));
    assert!(began.elapsed() < Duration::from_secs(20), "nothing waits");
    let lines = outputs.finish();
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(line.starts_with("output traces-output lost 100000 spans: "), "{line}");
    assert!(is_about_spans(line) && !is_about_spans("output json lost 1 samples: x"));
}
