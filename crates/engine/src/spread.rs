//! Which workers take part in a scenario, and which of its positions each of them gets.
//!
//! The plan chooses the first worker and how many there are; lanes ask for their share. Whatever the numbers are, each
//! position belongs to exactly one worker.

use crate::scenario::WorkerShare;

/// Which workers take part in a scenario: position k goes to the k-th of them in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    pub(crate) first: usize,
    pub(crate) taking_part: usize,
    pub(crate) workers: usize,
}

impl Spread {
    /// Where this worker's positions start and how far apart they are; none when it takes no part.
    pub(crate) fn stripe(&self, worker: usize) -> Option<(u64, u64)> {
        debug_assert!(worker < self.workers && self.first < self.workers, "{worker} of {self:?}");
        debug_assert!((1..=self.workers).contains(&self.taking_part), "{self:?}");
        let place = (worker + self.workers - self.first) % self.workers;
        (place < self.taking_part).then_some((place as u64, self.taking_part as u64))
    }

    /// This worker's share of what the scenario has.
    pub(crate) fn share(&self, worker: usize) -> WorkerShare {
        let place = (worker + self.workers - self.first) % self.workers;
        WorkerShare { place, workers: self.taking_part }
    }

    /// This worker's positions among the first n.
    pub(crate) fn positions(&self, worker: usize, n: u64) -> impl Iterator<Item = u64> + use<> {
        let (first, step) = self.stripe(worker).unwrap_or((n, 1));
        (first..n).step_by(usize::try_from(step).expect("no more than there are workers"))
    }
}
