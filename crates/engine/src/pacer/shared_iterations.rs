//! Hands out a fixed number of iterations to the first that asks.
//!
//! Workers take chunks from one shared counter and give them to their virtual users, so that a short iteration does not
//! cost a contended cache line. Chunks shrink with what is left: near the end they are single iterations, so no worker
//! idles while another has a stock. Each number is given once; what is left at the end is counted as dropped once.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest chunk: small against any run in which the shared counter would matter.
const LARGEST: u64 = 256;

/// The iterations of a scenario that no worker has taken yet. Shared by the workers.
#[derive(Debug)]
pub struct SharedIterations {
    next: AtomicU64,
    total: u64,
    takers: u64,
}

impl SharedIterations {
    /// `total` iterations for `takers` virtual users on all workers.
    pub fn new(total: u64, takers: u64) -> Arc<Self> {
        Arc::new(SharedIterations { next: AtomicU64::new(0), total, takers: takers.max(1) })
    }

    /// How many there are in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Takes a chunk: its first number and the one after its last.
    fn take(&self) -> Option<(u64, u64)> {
        // Never more than there are, because nobody takes a chunk when none is left.
        let chunk = |next: u64| (self.total.saturating_sub(next) / (4 * self.takers)).clamp(1, LARGEST);
        let taken = self
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| (next < self.total).then(|| next + chunk(next)));
        let taken = taken.ok().map(|first| (first, first + chunk(first)));
        debug_assert!(taken.is_none_or(|(first, end)| first < end && end <= self.total), "{taken:?} of {}", self.total);
        taken
    }

    /// Takes everything that is left and says how much it was.
    fn take_rest(&self) -> u64 {
        self.total - self.next.swap(self.total, Ordering::Relaxed).min(self.total)
    }
}

/// One worker's stock of a scenario's iterations.
#[derive(Debug)]
pub struct IterationShare {
    all: Arc<SharedIterations>,
    next: Cell<u64>,
    end: Cell<u64>,
}

impl IterationShare {
    /// A stock without iterations yet.
    pub fn new(all: Arc<SharedIterations>) -> Self {
        IterationShare { all, next: Cell::new(0), end: Cell::new(0) }
    }

    /// The number of the next iteration, from 0.
    pub fn take(&self) -> Option<u64> {
        if self.next.get() == self.end.get() {
            let (next, end) = self.all.take()?;
            self.next.set(next);
            self.end.set(end);
        }
        let number = self.next.get();
        debug_assert!(number < self.end.get(), "a chunk is not empty: {number} of {}", self.end.get());
        self.next.set(number + 1);
        Some(number)
    }

    /// Gives up what this worker holds and what no worker has taken, and says how much it was.
    pub fn take_rest(&self) -> u64 {
        let held = self.end.get() - self.next.replace(self.end.get());
        debug_assert!(held <= LARGEST, "a worker holds one chunk: {held}");
        held + self.all.take_rest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_given_once() {
        for (total, takers, workers) in [(1, 1, 1), (10, 10, 3), (100_000, 7, 4), (5, 64, 2)] {
            let all = SharedIterations::new(total, takers);
            let shares: Vec<IterationShare> = (0..workers).map(|_| IterationShare::new(Arc::clone(&all))).collect();
            let mut seen = Vec::new();
            let mut turn = 0;
            while let Some(number) = shares[turn % workers].take() {
                seen.push(number);
                turn += 1;
            }
            // The others may still hold numbers of their last chunk.
            shares.iter().for_each(|share| seen.extend(std::iter::from_fn(|| share.take())));
            seen.sort_unstable();
            assert_eq!(seen, (0..total).collect::<Vec<_>>());
            assert_eq!(shares[0].take_rest(), 0);
        }
    }

    #[test]
    fn chunks_are_single_at_the_end() {
        let all = SharedIterations::new(1_000_000, 10);
        assert_eq!(all.take(), Some((0, LARGEST)));
        all.next.store(999_970, Ordering::Relaxed);
        assert_eq!(all.take(), Some((999_970, 999_971)));
    }

    #[test]
    fn what_is_left_is_counted_once() {
        let all = SharedIterations::new(10_000, 2);
        let (one, two) = (IterationShare::new(Arc::clone(&all)), IterationShare::new(all));
        (0..3).for_each(|_| _ = one.take());
        (0..5).for_each(|_| _ = two.take());
        assert_eq!(one.take_rest() + two.take_rest(), 10_000 - 8);
    }

    #[test]
    fn chunks_shrink_with_what_is_left() {
        let all = SharedIterations::new(1_000, 10);
        let chunks: Vec<u64> = std::iter::from_fn(|| all.take()).map(|(first, end)| end - first).collect();
        assert_eq!(chunks[..6], [25, 24, 23, 23, 22, 22], "a fortieth of 1000, 975, 951, 928, 905, 883");
        assert!(chunks.is_sorted_by(|before, after| before >= after));
        assert_eq!((chunks.iter().sum::<u64>(), chunks.last()), (1_000, Some(&1)));
        assert_eq!(SharedIterations::new(7, 0).take(), Some((0, 1)), "without takers as with one");
    }
}
