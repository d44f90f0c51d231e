//! All samples of a run, combined: what recorders hand over is merged here, thresholds are judged here, results come
//! out.
//!
//! Lives on one thread. Memory follows the number of sinks; merging a snapshot costs a look-up for each sink in it.
//! Groups and checks keep the order in which they were first seen, on whatever worker that was.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use crate::aggregation::threshold::evaluate::per_second;
use crate::aggregation::threshold::{Moment, Standing, Target, Thresholds, Verdict};
use crate::aggregation::tree::Level;
use crate::counter_sum::CounterSum;
use crate::errors::ErrorCount;
use crate::naming::cardinality::{Cardinality, SUGGESTED_SERIES};
use crate::naming::metric::MetricId;
use crate::recording::snapshot::Snapshot;
use crate::registry::{Definition, Registry, SubMetric};
use crate::requests::RequestTable;
use crate::results::{CheckResult, GroupResult, MetricResult, Results, ScenarioResult, TrendValue, Value};
use crate::sink::{Scope, Sink, SinkKey};

/// A group or check, or a metric in a group, and its samples.
type Placed<'a> = (&'a SinkKey, &'a Sink);

/// The combined samples of a run.
pub struct Aggregate {
    registry: Arc<Registry>,
    index: HashMap<Arc<SinkKey>, usize>,
    sinks: Vec<(Arc<SinkKey>, Sink)>,
    /// What Counters got outside of the load: no part of a rate.
    aside: HashMap<Arc<SinkKey>, CounterSum>,
    thresholds: Thresholds,
    refused: u64,
    cardinality: Cardinality,
    /// So many series are worth a warning.
    next_warning: u64,
}

impl Aggregate {
    /// An empty aggregate for the metrics of this registry.
    pub fn new(registry: Arc<Registry>, thresholds: Thresholds) -> Self {
        Aggregate {
            registry,
            index: HashMap::new(),
            sinks: Vec::new(),
            aside: HashMap::new(),
            thresholds,
            refused: 0,
            cardinality: Cardinality::default(),
            next_warning: SUGGESTED_SERIES,
        }
    }

    /// Adds what a recorder gathered.
    pub fn merge(&mut self, snapshot: Snapshot) {
        self.refused += snapshot.refused;
        if let Some(cardinality) = snapshot.cardinality {
            self.cardinality.merge(&cardinality);
        }
        for (key, sink) in snapshot.sinks {
            match self.index.get(&key) {
                Some(at) => {
                    debug_assert_eq!(self.sinks[*at].0, key, "the index knows each sink's place");
                    let samples = self.sinks[*at].1.samples() + sink.samples();
                    self.sinks[*at].1.merge(sink);
                    debug_assert_eq!(self.sinks[*at].1.samples(), samples, "no sample is lost or counted twice");
                }
                None => {
                    self.index.insert(key.clone(), self.sinks.len());
                    self.sinks.push((key, sink));
                }
            }
        }
        debug_assert_eq!(self.index.len(), self.sinks.len(), "the index knows each sink");
    }

    /// Adds what was gathered before or after the load, in `setup()` and `teardown()`: it counts, and is in no rate.
    pub fn merge_aside(&mut self, snapshot: Snapshot) {
        for (key, sink) in &snapshot.sinks {
            if let Sink::Counter { sum, .. } = sink {
                self.aside.entry(key.clone()).or_default().merge(sum);
            }
        }
        self.merge(snapshot);
    }

    /// Sum of a Counter, samples that were not zero of a Rate, last value of a Gauge, mean of a Trend; 0 without
    /// samples. For the progress line.
    pub fn live(&self, metric: MetricId) -> f64 {
        match self.total(metric) {
            None => 0.0,
            Some(Sink::Counter { sum, .. }) => sum.value(),
            Some(Sink::Gauge { last, .. }) => *last,
            Some(Sink::Rate { passes, .. }) => *passes as f64,
            Some(Sink::Trend(trend)) => trend.avg(),
        }
    }

    /// Samples of a metric so far.
    pub fn samples(&self, metric: MetricId) -> u64 {
        self.total(metric).map_or(0, Sink::samples)
    }

    /// Samples that were NaN or infinite and are in no metric.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// What to warn of: too many distinct time series, and too many parts of a metric.
    pub fn warnings(&mut self) -> impl Iterator<Item = String> {
        self.series_warning().into_iter().chain(self.registry.split_warning())
    }

    /// Said again only when the series have doubled.
    fn series_warning(&mut self) -> Option<String> {
        let series = self.cardinality.series();
        if series <= self.next_warning {
            return None;
        }
        self.next_warning = series * 2;
        Some(self.cardinality.warning(series))
    }

    /// Judges the thresholds; `results` tells how they stood at the last judgement.
    pub fn judge(&mut self, elapsed: Duration, moment: Moment) -> Verdict {
        let (index, sinks, aside) = (&self.index, &self.sinks, &self.aside);
        let find = |target| {
            let (key, sink) = &sinks[*index.get(&key_of(target))?];
            Some((sink, aside.get(key).map(CounterSum::value).unwrap_or_default()))
        };
        self.thresholds.judge(elapsed, moment, find)
    }

    /// How each threshold stood at the last judgement, in the order of the option.
    pub fn standings(&self) -> Vec<Standing> {
        self.thresholds.standings()
    }

    /// All checks so far, in the order they were first seen, those of one name added up.
    pub fn checks(&self) -> Vec<CheckResult> {
        checks(&self.in_tree(), None)
    }

    /// The outcome of the run. `duration`: the time of the load, which rates divide by. `breakdown`: per scenario and
    /// group as well, which is empty unless the registry keeps it.
    pub fn results(&self, duration: Duration, breakdown: bool) -> Results {
        let definitions = self.sorted_definitions();
        let mut metrics = Vec::new();
        let subs = self.sorted_sub_metrics();
        for definition in &definitions {
            let own = subs.get(&definition.id).into_iter().flatten().filter(|sub| !sub.is_detail);
            let own = own.filter(|sub| self.is_shown(Target::Sub(sub.id)));
            let own: Vec<MetricResult> = own.map(|sub| self.metric_result(definition, Some(sub), duration)).collect();
            if !own.is_empty() || self.is_shown(Target::Metric(definition.id)) {
                metrics.push(self.metric_result(definition, None, duration));
            }
            metrics.extend(own);
        }
        debug_assert!(metrics.is_sorted_by(|a, b| a.name <= b.name), "metrics come by name");
        let places = self.in_tree();
        let root = tree(&places, None, &definitions, duration, breakdown);
        let scenarios = if breakdown { self.scenarios(&places, &definitions, duration) } else { Vec::new() };
        let (errors, requests) = (self.errors(), self.requests());
        Results { duration, metrics, root, checks: checks(&places, None), scenarios, errors, requests }
    }

    /// By their metrics, each list by source.
    fn sorted_sub_metrics(&self) -> HashMap<MetricId, Vec<SubMetric>> {
        let mut subs = self.registry.sub_metrics();
        subs.sort_by(|a, b| a.filter.source().cmp(b.filter.source()));
        let mut by_parent: HashMap<MetricId, Vec<SubMetric>> = HashMap::new();
        subs.into_iter().for_each(|sub| by_parent.entry(sub.parent).or_default().push(sub));
        by_parent
    }

    /// The parts of metrics that only reports show, by metric and filter.
    pub fn details(&self, duration: Duration) -> Vec<MetricResult> {
        let subs = self.registry.sub_metrics();
        let details = subs.iter().filter(|sub| sub.is_detail && self.is_shown(Target::Sub(sub.id)));
        let result = |sub: &SubMetric| self.metric_result(&self.registry.definition(sub.parent), Some(sub), duration);
        let mut details: Vec<MetricResult> = details.map(result).collect();
        details.sort_by(|a, b| (&a.name, &a.filter).cmp(&(&b.name, &b.filter)));
        details
    }

    fn sorted_definitions(&self) -> Vec<Definition> {
        let mut definitions = self.registry.definitions();
        definitions.sort_by(|a, b| a.name.cmp(&b.name));
        definitions
    }

    /// Whether a metric or sub-metric is shown: it has samples, or the option `thresholds` names it, if only with an
    /// empty list.
    fn is_shown(&self, target: Target) -> bool {
        let has_samples = self.sink(&key_of(target)).is_some_and(|sink| sink.samples() > 0);
        has_samples || self.thresholds.names(target)
    }

    fn metric_result(&self, definition: &Definition, sub: Option<&SubMetric>, duration: Duration) -> MetricResult {
        let target = sub.map_or(Target::Metric(definition.id), |sub| Target::Sub(sub.id));
        let empty = Sink::new(definition.kind);
        let sink = self.sink(&key_of(target)).unwrap_or(&empty);
        let filter = sub.map(|sub| sub.filter.source().to_owned());
        let mut result = plain_result(definition, sink, duration);
        if let (Value::Counter { count, rate }, Some(aside)) = (&mut result.value, self.aside.get(&key_of(target))) {
            *rate = per_second(*count - aside.value(), duration);
        }
        MetricResult { filter, thresholds: self.thresholds.results(target), ..result }
    }

    /// Scenarios by name, each with its metrics, checks and groups.
    fn scenarios(&self, places: &[Placed<'_>], definitions: &[Definition], duration: Duration) -> Vec<ScenarioResult> {
        let mut found: BTreeMap<Arc<str>, HashMap<MetricId, &Sink>> = BTreeMap::new();
        for (key, sink) in &self.sinks {
            if let SinkKey::Metric(id, Scope { scenario: Some(scenario), group: None }) = &**key {
                if sink.samples() == 0 {
                    continue;
                }
                found.entry(scenario.clone()).or_default().insert(*id, sink);
            }
        }
        let result = |(name, sinks): (Arc<str>, HashMap<MetricId, &Sink>)| {
            let metrics =
                definitions.iter().filter_map(|d| sinks.get(&d.id).map(|sink| plain_result(d, sink, duration)));
            let root = tree(places, Some(&name), definitions, duration, true);
            let checks = checks(places, Some(&name));
            ScenarioResult { name: name.to_string(), metrics: metrics.collect(), root, checks }
        };
        found.into_iter().map(result).collect()
    }

    /// The sinks of groups and checks, those that were met first in front.
    fn in_tree(&self) -> Vec<Placed<'_>> {
        let places = self.registry.places();
        let mut sinks: Vec<_> =
            self.sinks.iter().filter(|(key, _)| key.is_in_tree()).map(|(key, sink)| (&**key, sink)).collect();
        // An agent that was started again has met other things first: then names decide.
        sinks.sort_by_cached_key(|(key, _)| (places.get(*key).copied(), key.name()));
        sinks
    }

    /// What went wrong, the most frequent first.
    pub fn errors(&self) -> Vec<ErrorCount> {
        let error = |(key, sink): &(Arc<SinkKey>, Sink)| match &**key {
            SinkKey::Error(kind) => Some(ErrorCount { kind: kind.clone(), count: sink.samples() }),
            _ => None,
        };
        let mut errors: Vec<ErrorCount> = self.sinks.iter().filter_map(error).collect();
        errors.sort_by(|a, b| (b.count, &a.kind).cmp(&(a.count, &b.kind)));
        errors
    }

    fn requests(&self) -> RequestTable {
        RequestTable::new(self.sinks.iter().filter_map(|(key, sink)| match (&**key, sink) {
            (SinkKey::Request(kind), Sink::Trend(trend)) => Some((kind, &**trend)),
            _ => None,
        }))
    }

    fn total(&self, metric: MetricId) -> Option<&Sink> {
        self.sink(&key_of(Target::Metric(metric)))
    }

    fn sink(&self, key: &SinkKey) -> Option<&Sink> {
        self.index.get(key).map(|at| &self.sinks[*at].1)
    }
}

/// Groups and checks of a scenario, or of the whole run.
fn tree(
    places: &[Placed<'_>],
    scenario: Option<&Arc<str>>,
    definitions: &[Definition],
    duration: Duration,
    full: bool,
) -> GroupResult {
    let mut root = Level::default();
    let mut group_sinks: BTreeMap<&Arc<str>, HashMap<MetricId, Sink>> = BTreeMap::new();
    for (key, sink) in places {
        match key {
            SinkKey::Group(scope) if scope.scenario.as_ref() == scenario => {
                root.at(scope.group.as_deref());
            }
            SinkKey::Check(scope, name) if scope.scenario.as_ref() == scenario => {
                let group = scope.group.as_deref();
                root.at(group).add_check(group.unwrap_or_default(), name, sink);
            }
            SinkKey::Metric(id, Scope { scenario: of, group: Some(group) })
                if full && (scenario.is_none() || of.as_ref() == scenario) =>
            {
                // The whole run's group is the sum of the scenarios' groups of that path.
                let sinks = group_sinks.entry(group).or_default();
                sinks.entry(*id).or_insert_with(|| sink.emptied()).merge((*sink).clone());
                root.at(Some(group));
            }
            _ => {}
        }
    }
    for (path, sinks) in group_sinks {
        let metrics = definitions.iter().filter_map(|d| sinks.get(&d.id).map(|sink| plain_result(d, sink, duration)));
        root.at(Some(path)).metrics = metrics.collect();
    }
    root.finish()
}

/// Checks of a scenario, or of the whole run, added up by name.
fn checks(places: &[Placed<'_>], scenario: Option<&Arc<str>>) -> Vec<CheckResult> {
    let mut all = Level::default();
    for (key, sink) in places {
        if let SinkKey::Check(scope, name) = key
            && scope.scenario.as_ref() == scenario
        {
            all.add_check(scope.group.as_deref().unwrap_or_default(), name, sink);
        }
    }
    all.into_checks()
}

fn key_of(target: Target) -> SinkKey {
    match target {
        Target::Metric(id) => SinkKey::Metric(id, Scope::default()),
        Target::Sub(id) => SinkKey::Sub(id),
    }
}

fn plain_result(definition: &Definition, sink: &Sink, duration: Duration) -> MetricResult {
    let Definition { name, kind, contains, .. } = definition;
    let value = value_of(sink, duration);
    let (name, kind, contains) = (name.to_string(), *kind, *contains);
    MetricResult { name, filter: None, kind, contains, value, thresholds: Vec::new() }
}

fn value_of(sink: &Sink, duration: Duration) -> Value {
    match sink {
        Sink::Counter { sum, .. } => {
            let count = sum.value();
            Value::Counter { count, rate: per_second(count, duration) }
        }
        Sink::Gauge { samples: 0, .. } => Value::Gauge { value: 0.0, min: 0.0, max: 0.0 },
        Sink::Gauge { last, min, max, .. } => Value::Gauge { value: *last, min: *min, max: *max },
        Sink::Rate { passes, total } => {
            debug_assert!(passes <= total, "{passes} of {total}");
            Value::Rate { passes: *passes, total: *total }
        }
        Sink::Trend(trend) => Value::Trend(TrendValue::from((**trend).clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naming::tags::TagSet;
    use crate::recording::recorder::Recorder;

    #[test]
    fn a_warning_of_many_series_is_said_again_when_they_have_doubled() {
        let registry = Registry::new();
        let recorder = Recorder::new(registry.clone());
        let mut aggregate = Aggregate::new(registry, Thresholds::default());
        let grow_to = |aggregate: &mut Aggregate, series: u64| {
            for id in aggregate.cardinality.series()..series {
                recorder.series(crate::naming::builtin::HTTP_REQS, &TagSet::new([("id", id.to_string())]));
            }
            aggregate.merge(recorder.take());
            assert_eq!(aggregate.cardinality.series(), series, "few are counted exactly");
            aggregate.warnings().collect::<Vec<String>>()
        };
        aggregate.next_warning = 10;
        assert_eq!(grow_to(&mut aggregate, 10), [""; 0]);
        let said = grow_to(&mut aggregate, 11);
        assert!(said[0].starts_with("the test has made about 11 unique time series, "), "{said:?}");
        assert_eq!(grow_to(&mut aggregate, 22), [""; 0]);
        assert_eq!(grow_to(&mut aggregate, 23).len(), 1);
    }

    #[test]
    fn a_new_aggregate_warns_above_the_suggested_limit() {
        let aggregate = Aggregate::new(Registry::new(), Thresholds::default());
        assert_eq!(aggregate.next_warning, SUGGESTED_SERIES);
    }

    #[test]
    fn details_are_the_parts_with_samples_that_nobody_else_asked_for() {
        let registry = Registry::new();
        registry.set_details(true);
        registry.split_in_details(crate::naming::builtin::HTTP_REQS, &["event"]);
        registry.split(crate::naming::builtin::ITERATIONS, &["event"]);
        let recorder = Recorder::new(registry.clone());
        let series = |metric, event: &'static str| recorder.series(metric, &TagSet::new([("event", event)]));
        recorder.add(series(crate::naming::builtin::HTTP_REQS, "edit"), 1.0, 0);
        recorder.add(series(crate::naming::builtin::ITERATIONS, "edit"), 1.0, 0);
        series(crate::naming::builtin::HTTP_REQS, "without samples");
        let mut aggregate = Aggregate::new(registry, Thresholds::default());
        aggregate.merge(recorder.take());
        let told = |results: Vec<MetricResult>| -> Vec<String> {
            let parts = results.into_iter().filter_map(|metric| Some(format!("{}{{{}}}", metric.name, metric.filter?)));
            parts.collect()
        };
        let second = Duration::from_secs(1);
        assert_eq!(told(aggregate.details(second)), ["http_reqs{event:edit}"]);
        assert_eq!(told(aggregate.results(second, false).metrics), ["iterations{event:edit}"]);
    }
}
