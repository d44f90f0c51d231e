//! The samples of many agents of one second, put together as if one process had recorded them.

use std::collections::HashMap;
use std::sync::Arc;

use super::{ReadShard, Shard, ShardReader, ShardWriter};
use crate::builtin;
use crate::registry::Registry;
use crate::sink::{Sink, SinkKey};
use crate::snapshot::Snapshot;

/// Samples of one second, of any number of agents in any order.
///
/// The agents' users add up: one process would have told of all of them. All else merges as the samples of workers do.
pub struct SecondOfAgents {
    registry: Arc<Registry>,
    sinks: Vec<(Arc<SinkKey>, Sink)>,
    index: HashMap<Arc<SinkKey>, usize>,
    refused: u64,
}

impl SecondOfAgents {
    /// Nothing yet, for samples that were read into this registry.
    pub fn new(registry: Arc<Registry>) -> SecondOfAgents {
        SecondOfAgents { registry, sinks: Vec::new(), index: HashMap::new(), refused: 0 }
    }

    /// Adds what an agent, or a part of the agents, gathered in that second: everything at once.
    pub fn add(&mut self, of_agent: ReadShard) {
        self.refused += of_agent.refused;
        for (key, sink) in of_agent.sinks {
            match self.index.get(&key) {
                None => {
                    self.index.insert(key.clone(), self.sinks.len());
                    self.sinks.push((key, sink.into_sink()));
                }
                Some(at) if self.is_number_of_users(&key) => self.sinks[*at].1.add_level(sink.into_sink()),
                Some(at) => sink.add_to(&mut self.sinks[*at].1),
            }
        }
    }

    /// The samples of all of them.
    pub fn into_snapshot(self) -> Snapshot {
        Snapshot { sinks: self.sinks, refused: self.refused, cardinality: None }
    }

    fn is_number_of_users(&self, key: &SinkKey) -> bool {
        let metric = match key {
            SinkKey::Metric(id, _) => *id,
            SinkKey::Sub(id) => self.registry.parent_of(*id),
            SinkKey::Check(..) | SinkKey::Group(_) | SinkKey::Error(_) => return false,
        };
        matches!(metric, builtin::VUS | builtin::VUS_MAX)
    }
}

/// Makes one shard of those of some agents: a knot of a tree, at whose root the shards of thousands of agents have
/// become few. What comes out is the same, to the bit, as when all are merged at the root.
pub struct ShardJoin {
    registry: Arc<Registry>,
    readers: HashMap<u32, ShardReader>,
    writer: ShardWriter,
}

impl Default for ShardJoin {
    fn default() -> ShardJoin {
        let registry = Registry::new();
        ShardJoin { writer: ShardWriter::new(registry.clone()), readers: HashMap::new(), registry }
    }
}

impl ShardJoin {
    /// The agent of this number has a new writer: it was started again.
    pub fn forget(&mut self, agent: u32) {
        self.readers.remove(&agent);
    }

    /// The shards of one second, each with the number of its agent; the error says whose cannot be read, and why.
    pub fn join(&mut self, shards: impl IntoIterator<Item = (u32, Shard)>) -> Result<Shard, String> {
        let mut second = SecondOfAgents::new(self.registry.clone());
        for (agent, shard) in shards {
            let registry = &self.registry;
            let reader = self.readers.entry(agent);
            let reader = reader.or_insert_with(|| ShardReader::into_registry(registry.clone(), agent));
            second.add(reader.read(shard).map_err(|why| format!("agent {agent}: {why}"))?);
        }
        Ok(self.writer.shard([&second.into_snapshot()]))
    }
}
