//! Whole summaries against stored ones. The layout was compared line by line with k6 2.2.0 running a script that makes
//! the same samples; run with `ONRUSH_BLESS=1` to store what is printed now, and read the difference before committing
//! it.

#![allow(clippy::disallowed_methods, reason = "told by the environment to write the expected files anew")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use metrics::metric::{Contains, Kind};
use metrics::results::Results;
use metrics::threshold::{Moment, ThresholdSpec};
use metrics::{
    Aggregate, ErrorKind, MetricId, Recorder, Registry, RequestKind, TagSet, ThresholdSpecs, Thresholds, builtin,
};
use onrush_report::{
    RunConfig, RunState, SummaryMode, SummaryOptions, TimeUnit, export_json, handle_summary_data, machine_readable,
    parse_trend_stats, pretty, text,
};
use serde_json::json;

const DURATION: Duration = Duration::from_millis(2500);

/// A run in the making: what a script and the engine would record.
struct Run {
    registry: Arc<Registry>,
    recorder: Recorder,
    thresholds: ThresholdSpecs,
}

impl Run {
    fn new(thresholds: &[(&str, &[&str])]) -> Run {
        let registry = Registry::new();
        registry.set_breakdown(true);
        let spec =
            |text: &&str| ThresholdSpec { threshold: text.to_string(), abort_on_fail: false, delay_abort_eval: None };
        let thresholds = thresholds.iter().map(|(key, list)| (key.to_string(), list.iter().map(spec).collect()));
        Run { recorder: Recorder::new(registry.clone()), registry, thresholds: thresholds.collect() }
    }

    fn define(&self, name: &str, kind: Kind, contains: Contains) -> MetricId {
        self.registry.define(name, kind, contains).expect("a valid metric")
    }

    fn add(&self, metric: MetricId, tags: &[(&str, &str)], values: &[f64]) {
        let series = self.recorder.series(metric, &TagSet::new(tags.iter().copied()));
        values.iter().for_each(|value| self.recorder.add(series, *value, 0));
    }

    fn finish(&self, aggregate: &mut Aggregate) -> Results {
        aggregate.merge(self.recorder.take());
        aggregate.judge(DURATION, Moment::End);
        aggregate.results(DURATION, true)
    }

    fn aggregate(&self) -> Aggregate {
        let thresholds = Thresholds::resolve(&self.thresholds, &self.registry).expect("valid thresholds");
        Aggregate::new(self.registry.clone(), thresholds)
    }
}

fn at<'a>(scenario: &'a str, group: &'a str) -> [(&'a str, &'a str); 2] {
    [("scenario", scenario), ("group", group)]
}

/// Two scenarios, groups inside groups, metrics of every kind, thresholds that hold and that do not.
fn two_scenarios() -> Results {
    let run = Run::new(&[
        ("my_trend", &["p(95)<500", "avg<1"]),
        ("checks", &["rate>0.9"]),
        ("my_trend{scenario:a}", &["max<1000"]),
        ("iteration_duration{scenario:b}", &["avg<1000"]),
        ("my_trend{zz:1}", &["avg<1"]),
        ("unused_c", &["count<5"]),
        ("iterations", &["count>1", "rate>0"]),
        ("my_g", &["value<1"]),
    ]);
    let trend = run.define("my_trend", Kind::Trend, Contains::Time);
    let plain = run.define("plain_trend", Kind::Trend, Contains::Default);
    let counter = run.define("my_c", Kind::Counter, Contains::Default);
    let rate = run.define("my_r", Kind::Rate, Contains::Default);
    let gauge = run.define("my_g", Kind::Gauge, Contains::Default);
    let times = run.define("my_data", Kind::Counter, Contains::Time);
    run.define("unused_c", Kind::Counter, Contains::Default);
    let mut aggregate = run.aggregate();
    let check = |scenario, group, name, oks: &[f64]| {
        run.add(builtin::CHECKS, &[("scenario", scenario), ("group", group), ("check", name)], oks)
    };
    run.add(counter, &at("b", ""), &[1.0, 1.0]);
    run.add(trend, &at("b", ""), &[1.0, 1.0]);
    run.add(plain, &at("b", "::beta"), &[1.0, 1.0]);
    check("b", "::beta", "b ok", &[1.0, 1.0]);
    run.add(builtin::GROUP_DURATION, &at("b", "::beta"), &[0.01, 0.02]);
    for _ in 0..3 {
        run.add(trend, &at("a", ""), &[5.0]);
        run.add(plain, &at("a", ""), &[1.23456789, -3.0]);
        run.add(counter, &at("a", ""), &[1.0]);
        run.add(rate, &at("a", ""), &[1.0, 0.0]);
        run.add(gauge, &at("a", ""), &[2.5]);
        run.add(trend, &at("a", "::zeta::inner"), &[7.0]);
        run.add(trend, &at("a", "::zeta"), &[9.0]);
        run.add(times, &at("a", "::zeta"), &[15_000.0]);
        run.add(counter, &at("a", "::alpha"), &[3.0]);
    }
    check("a", "", "root ok", &[1.0; 3]);
    check("a", "", "root bad", &[0.0; 3]);
    check("a", "::zeta", "ok", &[1.0; 3]);
    check("a", "::zeta", "bad", &[1.0, 0.0, 0.0]);
    check("a", "::zeta::inner", "in ok", &[1.0; 3]);
    for group in ["::zeta::inner", "::zeta", "::alpha"] {
        run.add(builtin::GROUP_DURATION, &at("a", group), &[0.05; 3]);
    }
    for (scenario, durations) in [("b", &[10.550048, 18.690361][..]), ("a", &[0.04975, 0.05583, 0.10056][..])] {
        run.add(builtin::ITERATION_DURATION, &at(scenario, ""), durations);
        run.add(builtin::ITERATIONS, &at(scenario, ""), &vec![1.0; durations.len()]);
        run.add(builtin::DATA_SENT, &at(scenario, ""), &[0.0]);
        run.add(builtin::DATA_RECEIVED, &at(scenario, ""), &[0.0]);
    }
    run.finish(&mut aggregate)
}

/// One default scenario over HTTP with setup, as most scripts are; open model, so the lag of iterations is there.
fn http_run() -> Results {
    let run = Run::new(&[("http_req_duration", &["p(95)<500", "p(99.9)<1"]), ("http_req_failed", &["rate<0.01"])]);
    let mut aggregate = run.aggregate();
    run.add(builtin::CHECKS, &[("group", "::setup"), ("check", "logged in")], &[1.0]);
    let phases = [
        (builtin::HTTP_REQ_BLOCKED, 0.3),
        (builtin::HTTP_REQ_CONNECTING, 0.0),
        (builtin::HTTP_REQ_TLS_HANDSHAKING, 0.0),
        (builtin::HTTP_REQ_SENDING, 0.02),
        (builtin::HTTP_REQ_WAITING, 1.5),
        (builtin::HTTP_REQ_RECEIVING, 0.1),
        (builtin::HTTP_REQ_DURATION, 1.62),
    ];
    for n in 1..=40 {
        let group = if n % 2 == 0 { "::buy" } else { "" };
        let expected = if n % 20 == 0 { "false" } else { "true" };
        let tags = [("scenario", "default"), ("group", group), ("expected_response", expected)];
        phases.iter().for_each(|(phase, value)| run.add(*phase, &tags, &[value * f64::from(n)]));
        run.add(builtin::HTTP_REQS, &tags, &[1.0]);
        run.add(builtin::HTTP_REQ_FAILED, &tags, &[f64::from(u8::from(expected == "false"))]);
        run.add(builtin::CHECKS, &[("scenario", "default"), ("group", group), ("check", "is 200")], &[1.0]);
    }
    let tags = at("default", "");
    run.add(builtin::ITERATION_DURATION, &tags, &[61_234.5, 1.5]);
    run.add(builtin::ITERATIONS, &tags, &[1.0, 1.0]);
    run.add(builtin::DROPPED_ITERATIONS, &tags, &[3.0]);
    run.add(builtin::ITERATION_LAG, &tags, &[0.012, 0.25]);
    run.add(builtin::DATA_SENT, &tags, &[15_400.0]);
    run.add(builtin::DATA_RECEIVED, &tags, &[1_234_567.0]);
    run.add(builtin::VUS, &[], &[1.0, 10.0, 7.0]);
    run.add(builtin::VUS_MAX, &[], &[10.0]);
    run.add(builtin::WS_SESSIONS, &tags, &[1.0]);
    run.finish(&mut aggregate)
}

/// Iterations that threw, answers from 400 on, and requests that nobody answered.
fn failing_run() -> Results {
    let run = Run::new(&[("http_req_duration", &["p(95)<500"])]);
    let mut aggregate = run.aggregate();
    let tags = TagSet::new(at("default", ""));
    let error = |kind: ErrorKind, count: u32| {
        for _ in 0..count {
            let series = run.recorder.series_of_error(builtin::HTTP_REQS, &tags, &kind);
            run.recorder.add(series, 1.0, 0);
            let durations = run.recorder.series_of_request(builtin::HTTP_REQ_DURATION, &tags, &asked(&kind));
            run.recorder.add(durations, 0.0, 0);
            run.add(builtin::HTTP_REQ_FAILED, &at("default", ""), &[1.0]);
        }
    };
    error(ErrorKind::NoAnswer("dial: connection refused".into()), 40);
    error(ErrorKind::Status { status: 404, expected: false }, 12);
    error(ErrorKind::Status { status: 500, expected: false }, 3);
    error(ErrorKind::Status { status: 401, expected: true }, 2);
    let thrown = "TypeError: cannot read property 'token' of undefined (/home/somebody/load/login.js:12:34)";
    for (number, count) in [("0", 3000), ("1", 20), ("2", 9), ("3", 3), ("4", 2), ("5", 1), ("6", 1)] {
        let what =
            if number == "0" { thrown.to_owned() } else { format!("Error: user {number} is unknown (/x.js:3:5)") };
        (0..count).for_each(|_| run.recorder.count_error(&ErrorKind::Exception(what.as_str().into())));
        run.add(builtin::ITERATIONS_THREW, &at("default", ""), &[f64::from(count)]);
    }
    run.add(builtin::ITERATIONS, &at("default", ""), &[4000.0]);
    run.finish(&mut aggregate)
}

/// The row of a request with this error.
fn asked(kind: &ErrorKind) -> RequestKind {
    let (status, error, failed) = match kind {
        ErrorKind::Status { status, expected } => (*status, "".into(), !expected),
        ErrorKind::NoAnswer(what) | ErrorKind::Exception(what) => (0, what.clone(), true),
    };
    let (name, method) = (format!("http://shop.test/{status}").into(), "GET".into());
    RequestKind { name, method, status, error, failed, ..RequestKind::default() }
}

fn compare(name: &str, found: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("ONRUSH_BLESS").is_some() {
        std::fs::write(&path, found).expect("the golden can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{name} differs from what is stored; ONRUSH_BLESS=1 stores the new text");
}

fn options(mode: SummaryMode) -> SummaryOptions {
    SummaryOptions { mode, ..SummaryOptions::default() }
}

fn setup_data() -> Option<serde_json::Value> {
    Some(json!({ "token": "abc" }))
}

#[test]
fn compact() {
    compare("scenarios.compact.txt", &text(&two_scenarios(), &options(SummaryMode::Compact)));
    compare("http.compact.txt", &text(&http_run(), &options(SummaryMode::Compact)));
}

/// Lines that a terminal folds cannot be read.
#[test]
fn narrow_terminals() {
    for width in [60, 80, 120] {
        let options = SummaryOptions { width: Some(width), ..options(SummaryMode::Compact) };
        let shown = text(&http_run(), &options);
        assert!(shown.lines().all(|line| line.trim_end().chars().count() <= width), "{shown}");
        compare(&format!("http.{width}.txt"), &shown);
    }
    let wide = SummaryOptions { width: Some(120), ..options(SummaryMode::Compact) };
    assert_eq!(text(&http_run(), &wide), text(&http_run(), &options(SummaryMode::Compact)), "k6's layout fits");
}

#[test]
fn what_went_wrong_is_named() {
    compare("errors.txt", &text(&failing_run(), &options(SummaryMode::Compact)));
    let narrow = SummaryOptions { width: Some(60), ..options(SummaryMode::Compact) };
    compare("errors.60.txt", &text(&failing_run(), &narrow));
    let told_elsewhere = SummaryOptions { errors: false, ..options(SummaryMode::Compact) };
    assert!(!text(&failing_run(), &told_elsewhere).contains("ERRORS"));
    let state = RunState { is_stdout_tty: false, is_stderr_tty: false, duration: DURATION };
    let data = handle_summary_data(&failing_run(), &options(SummaryMode::Compact), &state, None);
    compare("errors.json", &pretty(&data["errors"]));
    assert_eq!(data["errors"], export_json(&failing_run(), &options(SummaryMode::Compact), None)["errors"]);
    let fine = handle_summary_data(&http_run(), &options(SummaryMode::Compact), &state, None);
    assert_eq!(fine.get("errors"), None, "k6's shape when nothing went wrong");
}

#[test]
fn full() {
    compare("scenarios.full.txt", &text(&two_scenarios(), &options(SummaryMode::Full)));
    compare("http.full.txt", &text(&http_run(), &options(SummaryMode::Full)));
}

#[test]
fn colours_change_nothing_but_colours() {
    let plain = options(SummaryMode::Full);
    let coloured = text(&two_scenarios(), &SummaryOptions { color: true, ..plain.clone() });
    compare("scenarios.colour.txt", &coloured);
    let mut bare = String::new();
    for (at, part) in coloured.split("\x1b[").enumerate() {
        bare.push_str(if at == 0 { part } else { part.split_once('m').expect("a colour ends with m").1 });
    }
    assert_eq!(bare, text(&two_scenarios(), &plain));
}

#[test]
fn chosen_statistics_unit_and_health() {
    let trend_stats = parse_trend_stats(&["min", "p(99.90)", "count"]).expect("valid statistics");
    let health = vec!["the generator was the bottleneck: 99 % CPU on 2 of 2 workers".to_owned()];
    let time_unit = Some(TimeUnit::Milliseconds);
    let options = SummaryOptions { trend_stats, health, time_unit, ..options(SummaryMode::Compact) };
    compare("http.chosen.txt", &text(&http_run(), &options));
}

#[test]
fn exports() {
    let options = options(SummaryMode::Compact);
    let state = RunState { is_stdout_tty: true, is_stderr_tty: false, duration: DURATION };
    compare("scenarios.export.json", &pretty(&export_json(&two_scenarios(), &options, setup_data())));
    let data = handle_summary_data(&two_scenarios(), &options, &state, setup_data());
    compare("scenarios.handle-summary.json", &pretty(&data));
    let config = RunConfig {
        duration: DURATION,
        script: "export default () => {}\n".to_owned(),
        generated_at: "2026-11-21T09:15:11Z".to_owned(),
        version: "2.2.0".to_owned(),
    };
    compare(
        "scenarios.machine.json",
        &pretty(&machine_readable(&two_scenarios(), &config, &SummaryOptions::default())),
    );
}

#[test]
fn a_run_without_samples() {
    let run = Run::new(&[]);
    let results = run.finish(&mut run.aggregate());
    assert_eq!(text(&results, &options(SummaryMode::Full)), "\n\n  █ TOTAL RESULTS \n\n\n\n");
}
