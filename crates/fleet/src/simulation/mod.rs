//! A run of coordinator and agents in simulated time, with whatever can go wrong, from a seed.
//!
//! Each node has a clock of its own, ahead or behind by up to 200 ms and running apart by up to 50 parts in a million.
//! Connections take 1 to 50 ms, other times in each direction, and break with what is under way; one end may notice
//! late. Agents stop, crash, come back or are started anew; the coordinator is killed and started again. `judge` says
//! what must hold whatever happens; a failure is told with its seed.

mod judge;
mod links;
mod mishaps;
mod nodes;
mod world;

pub use judge::judge;
pub use world::{Outcome, World};

/// What may happen to a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Mishap {
    /// An agent's connection breaks.
    Break(usize),
    /// An agent stands still for so many ms.
    Freeze(usize, u64),
    /// An agent dies for good.
    Kill(usize),
    /// An agent dies and is started again after so many ms.
    Restart(usize, u64),
    /// Nobody reaches anybody for so many ms.
    Partition(u64),
    /// The coordinator is killed and started again after so many ms.
    Coordinator(u64),
    /// Somebody without a right tries to join.
    Stranger,
}

/// What a seed stands for.
#[derive(Clone, Debug)]
pub struct Case {
    /// The seed.
    pub seed: u64,
    /// Agents.
    pub agents: usize,
    /// How long the scenarios last, in ms.
    pub lasts_ms: u64,
    /// What happens when, in ms from the beginning.
    pub mishaps: Vec<(u64, Mishap)>,
    /// When the load is changed, likewise.
    pub changes: Vec<u64>,
}

impl Case {
    /// The case of a seed. One in four has no mishap.
    pub fn of(seed: u64) -> Case {
        let mut random = fastrand::Rng::with_seed(seed);
        let agents = random.usize(1..=6);
        let lasts_ms = random.u64(300..12_000);
        let mut mishaps = Vec::new();
        for _ in 0..[0, 1, 1, 3][random.usize(..4)] {
            let agent = random.usize(..agents);
            let mishap = match random.u32(..12) {
                0..3 => Mishap::Break(agent),
                3..5 => Mishap::Freeze(agent, random.u64(50..12_000)),
                5..7 => Mishap::Kill(agent),
                7..8 => Mishap::Restart(agent, random.u64(100..3_000)),
                8..9 => Mishap::Partition(random.u64(100..6_000)),
                9..11 => Mishap::Coordinator(random.u64(100..5_000)),
                _ => Mishap::Stranger,
            };
            mishaps.push((random.u64(0..lasts_ms + 4_000), mishap));
        }
        let changes = (0..random.usize(..4)).map(|_| random.u64(0..lasts_ms + 4_000)).collect();
        Case { seed, agents, lasts_ms, mishaps, changes }
    }
}

/// Runs the case of a seed and judges it; the error says what did not hold.
pub fn try_seed(seed: u64) -> Result<Outcome, String> {
    let case = Case::of(seed);
    let outcome = World::new(&case).run();
    judge(&case, &outcome).map(|()| outcome).map_err(|what| format!("seed {seed}: {what}\n{case:?}"))
}
