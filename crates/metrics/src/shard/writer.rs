//! Makes the shards of a run: tells each name once.
//!
//! A reader of all shards of a writer, in order, knows what every sample belongs to: names come no later than the
//! first sample of theirs.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{KeyEntry, Known, MetricEntry, Shard, SinkEntry, SubEntry};
use crate::places::Place;
use crate::recording::snapshot::Snapshot;
use crate::registry::Registry;
use crate::sink::{Sink, SinkKey};

/// Makes the shards of a run.
pub struct ShardWriter {
    registry: Arc<Registry>,
    told: Known,
    /// The numbers of the keys that were told.
    numbers: HashMap<Arc<SinkKey>, u32>,
    /// The keys by number, and where those in the tree stand, as it was told.
    keys: Vec<(Arc<SinkKey>, Option<Place>)>,
    /// The registry's number of changes among the places when they were last told.
    places_told: u64,
}

impl ShardWriter {
    /// Nothing told yet.
    pub fn new(registry: Arc<Registry>) -> ShardWriter {
        let (told, numbers, keys) = Default::default();
        ShardWriter { registry, told, numbers, keys, places_told: 0 }
    }

    /// What these snapshots hold, those of all workers put together, and the names that no shard before told of.
    pub fn shard<'a>(&mut self, snapshots: impl IntoIterator<Item = &'a Snapshot>) -> Shard {
        let mut shard = Shard { known: self.told, ..Shard::default() };
        let mut sinks: BTreeMap<u32, Cow<'a, Sink>> = BTreeMap::new();
        for snapshot in snapshots {
            shard.refused += snapshot.refused;
            for (key, sink) in &snapshot.sinks {
                let number = self.number(key);
                match sinks.entry(number) {
                    Entry::Vacant(entry) => drop(entry.insert(Cow::Borrowed(sink))),
                    Entry::Occupied(mut entry) => entry.get_mut().to_mut().merge_from(sink),
                }
            }
        }
        shard.sinks = sinks.iter().map(|(number, sink)| (*number, SinkEntry::from(&**sink))).collect();
        self.tell(&mut shard);
        assert!(
            shard.sinks.iter().all(|(number, _)| *number < self.told.keys),
            "the shards so far name what the samples of this one belong to"
        );
        shard
    }

    /// The same with all names that there are: for a reader that may have missed some. One that has not, reads it too.
    pub fn shard_with_names<'a>(&mut self, snapshots: impl IntoIterator<Item = &'a Snapshot>) -> Shard {
        self.told = Known::default();
        self.keys.iter_mut().for_each(|(_, place)| *place = None);
        self.places_told = 0;
        self.shard(snapshots)
    }

    fn number(&mut self, key: &Arc<SinkKey>) -> u32 {
        if let Some(number) = self.numbers.get(key) {
            return *number;
        }
        let number = self.keys.len() as u32;
        debug_assert_eq!(self.numbers.len(), self.keys.len(), "each key has one number");
        self.numbers.insert(key.clone(), number);
        self.keys.push((key.clone(), None));
        number
    }

    /// Adds the names that are new.
    fn tell(&mut self, shard: &mut Shard) {
        // After the samples: a worker may define a metric at any moment, and all that they name is known by now.
        let definitions = self.registry.definitions();
        shard.metrics = definitions[self.told.metrics as usize..].iter().map(MetricEntry::from).collect();
        let subs = self.registry.sub_metrics();
        shard.subs = subs[self.told.subs as usize..].iter().map(SubEntry::from).collect();
        let new = &self.keys[self.told.keys as usize..];
        shard.keys = new.iter().map(|(key, _)| KeyEntry::from(&**key)).collect();
        let changes = self.registry.changes_of_places();
        if changes != self.places_told || new.iter().any(|(key, _)| key.is_in_tree()) {
            self.places_told = changes;
            self.tell_places(shard);
        }
        let count = |all: usize| all as u32;
        self.told = Known { metrics: count(definitions.len()), subs: count(subs.len()), keys: count(self.keys.len()) };
    }

    fn tell_places(&mut self, shard: &mut Shard) {
        let places = self.registry.places();
        for (number, (key, told)) in self.keys.iter_mut().enumerate().filter(|(_, (key, _))| key.is_in_tree()) {
            let place = places.get(key).copied();
            if let Some(place) = place.filter(|place| *told != Some(*place)) {
                *told = Some(place);
                shard.places.push((number as u32, place));
            }
        }
    }
}
