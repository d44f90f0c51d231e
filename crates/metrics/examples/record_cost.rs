//! What recording costs: `cargo run --release -p onrush-metrics --example record_cost`.
//!
//! Prints nanoseconds for one `add`, by kind of metric and number of sinks that the sample feeds. Figures for comparing
//! one build with another on the same machine; nothing is asserted.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a program of its own")]

use std::hint::black_box;
use std::time::Instant;

use onrush_metrics::tags::TagFilter;
use onrush_metrics::{MetricId, Recorder, Registry, RequestKind, Series, TagSet, builtin};

const ROUNDS: u32 = 20_000_000;

fn main() {
    measure("counter", builtin::HTTP_REQS, false, &[1.0]);
    measure("rate", builtin::HTTP_REQ_FAILED, false, &[0.0]);
    measure("trend, reused connection (0)", builtin::HTTP_REQ_CONNECTING, false, &[0.0]);
    let latencies: Vec<f64> = (0..4096).map(|n| 0.2 * (f64::from(n * 2_654_435 % 4096) / 700.0).exp()).collect();
    measure("trend, latencies", builtin::HTTP_REQ_WAITING, false, &latencies);
    measure("trend, latencies, sub-metric", builtin::HTTP_REQ_DURATION, false, &latencies);
    measure("trend, latencies, sub-metric, scenario, group", builtin::HTTP_REQ_DURATION, true, &latencies);
    measure_row("trend, latencies, sub-metric, row of requests", &latencies);
}

/// What a request's duration costs, which has a row in the table of requests.
fn measure_row(name: &str, values: &[f64]) {
    let recorder = Recorder::new(Registry::new());
    let tags = TagSet::new([("expected_response", "true"), ("scenario", "default")]);
    let kind = RequestKind { name: "http://shop.test/".into(), method: "GET".into(), ..RequestKind::default() };
    let series = recorder.series_of_request(builtin::HTTP_REQ_DURATION, &tags, &kind);
    time(name, &recorder, series, values);
}

fn measure(name: &str, metric: MetricId, breakdown: bool, values: &[f64]) {
    let registry = Registry::new();
    registry.set_breakdown(breakdown);
    registry.sub_metric(builtin::CHECKS, TagFilter::parse("a:b").expect("a filter"));
    let recorder = Recorder::new(registry);
    let tags = TagSet::new([("expected_response", "true"), ("scenario", "default"), ("group", "::g")]);
    time(name, &recorder, recorder.series(metric, &tags), values);
}

fn time(name: &str, recorder: &Recorder, series: Series, values: &[f64]) {
    let mut values = values.iter().cycle();
    let started = Instant::now();
    for at_ns in 0..ROUNDS {
        let value = values.next().copied().unwrap_or_default();
        recorder.add(black_box(series), black_box(value), u64::from(at_ns));
    }
    let ns = started.elapsed().as_nanos() as f64 / f64::from(ROUNDS);
    black_box(recorder.take().is_empty());
    println!("{name:<50} {ns:6.2} ns");
}
