//! How many exchanges had to be timed by this program because the kernel gave no usable time of arrival.
//!
//! Such timings end when the program got round to reading, which on a busy machine is later than the truth, so the
//! summary tells how many there were. Each worker counts for itself, in a cache line of its own; a run in which all
//! exchanges were stamped counts nothing.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use wire::Exchange;

use crate::Vu;

/// One worker's count. Only that worker writes.
#[derive(Default)]
#[repr(align(64))]
struct Tally {
    /// Over unix sockets, which have no receive stamps.
    unix: AtomicU64,
    /// Over others: no stamp came, or one that cannot be right.
    other: AtomicU64,
}

/// The counts of all workers of the process.
#[derive(Default)]
pub struct Unstamped {
    workers: Mutex<Vec<Arc<Tally>>>,
}

/// The count of the worker that it is local to.
#[derive(Default)]
pub struct WorkerTally {
    tally: OnceCell<Arc<Tally>>,
}

impl WorkerTally {
    /// Counts an answered exchange whose arrival the kernel did not tell.
    pub fn note(&self, vu: &Vu, exchange: &Exchange) {
        if let (Ok(_), Some(connection)) = (&exchange.outcome, &exchange.connection)
            && !connection.kernel_stamps
        {
            let tally = self.tally.get_or_init(|| vu.process::<Unstamped>().join());
            let count = if connection.remote.is_none() { &tally.unix } else { &tally.other };
            // A plain load and store: nobody else writes.
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }
}

impl Unstamped {
    fn join(&self) -> Arc<Tally> {
        let tally = Arc::<Tally>::default();
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&tally));
        tally
    }

    /// All of them.
    pub fn count(&self) -> u64 {
        let (unix, other) = self.counts();
        unix + other
    }

    /// Over unix sockets, and over others.
    fn counts(&self) -> (u64, u64) {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = |of: fn(&Tally) -> &AtomicU64| workers.iter().map(|tally| of(tally).load(Ordering::Relaxed)).sum();
        (sum(|tally| &tally.unix), sum(|tally| &tally.other))
    }

    /// One plain line for the summary of a run with that many requests; none when the kernel stamped all.
    pub fn remark(&self, requests: u64) -> Option<String> {
        let (unix, other) = self.counts();
        let why = match (unix, other) {
            (0, 0) => return None,
            (_, 0) => "unix sockets have no receive stamps",
            (0, _) => "the kernel gave no usable receive stamp",
            _ => "unix sockets have no receive stamps and the kernel gave no usable one for others",
        };
        let count = unix + other;
        Some(format!(
            "timings of {count} of {requests} requests were taken by this program, not by the kernel, because {why}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remark_names_number_and_cause() {
        let all = Unstamped::default();
        assert_eq!(all.remark(9), None);
        let (one, two) = (all.join(), all.join());
        assert_eq!(all.remark(9), None);
        one.unix.store(2, Ordering::Relaxed);
        two.unix.store(1, Ordering::Relaxed);
        let expected = "timings of 3 of 9 requests were taken by this program, not by the kernel, because unix sockets \
            have no receive stamps";
        assert_eq!(all.remark(9).as_deref(), Some(expected));
        two.other.store(1, Ordering::Relaxed);
        assert!(all.remark(9).is_some_and(|line| line.starts_with("timings of 4 of 9 ")));
    }
}
