//! Hands out a fixed number of iterations to whoever asks first.
//!
//! Workers take chunks from one shared counter and deal them to their virtual users, so that a short iteration does not cost
//! a contended cache line. Chunks shrink with what is left: near the end they are single iterations, so nobody idles while
//! another sits on work. Every number is dealt once; what was not dealt at the end is counted as dropped once.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Largest chunk: small against any run in which the shared counter would matter.
const LARGEST: u64 = 256;

/// The iterations of a scenario that nobody has taken yet. Shared by the workers.
#[derive(Debug)]
pub struct Deal {
    next: AtomicU64,
    total: u64,
    takers: u64,
}

impl Deal {
    /// `total` iterations for `takers` virtual users on all workers.
    pub fn new(total: u64, takers: u64) -> Arc<Self> {
        Arc::new(Deal { next: AtomicU64::new(0), total, takers: takers.max(1) })
    }

    /// How many there are in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Takes a chunk: its first number and the one after its last.
    fn take(&self) -> Option<(u64, u64)> {
        let chunk = |next: u64| (self.total.saturating_sub(next) / (4 * self.takers)).clamp(1, LARGEST);
        let taken = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
            (next < self.total).then(|| next + chunk(next).min(self.total - next))
        });
        taken.ok().map(|first| (first, first + chunk(first).min(self.total - first)))
    }

    /// Takes everything that is left and says how much it was.
    fn forfeit(&self) -> u64 {
        self.total - self.next.swap(self.total, Ordering::Relaxed).min(self.total)
    }
}

/// One worker's hand in a `Deal`.
#[derive(Debug)]
pub struct Share {
    deal: Arc<Deal>,
    next: Cell<u64>,
    end: Cell<u64>,
}

impl Share {
    /// A hand without iterations yet.
    pub fn new(deal: Arc<Deal>) -> Self {
        Share { deal, next: Cell::new(0), end: Cell::new(0) }
    }

    /// The number of the next iteration, from 0.
    pub fn take(&self) -> Option<u64> {
        if self.next.get() == self.end.get() {
            let (next, end) = self.deal.take()?;
            self.next.set(next);
            self.end.set(end);
        }
        let number = self.next.get();
        self.next.set(number + 1);
        Some(number)
    }

    /// Gives up what this worker holds and what nobody has taken, and says how much it was.
    pub fn forfeit(&self) -> u64 {
        let held = self.end.get() - self.next.replace(self.end.get());
        held + self.deal.forfeit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_dealt_once() {
        for (total, takers, workers) in [(1, 1, 1), (10, 10, 3), (100_000, 7, 4), (5, 64, 2)] {
            let deal = Deal::new(total, takers);
            let shares: Vec<Share> = (0..workers).map(|_| Share::new(Arc::clone(&deal))).collect();
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
            assert_eq!(shares[0].forfeit(), 0);
        }
    }

    #[test]
    fn chunks_are_single_at_the_end() {
        let deal = Deal::new(1_000_000, 10);
        assert_eq!(deal.take(), Some((0, LARGEST)));
        deal.next.store(999_970, Ordering::Relaxed);
        assert_eq!(deal.take(), Some((999_970, 999_971)));
    }

    #[test]
    fn what_was_not_dealt_is_counted_once() {
        let deal = Deal::new(10_000, 2);
        let (one, two) = (Share::new(Arc::clone(&deal)), Share::new(deal));
        (0..3).for_each(|_| _ = one.take());
        (0..5).for_each(|_| _ = two.take());
        assert_eq!(one.forfeit() + two.forfeit(), 10_000 - 8);
    }
}
