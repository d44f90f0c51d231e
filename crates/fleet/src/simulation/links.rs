//! Connections of the simulated network.

use std::collections::HashMap;

use crate::Ns;
use crate::coordinator::Link;

const MS: Ns = 1_000_000;

/// One direction of a connection: what is sent first arrives first.
#[derive(Clone, Debug, Default)]
struct Way {
    takes: Ns,
    last: Ns,
}

#[derive(Clone, Debug)]
struct Connection {
    agent: usize,
    ways: [Way; 2],
    is_broken: bool,
}

/// All connections there have been.
#[derive(Default)]
pub struct Links {
    connections: HashMap<Link, Connection>,
    made: Link,
    /// Until when nobody reaches anybody.
    pub partitioned_until: Ns,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
}

impl Links {
    /// A new connection of an agent; its ways take 1 to 50 ms each.
    pub fn open(&mut self, agent: usize, random: &mut fastrand::Rng) -> Link {
        self.made += 1;
        let mut way = || Way { takes: random.u64(MS..50 * MS), last: 0 };
        let ways = [way(), way()];
        self.connections.insert(self.made, Connection { agent, ways, is_broken: false });
        self.made
    }

    /// When a message that is sent now arrives; none when the connection is broken.
    pub fn arrival(&mut self, link: Link, direction: Direction, now: Ns, random: &mut fastrand::Rng) -> Option<Ns> {
        let connection = self.connections.get_mut(&link).filter(|connection| !connection.is_broken)?;
        let way = &mut connection.ways[direction as usize];
        let jitter = random.u64(0..=way.takes / 4);
        way.last = (now.max(self.partitioned_until) + way.takes + jitter).max(way.last + 1);
        Some(way.last)
    }

    /// Whether what is under way on a connection still arrives.
    pub fn is_whole(&self, link: Link) -> bool {
        self.connections.get(&link).is_some_and(|connection| !connection.is_broken)
    }

    /// Whose it is.
    pub fn agent(&self, link: Link) -> Option<usize> {
        self.connections.get(&link).map(|connection| connection.agent)
    }

    /// What was under way is lost.
    pub fn cut(&mut self, link: Link) {
        if let Some(connection) = self.connections.get_mut(&link) {
            connection.is_broken = true;
        }
    }

    /// All whole connections.
    pub fn whole(&self) -> Vec<Link> {
        let whole = self.connections.iter().filter(|(_, connection)| !connection.is_broken);
        let mut whole: Vec<Link> = whole.map(|(link, _)| *link).collect();
        whole.sort_unstable();
        whole
    }
}
