//! How far each worker is, from its first user to its end.

use std::time::Duration;

use crate::health::WorkerHealth;

/// What the workers have reported of themselves.
pub(super) struct WorkerReports {
    /// Users that are made.
    pub(super) made: u64,
    /// Workers that have made theirs.
    ready: usize,
    /// Users that could not be stopped.
    pub(super) lost: u64,
    /// One a worker, once it has ended.
    ended: Vec<Option<WorkerHealth>>,
    /// When the last one did.
    pub(super) last_end: Duration,
    /// When the last iteration ended; zero without any.
    pub(super) loaded_until: Duration,
}

impl WorkerReports {
    /// None has reported yet.
    pub(super) fn new(workers: usize) -> WorkerReports {
        WorkerReports {
            made: 0,
            ready: 0,
            lost: 0,
            ended: vec![None; workers],
            last_end: Duration::ZERO,
            loaded_until: Duration::ZERO,
        }
    }

    /// One has made its users; whether it is the last.
    pub(super) fn make_ready(&mut self) -> bool {
        self.ready += 1;
        assert!(self.ready <= self.ended.len(), "a worker is ready once: {} of {}", self.ready, self.ended.len());
        self.ready == self.ended.len()
    }

    /// One could not begin.
    pub(super) fn refuse(&mut self, worker: usize) {
        assert!(self.ended[worker].is_none(), "worker {worker} ends once");
        self.ended[worker] = Some(WorkerHealth::default());
        self.ready += 1;
    }

    /// One has ended at `at`, its last iteration at `loaded_until`.
    pub(super) fn end(&mut self, worker: usize, at: Duration, loaded_until: Duration, health: WorkerHealth) {
        assert!(self.ended[worker].is_none(), "worker {worker} ends once");
        assert!(loaded_until <= at, "the load ends before its worker: {loaded_until:?}, {at:?}");
        self.last_end = self.last_end.max(at);
        self.loaded_until = self.loaded_until.max(loaded_until);
        self.ended[worker] = Some(health);
    }

    pub(super) fn has_ended(&self, worker: usize) -> bool {
        self.ended[worker].is_some()
    }

    /// Those that have not ended: stuck ones, once the run is over.
    pub(super) fn running(&self) -> impl Iterator<Item = usize> {
        self.ended.iter().enumerate().filter(|(_, ended)| ended.is_none()).map(|(worker, _)| worker)
    }

    /// How each fared; nothing is known of one that is stuck.
    pub(super) fn health(&self) -> Vec<WorkerHealth> {
        self.ended.iter().cloned().map(Option::unwrap_or_default).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_runs_until_it_has_ended_or_could_not_begin() {
        let seconds = Duration::from_secs;
        let mut reports = WorkerReports::new(3);
        assert_eq!([0, 1, 2].map(|worker| reports.has_ended(worker)), [false; 3]);
        assert!(!reports.make_ready() && !reports.make_ready());
        reports.refuse(2);
        let health = WorkerHealth { cpu_share: 0.5, ..WorkerHealth::default() };
        reports.end(1, seconds(9), seconds(7), health);
        assert_eq!([0, 1, 2].map(|worker| reports.has_ended(worker)), [false, true, true]);
        assert_eq!(reports.running().collect::<Vec<_>>(), [0], "it is stuck, if the run is over");
        assert_eq!((reports.last_end, reports.loaded_until), (seconds(9), seconds(7)));
        let shares: Vec<f64> = reports.health().iter().map(|worker| worker.cpu_share).collect();
        assert_eq!(shares, [0.0, 0.5, 0.0]);
    }
}
