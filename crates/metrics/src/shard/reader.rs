//! Reads the shards of a writer, for a registry of its own or one that many agents share.

use std::collections::HashSet;
use std::sync::Arc;

use super::{KeyEntry, Known, MetricEntry, ScopeEntry, Shard, SubEntry};
use crate::errors::ErrorKind;
use crate::naming::metric::{Contains, Kind, MetricId};
use crate::naming::tags::TagFilter;
use crate::places::Place;
use crate::recording::snapshot::Snapshot;
use crate::registry::{Registry, SubMetricId};
use crate::sink::{Scope, Sink, SinkKey};
use crate::trend::Trend;
use crate::trend::exact::SparseTrend;

/// The samples of a shard, read and checked, in few bytes still: to be put together with those of other agents.
pub struct ReadShard {
    pub(super) sinks: Vec<(Arc<SinkKey>, ReadSink)>,
    pub(super) refused: u64,
}

/// Samples of one key.
pub(super) enum ReadSink {
    Plain(Sink),
    Trend(SparseTrend),
}

impl ReadSink {
    fn kind(&self) -> Kind {
        match self {
            ReadSink::Plain(sink) => sink.kind(),
            ReadSink::Trend(_) => Kind::Trend,
        }
    }

    pub(super) fn into_sink(self) -> Sink {
        match self {
            ReadSink::Plain(sink) => sink,
            ReadSink::Trend(sparse) => {
                let mut trend = Trend::default();
                trend.merge_sparse(&sparse);
                Sink::Trend(Box::new(trend))
            }
        }
    }

    pub(super) fn add_to(self, sink: &mut Sink) {
        match (self, sink) {
            (ReadSink::Trend(sparse), Sink::Trend(trend)) => trend.merge_sparse(&sparse),
            (read, sink) => sink.merge(read.into_sink()),
        }
    }
}

/// Reads the shards of one writer.
///
/// Numbers of metrics, sub-metrics and keys are the writer's; they are translated to those of the registry. A process
/// that was started again has a new writer, and needs a new reader.
pub struct ShardReader {
    registry: Arc<Registry>,
    /// Added to the agents that the shards tell of.
    first_agent: u32,
    metrics: Vec<(MetricId, Kind)>,
    subs: Vec<(SubMetricId, Kind)>,
    /// Those of `metrics` and `subs`: a shard may name many, and each once.
    known: (HashSet<MetricId>, HashSet<SubMetricId>),
    keys: Vec<(Arc<SinkKey>, Kind)>,
}

impl Default for ShardReader {
    fn default() -> ShardReader {
        ShardReader::into_registry(Registry::new(), 0)
    }
}

impl ShardReader {
    /// For samples that go into an aggregate of this registry, whatever else it has.
    ///
    /// `first_agent`: the number of the agent whose shards these are. It decides where groups and checks stand that
    /// only some agents met, and is named where agents contradict each other.
    pub fn into_registry(registry: Arc<Registry>, first_agent: u32) -> ShardReader {
        let (metrics, subs, keys) = (Vec::new(), Vec::new(), Vec::new());
        ShardReader { registry, first_agent, metrics, subs, known: Default::default(), keys }
    }

    /// The metrics so far.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Whether all names are known that a shard relies on. If not, it has to wait for one that was written before, or
    /// to be written again with its names (`ShardWriter::shard_with_names`).
    pub fn can_read(&self, shard: &Shard) -> bool {
        let Known { metrics, subs, keys } = shard.known;
        metrics as usize <= self.metrics.len() && subs as usize <= self.subs.len() && keys as usize <= self.keys.len()
    }

    /// The samples of a shard; the error says what of it cannot be. A shard that is read twice gives its samples twice.
    pub fn read(&mut self, shard: Shard) -> Result<ReadShard, String> {
        if !self.can_read(&shard) {
            return Err("it relies on names that no shard before it has told".to_owned());
        }
        // What is told again is known.
        let news = |known: u32, have: usize| have - known as usize;
        let known = shard.known;
        let metrics = news(known.metrics, self.metrics.len());
        shard.metrics.iter().skip(metrics).try_for_each(|metric| self.define(metric))?;
        self.define_subs(shard.subs.get(news(known.subs, self.subs.len())..).unwrap_or_default())?;
        for key in shard.keys.into_iter().skip(news(known.keys, self.keys.len())) {
            let (key, kind) = self.key(key)?;
            self.keys.push((self.registry.shared(key), kind));
        }
        for (number, place) in shard.places {
            let (key, _) = self.known_key(number)?;
            if !key.is_in_tree() {
                return Err(format!("key {number} is no group or check and has a place among them"));
            }
            let agent = place.agent.checked_add(self.first_agent).ok_or("there are too many agents")?;
            self.registry.restore_place(key, Place { agent, ..place });
        }
        let mut sinks = Vec::with_capacity(shard.sinks.len());
        for (number, sink) in shard.sinks {
            let (key, kind) = self.known_key(number)?;
            let sink = sink.into_read().filter(|sink| sink.kind() == *kind);
            let sink =
                sink.ok_or_else(|| format!("a {} has samples of another kind, or impossible ones", kind.name()))?;
            sinks.push((key.clone(), sink));
        }
        Ok(ReadShard { sinks, refused: shard.refused })
    }

    /// The same, for whoever goes on with it alone.
    pub fn snapshot(&mut self, shard: Shard) -> Result<Snapshot, String> {
        let ReadShard { sinks, refused } = self.read(shard)?;
        let sinks = sinks.into_iter().map(|(key, sink)| (key, sink.into_sink())).collect();
        Ok(Snapshot { sinks, refused, cardinality: None })
    }

    fn known_key(&self, number: u32) -> Result<&(Arc<SinkKey>, Kind), String> {
        self.keys.get(number as usize).ok_or_else(|| format!("there is no key {number}"))
    }

    fn define(&mut self, metric: &MetricEntry) -> Result<(), String> {
        let kind = [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend].into_iter().find(|k| k.name() == metric.kind);
        let contains = [Contains::Default, Contains::Time, Contains::Data];
        let contains = contains.into_iter().find(|contains| contains.name() == metric.contains);
        let (Some(kind), Some(contains)) = (kind, contains) else {
            return Err(format!("metric '{}' is a {} of {}", metric.name, metric.kind, metric.contains));
        };
        let id = self.registry.define_of_agent(&metric.name, kind, contains, self.first_agent)?;
        if !self.known.0.insert(id) {
            return Err(format!("metric '{}' is there twice", metric.name));
        }
        self.metrics.push((id, kind));
        Ok(())
    }

    fn define_subs(&mut self, subs: &[SubEntry]) -> Result<(), String> {
        if subs.is_empty() {
            return Ok(());
        }
        for sub in subs {
            let (parent, kind) =
                *self.metrics.get(sub.parent as usize).ok_or_else(|| format!("there is no metric {}", sub.parent))?;
            if sub.pairs.is_empty() {
                return Err(format!("a part of metric {} has no tags", sub.parent));
            }
            let pairs = sub.pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()));
            let filter = TagFilter::of(pairs).with_source(&sub.source);
            let id = self.registry.restore_sub_metric(parent, filter, sub.is_detail);
            if !self.known.1.insert(id) {
                return Err(format!("the part {} of metric {} is there twice", sub.source, sub.parent));
            }
            self.subs.push((id, kind));
        }
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
            KeyEntry::Request(kind) => (SinkKey::Request((*kind).into()), Kind::Trend),
        })
    }
}

fn scope((scenario, group): ScopeEntry) -> Scope {
    Scope { scenario: scenario.map(Arc::from), group: group.map(Arc::from) }
}
