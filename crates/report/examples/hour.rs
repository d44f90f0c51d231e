//! The report of an hour at 50,000 requests a second and 40 URLs, made up:
//! `cargo run --release -p onrush-report --example hour -- DIR`.
//!
//! Durations follow a law with a long tail, another one for each URL, all recorded; two URLs fail for a while. Prints
//! how large result and report are and how long they take to make; `cargo xtask browser` opens what it writes.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a program of its own")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use metrics::{
    Aggregate, ErrorKind, MetricId, Recorder, Registry, RequestBlocks, RequestKind, Series, Snapshot, TagSet,
    Thresholds, builtin,
};
use onrush_report::document::{Document, Generator, KIND, Metric, Requests, SCHEMA, Seconds, since};
use onrush_report::errors::Errors;
use onrush_report::html::run::page;

const SECONDS: u32 = 3600;
const URLS: u32 = 40;
/// Requests of each URL in a second.
const EACH: u32 = 1250;
const PHASES: [MetricId; 4] =
    [builtin::HTTP_REQ_BLOCKED, builtin::HTTP_REQ_SENDING, builtin::HTTP_REQ_WAITING, builtin::HTTP_REQ_RECEIVING];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("say where to write: a folder")?;
    std::fs::create_dir_all(&folder)?;
    let document = hour();
    document.write(Path::new(&folder))?;
    let started = Instant::now();
    let html = page(&document);
    let took = started.elapsed();
    std::fs::write(Path::new(&folder).join("report.html"), &html)?;
    let result = std::fs::metadata(Path::new(&folder).join("result.json"))?.len();
    println!("result {} KiB, report {} KiB, made in {} ms", result / 1024, html.len() / 1024, took.as_millis());
    Ok(())
}

/// What is asked, and what it is counted as.
struct Asked {
    fine: Series,
    failed: Series,
    median_ms: f64,
}

struct Load {
    recorder: Recorder,
    urls: Vec<Asked>,
    plain: TagSet,
    random: u64,
}

impl Load {
    fn new(recorder: Recorder) -> Load {
        let asked = |url: u32| {
            let of = |status: u16| {
                let name = format!("https://shop.example.com/api/v1/collection-{url}/items?page=1").into();
                let (method, failed) = ("GET".into(), status >= 400);
                let kind = RequestKind { name, method, status, failed, ..RequestKind::default() };
                let tags = TagSet::new([("expected_response", if failed { "false" } else { "true" })]);
                recorder.series_of_request(builtin::HTTP_REQ_DURATION, &tags, &kind)
            };
            Asked { fine: of(200), failed: of(503), median_ms: 2.0 * 1.12_f64.powi(url as i32) }
        };
        let urls = (0..URLS).map(asked).collect();
        Load { recorder, urls, plain: TagSet::empty(), random: 7 }
    }

    fn unit(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn second(&mut self, second: u32) -> Snapshot {
        let slow = if (1800..1900).contains(&second) { 8.0 } else { 1.0 + f64::from(second % 300) / 600.0 };
        for url in 0..self.urls.len() {
            for n in 0..EACH {
                // Log-logistic: half below the median, one in a thousand ten times above it.
                let unit = self.unit();
                let ms = self.urls[url].median_ms * slow * (unit / (1.0 - unit)).powf(0.33);
                let is_bad = url < 2 && (1800..1900).contains(&second) && n % 10 == 0;
                let Asked { fine, failed, .. } = self.urls[url];
                self.recorder.add(if is_bad { failed } else { fine }, ms, 0);
                if is_bad {
                    self.recorder.count_error(&ErrorKind::Status { status: 503, expected: false });
                }
                if n % 50 == 0 {
                    self.rest(ms, is_bad);
                }
            }
        }
        self.recorder.take()
    }

    fn rest(&self, ms: f64, is_bad: bool) {
        let add = |metric, value| self.recorder.add(self.recorder.series(metric, &self.plain), value, 0);
        PHASES.iter().zip([0.01, 0.02, 0.9, 0.07]).for_each(|(phase, share)| add(*phase, ms * share));
        add(builtin::HTTP_REQS, 50.0);
        add(builtin::HTTP_REQ_FAILED, f64::from(u8::from(is_bad)));
        add(builtin::ITERATION_DURATION, ms * 1.01);
        add(builtin::ITERATIONS, 50.0);
        add(builtin::CHECKS, f64::from(u8::from(!is_bad)));
        add(builtin::DATA_RECEIVED, 50_000.0);
        add(builtin::VUS, 64.0);
    }
}

fn hour() -> Document {
    let registry = Registry::new();
    let mut aggregate = Aggregate::new(registry.clone(), Thresholds::default());
    let (mut seconds, mut blocks) = (metrics::Seconds::new(registry.clone()), RequestBlocks::default());
    let mut load = Load::new(Recorder::new(registry));
    for second in 0..SECONDS {
        let (from, to) = (Duration::from_secs(second.into()), Duration::from_secs(u64::from(second) + 1));
        let snapshot = [load.second(second)];
        seconds.add(from, to, &snapshot);
        blocks.add(from, to, &snapshot);
        snapshot.into_iter().for_each(|snapshot| aggregate.merge(snapshot));
    }
    let results = aggregate.results(Duration::from_secs(SECONDS.into()), false);
    let (starts_s, lengths_s) = seconds.intervals().iter().map(|(s, l)| (s.as_secs_f64(), l.as_secs_f64())).unzip();
    let series = seconds.into_series().into_iter().map(Into::into).collect();
    let times = |kind: &ErrorKind| blocks.span_of_error(kind).map(|span| since(span, Duration::ZERO));
    Document {
        kind: KIND.into(),
        schema: SCHEMA,
        onrush: env!("CARGO_PKG_VERSION").into(),
        started_at: "2026-11-24T18:00:00.000Z".into(),
        duration_s: SECONDS.into(),
        load_s: Some(SECONDS.into()),
        script: "hour.js".into(),
        labels: BTreeMap::new(),
        options: serde_json::Value::Null,
        environment: Default::default(),
        generator: Generator::default(),
        exit: Default::default(),
        errors: Errors::of(&results, times),
        requests: Requests::new(&results.requests, Some(&blocks), Duration::ZERO),
        metrics: results.metrics.iter().map(|metric| Metric::of(metric, &[])).collect(),
        checks: Vec::new(),
        groups: Default::default(),
        scenarios: Vec::new(),
        seconds: Seconds { starts_s, lengths_s, scenarios_start_s: 0.0, scenarios_end_s: SECONDS.into(), series },
        load_changes: Vec::new(),
        generator_seconds: None,
        steadiness: None,
        messages: None,
    }
}
