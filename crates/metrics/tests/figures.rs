//! Single figures at their edges: what each kind of metric tells, when thresholds hold, what is counted and named.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use onrush_metrics::errors::{ErrorCount, ErrorKind};
use onrush_metrics::metric::{Contains, Kind};
use onrush_metrics::results::{TrendValue, Value};
use onrush_metrics::system_tags::SystemTags;
use onrush_metrics::tags::TagFilter;
use onrush_metrics::threshold::{Aggregation, Moment, Operator, ThresholdSpec};
use onrush_metrics::{Aggregate, MetricId, Recorder, Registry, TagSet, ThresholdSpecs, Thresholds, Trend, builtin};

const SECOND: Duration = Duration::from_secs(1);

fn filled(samples: &[(MetricId, f64, u64)]) -> Aggregate {
    let registry = Registry::new();
    let recorder = Recorder::new(registry.clone());
    for (metric, value, at_ns) in samples {
        recorder.add(recorder.series(*metric, &TagSet::empty()), *value, *at_ns);
    }
    let mut aggregate = Aggregate::new(registry, Thresholds::default());
    aggregate.merge(recorder.take());
    aggregate
}

#[test]
fn each_kind_tells_its_figure_while_the_test_runs() {
    let aggregate = filled(&[
        (builtin::ITERATIONS, 2.0, 0),
        (builtin::ITERATIONS, 3.0, 0),
        (builtin::VUS, 4.0, 7),
        (builtin::VUS, 9.0, 6),
        (builtin::CHECKS, 1.0, 0),
        (builtin::CHECKS, 0.0, 0),
        (builtin::HTTP_REQ_DURATION, 10.0, 0),
        (builtin::HTTP_REQ_DURATION, 20.0, 0),
        (builtin::HTTP_REQ_BLOCKED, 0.0, 0),
    ]);
    let live = [builtin::ITERATIONS, builtin::VUS, builtin::CHECKS, builtin::HTTP_REQ_DURATION, builtin::HTTP_REQS];
    assert_eq!(live.map(|metric| aggregate.live(metric)), [5.0, 4.0, 1.0, 15.0, 0.0]);
    assert_eq!(live.map(|metric| aggregate.samples(metric)), [2, 2, 2, 2, 0]);
    assert_eq!(aggregate.samples(builtin::HTTP_REQ_BLOCKED), 1);
}

#[test]
fn results_are_found_by_name_and_a_run_of_no_length_has_no_rate() {
    let results = filled(&[(builtin::ITERATIONS, 3.0, 0), (builtin::VUS, 4.0, 0)]).results(Duration::ZERO, false);
    assert_eq!((results.count("iterations"), results.count("vus"), results.count("none")), (3, 0, 0));
    let value = |name: &str| results.metric(name).map(|metric| metric.value.clone());
    assert!(matches!(value("iterations"), Some(Value::Counter { count: 3.0, rate: 0.0 })));
    assert!(matches!(value("vus"), Some(Value::Gauge { value: 4.0, min: 4.0, max: 4.0 })));
    assert!(value("none").is_none());
}

#[test]
fn a_gauge_without_samples_shows_zeros() {
    let registry = Registry::new();
    let specs: ThresholdSpecs = [("vus".to_owned(), vec![spec("value<5", false)])].into();
    let thresholds = Thresholds::resolve(&specs, &registry).unwrap();
    assert!(!thresholds.is_empty() && Thresholds::default().is_empty());
    let results = Aggregate::new(registry, thresholds).results(SECOND, false);
    let value = results.metric("vus").map(|metric| metric.value.clone());
    assert!(matches!(value, Some(Value::Gauge { value: 0.0, min: 0.0, max: 0.0 })));
}

#[test]
fn a_distribution_answers_from_its_histogram() {
    let mut trend = Trend::default();
    [1.0, 2.0, 6.0].into_iter().for_each(|value| trend.add(value));
    let value = TrendValue::from(trend);
    assert_eq!((value.count(), value.sum(), value.avg(), value.min(), value.max()), (3, 9.0, 3.0, 1.0, 6.0));
    assert_eq!(value.percentile(50.0), 2.0);
}

#[test]
fn operators_differ_where_both_sides_are_equal() {
    use Operator::*;
    let all = [Less, LessOrEqual, Greater, GreaterOrEqual, Equal, NotEqual];
    let holds = |left, right| all.map(|operator| operator.holds(left, right));
    assert_eq!(holds(1.0, 2.0), [true, true, false, false, false, true]);
    assert_eq!(holds(2.0, 2.0), [false, true, false, true, true, false]);
    assert_eq!(holds(3.0, 2.0), [false, false, true, true, false, true]);
}

#[test]
fn every_aggregation_has_its_kinds_and_its_name() {
    use Aggregation::*;
    let of = |kind| {
        let all = [Count, Rate, Value, Avg, Min, Max, Med, Percentile(95.0)];
        let fitting: Vec<&str> = all.into_iter().filter(|one| one.fits(kind)).map(Aggregation::name).collect();
        fitting.join(" ")
    };
    let kinds = [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend];
    assert_eq!(kinds.map(of), ["count rate", "value", "rate", "avg min max med p"]);
    assert_eq!(kinds.map(Kind::name), ["counter", "gauge", "rate", "trend"]);
    assert_eq!([Contains::Default, Contains::Time, Contains::Data].map(Contains::name), ["default", "time", "data"]);
}

fn spec(threshold: &str, abort_on_fail: bool) -> ThresholdSpec {
    ThresholdSpec { threshold: threshold.to_owned(), abort_on_fail, delay_abort_eval: None }
}

#[test]
fn only_what_asks_for_it_aborts_and_only_when_it_does_not_hold() {
    let judge = |threshold, abort| {
        let registry = Registry::new();
        let recorder = Recorder::new(registry.clone());
        recorder.add(recorder.series(builtin::CHECKS, &TagSet::empty()), 0.0, 0);
        let specs: ThresholdSpecs = [("checks".to_owned(), vec![spec("rate<2", false), spec(threshold, abort)])].into();
        let mut aggregate = Aggregate::new(registry.clone(), Thresholds::resolve(&specs, &registry).unwrap());
        aggregate.merge(recorder.take());
        let verdict = aggregate.judge(Duration::ZERO, Moment::Running);
        (verdict.crossed.len(), verdict.abort)
    };
    assert_eq!(judge("rate>0.5", true), (1, true));
    assert_eq!(judge("rate>0.5", false), (1, false));
    assert_eq!(judge("rate<0.5", true), (0, false));
}

#[test]
fn one_threshold_that_is_crossed_is_enough_for_its_metric() {
    let registry = Registry::new();
    let recorder = Recorder::new(registry.clone());
    recorder.add(recorder.series(builtin::CHECKS, &TagSet::empty()), 0.0, 0);
    let list = vec![spec("rate>0.5", false), spec("rate>0.6", false), spec("rate<0.7", false)];
    let specs: ThresholdSpecs = [("checks".to_owned(), list)].into();
    let mut aggregate = Aggregate::new(registry.clone(), Thresholds::resolve(&specs, &registry).unwrap());
    aggregate.merge(recorder.take());
    assert_eq!(aggregate.judge(SECOND, Moment::Running).crossed, ["checks"]);
    let results = aggregate.results(SECOND, false);
    let held: Vec<bool> = results.metrics[0].thresholds.iter().map(|threshold| threshold.ok).collect();
    assert_eq!(held, [false, false, true]);
}

/// An object is written where the short form would lose something, and delays of every kind of number are read.
#[test]
fn specs_are_written_back_whole() {
    let read = |json: &str| serde_json::from_str::<ThresholdSpec>(json).map_err(|error| error.to_string());
    let again = |json: &str| serde_json::to_string(&read(json).unwrap()).unwrap();
    let abort = r#"{"threshold":"rate<1","abortOnFail":true,"delayAbortEval":null}"#;
    let delay = r#"{"threshold":"rate<1","abortOnFail":false,"delayAbortEval":"1s"}"#;
    assert_eq!((again(abort), again(delay)), (abort.to_owned(), delay.to_owned()));
    let delay_of = |number: &str| {
        read(&format!(r#"{{"threshold":"rate<1","delayAbortEval":{number}}}"#)).map(|spec| spec.delay_abort_eval)
    };
    for number in ["15", "-5", "1.5"] {
        assert_eq!(delay_of(number), Ok(Some(number.to_owned())));
    }
    let message = "invalid type: boolean `true`, expected a duration such as \"10s\" or a number of ms";
    assert!(delay_of("true").unwrap_err().starts_with(message));
}

#[test]
fn errors_are_listed_by_how_often_they_came_then_by_kind() {
    let registry = Registry::new();
    let recorder = Recorder::new(registry.clone());
    let (rare, often) = (ErrorKind::Exception("a".into()), ErrorKind::NoAnswer("b".into()));
    let status = ErrorKind::Status { status: 500, expected: false };
    recorder.count_error(&often);
    recorder.count_error(&often);
    recorder.count_error(&rare);
    recorder.count_error(&status);
    let mut aggregate = Aggregate::new(registry, Thresholds::default());
    aggregate.merge(recorder.take());
    let errors = aggregate.results(SECOND, false).errors;
    let count = |kind, count| ErrorCount { kind, count };
    assert_eq!(errors, [count(often, 2), count(rare, 1), count(status, 1)]);
}

#[test]
fn kinds_of_failures_are_bounded_and_statuses_are_not() {
    let registry = Registry::new();
    let recorder = Recorder::new(registry.clone());
    for number in 0..101_u16 {
        recorder.count_error(&ErrorKind::NoAnswer(format!("failure {number}").into()));
        recorder.count_error(&ErrorKind::Status { status: 400 + number, expected: false });
    }
    let mut aggregate = Aggregate::new(registry, Thresholds::default());
    aggregate.merge(recorder.take());
    let errors = aggregate.results(SECOND, false).errors;
    let others = |error: &&ErrorCount| error.kind == ErrorKind::NoAnswer("other failures".into());
    assert_eq!((errors.len(), errors.iter().filter(others).count()), (202, 1));
    let statuses = errors.iter().filter(|error| matches!(error.kind, ErrorKind::Status { .. }));
    assert_eq!(statuses.count(), 101);
}

/// What a tap sees, whether samples come one by one or those of a request together.
#[test]
fn a_tap_sees_what_is_counted() {
    let recorder = Recorder::new(Registry::new());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    recorder.set_tap(Box::new(move |sample| {
        log.lock().unwrap().push((sample.metric, sample.value, sample.at_ns));
    }));
    let failed = ErrorKind::NoAnswer("refused".into());
    let series = recorder.series(builtin::HTTP_REQS, &TagSet::empty());
    let of_error = recorder.series_of_error(builtin::HTTP_REQ_FAILED, &TagSet::empty(), &failed);
    recorder.add_bundle(recorder.bundle(&[series, of_error, of_error]), &[1.0, f64::NAN, 1.0], 5);
    recorder.add(series, 2.0, 6);
    let expected = [(builtin::HTTP_REQS, 1.0, 5), (builtin::HTTP_REQ_FAILED, 1.0, 5), (builtin::HTTP_REQS, 2.0, 6)];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn samples_of_a_request_are_counted_together_and_nonsense_is_refused() {
    let registry = Registry::new();
    let recorder = Recorder::new(registry.clone());
    let duration = recorder.series(builtin::HTTP_REQ_DURATION, &TagSet::empty());
    recorder.add_bundle(recorder.bundle(&[duration; 4]), &[1.0, f64::INFINITY, f64::NAN, 3.0], 0);
    let snapshot = recorder.take();
    assert!(!snapshot.is_empty());
    let mut aggregate = Aggregate::new(registry, Thresholds::default());
    aggregate.merge(snapshot);
    recorder.add_bundle(recorder.bundle(&[duration]), &[f64::NAN], 0);
    let refused_alone = recorder.take();
    assert!(!refused_alone.is_empty());
    aggregate.merge(refused_alone);
    assert_eq!((aggregate.refused(), aggregate.samples(builtin::HTTP_REQ_DURATION)), (3, 2));
    assert!(recorder.take().is_empty());
}

/// A bundle counts what its series would have counted one by one, in every sink that they feed.
#[test]
fn a_bundle_is_its_series_one_by_one() {
    let registry = Registry::new();
    registry.set_breakdown(true);
    registry.sub_metric(builtin::HTTP_REQ_DURATION, TagFilter::parse("status:200").unwrap());
    let metrics = [
        builtin::HTTP_REQS,
        builtin::HTTP_REQ_DURATION,
        builtin::HTTP_REQ_BLOCKED,
        builtin::HTTP_REQ_FAILED,
        builtin::DATA_SENT,
    ];
    let tags = TagSet::new([("scenario", "a"), ("group", "::g"), ("status", "200")]);
    let (single, tied) = (Recorder::new(registry.clone()), Recorder::new(registry.clone()));
    let of = |recorder: &Recorder| metrics.map(|metric| recorder.series(metric, &tags));
    let (series, bundle) = (of(&single), tied.bundle(&of(&tied)));
    assert_eq!(bundle, tied.bundle(&of(&tied)), "made once");
    let [mut one, mut other] = [(); 2].map(|()| Aggregate::new(registry.clone(), Thresholds::default()));
    let rounds = [[1.0, 3.5, 0.0, 0.0, 0.0], [1.0, 0.0, 0.25, 1.0, 77.0], [1.0, 7.0, 0.0, 0.0, -0.0], [0.0; 5]];
    for (at, values) in rounds.iter().enumerate() {
        series.iter().zip(values).for_each(|(series, value)| single.add(*series, *value, 9));
        tied.add_bundle(bundle, values, 9);
        if at % 2 == 1 {
            one.merge(single.take());
            other.merge(tied.take());
        }
    }
    assert!(tied.take().is_empty(), "zeros are handed over once");
    for metric in metrics {
        assert_eq!(one.samples(metric), rounds.len() as u64);
    }
    let told = |aggregate: &Aggregate| format!("{:?} {:?}", aggregate.results(SECOND, true), aggregate.details(SECOND));
    assert_eq!(told(&one), told(&other));
    assert!(told(&one).contains("status:200"), "the sub-metric too");
}

#[test]
fn tags_that_are_on_are_known_by_name() {
    let tags = SystemTags::parse(["ip", "url"]).unwrap();
    assert_eq!((tags.contains("ip"), tags.contains("status"), tags.contains("")), (true, false, false));
    assert_eq!(format!("{tags:?}"), r#"{"url", "ip"}"#);
    assert_eq!(tags.iter().count(), 2);
}

#[test]
fn groups_know_their_names_and_their_paths() {
    let registry = Registry::new();
    let recorder = Recorder::new(registry.clone());
    let tags = TagSet::new([("group", "::outer::inner"), ("check", "ok")]);
    recorder.add(recorder.series(builtin::CHECKS, &tags), 1.0, 0);
    let mut aggregate = Aggregate::new(registry, Thresholds::default());
    aggregate.merge(recorder.take());
    let root = aggregate.results(SECOND, false).root;
    let (outer, inner) = (&root.groups[0], &root.groups[0].groups[0]);
    let names = [&root, outer, inner].map(|group| (group.name.as_str(), group.path.as_str()));
    assert_eq!(names, [("", ""), ("outer", "::outer"), ("inner", "::outer::inner")]);
    assert_eq!((inner.checks[0].name.as_str(), inner.checks[0].path.as_str()), ("ok", "::outer::inner::ok"));
}

fn trend(values: &[f64]) -> Trend {
    let mut trend = Trend::default();
    values.iter().for_each(|value| trend.add(*value));
    trend
}

#[test]
fn percentiles_outside_of_the_range_are_the_extremes() {
    let trend = trend(&[1.0, 2.0, 4.0]);
    assert_eq!(trend.percentiles([-5.0, 0.0, 25.0, 75.0, 100.0, 200.0]), [1.0, 1.0, 1.5, 3.0, 4.0, 4.0]);
}

/// Small values are not lost between large ones that cancel each other.
#[test]
fn sums_are_compensated() {
    assert_eq!(trend(&[1e17, 1.0, -1e17]).sum(), 1.0);
    assert_eq!(trend(&[-1e17, 1.0, 1e17, 3.0]).sum(), 4.0);
}
