//! A part of a run's samples for another process: what recorders handed over, bit for bit, with the metrics that the
//! other side does not know yet.
//!
//! Shards of one writer are read in order, because a later one relies on the metrics and names that earlier ones
//! brought: each is told once. What is read may be damaged: every number is checked before anybody reckons with it.
//! The table of distinct series is not in it: it only serves a warning.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::counter_sum::PackedCounterSum;
use crate::errors::ErrorKind;
use crate::metric::{Contains, Kind, MetricId};
use crate::registry::{Registry, SubMetricId};
use crate::sink::{Scope, Sink, SinkKey};
use crate::snapshot::Snapshot;
use crate::tags::TagFilter;
use crate::trend::exact::ExactTrend;

/// Samples of one interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shard {
    refused: u64,
    /// Metrics that are new, in the order of their numbers.
    metrics: Vec<MetricEntry>,
    /// Sub-metrics that are new, likewise.
    subs: Vec<SubEntry>,
    /// What samples belong to, where it is new, likewise.
    keys: Vec<KeyEntry>,
    /// By the numbers of their keys.
    sinks: Vec<(u32, SinkEntry)>,
}

impl Shard {
    /// Shows each text that the script or the target may have made, to be changed where it is secret.
    pub fn each_text(&mut self, mut change: impl FnMut(&mut String)) {
        self.metrics.iter_mut().for_each(|metric| change(&mut metric.name));
        for sub in &mut self.subs {
            sub.pairs.iter_mut().for_each(|(_, value)| change(value));
            change(&mut sub.source);
        }
        for key in &mut self.keys {
            let (scope, text) = match key {
                KeyEntry::Metric(_, scope) | KeyEntry::Group(scope) => (Some(scope), None),
                KeyEntry::Check(scope, text) => (Some(scope), Some(text)),
                KeyEntry::Exception(text) | KeyEntry::NoAnswer(text) => (None, Some(text)),
                KeyEntry::Sub(_) | KeyEntry::Status(..) => (None, None),
            };
            scope.into_iter().flat_map(|(scenario, group)| [scenario, group]).flatten().for_each(&mut change);
            text.into_iter().for_each(&mut change);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct MetricEntry {
    name: String,
    kind: String,
    contains: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SubEntry {
    parent: u32,
    pairs: Vec<(String, String)>,
    source: String,
    is_detail: bool,
}

type ScopeEntry = (Option<String>, Option<String>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum KeyEntry {
    Metric(u32, ScopeEntry),
    Sub(u32),
    Check(ScopeEntry, String),
    Group(ScopeEntry),
    Exception(String),
    Status(u16, bool),
    NoAnswer(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum SinkEntry {
    Counter { sum: PackedCounterSum, samples: u64 },
    Gauge { last: f64, last_at_ns: u64, min: f64, max: f64, samples: u64 },
    Rate { passes: u64, total: u64 },
    Trend(Box<ExactTrend>),
}

/// Makes the shards of a run.
pub struct ShardWriter {
    registry: Arc<Registry>,
    metrics: usize,
    subs: usize,
    /// The numbers of the keys that were told.
    keys: HashMap<Arc<SinkKey>, u32>,
}

impl ShardWriter {
    /// Nothing told yet.
    pub fn new(registry: Arc<Registry>) -> ShardWriter {
        ShardWriter { registry, metrics: 0, subs: 0, keys: HashMap::new() }
    }

    /// What these snapshots hold, and the metrics that no shard before told of.
    pub fn shard<'a>(&mut self, snapshots: impl IntoIterator<Item = &'a Snapshot>) -> Shard {
        let mut shard = Shard::default();
        for snapshot in snapshots {
            shard.refused += snapshot.refused;
            for (key, sink) in &snapshot.sinks {
                let number = self.keys.len() as u32;
                let number = *self.keys.entry(key.clone()).or_insert_with(|| {
                    shard.keys.push(KeyEntry::from(&**key));
                    number
                });
                shard.sinks.push((number, SinkEntry::from(sink)));
            }
        }
        // After the samples: a worker may define a metric at any moment, and all that they name is known by now.
        let definitions = self.registry.definitions();
        shard.metrics = definitions[self.metrics..]
            .iter()
            .map(|definition| MetricEntry {
                name: definition.name.to_string(),
                kind: definition.kind.name().to_owned(),
                contains: definition.contains.name().to_owned(),
            })
            .collect();
        let subs = self.registry.sub_metrics();
        shard.subs = subs[self.subs..]
            .iter()
            .map(|sub| SubEntry {
                parent: sub.parent.0,
                pairs: sub.filter.pairs().to_vec(),
                source: sub.filter.source().to_owned(),
                is_detail: sub.is_detail,
            })
            .collect();
        (self.metrics, self.subs) = (definitions.len(), subs.len());
        shard
    }
}

/// Reads the shards of one writer, in order. Its numbers are translated to those of the reader's registry.
pub struct ShardReader {
    registry: Arc<Registry>,
    metrics: Vec<(MetricId, Kind)>,
    subs: Vec<(SubMetricId, Kind)>,
    keys: Vec<(Arc<SinkKey>, Kind)>,
}

impl Default for ShardReader {
    fn default() -> ShardReader {
        ShardReader::into_registry(Registry::new())
    }
}

impl ShardReader {
    /// One whose samples belong to the metrics of this registry, which other readers may share.
    pub fn into_registry(registry: Arc<Registry>) -> ShardReader {
        ShardReader { registry, metrics: Vec::new(), subs: Vec::new(), keys: Vec::new() }
    }

    /// The metrics so far.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The samples of the next shard; the error says what of it cannot be.
    pub fn snapshot(&mut self, shard: Shard) -> Result<Snapshot, String> {
        shard.metrics.iter().try_for_each(|metric| self.define(metric))?;
        shard.subs.iter().try_for_each(|sub| self.define_sub(sub))?;
        for key in shard.keys {
            let (key, kind) = self.key(key)?;
            let key = Arc::new(key);
            if key.is_in_tree() {
                self.registry.place(&key);
            }
            self.keys.push((key, kind));
        }
        let mut sinks = Vec::with_capacity(shard.sinks.len());
        for (number, sink) in shard.sinks {
            let (key, kind) = self.keys.get(number as usize).ok_or_else(|| format!("there is no key {number}"))?;
            let sink = sink.into_sink().filter(|sink| sink.kind() == *kind);
            let sink =
                sink.ok_or_else(|| format!("a {} has samples of another kind, or impossible ones", kind.name()))?;
            sinks.push((key.clone(), sink));
        }
        Ok(Snapshot { sinks, refused: shard.refused, cardinality: None })
    }

    fn define(&mut self, metric: &MetricEntry) -> Result<(), String> {
        let kind = [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend].into_iter().find(|k| k.name() == metric.kind);
        let contains = [Contains::Default, Contains::Time, Contains::Data];
        let contains = contains.into_iter().find(|contains| contains.name() == metric.contains);
        let (Some(kind), Some(contains)) = (kind, contains) else {
            return Err(format!("metric '{}' is a {} of {}", metric.name, metric.kind, metric.contains));
        };
        let id = self.registry.define(&metric.name, kind, contains).map_err(|error| error.to_string())?;
        if self.metrics.iter().any(|(known, _)| *known == id) {
            return Err(format!("the metric '{}' is there twice", metric.name));
        }
        self.metrics.push((id, kind));
        Ok(())
    }

    fn define_sub(&mut self, sub: &SubEntry) -> Result<(), String> {
        let (parent, kind) =
            *self.metrics.get(sub.parent as usize).ok_or_else(|| format!("there is no metric {}", sub.parent))?;
        if sub.pairs.is_empty() {
            return Err(format!("a part of metric {} has no tags", sub.parent));
        }
        let pairs = sub.pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let filter = TagFilter::of(pairs).with_source(&sub.source);
        let id = self.registry.restore_sub_metric(parent, filter, sub.is_detail);
        if self.subs.iter().any(|(known, _)| *known == id) {
            return Err(format!("the part {} of metric {} is there twice", sub.source, sub.parent));
        }
        self.subs.push((id, kind));
        Ok(())
    }

    fn key(&self, key: KeyEntry) -> Result<(SinkKey, Kind), String> {
        let unknown = |what: &str, number: u32| format!("there is no {what} {number}");
        Ok(match key {
            KeyEntry::Metric(number, in_scope) => {
                let (id, kind) = *self.metrics.get(number as usize).ok_or_else(|| unknown("metric", number))?;
                (SinkKey::Metric(id, scope(in_scope)), kind)
            }
            KeyEntry::Sub(number) => {
                let (id, kind) = *self.subs.get(number as usize).ok_or_else(|| unknown("sub-metric", number))?;
                (SinkKey::Sub(id), kind)
            }
            KeyEntry::Check(in_scope, name) => (SinkKey::Check(scope(in_scope), name.into()), Kind::Rate),
            KeyEntry::Group(in_scope) => (SinkKey::Group(scope(in_scope)), Kind::Rate),
            KeyEntry::Exception(text) => (SinkKey::Error(ErrorKind::Exception(text.into())), Kind::Counter),
            KeyEntry::NoAnswer(text) => (SinkKey::Error(ErrorKind::NoAnswer(text.into())), Kind::Counter),
            KeyEntry::Status(status, expected) => {
                (SinkKey::Error(ErrorKind::Status { status, expected }), Kind::Counter)
            }
        })
    }
}

fn scope((scenario, group): ScopeEntry) -> Scope {
    Scope { scenario: scenario.map(Arc::from), group: group.map(Arc::from) }
}

impl From<&SinkKey> for KeyEntry {
    fn from(key: &SinkKey) -> KeyEntry {
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        let of = |scope: &Scope| (text(&scope.scenario), text(&scope.group));
        match key {
            SinkKey::Metric(id, scope) => KeyEntry::Metric(id.0, of(scope)),
            SinkKey::Sub(id) => KeyEntry::Sub(id.0),
            SinkKey::Check(scope, name) => KeyEntry::Check(of(scope), name.to_string()),
            SinkKey::Group(scope) => KeyEntry::Group(of(scope)),
            SinkKey::Error(ErrorKind::Exception(text)) => KeyEntry::Exception(text.to_string()),
            SinkKey::Error(ErrorKind::NoAnswer(text)) => KeyEntry::NoAnswer(text.to_string()),
            SinkKey::Error(ErrorKind::Status { status, expected }) => KeyEntry::Status(*status, *expected),
        }
    }
}

impl From<&Sink> for SinkEntry {
    fn from(sink: &Sink) -> SinkEntry {
        match sink {
            Sink::Counter { sum, samples } => {
                SinkEntry::Counter { sum: PackedCounterSum::from(sum), samples: *samples }
            }
            Sink::Gauge { last, last_at_ns, min, max, samples } => {
                SinkEntry::Gauge { last: *last, last_at_ns: *last_at_ns, min: *min, max: *max, samples: *samples }
            }
            Sink::Rate { passes, total } => SinkEntry::Rate { passes: *passes, total: *total },
            Sink::Trend(trend) => SinkEntry::Trend(Box::new(ExactTrend::from(&**trend))),
        }
    }
}

impl SinkEntry {
    /// `None`: its numbers contradict each other.
    fn into_sink(self) -> Option<Sink> {
        Some(match self {
            SinkEntry::Counter { sum, samples } => Sink::Counter { sum: sum.into_sum()?, samples },
            SinkEntry::Gauge { last, last_at_ns, min, max, samples } => {
                Sink::Gauge { last, last_at_ns, min, max, samples }
            }
            SinkEntry::Rate { passes, total } if passes <= total => Sink::Rate { passes, total },
            SinkEntry::Rate { .. } => return None,
            SinkEntry::Trend(trend) => Sink::Trend(Box::new(trend.into_trend()?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::threshold::Thresholds;
    use crate::{Aggregate, Recorder, TagSet, builtin};

    /// A run of two seconds with everything that a shard can hold.
    fn recorded() -> (Arc<Registry>, Vec<Snapshot>) {
        let registry = Registry::new();
        registry.set_breakdown(true);
        registry.sub_metric(builtin::HTTP_REQS, TagFilter::parse(" status : 200 ").unwrap());
        let own = registry.define("own_gauge", Kind::Gauge, Contains::Data).unwrap();
        let recorder = Recorder::new(Arc::clone(&registry));
        let tags = |more: &[(&str, &str)]| {
            TagSet::new([("scenario", "a"), ("group", "::g")].into_iter().chain(more.iter().copied()))
        };
        let mut snapshots = Vec::new();
        for second in 0..2 {
            recorder.add(recorder.series(builtin::HTTP_REQS, &tags(&[("status", "200")])), 1.0, second);
            recorder.add(recorder.series(builtin::HTTP_REQ_DURATION, &tags(&[])), 0.1 + second as f64, second);
            recorder.add(recorder.series(builtin::CHECKS, &tags(&[("check", "is fine")])), second as f64, second);
            recorder.add(recorder.series(builtin::GROUP_DURATION, &tags(&[])), 1.0 / 3.0, second);
            recorder.add(recorder.series(own, &tags(&[])), -0.7, second);
            for kind in [
                ErrorKind::Exception("e".into()),
                ErrorKind::NoAnswer("n".into()),
                ErrorKind::Status { status: 503, expected: false },
            ] {
                recorder.count_error(&kind);
            }
            recorder.add(recorder.series(own, &tags(&[])), f64::NAN, second);
            snapshots.push(recorder.take());
            registry.define(&format!("later_{second}"), Kind::Trend, Contains::Time).unwrap();
        }
        (registry, snapshots)
    }

    fn outcome(registry: &Arc<Registry>, snapshots: impl IntoIterator<Item = Snapshot>) -> String {
        let mut aggregate = Aggregate::new(Arc::clone(registry), Thresholds::default());
        snapshots.into_iter().for_each(|snapshot| aggregate.merge(snapshot));
        format!("{:?} {}", aggregate.results(Duration::from_secs(2), true), aggregate.refused())
    }

    fn through_bytes(shard: &Shard) -> Shard {
        postcard::from_bytes(&postcard::to_allocvec(shard).unwrap()).unwrap()
    }

    #[test]
    fn another_process_comes_to_the_same_results() {
        let (registry, snapshots) = recorded();
        let mut writer = ShardWriter::new(Arc::clone(&registry));
        let shards: Vec<Shard> = snapshots.iter().map(|snapshot| writer.shard([snapshot])).collect();
        assert!(shards[0].metrics.len() > shards[1].metrics.len(), "what is known is not told again");
        assert!(shards[0].keys.len() > 10 && shards[1].keys.is_empty());
        let mut reader = ShardReader::default();
        let read: Vec<Snapshot> = shards.iter().map(|shard| reader.snapshot(through_bytes(shard)).unwrap()).collect();
        assert_eq!(outcome(reader.registry(), read), outcome(&registry, snapshots));
    }

    #[test]
    fn damaged_shards_are_refused_by_name() {
        let (registry, snapshots) = recorded();
        let whole = ShardWriter::new(registry).shard(&snapshots);
        let refused = |change: &dyn Fn(&mut Shard)| {
            let mut shard = whole.clone();
            change(&mut shard);
            ShardReader::default().snapshot(shard).map(|_| ()).unwrap_err()
        };
        assert_eq!(refused(&|shard| shard.metrics[0].kind = "sum".into()), "metric 'vus' is a sum of default");
        assert_eq!(refused(&|shard| drop(shard.metrics.remove(0))).split(' ').nth(2), Some("has"));
        assert_eq!(refused(&|shard| shard.keys[0] = KeyEntry::Sub(99)), "there is no sub-metric 99");
        assert_eq!(refused(&|shard| shard.sinks[0].0 = 99), "there is no key 99");
        let wrong = refused(&|shard| shard.sinks[0].1 = SinkEntry::Rate { passes: 2, total: 1 });
        assert_eq!(wrong, "a counter has samples of another kind, or impossible ones");
    }

    #[test]
    fn each_text_may_be_changed() {
        let (registry, snapshots) = recorded();
        let mut shard = ShardWriter::new(registry).shard(&snapshots);
        let mut texts = Vec::new();
        shard.each_text(|text| texts.push(std::mem::replace(text, "***".into())));
        for wanted in ["own_gauge", "200", "a", "::g", "is fine", "e", "n"] {
            assert!(texts.iter().any(|text| text == wanted), "{wanted} in {texts:?}");
        }
        assert!(!format!("{shard:?}").contains("is fine"));
    }
}
