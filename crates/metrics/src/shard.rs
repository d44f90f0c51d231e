//! A part of a run's samples for another process: what recorders handed over, bit for bit, with the names that the
//! other side does not know yet.
//!
//! A shard relies on the metrics and names that earlier ones of its writer brought: each is told once. It says how many
//! that are, so that whoever gets shards twice or out of order knows which can be read (`ShardReader::can_read`). What
//! is read may be damaged: every number is checked before anybody reckons with it. The table of distinct series is not
//! in it: it only serves a warning.

mod agents;
mod reader;
mod request_entry;
mod writer;

pub use agents::{AgentUsers, SecondOfAgents};
use reader::ReadSink;
pub use reader::{ReadShard, ShardReader};
use request_entry::RequestEntry;
pub use writer::ShardWriter;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::counter_sum::PackedCounterSum;
use crate::errors::ErrorKind;
use crate::places::Place;
use crate::registry::{Definition, SubMetric};
use crate::sink::{Scope, Sink, SinkKey};
use crate::trend::exact::ExactTrend;

/// Samples of one interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shard {
    refused: u64,
    /// What the shards before have told.
    known: Known,
    /// Metrics that are new, in the order of their numbers.
    metrics: Vec<MetricEntry>,
    /// Sub-metrics that are new, likewise.
    subs: Vec<SubEntry>,
    /// What samples belong to, where it is new, likewise.
    keys: Vec<KeyEntry>,
    /// Where groups and checks stand, by the numbers of their keys, where that is new.
    places: Vec<(u32, Place)>,
    /// By the numbers of their keys.
    sinks: Vec<(u32, SinkEntry)>,
}

/// How many names there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    metrics: u32,
    subs: u32,
    keys: u32,
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
                KeyEntry::Request(kind) => {
                    kind.texts().for_each(&mut change);
                    (None, None)
                }
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
    Request(Box<RequestEntry>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum SinkEntry {
    Counter { sum: PackedCounterSum, samples: u64 },
    Gauge { last: f64, last_at_ns: u64, min: f64, max: f64, samples: u64 },
    Rate { passes: u64, total: u64 },
    Trend(Box<ExactTrend>),
}

impl From<&Definition> for MetricEntry {
    fn from(definition: &Definition) -> MetricEntry {
        MetricEntry {
            name: definition.name.to_string(),
            kind: definition.kind.name().to_owned(),
            contains: definition.contains.name().to_owned(),
        }
    }
}

impl From<&SubMetric> for SubEntry {
    fn from(sub: &SubMetric) -> SubEntry {
        SubEntry {
            parent: sub.parent.0,
            pairs: sub.filter.pairs().to_vec(),
            source: sub.filter.source().to_owned(),
            is_detail: sub.is_detail,
        }
    }
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
            SinkKey::Request(kind) => KeyEntry::Request(Box::new(RequestEntry::from(kind))),
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
    fn into_read(self) -> Option<ReadSink> {
        Some(ReadSink::Plain(match self {
            SinkEntry::Counter { sum, samples } => Sink::Counter { sum: sum.into_sum()?, samples },
            SinkEntry::Gauge { last, last_at_ns, min, max, samples } => {
                Sink::Gauge { last, last_at_ns, min, max, samples }
            }
            SinkEntry::Rate { passes, total } if passes <= total => Sink::Rate { passes, total },
            SinkEntry::Rate { .. } => return None,
            SinkEntry::Trend(trend) => return Some(ReadSink::Trend(trend.into_sparse()?)),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::aggregation::threshold::Thresholds;
    use crate::naming::builtin;
    use crate::naming::metric::{Contains, Kind};
    use crate::naming::tags::TagFilter;
    use crate::recording::snapshot::Snapshot;
    use crate::registry::Registry;
    use crate::{Aggregate, Recorder, RequestKind, TagSet};

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
            let kind = RequestKind { name: "/n".into(), example: Some("/n/1".into()), ..RequestKind::default() };
            let of_request = recorder.series_of_request(builtin::HTTP_REQ_DURATION, &tags(&[]), &kind);
            recorder.add(of_request, 0.1 + second as f64, second);
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
        let twice = refused(&|shard| shard.metrics[1] = shard.metrics[0].clone());
        assert_eq!(twice, "metric 'vus' is there twice");
        let twice = refused(&|shard| shard.subs[1] = shard.subs[0].clone());
        assert!(twice.ends_with(" is there twice"), "{twice}");
        assert_eq!(refused(&|shard| shard.known.keys = 1), "it relies on names that no shard before it has told");
        assert_eq!(refused(&|shard| shard.places[0].0 = 99), "there is no key 99");
        assert_eq!(refused(&|shard| shard.places[0].0 = 0), "key 0 is no group or check and has a place among them");
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
        for wanted in ["own_gauge", "200", "a", "::g", "is fine", "e", "n", "/n", "/n/1"] {
            assert!(texts.iter().any(|text| text == wanted), "{wanted} in {texts:?}");
        }
        assert!(!format!("{shard:?}").contains("is fine"));
    }

    /// What a writer has told is told to be known, so that shards may come twice, too early, or after some were lost.
    #[test]
    fn shards_that_come_twice_or_too_early_are_known() {
        let (registry, snapshots) = recorded();
        let mut writer = ShardWriter::new(registry.clone());
        let shards: Vec<Shard> = snapshots.iter().map(|snapshot| writer.shard([snapshot])).collect();
        let whole = writer.shard_with_names([&snapshots[1]]);
        let mut reader = ShardReader::default();
        assert_eq!([0, 1].map(|at: usize| reader.can_read(&shards[at])), [true, false]);
        assert!(reader.snapshot(shards[1].clone()).is_err());
        let mut told = |shard: &Shard| {
            let snapshot = reader.snapshot(through_bytes(shard)).expect("it can be read");
            outcome(reader.registry(), [snapshot])
        };
        let first = told(&shards[0]);
        let second = told(&shards[1]);
        assert_ne!(first, second);
        assert_eq!([told(&shards[0]), told(&whole), told(&shards[1])], [first.clone(), second.clone(), second.clone()]);
        let mut late = ShardReader::default();
        let read = late.snapshot(whole).expect("it has all names");
        assert_eq!(outcome(late.registry(), [read]), second);
    }

    #[test]
    fn agents_that_contradict_each_other_are_named() {
        let shared = Registry::new();
        shared.define("of_all", Kind::Gauge, Contains::Data).unwrap();
        let of = |agent: u32, kind: Kind, name: &str| {
            let registry = Registry::new();
            registry.define(name, kind, Contains::Time).unwrap();
            let shard = ShardWriter::new(registry).shard([]);
            ShardReader::into_registry(shared.clone(), agent).snapshot(shard).map(|_| ())
        };
        assert_eq!([of(4, Kind::Trend, "wait"), of(2, Kind::Trend, "wait")], [Ok(()), Ok(())]);
        let expected = "metric 'wait' is a counter of milliseconds on agent 7 and a trend of milliseconds on agent 4: \
                        all agents need the same script";
        assert_eq!(of(7, Kind::Counter, "wait"), Err(expected.to_owned()));
        let expected = "metric 'of_all' is a gauge of milliseconds on agent 1 and a gauge of bytes here: all agents \
                        need the same script";
        assert_eq!(of(1, Kind::Gauge, "of_all"), Err(expected.to_owned()));
    }

    /// What of two agents' checks comes first does not depend on whose shard does.
    #[test]
    fn checks_stand_in_the_order_of_the_agents() {
        let shards = |checks: &[&'static str]| {
            let registry = Registry::new();
            let recorder = Recorder::new(registry.clone());
            let mut writer = ShardWriter::new(registry);
            let second = |check: &&'static str| {
                let tags = TagSet::new([("check", *check)]);
                recorder.add(recorder.series(builtin::CHECKS, &tags), 1.0, 0);
                writer.shard([&recorder.take()])
            };
            checks.iter().map(second).collect::<Vec<Shard>>()
        };
        let agents = [(0, shards(&["a", "z"])), (1, shards(&["n", "m"])), (2, shards(&["z", "a"]))];
        let order = |agents: &[&(u32, Vec<Shard>)]| {
            let registry = Registry::new();
            let mut snapshots = Vec::new();
            let mut readers: Vec<ShardReader> =
                agents.iter().map(|(agent, _)| ShardReader::into_registry(registry.clone(), *agent)).collect();
            for second in 0..2 {
                for ((_, shards), reader) in agents.iter().zip(&mut readers) {
                    snapshots.push(reader.snapshot(shards[second].clone()).unwrap());
                }
            }
            let mut aggregate = Aggregate::new(registry, Thresholds::default());
            snapshots.into_iter().for_each(|snapshot| aggregate.merge(snapshot));
            let checks = aggregate.results(Duration::from_secs(1), false).checks;
            checks.into_iter().map(|check| check.name).collect::<String>()
        };
        let [a, b, c] = &agents;
        for agents in [[a, b, c], [c, b, a], [b, c, a]] {
            assert_eq!(order(&agents), "aznm");
        }
    }
}
