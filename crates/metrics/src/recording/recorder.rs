//! A worker's own store of samples.
//!
//! `series` resolves a metric and a tag set once into a `Series`; `add` with it touches only the cell of its sinks: no
//! lock, no hashing, no allocation. `bundle` ties series that get their samples together, `add_bundle` adds to all of
//! them. `take` hands over what came in since the last `take`.
//!
//! Memory follows the number of sets of sinks (metrics, sub-metrics, groups, checks) that samples feed, not the number
//! of samples nor of distinct tag sets: tag sets that feed the same sinks share one entry, and the table that finds
//! them forgets some when it grows large. Only a tap needs the tags themselves, so with one every distinct set stays.

use std::cell::RefCell;
use std::sync::Arc;

use crate::errors::ErrorKind;
use crate::naming::builtin;
use crate::naming::metric::{Kind, MetricId};
use crate::naming::tags::TagSet;
use crate::recording::batches::{Batcher, Note, RecordOf, TakeBatch};
use crate::recording::lookup::{Lookup, RESOLVED_LIMIT};
use crate::recording::snapshot::Snapshot;
use crate::recording::store::{Bundle, Entry, Member, Series, Store, ms};
use crate::registry::Registry;
use crate::requests::RequestKind;
use crate::sink::{Scope, SinkKey};

/// One sample, as a tap sees it.
#[derive(Debug)]
pub struct Sample<'a> {
    /// The metric it belongs to.
    pub metric: MetricId,
    /// Its tags.
    pub tags: &'a TagSet,
    /// Times in ms, data in bytes.
    pub value: f64,
    /// Nanoseconds since the Unix epoch.
    pub at_ns: u64,
}

/// What sees every raw sample of a worker.
pub type Tap = Box<dyn FnMut(&Sample<'_>)>;

/// The samples of one worker. Not shared between threads; workers keep it in an `Rc`.
pub struct Recorder {
    registry: Arc<Registry>,
    store: RefCell<Store>,
    lookup: RefCell<Lookup>,
    tap: RefCell<Option<Tap>>,
    batches: RefCell<Option<Batcher>>,
    /// Whether somebody sees every sample.
    tapped: std::cell::Cell<bool>,
    refused: std::cell::Cell<u64>,
}

impl Recorder {
    /// An empty recorder for the metrics of this registry.
    pub fn new(registry: Arc<Registry>) -> Self {
        Recorder {
            registry,
            store: RefCell::default(),
            lookup: RefCell::default(),
            tap: RefCell::new(None),
            batches: RefCell::new(None),
            tapped: std::cell::Cell::new(false),
            refused: std::cell::Cell::new(0),
        }
    }

    /// The metrics whose samples it takes.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Shows every sample from now on to `tap` as well. To be called before the first series is resolved: those
    /// resolved earlier may show the tags of another series with the same sinks. The tap must not call this recorder.
    pub fn set_tap(&self, tap: Tap) {
        *self.tap.borrow_mut() = Some(tap);
        self.tapped.set(true);
    }

    /// Writes every sample from now on down for `take` as well, which gets them in batches. To be called before the
    /// first series is resolved. `take` must not call this recorder.
    pub fn set_batches(&self, take: TakeBatch) {
        *self.batches.borrow_mut() = Some(Batcher::new(take));
        self.tapped.set(true);
    }

    /// Whether each sample is written down, for outputs.
    pub fn has_batches(&self) -> bool {
        self.tapped.get()
    }

    /// What the samples in batches carry from now on besides tags; `note` is asked only where there are batches. Users
    /// of a worker take turns, so whoever adds samples says it before.
    #[inline]
    pub fn annotate(&self, note: impl FnOnce() -> Option<Note>) {
        if self.tapped.get()
            && let Some(batches) = self.batches.borrow_mut().as_mut()
        {
            batches.annotate(note());
        }
    }

    /// The series of a metric with these tags. The `checks` metric's `group` and `check` tags also feed the tree of
    /// checks.
    pub fn series(&self, metric: MetricId, tags: &TagSet) -> Series {
        let mut lookup = self.lookup.borrow_mut();
        let wanted = (metric, tags.clone());
        if let Some(series) = lookup.resolved.get(&wanted) {
            return *series;
        }
        lookup.grown |= lookup.cardinality.insert(metric, tags);
        let mut store = self.store.borrow_mut();
        let sinks = self.sinks_of(metric, tags, &mut lookup, &mut store);
        let series = if self.tapped.get() {
            store.push(metric, &sinks, tags)
        } else {
            let make = || store.push(metric, &sinks, tags);
            *lookup.shared.entry((metric, sinks.clone())).or_insert_with(make)
        };
        // Only without a tap are series shared, so that forgotten ones cost no memory when they are made again.
        lookup.resolved.insert(wanted, series, (!self.tapped.get()).then_some(RESOLVED_LIMIT));
        series
    }

    /// The series of a Counter of requests with this error: its samples are counted by kind too, whatever tags are
    /// kept. For callers that keep what they got: it is looked up each time.
    pub fn series_of_error(&self, metric: MetricId, tags: &TagSet, kind: &ErrorKind) -> Series {
        self.series_with(metric, tags, |lookup, store| lookup.error(kind, store, &self.registry))
    }

    /// The series of a Trend of requests of this kind: its samples are a row of the table of requests too, whatever
    /// tags are kept. For callers that keep what they got.
    pub fn series_of_request(&self, metric: MetricId, tags: &TagSet, kind: &RequestKind) -> Series {
        self.series_with(metric, tags, |lookup, store| lookup.request(kind, store, &self.registry))
    }

    /// The series of a metric that feeds one more sink than its tags say.
    fn series_with(
        &self,
        metric: MetricId,
        tags: &TagSet,
        find: impl FnOnce(&mut Lookup, &mut Store) -> u32,
    ) -> Series {
        let plain = self.series(metric, tags);
        let (mut lookup, mut store) = (self.lookup.borrow_mut(), self.store.borrow_mut());
        let one_more = find(&mut lookup, &mut store);
        let sinks: Box<[u32]> = store.sinks(plain).iter().copied().chain([one_more]).collect();
        if self.tapped.get() {
            return store.push(metric, &sinks, tags);
        }
        *lookup.shared.entry((metric, sinks.clone())).or_insert_with(|| store.push(metric, &sinks, tags))
    }

    /// Counts something that went wrong.
    pub fn count_error(&self, kind: &ErrorKind) {
        let mut store = self.store.borrow_mut();
        let at = self.lookup.borrow_mut().error(kind, &mut store, &self.registry);
        store.add_to(at, 1.0);
    }

    /// Adds one sample. `at_ns`: nanoseconds since the Unix epoch. Rates take 0 or 1; Trends with `Contains::Time` take
    /// ms. NaN and infinities are not counted, except among `Aggregate::refused`.
    pub fn add(&self, series: Series, value: f64, at_ns: u64) {
        let mut store = self.store.borrow_mut();
        if !value.is_finite() {
            self.refused.set(self.refused.get() + 1);
            return;
        }
        store.add(series, value, at_ns);
        if self.tapped.get() {
            self.show(store.entry(series), value, at_ns);
            self.write_down(&store, RecordOf::Series(series.number()), &[value], at_ns);
        }
    }

    /// Adds values to a Trend's series that were never measured and are larger than all others
    /// (`Trend::add_censored`). No tap sees them, because they are no samples.
    #[cold]
    pub fn add_censored(&self, series: Series, count: u64) {
        self.store.borrow_mut().add_censored(series, count);
    }

    /// Ties series, none of them a gauge's, that get their samples together. For callers that keep what they got.
    pub fn bundle(&self, series: &[Series]) -> Bundle {
        self.bundle_of(&series.iter().copied().map(Member::Measured).collect::<Vec<Member>>())
    }

    /// The same where the samples of some are always the same.
    pub fn bundle_of(&self, members: &[Member]) -> Bundle {
        let is_gauge = |member: &Member| member.series().is_gauge();
        debug_assert!(!members.iter().any(is_gauge), "a gauge wants to know when: use add");
        let (mut lookup, mut store) = (self.lookup.borrow_mut(), self.store.borrow_mut());
        let key = members.iter().map(|member| member.key()).collect();
        *lookup.bundles.entry(key).or_insert_with(|| store.push_bundle(members))
    }

    /// Adds samples of one moment, one to each series of a bundle, as `add` does one by one. `values`: those of the
    /// measured ones in its order.
    #[inline]
    pub fn add_bundle(&self, bundle: Bundle, values: &[f64], at_ns: u64) {
        let mut store = self.store.borrow_mut();
        let refused = store.add_bundle(bundle, values);
        if refused > 0 || self.tapped.get() {
            self.refused.set(self.refused.get() + refused);
            self.tell_bundle(&store, bundle, values, at_ns);
        }
    }

    /// The same for Trends of times, in nanoseconds: the samples of a request. `at_ns` is asked only where each sample
    /// is told to somebody.
    #[inline]
    pub fn add_durations<const N: usize>(&self, bundle: Bundle, durations: &[u64; N], at_ns: impl FnOnce() -> u64) {
        let mut store = self.store.borrow_mut();
        store.add_durations(bundle, durations);
        if self.tapped.get() {
            self.tell_bundle(&store, bundle, &durations.map(ms), at_ns());
        }
    }

    /// The same for Counters of whole numbers: bytes.
    #[inline]
    pub fn add_counts<const N: usize>(&self, bundle: Bundle, counts: &[u64; N], at_ns: u64) {
        let mut store = self.store.borrow_mut();
        store.add_counts(bundle, counts);
        if self.tapped.get() {
            self.tell_bundle(&store, bundle, &counts.map(|count| count as f64), at_ns);
        }
    }

    /// Hands over everything added since the last call; the recorder continues with empty cells and the same series.
    pub fn take(&self) -> Snapshot {
        let mut lookup = self.lookup.borrow_mut();
        let grown = std::mem::take(&mut lookup.grown);
        let cardinality = grown.then(|| Box::new(lookup.cardinality.clone()));
        let mut store = self.store.borrow_mut();
        if let Some(batches) = self.batches.borrow_mut().as_mut() {
            batches.hand_over(|from| store.series_from(from), |from| store.bundles_from(from));
        }
        store.settle();
        debug_assert_eq!(lookup.keys.len(), store.sink_count(), "each sink has a key");
        let sinks = store.take_sinks().map(|(number, sink)| (lookup.keys[number].clone(), sink)).collect();
        Snapshot { sinks, refused: self.refused.take(), cardinality }
    }

    // Cold: called only when each sample is wanted.
    #[cold]
    fn write_down(&self, store: &Store, of: RecordOf, values: &[f64], at_ns: u64) {
        let mut batches = self.batches.borrow_mut();
        if let Some(batches) = batches.as_mut()
            && batches.add(of, values, at_ns)
        {
            batches.hand_over(|from| store.series_from(from), |from| store.bundles_from(from));
        }
    }

    // Cold, as `write_down`.
    #[cold]
    fn tell_bundle(&self, store: &Store, bundle: Bundle, measured: &[f64], at_ns: u64) {
        let (series, values): (Vec<Series>, Vec<f64>) = store.samples_of(bundle, measured).unzip();
        for (series, value) in series.into_iter().zip(&values).filter(|(_, value)| value.is_finite()) {
            self.show(store.entry(series), *value, at_ns);
        }
        self.write_down(store, RecordOf::Bundle(bundle.number()), &values, at_ns);
    }

    // Cold, as `write_down`.
    #[cold]
    fn show(&self, entry: &Entry, value: f64, at_ns: u64) {
        if let Some(tap) = self.tap.borrow_mut().as_mut() {
            tap(&Sample { metric: entry.metric, tags: &entry.tags, value, at_ns });
        }
    }

    /// The sinks that samples of this series feed, made where they do not exist yet.
    fn sinks_of(&self, metric: MetricId, tags: &TagSet, lookup: &mut Lookup, store: &mut Store) -> Box<[u32]> {
        let kind = self.registry.definition(metric).kind;
        let tag = |name: &str| tags.get(name).filter(|value| !value.is_empty()).map(Arc::<str>::from);
        let (scenario, group) = (tag("scenario"), tag("group"));
        let mut scopes = vec![Scope::default()];
        if self.registry.breakdown() {
            if scenario.is_some() {
                scopes.push(Scope { scenario: scenario.clone(), group: None });
            }
            if group.is_some() {
                scopes.push(Scope { scenario: scenario.clone(), group: group.clone() });
            }
        }
        let mut keys: Vec<(SinkKey, Kind)> = Vec::new();
        keys.extend(scopes.into_iter().map(|scope| (SinkKey::Metric(metric, scope), kind)));
        let subs = self.registry.sub_metrics_of(metric, tags);
        keys.extend(subs.into_iter().map(|sub| (SinkKey::Sub(sub), kind)));
        // A check may have an empty name.
        let check = tags.get("check").map(Arc::<str>::from);
        keys.extend(self.tree_keys(metric, scenario, group, check).into_iter().map(|key| (key, Kind::Rate)));
        keys.into_iter().map(|(key, kind)| lookup.sink(key, kind, store, &self.registry)).collect()
    }

    /// What a sample of `checks` or `group_duration` says about the tree of groups and checks.
    fn tree_keys(
        &self,
        metric: MetricId,
        scenario: Option<Arc<str>>,
        group: Option<Arc<str>>,
        check: Option<Arc<str>>,
    ) -> Vec<SinkKey> {
        let mut scopes = vec![Scope { scenario: None, group: group.clone() }];
        if self.registry.breakdown() && scenario.is_some() {
            scopes.push(Scope { scenario, group: group.clone() });
        }
        match (metric, check) {
            (builtin::CHECKS, Some(name)) => {
                scopes.into_iter().map(|scope| SinkKey::Check(scope, name.clone())).collect()
            }
            (builtin::GROUP_DURATION, _) if group.is_some() => scopes.into_iter().map(SinkKey::Group).collect(),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::KINDS;
    use crate::naming::metric::Contains;
    use crate::naming::tags::TagFilter;
    use std::rc::Rc;

    fn keys(snapshot: &Snapshot) -> Vec<SinkKey> {
        snapshot.sinks.iter().map(|(key, _)| (**key).clone()).collect()
    }

    fn total(metric: MetricId) -> SinkKey {
        SinkKey::Metric(metric, Scope::default())
    }

    #[test]
    fn a_check_counts_once_and_by_scenario_where_that_is_wanted() {
        let checks = |is_wanted: bool, tags: &[(&str, &str)]| {
            let registry = Registry::new();
            registry.set_breakdown(is_wanted);
            let recorder = Recorder::new(registry);
            recorder.add(recorder.series(builtin::CHECKS, &TagSet::new(tags.iter().copied())), 1.0, 0);
            let snapshot = recorder.take();
            snapshot.sinks.iter().filter(|(key, _)| matches!(&**key, SinkKey::Check(..))).count()
        };
        let (of_scenario, of_none) = ([("scenario", "a"), ("check", "ok")], [("check", "ok")]);
        assert_eq!((checks(false, &of_scenario), checks(true, &of_scenario)), (1, 2));
        assert_eq!((checks(false, &of_none), checks(true, &of_none)), (1, 1));
    }

    #[test]
    fn equal_tags_give_the_same_series() {
        let recorder = Recorder::new(Registry::new());
        let a = recorder.series(builtin::HTTP_REQS, &TagSet::new([("status", "200"), ("url", "/")]));
        let b = recorder.series(builtin::HTTP_REQS, &TagSet::new([("url", "/"), ("status", "200")]));
        assert_eq!(a, b);
    }

    #[test]
    fn take_empties_and_series_stay_valid() {
        let recorder = Recorder::new(Registry::new());
        let series = recorder.series(builtin::ITERATIONS, &TagSet::empty());
        recorder.add(series, 1.0, 0);
        assert_eq!(recorder.take().sinks.len(), 1);
        assert!(recorder.take().is_empty());
        recorder.add(series, 1.0, 0);
        assert_eq!(keys(&recorder.take()), [total(builtin::ITERATIONS)]);
    }

    #[test]
    fn samples_feed_matching_sub_metrics() {
        let registry = Registry::new();
        let sub = registry.sub_metric(builtin::HTTP_REQS, TagFilter::parse("status:200").unwrap());
        let recorder = Recorder::new(registry);
        for status in ["200", "500"] {
            recorder.add(recorder.series(builtin::HTTP_REQS, &TagSet::new([("status", status)])), 1.0, 0);
        }
        let snapshot = recorder.take();
        assert_eq!(keys(&snapshot), [total(builtin::HTTP_REQS), SinkKey::Sub(sub)]);
        assert_eq!([snapshot.sinks[0].1.samples(), snapshot.sinks[1].1.samples()], [2, 1]);
    }

    #[test]
    fn breakdown_adds_scenario_and_group() {
        let registry = Registry::new();
        registry.set_breakdown(true);
        let recorder = Recorder::new(registry);
        let tags = TagSet::new([("scenario", "a"), ("group", "::g"), ("check", "ok")]);
        recorder.add(recorder.series(builtin::CHECKS, &tags), 1.0, 0);
        let scope = |scenario: bool, group: bool| Scope {
            scenario: scenario.then(|| "a".into()),
            group: group.then(|| "::g".into()),
        };
        let expected = [
            total(builtin::CHECKS),
            SinkKey::Metric(builtin::CHECKS, scope(true, false)),
            SinkKey::Metric(builtin::CHECKS, scope(true, true)),
            SinkKey::Check(scope(false, true), "ok".into()),
            SinkKey::Check(scope(true, true), "ok".into()),
        ];
        assert_eq!(keys(&recorder.take()), expected);
    }

    #[test]
    fn what_is_not_finite_is_refused_and_counted() {
        let registry = Registry::new();
        let metric = registry.define("my_counter", Kind::Counter, Contains::Default).unwrap();
        let recorder = Recorder::new(registry);
        let series = recorder.series(metric, &TagSet::empty());
        recorder.add(series, f64::NAN, 0);
        recorder.add(series, f64::INFINITY, 0);
        let snapshot = recorder.take();
        assert_eq!((snapshot.sinks.len(), snapshot.refused), (0, 2));
        assert!(recorder.take().is_empty());
    }

    #[test]
    fn errors_are_counted_by_kind_and_kinds_are_bounded() {
        let recorder = Recorder::new(Registry::new());
        let tags = TagSet::new([("url", "/")]);
        let (fine, gone) =
            (recorder.series(builtin::HTTP_REQS, &tags), ErrorKind::Status { status: 404, expected: false });
        let failed = recorder.series_of_error(builtin::HTTP_REQS, &tags, &gone);
        assert_eq!(failed, recorder.series_of_error(builtin::HTTP_REQS, &tags, &gone));
        recorder.add(fine, 1.0, 0);
        recorder.add(failed, 1.0, 0);
        recorder.add(failed, 1.0, 0);
        for number in 0..KINDS + 5 {
            recorder.count_error(&ErrorKind::Exception(format!("user {number} is unknown").into()));
        }
        let snapshot = recorder.take();
        let count =
            |key: SinkKey| snapshot.sinks.iter().find(|(known, _)| **known == key).map(|(_, sink)| sink.samples());
        assert_eq!((count(total(builtin::HTTP_REQS)), count(SinkKey::Error(gone))), (Some(3), Some(2)));
        assert_eq!(count(SinkKey::Error(ErrorKind::Exception("other exceptions".into()))), Some(5));
        assert_eq!(count(SinkKey::Error(ErrorKind::Exception("user 7 is unknown".into()))), Some(1));
        assert_eq!(snapshot.sinks.len(), KINDS + 3);
    }

    #[test]
    fn many_tag_sets_share_their_sinks() {
        let recorder = Recorder::new(Registry::new());
        for id in 0..RESOLVED_LIMIT + 10 {
            let tags = TagSet::new([("url", format!("/users/{id}"))]);
            recorder.add(recorder.series(builtin::HTTP_REQ_DURATION, &tags), id as f64, 0);
        }
        assert_eq!(recorder.store.borrow().entries.len(), 1);
        assert!(recorder.lookup.borrow().resolved.kept() <= RESOLVED_LIMIT);
        assert_eq!(recorder.take().sinks[0].1.samples(), RESOLVED_LIMIT as u64 + 10);
    }

    #[test]
    fn a_tap_sees_every_sample_with_its_own_tags() {
        let recorder = Recorder::new(Registry::new());
        let seen: Rc<RefCell<Vec<String>>> = Rc::default();
        let log = seen.clone();
        recorder.set_tap(Box::new(move |sample| {
            let url = sample.tags.get("url").unwrap_or_default();
            log.borrow_mut().push(format!("{} {url} {} {}", sample.metric.0, sample.value, sample.at_ns));
        }));
        for url in ["/a", "/b"] {
            recorder.add(recorder.series(builtin::HTTP_REQS, &TagSet::new([("url", url)])), 1.0, 7);
        }
        assert_eq!(*seen.borrow(), ["8 /a 1 7", "8 /b 1 7"]);
    }

    #[test]
    fn a_snapshot_is_empty_when_nothing_at_all_came_in() {
        let recorder = Recorder::new(Registry::new());
        assert!(recorder.take().is_empty());
        let series = recorder.series(builtin::ITERATIONS, &TagSet::empty());
        assert!(!recorder.take().is_empty(), "a new series");
        recorder.add(series, 1.0, 0);
        assert!(!recorder.take().is_empty(), "a sample");
        recorder.add(series, f64::NAN, 0);
        assert!(!recorder.take().is_empty(), "a refused one");
        assert!(recorder.take().is_empty());
    }

    #[test]
    fn a_failed_request_feeds_what_a_fine_one_feeds_and_its_error() {
        let registry = Registry::new();
        let sub = registry.sub_metric(builtin::HTTP_REQS, TagFilter::parse("url:/").unwrap());
        let recorder = Recorder::new(registry);
        recorder.series(builtin::ITERATIONS, &TagSet::empty());
        let gone = ErrorKind::Status { status: 404, expected: false };
        let failed = recorder.series_of_error(builtin::HTTP_REQS, &TagSet::new([("url", "/")]), &gone);
        recorder.add(failed, 1.0, 0);
        assert_eq!(keys(&recorder.take()), [total(builtin::HTTP_REQS), SinkKey::Sub(sub), SinkKey::Error(gone)]);
    }
}
