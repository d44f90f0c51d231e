//! The samples of requests, added together and as whole nanoseconds: every figure of every second and of the run has
//! the bits that single samples give, in each of the sinks that a sample feeds.

mod told;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use onrush_metrics::requests::{Protocol, RequestKind};
use onrush_metrics::results::Value;
use onrush_metrics::tags::TagFilter;
use onrush_metrics::{
    Aggregate, ErrorKind, Member, MetricId, Recorder, Registry, Results, Series, TagSet, Thresholds, Trend, builtin, ms,
};
use told::{figures, told};

const SECOND: Duration = Duration::from_secs(1);

const TIMES: [MetricId; 4] =
    [builtin::HTTP_REQ_DURATION, builtin::HTTP_REQ_BLOCKED, builtin::HTTP_REQ_SENDING, builtin::HTTP_REQ_WAITING];

/// A request as the recorders get it.
struct Request {
    status: u16,
    group: &'static str,
    times_ns: [u64; TIMES.len()],
    at_ns: u64,
}

impl Request {
    fn random(rng: &mut Rng, at_ns: u64) -> Request {
        let status = *rng.choice(&[200, 200, 200, 201, 404]).expect("some");
        let group = *rng.choice(&["", "::g"]).expect("some");
        let times_ns = std::array::from_fn(|_| match rng.u32(..4) {
            0 => 0,
            1 => rng.u64(..100),
            2 => rng.u64(..2_000_000),
            _ => {
                let bits = rng.u32(1..45);
                rng.u64(..1 << bits)
            }
        });
        Request { status, group, times_ns, at_ns }
    }

    fn failed(&self) -> bool {
        self.status >= 400
    }

    fn tags(&self) -> TagSet {
        let expected = if self.failed() { "false" } else { "true" };
        let (status, scenario) = (self.status.to_string(), "a");
        let pairs =
            [("scenario", scenario), ("group", self.group), ("status", &status), ("expected_response", expected)];
        TagSet::new(pairs)
    }

    /// The series of its samples in their order: how many there are, its times, whether it failed.
    fn series(&self, recorder: &Recorder) -> Vec<Series> {
        let tags = self.tags();
        let gone = ErrorKind::Status { status: self.status, expected: false };
        let kind = RequestKind {
            name: "/".into(),
            method: "GET".into(),
            protocol: Protocol::Http,
            status: self.status,
            failed: self.failed(),
            group: self.group.into(),
            ..RequestKind::default()
        };
        let requests = match self.failed() {
            true => recorder.series_of_error(builtin::HTTP_REQS, &tags, &gone),
            false => recorder.series(builtin::HTTP_REQS, &tags),
        };
        let times = TIMES.iter().map(|metric| match *metric {
            builtin::HTTP_REQ_DURATION => recorder.series_of_request(*metric, &tags, &kind),
            other => recorder.series(other, &tags),
        });
        [requests].into_iter().chain(times).chain([recorder.series(builtin::HTTP_REQ_FAILED, &tags)]).collect()
    }

    fn add_singly(&self, recorder: &Recorder) {
        let times = self.times_ns.map(|ns| ns as f64 / 1e6);
        let values = [1.0].into_iter().chain(times).chain([f64::from(u8::from(self.failed()))]);
        for (series, value) in self.series(recorder).into_iter().zip(values) {
            recorder.add(series, value, self.at_ns);
        }
    }

    fn add_together(&self, recorder: &Recorder) {
        let series = self.series(recorder);
        let last = series.len() - 1;
        let members: Vec<Member> = (0..)
            .zip(series)
            .map(|(at, series)| match at {
                0 => Member::Constant(series, 1.0),
                at if at == last => Member::Constant(series, f64::from(u8::from(self.failed()))),
                _ => Member::Measured(series),
            })
            .collect();
        recorder.add_durations(recorder.bundle_of(&members), &self.times_ns, || self.at_ns);
    }
}

/// Sub-metrics of one metric and of several, so that sinks are shared in many ways.
fn registry() -> Arc<Registry> {
    let registry = Registry::new();
    registry.set_breakdown(true);
    let filters = [
        (builtin::HTTP_REQ_DURATION, "expected_response:true"),
        (builtin::HTTP_REQ_DURATION, "status:200"),
        (builtin::HTTP_REQ_WAITING, "status:200"),
        (builtin::HTTP_REQ_WAITING, "group:::g"),
        (builtin::HTTP_REQS, "status:404"),
        (builtin::HTTP_REQ_FAILED, "status:200"),
    ];
    for (metric, filter) in filters {
        registry.sub_metric(metric, TagFilter::parse(filter).expect("a filter"));
    }
    registry
}

/// All figures of the results, the table of requests too.
fn whole(results: &Results) -> String {
    let rows = results.requests.rows.iter().map(|row| (&row.kind, figures(&Value::Trend(row.durations.clone()))));
    format!("{} {:?}", told(results), rows.collect::<Vec<_>>())
}

/// What comes in one second after the other.
fn seconds(seed: u64) -> Vec<Vec<Request>> {
    let mut rng = Rng::with_seed(seed);
    let mut at_ns = 0;
    let mut request = || {
        at_ns += 1;
        Request::random(&mut rng, at_ns)
    };
    [0, 1, 2, 30, 700].map(|count| (0..count).map(|_| request()).collect()).into()
}

/// The figures of each second, or those of the whole run.
fn figures_of(seed: u64, add: fn(&Request, &Recorder), by_second: bool) -> Vec<String> {
    let registry = registry();
    let recorder = Recorder::new(registry.clone());
    let empty = || Aggregate::new(registry.clone(), Thresholds::default());
    let (mut aggregate, mut all) = (empty(), Vec::new());
    for second in seconds(seed) {
        second.iter().for_each(|request| add(request, &recorder));
        aggregate.merge(recorder.take());
        if by_second {
            all.push(whole(&std::mem::replace(&mut aggregate, empty()).results(SECOND, true)));
        }
    }
    assert!(recorder.take().is_empty(), "everything is handed over once");
    all.push(whole(&aggregate.results(SECOND, true)));
    all
}

#[test]
fn samples_that_come_together_give_the_figures_of_single_ones_in_every_second() {
    for seed in 0..20 {
        for by_second in [true, false] {
            let singly = figures_of(seed, Request::add_singly, by_second);
            assert_eq!(singly, figures_of(seed, Request::add_together, by_second));
            assert!(singly.iter().any(|told| told.contains("status:200") && told.contains("::g")));
        }
    }
}

/// What the sinks hold is what adding each sample to each of them gives.
#[test]
fn each_sink_has_what_it_would_have_got_itself() {
    let registry = registry();
    let recorder = Recorder::new(registry.clone());
    let (mut total, mut expected, mut rows) = (Trend::default(), Trend::default(), BTreeMap::<_, Trend>::new());
    let mut aggregate = Aggregate::new(registry, Thresholds::default());
    for second in seconds(7) {
        for (at, request) in second.iter().enumerate() {
            let ms = request.times_ns[0] as f64 / 1e6;
            total.add(ms);
            if !request.failed() {
                expected.add(ms);
            }
            rows.entry((request.status, request.group)).or_default().add(ms);
            match at % 3 {
                0 => request.add_singly(&recorder),
                _ => request.add_together(&recorder),
            }
        }
        aggregate.merge(recorder.take());
    }
    let results = aggregate.results(SECOND, false);
    let of = |filter: Option<&str>| {
        let found = results.metrics.iter().find(|m| m.name == "http_req_duration" && m.filter.as_deref() == filter);
        figures(&found.expect("it has samples").value)
    };
    let trend = |trend: &Trend| figures(&Value::Trend(trend.clone().into()));
    assert_eq!(of(None), trend(&total));
    assert_eq!(of(Some("expected_response:true")), trend(&expected));
    assert_eq!(results.requests.rows.len(), rows.len());
    for row in &results.requests.rows {
        let own = &rows[&(row.kind.status, &*row.kind.group)];
        assert_eq!(figures(&Value::Trend(row.durations.clone())), trend(own), "{:?}", row.kind);
    }
}

/// What a tap sees of each sample: its metric, its value and its time.
#[test]
fn a_tap_sees_the_same_samples_in_the_same_order() {
    let seen = |add: fn(&Request, &Recorder)| {
        let recorder = Recorder::new(registry());
        let log: Rc<RefCell<Vec<(MetricId, u64, u64)>>> = Rc::default();
        let lines = Rc::clone(&log);
        recorder.set_tap(Box::new(move |sample| {
            lines.borrow_mut().push((sample.metric, sample.value.to_bits(), sample.at_ns));
        }));
        seconds(3).iter().flatten().for_each(|request| add(request, &recorder));
        log.take()
    };
    let singly = seen(Request::add_singly);
    assert!(singly.len() > 700 * TIMES.len());
    assert!(singly == seen(Request::add_together));
}

#[test]
fn nanoseconds_are_told_in_milliseconds_to_the_last_bit() {
    for (ns, expected) in [(0, 0.0), (1, 1e-6), (3_000_000_500, 3000.0005), (1 << 53, 9_007_199_254.740_992)] {
        assert_eq!(ms(ns), expected);
    }
}
