//! Scenarios as the options give them, and what a running iteration may know of its own.
//!
//! `config` holds them after reading and checking, `reading` and `fields` read JSON with messages that name the
//! scenario and the field, `writing` makes the JSON of them, `executor_kind` has the names of executors, `shortcut`
//! makes scenarios of `vus`, `duration`, `iterations` and `stages`, `selection` chooses among them, `hold` gives them a
//! steady load, `spacing` and `trace` are about when starts come. Nothing here knows of segments; of workers only how
//! what all of them share is split.

mod config;
mod executor_kind;
mod fields;
mod hold;
mod reading;
mod selection;
mod shortcut;
mod spacing;
mod trace;
mod writing;

use std::collections::BTreeMap;
use std::time::Duration;

pub use config::{Executor, Scenario, Scenarios, Stage};
pub use fields::ConfigError;
pub use hold::{HeldLoad, Hold};
pub use selection::Selection;
pub use shortcut::{Derived, Shortcuts};
pub use spacing::{Spacing, Speed};

/// So many users are a mistake: they are planned and made one by one, and would want a hundred gigabytes.
pub(crate) const MOST_USERS: u64 = 1_000_000;

/// What an iteration knows of its scenario. One per scenario and worker, in an `Rc`.
#[derive(Debug)]
pub struct ScenarioInfo {
    /// Position among the run's scenarios.
    pub index: usize,
    /// Name (`default` when the shortcuts were used).
    pub name: String,
    /// k6's name of the executor, `constant-vus`.
    pub executor: &'static str,
    /// Exported function to call.
    pub exec: String,
    /// Added to `__ENV` for this scenario's iterations.
    pub env: BTreeMap<String, String>,
    /// Added to every sample of this scenario's iterations.
    pub tags: BTreeMap<String, String>,
    /// When the scenario started, by the engine's clock.
    pub started: Duration,
    /// Whether a plan gives the starts of its iterations: an arrival rate or a trace.
    pub is_planned: bool,
    /// This worker's share of what the whole scenario has.
    pub share: WorkerShare,
}

/// A worker's place among those that take part in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerShare {
    /// From 0.
    pub place: usize,
    /// How many take part.
    pub workers: usize,
}

impl WorkerShare {
    /// The share of a single worker.
    pub const ALL: WorkerShare = WorkerShare { place: 0, workers: 1 };

    /// How many of so many things belong to this worker; the first workers have one more where they do not divide.
    pub fn of(self, things: usize) -> usize {
        things / self.workers + usize::from(self.place < things % self.workers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        for (things, workers, shares) in
            [(5, 1, vec![5]), (5, 3, vec![2, 2, 1]), (4, 4, vec![1; 4]), (1, 2, vec![1, 0])]
        {
            let all: Vec<usize> = (0..workers).map(|place| WorkerShare { place, workers }.of(things)).collect();
            assert_eq!(all, shares);
        }
    }
}
