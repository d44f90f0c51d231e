//! The samples of many agents of one second, put together as if one process had recorded them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::ReadShard;
use super::reader::ReadSink;
use crate::naming::builtin;
use crate::naming::metric::MetricId;
use crate::recording::snapshot::Snapshot;
use crate::registry::Registry;
use crate::sink::{Scope, Sink, SinkKey};

/// How many users each agent has, initialised ones, as it told last. One whose part is over tells no more, and has them
/// still: in one process they would be counted to the end.
#[derive(Default)]
pub struct AgentUsers(BTreeMap<u32, f64>);

impl AgentUsers {
    /// Nobody knows of this agent's users any more.
    pub fn lose(&mut self, agent: u32) {
        self.0.remove(&agent);
    }
}

/// Samples of one second, of any number of agents in any order.
///
/// The agents' users add up: one process would have told of all of them. All else merges as the samples of workers do.
pub struct SecondOfAgents {
    registry: Arc<Registry>,
    sinks: Vec<(Arc<SinkKey>, Sink)>,
    index: HashMap<Arc<SinkKey>, usize>,
    refused: u64,
    /// The agents that told how many users they have.
    told: BTreeMap<u32, f64>,
}

impl SecondOfAgents {
    /// Nothing yet, for samples that were read into this registry.
    pub fn new(registry: Arc<Registry>) -> SecondOfAgents {
        let (sinks, index, told) = Default::default();
        SecondOfAgents { registry, sinks, index, refused: 0, told }
    }

    /// Adds what an agent, or a part of the agents under one number, gathered in that second: everything at once.
    pub fn add(&mut self, agent: u32, samples: ReadShard) {
        self.refused += samples.refused;
        for (key, sink) in samples.sinks {
            if let (ReadSink::Plain(Sink::Gauge { last, .. }), true) = (&sink, *key == all_users()) {
                self.told.insert(agent, *last);
            }
            match self.index.get(&key) {
                None => {
                    self.index.insert(key.clone(), self.sinks.len());
                    self.sinks.push((key, sink.into_sink()));
                }
                Some(at) if matches!(self.metric(&key), Some(builtin::VUS | builtin::VUS_MAX)) => {
                    self.sinks[*at].1.add_level(sink.into_sink())
                }
                Some(at) => sink.add_to(&mut self.sinks[*at].1),
            }
        }
    }

    /// The samples of all of them. `users`: of the same agents, second by second.
    pub fn into_snapshot(mut self, users: &mut AgentUsers) -> Snapshot {
        assert_eq!(self.index.len(), self.sinks.len(), "the index knows each sink");
        let told = std::mem::take(&mut self.told);
        let silent = users.0.iter().filter(|(agent, _)| !told.contains_key(agent));
        let kept: f64 = silent.map(|(_, users)| users).sum();
        users.0.extend(told);
        for at in 0..self.sinks.len() {
            if self.metric(&self.sinks[at].0) == Some(builtin::VUS_MAX) {
                self.sinks[at].1.raise_level(kept);
            }
        }
        Snapshot { sinks: self.sinks, refused: self.refused, cardinality: None }
    }

    /// Whose samples belong to this key; none for what is no metric.
    fn metric(&self, key: &SinkKey) -> Option<MetricId> {
        match key {
            SinkKey::Metric(id, _) => Some(*id),
            SinkKey::Sub(id) => Some(self.registry.parent_of(*id)),
            SinkKey::Check(..) | SinkKey::Group(_) | SinkKey::Error(_) | SinkKey::Request(_) => None,
        }
    }
}

fn all_users() -> SinkKey {
    SinkKey::Metric(builtin::VUS_MAX, Scope::default())
}
