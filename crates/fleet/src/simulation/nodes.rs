//! The nodes of a simulated run: a clock, an agent with its kept frames.

use crate::agent::{Agent, Identity};
use crate::coordinator::Link;
use crate::token::Secret;
use crate::{Ns, SECOND};

/// Of every node.
pub const VERSION: &str = "simulated";

/// A node's clock: ahead by some time and running apart.
#[derive(Clone, Copy, Debug)]
pub struct SimulatedClock {
    ahead: i64,
    per_million: i64,
}

impl SimulatedClock {
    /// Within 200 ms and 50 parts in a million.
    pub fn random(random: &mut fastrand::Rng) -> SimulatedClock {
        SimulatedClock { ahead: random.i64(-200_000_000..=200_000_000), per_million: random.i64(-50..=50) }
    }

    /// What it shows.
    pub fn reads(&self, at: Ns) -> Ns {
        at.saturating_add_signed(self.ahead + at as i64 / 1_000_000 * self.per_million)
    }

    /// When it shows this.
    pub fn when(&self, shown: Ns) -> Ns {
        let guess = shown.saturating_add_signed(-self.ahead);
        // Once is enough: what is left is the drift of the drift.
        guess.saturating_add_signed(-(guess as i64 / 1_000_000 * self.per_million))
    }
}

/// Frames that an agent has kept.
#[derive(Clone, Debug, Default)]
pub struct Kept(pub Vec<Vec<u8>>);

impl Kept {
    /// One of them, by its number from 1 on.
    pub fn frame(&self, number: u64) -> Option<Vec<u8>> {
        self.0.get(number as usize - 1).cloned()
    }
}

/// One life of an agent.
pub struct SimulatedAgent {
    pub machine: Agent,
    pub clock: SimulatedClock,
    pub life: u64,
    pub link: Option<Link>,
    pub kept: Kept,
    pub is_alive: bool,
    pub frozen_until: Ns,
    /// When its scenarios began, in true time, and when they should have by its own clock.
    pub started: Option<(Ns, Ns)>,
    pub bound: Ns,
    pub starts: u32,
    pub has_ended: bool,
    pub is_dismissed: bool,
    /// Changes of the load that it heard of.
    pub changes: Vec<u64>,
    /// When it closed its last frame, in true time.
    pub ended: Ns,
}

impl SimulatedAgent {
    /// A life that begins.
    pub fn new(number: usize, life: u64, clock: SimulatedClock, secret: Secret) -> SimulatedAgent {
        let identity = Identity {
            version: VERSION.to_owned(),
            secret,
            name: format!("agent {number}, life {life}"),
            index: Some(number as u32),
            incarnation: life,
        };
        SimulatedAgent {
            machine: Agent::new(identity),
            clock,
            life,
            link: None,
            kept: Kept::default(),
            is_alive: true,
            frozen_until: 0,
            started: None,
            bound: 0,
            starts: 0,
            has_ended: false,
            is_dismissed: false,
            changes: Vec::new(),
            ended: 0,
        }
    }

    /// What frame `number` of this life holds.
    pub fn content(number: usize, life: u64, frame: u64) -> Vec<u8> {
        format!("{number} {life} {frame}").into_bytes()
    }

    /// Closes the next frame; whether there is another one, and when, in true time.
    pub fn close_frame(&mut self, number: usize, lasts: Ns) -> Option<Ns> {
        let frame = self.kept.0.len() as u64 + 1;
        self.kept.0.push(SimulatedAgent::content(number, self.life, frame));
        self.machine.closed_frame();
        let (_, start) = self.started?;
        if frame * SECOND >= lasts {
            self.has_ended = true;
            self.machine.ended(self.life.to_le_bytes().to_vec());
            return None;
        }
        Some(self.clock.when(start + ((frame + 1) * SECOND).min(lasts)))
    }
}
