//! Where groups and checks stand among each other: by when a worker met them first.
//!
//! Of many agents, those of the first agent come first, in its order, then what only the next one met. So the order
//! does not depend on whose samples arrive first.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::sink::SinkKey;

/// A place; the lowest one that anybody tells of is that of a group or check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The agent that met it; 0 where there is one process.
    pub agent: u32,
    /// How many groups and checks it had met before.
    pub number: u32,
}

/// The places of groups and checks.
#[derive(Default)]
pub(crate) struct Places {
    all: HashMap<Arc<SinkKey>, Place>,
    /// How many this process has met itself.
    own: u32,
    changes: u64,
}

impl Places {
    /// A worker of this process has met it; the first one that does gives it its place.
    pub(crate) fn meet(&mut self, key: &Arc<SinkKey>) {
        let place = Place { agent: 0, number: self.own };
        self.own += u32::from(self.restore(key, place));
    }

    /// An agent has met it; whether that changed anything.
    pub(crate) fn restore(&mut self, key: &Arc<SinkKey>, place: Place) -> bool {
        let is_news = match self.all.entry(key.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(place);
                true
            }
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                let is_before = place < *known;
                *known = place.min(*known);
                is_before
            }
        };
        self.changes += u64::from(is_news);
        is_news
    }

    /// All of them.
    pub(crate) fn all(&self) -> &HashMap<Arc<SinkKey>, Place> {
        &self.all
    }

    /// How often one was new or changed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Scope;

    fn key(name: &str) -> Arc<SinkKey> {
        Arc::new(SinkKey::Check(Scope::default(), name.into()))
    }

    #[test]
    fn whoever_is_heard_first_the_first_agent_decides() {
        let told = [("a", 1, 0), ("b", 0, 1), ("a", 0, 2), ("c", 1, 1), ("b", 2, 0)];
        let order = |told: &mut dyn Iterator<Item = &(&str, u32, u32)>| {
            let mut places = Places::default();
            told.for_each(|(name, agent, number)| {
                places.restore(&key(name), Place { agent: *agent, number: *number });
            });
            ["a", "b", "c"].map(|name| places.all()[&key(name)])
        };
        let place = |agent, number| Place { agent, number };
        let expected = [place(0, 2), place(0, 1), place(1, 1)];
        assert_eq!(order(&mut told.iter()), expected);
        assert_eq!(order(&mut told.iter().rev()), expected);
    }

    #[test]
    fn a_process_counts_what_it_meets_and_a_change_is_known() {
        let mut places = Places::default();
        ["a", "b", "a", "c"].iter().for_each(|name| places.meet(&key(name)));
        assert_eq!(["a", "b", "c"].map(|name| places.all()[&key(name)].number), [0, 1, 2]);
        assert_eq!(places.changes(), 3);
        assert!(!places.restore(&key("a"), Place { agent: 3, number: 0 }));
        assert!(places.restore(&key("c"), Place::default()));
        assert_eq!(places.changes(), 4);
    }
}
