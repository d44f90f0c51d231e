//! From samples on several workers to results and verdicts: the way a run goes, without a run.

#![allow(clippy::disallowed_methods, reason = "it measures how long something takes")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use onrush_metrics::metric::{Contains, Kind};
use onrush_metrics::results::{GroupResult, MetricResult, Value};
use onrush_metrics::threshold::{Moment, ThresholdSpec};
use onrush_metrics::{Aggregate, MetricId, Recorder, Registry, TagSet, ThresholdSpecs, Thresholds, builtin};

const SECOND: Duration = Duration::from_secs(1);

fn add(recorder: &Recorder, metric: MetricId, tags: &[(&str, &str)], value: f64) {
    recorder.add(recorder.series(metric, &TagSet::new(tags.iter().copied())), value, 0);
}

fn specs(entries: &[(&str, &[&str])]) -> ThresholdSpecs {
    let spec =
        |text: &&str| ThresholdSpec { threshold: text.to_string(), abort_on_fail: false, delay_abort_eval: None };
    entries.iter().map(|(key, list)| (key.to_string(), list.iter().map(spec).collect())).collect()
}

fn aggregate(registry: &Arc<Registry>, entries: &[(&str, &[&str])]) -> Aggregate {
    let thresholds = Thresholds::resolve(&specs(entries), registry).expect("valid thresholds");
    Aggregate::new(registry.clone(), thresholds)
}

fn names(metrics: &[MetricResult]) -> Vec<String> {
    let name = |m: &MetricResult| match &m.filter {
        Some(filter) => format!("{}{{{filter}}}", m.name),
        None => m.name.clone(),
    };
    metrics.iter().map(name).collect()
}

fn tree(group: &GroupResult) -> String {
    let checks = group.checks.iter().map(|c| format!("{}={}/{}", c.path, c.passes, c.fails));
    let parts: Vec<String> = checks.chain(group.groups.iter().map(tree)).collect();
    format!("{}[{}]", group.name, parts.join(" "))
}

#[test]
fn workers_are_merged() {
    let registry = Registry::new();
    let metric = registry.define("my_trend", Kind::Trend, Contains::Default).unwrap();
    let mut aggregate = aggregate(&registry, &[]);
    for worker in 0..3 {
        let recorder = Recorder::new(registry.clone());
        for round in 0..2 {
            add(&recorder, metric, &[], f64::from(worker * 2 + round));
            add(&recorder, builtin::ITERATIONS, &[("scenario", "default")], 1.0);
            aggregate.merge(recorder.take());
        }
    }
    assert_eq!((aggregate.live(builtin::ITERATIONS), aggregate.samples(metric)), (6.0, 6));
    let results = aggregate.results(2 * SECOND, false);
    assert_eq!(names(&results.metrics), ["iterations", "my_trend"]);
    let Value::Counter { count, rate } = results.metrics[0].value else { panic!("a counter") };
    assert_eq!((count, rate), (6.0, 3.0));
    let Value::Trend(trend) = &results.metrics[1].value else { panic!("a trend") };
    assert_eq!([trend.avg(), trend.min(), trend.max(), trend.percentile(50.0)], [2.5, 0.0, 5.0, 2.5]);
}

#[test]
fn checks_and_groups_keep_their_order() {
    let registry = Registry::new();
    let mut aggregate = aggregate(&registry, &[]);
    let recorder = Recorder::new(registry);
    let check =
        |group: &str, name: &str, ok: f64| add(&recorder, builtin::CHECKS, &[("group", group), ("check", name)], ok);
    check("::zeta::inner", "deep", 1.0);
    check("::zeta", "same", 0.0);
    check("", "same", 1.0);
    add(&recorder, builtin::GROUP_DURATION, &[("group", "::alpha")], 5.0);
    aggregate.merge(recorder.take());
    check("::zeta", "same", 1.0);
    aggregate.merge(recorder.take());
    let results = aggregate.results(SECOND, false);
    assert_eq!(tree(&results.root), "[::same=1/0 zeta[::zeta::same=1/1 inner[::zeta::inner::deep=1/0]] alpha[]]");
    let flat: Vec<_> = results.checks.iter().map(|c| (c.name.as_str(), c.passes, c.fails)).collect();
    assert_eq!(flat, [("deep", 1, 0), ("same", 2, 1)]);
}

/// The worker whose snapshot is merged first need not be the one that met a check first.
#[test]
fn checks_of_several_workers_stand_as_they_were_met() {
    let registry = Registry::new();
    let mut aggregate = aggregate(&registry, &[]);
    let (first, second) = (Recorder::new(registry.clone()), Recorder::new(registry));
    add(&second, builtin::CHECKS, &[("check", "early")], 1.0);
    add(&first, builtin::CHECKS, &[("check", "late")], 1.0);
    aggregate.merge(first.take());
    aggregate.merge(second.take());
    let results = aggregate.results(SECOND, false);
    assert_eq!(tree(&results.root), "[::early=1/0 ::late=1/0]");
}

#[test]
fn breakdown_separates_scenarios_and_groups() {
    let registry = Registry::new();
    registry.set_breakdown(true);
    let mut aggregate = aggregate(&registry, &[]);
    let recorder = Recorder::new(registry);
    for (scenario, group) in [("b", "::g"), ("a", "::g"), ("a", "")] {
        add(&recorder, builtin::HTTP_REQS, &[("scenario", scenario), ("group", group)], 1.0);
        add(&recorder, builtin::CHECKS, &[("scenario", scenario), ("group", group), ("check", "ok")], 1.0);
    }
    aggregate.merge(recorder.take());
    let results = aggregate.results(SECOND, true);
    let scenarios: Vec<_> = results.scenarios.iter().map(|s| (s.name.as_str(), tree(&s.root))).collect();
    let expected = [("a", "[::ok=1/0 g[::g::ok=1/0]]".to_owned()), ("b", "[g[::g::ok=1/0]]".to_owned())];
    assert_eq!(scenarios, expected);
    assert_eq!(names(&results.scenarios[0].metrics), ["checks", "http_reqs"]);
    let count = |metrics: &[MetricResult]| metrics.iter().find(|m| m.name == "http_reqs").map(|m| m.value.clone());
    assert!(matches!(count(&results.scenarios[0].metrics), Some(Value::Counter { count: 2.0, .. })));
    assert!(matches!(count(&results.scenarios[0].root.groups[0].metrics), Some(Value::Counter { count: 1.0, .. })));
    assert!(matches!(count(&results.root.groups[0].metrics), Some(Value::Counter { count: 2.0, .. })));
}

#[test]
fn sub_metrics_follow_their_parent() {
    let registry = Registry::new();
    let entries: [(&str, &[&str]); 3] =
        [("http_reqs{status:500}", &["count<1"]), ("http_reqs{status:200}", &["count>0"]), ("checks", &[])];
    let mut aggregate = aggregate(&registry, &entries);
    let recorder = Recorder::new(registry);
    add(&recorder, builtin::HTTP_REQS, &[("status", "200")], 1.0);
    add(&recorder, builtin::HTTP_REQ_DURATION, &[("expected_response", "false")], 1.0);
    aggregate.merge(recorder.take());
    aggregate.judge(SECOND, Moment::End);
    let results = aggregate.results(SECOND, false);
    // The sub-metric of expected responses saw no sample and nobody asked for it; an empty list asks for its metric.
    let expected = ["checks", "http_req_duration", "http_reqs", "http_reqs{status:200}", "http_reqs{status:500}"];
    assert_eq!(names(&results.metrics), expected);
}

#[test]
fn a_parent_is_shown_for_the_sake_of_its_sub_metric() {
    let registry = Registry::new();
    let results = aggregate(&registry, &[("http_reqs{status:500}", &["count<1"])]).results(SECOND, false);
    assert_eq!(names(&results.metrics), ["http_reqs", "http_reqs{status:500}"]);
}

#[test]
fn thresholds_judge_every_aggregation() {
    let registry = Registry::new();
    let entries: [(&str, &[&str]); 4] = [
        ("http_req_duration", &["avg==2", "min==1", "max==3", "med==2", "p(75)==2.5", "p(100)>3"]),
        ("iterations", &["count==4", "rate==2"]),
        ("checks", &["rate==0.75"]),
        ("vus", &["value==7"]),
    ];
    let mut aggregate = aggregate(&registry, &entries);
    let recorder = Recorder::new(registry);
    [1.0, 2.0, 3.0].iter().for_each(|&v| add(&recorder, builtin::HTTP_REQ_DURATION, &[], v));
    [1.0; 4].iter().for_each(|&v| add(&recorder, builtin::ITERATIONS, &[], v));
    [1.0, 1.0, 0.0, 1.0].iter().for_each(|&v| add(&recorder, builtin::CHECKS, &[], v));
    [9.0, 7.0].iter().for_each(|&v| add(&recorder, builtin::VUS, &[], v));
    aggregate.merge(recorder.take());
    let verdict = aggregate.judge(2 * SECOND, Moment::End);
    assert_eq!(verdict.crossed, ["http_req_duration"]);
    assert!(!verdict.abort);
    let results = aggregate.results(2 * SECOND, false);
    let of = |name: &str| &results.metrics.iter().find(|m| m.name == name).unwrap().thresholds;
    let durations: Vec<_> = of("http_req_duration").iter().map(|t| (t.label.as_str(), t.left, t.ok)).collect();
    let expected = [
        ("avg", 2.0, true),
        ("min", 1.0, true),
        ("max", 3.0, true),
        ("med", 2.0, true),
        ("p(75)", 2.5, true),
        ("p(100)", 3.0, false),
    ];
    assert_eq!(durations, expected);
}

#[test]
fn nothing_is_judged_before_the_first_sample() {
    let registry = Registry::new();
    let entries: [(&str, &[&str]); 4] = [
        ("checks", &["rate>0.9"]),
        ("iterations", &["count>5"]),
        ("iteration_duration", &["avg<1"]),
        ("http_reqs{status:200}", &["count>1"]),
    ];
    let mut aggregate = aggregate(&registry, &entries);
    assert_eq!(aggregate.judge(SECOND, Moment::Running).crossed, Vec::<String>::new());
    // At the end what was never counted is 0; a share of nothing is not judged.
    assert_eq!(aggregate.judge(SECOND, Moment::End).crossed, ["http_reqs{status:200}", "iterations"]);
}

#[test]
fn abort_waits_for_its_delay() {
    let registry = Registry::new();
    let spec = |delay: &str| ThresholdSpec {
        threshold: "rate>0.9".to_owned(),
        abort_on_fail: true,
        delay_abort_eval: Some(delay.to_owned()),
    };
    let thresholds = Thresholds::resolve(&[("checks".to_owned(), vec![spec("10s")])].into(), &registry).unwrap();
    let mut aggregate = Aggregate::new(registry.clone(), thresholds);
    let recorder = Recorder::new(registry);
    add(&recorder, builtin::CHECKS, &[], 0.0);
    aggregate.merge(recorder.take());
    let at = |aggregate: &mut Aggregate, seconds| aggregate.judge(seconds * SECOND, Moment::Running);
    assert_eq!((at(&mut aggregate, 9).abort, at(&mut aggregate, 10).abort), (false, true));
    assert_eq!(at(&mut aggregate, 9).crossed, ["checks"]);
}

#[test]
fn refused_values_are_counted() {
    let registry = Registry::new();
    let mut aggregate = aggregate(&registry, &[]);
    let recorder = Recorder::new(registry);
    add(&recorder, builtin::HTTP_REQ_DURATION, &[], f64::NAN);
    aggregate.merge(recorder.take());
    assert_eq!((aggregate.refused(), aggregate.results(SECOND, false).metrics.len()), (1, 0));
}

#[test]
fn a_million_samples_cross_threads() {
    let registry = Registry::new();
    let mut aggregate = aggregate(&registry, &[]);
    let work = |registry: Arc<Registry>| {
        let recorder = Recorder::new(registry);
        let series = recorder.series(builtin::HTTP_REQ_WAITING, &TagSet::empty());
        (0..250_000u32).for_each(|n| recorder.add(series, 0.1 + f64::from(n % 1000), 0));
        recorder.take()
    };
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn({
                let registry = registry.clone();
                move || work(registry)
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| aggregate.merge(thread.join().expect("a worker that does not panic")));
    assert_eq!(aggregate.samples(builtin::HTTP_REQ_WAITING), 1_000_000);
}

/// Everything that a run of so many groups, checks and thresholds on single checks does with them.
fn work_of(names: usize) -> Duration {
    let keys: Vec<String> = (0..names).map(|n| format!("checks{{check:c{n}}}")).collect();
    let entries: Vec<(&str, &[&str])> = keys.iter().map(|key| (key.as_str(), &["rate>0.5"] as &[&str])).collect();
    let begin = Instant::now();
    let registry = Registry::new();
    let mut aggregate = aggregate(&registry, &entries);
    let recorder = Recorder::new(registry);
    for n in 0..names {
        let (group, check) = (format!("::g{n}"), format!("c{n}"));
        add(&recorder, builtin::GROUP_DURATION, &[("group", &group)], 1.0);
        add(&recorder, builtin::CHECKS, &[("check", &check)], 1.0);
    }
    aggregate.merge(recorder.take());
    assert_eq!(aggregate.judge(SECOND, Moment::End).crossed, [""; 0]);
    let results = aggregate.results(SECOND, false);
    assert_eq!([results.root.groups.len(), results.root.checks.len(), results.checks.len()], [names; 3]);
    begin.elapsed()
}

/// Four times the names may cost eight times as much, not sixteen. Several tries, each the best of several runs,
/// because the machine may be busy: work that grows with the square fails all of them.
#[test]
fn names_cost_what_their_number_costs() {
    let best = |names| (0..4).map(|_| work_of(names)).min().expect("four runs");
    let mut tries = (0..4).map(|_| (best(2_500), best(10_000)));
    assert!(tries.any(|(few, many)| many < few * 8), "10,000 names take more than 8 times as long as 2,500");
}
