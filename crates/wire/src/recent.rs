//! A few values that were wanted lately, to be found by comparison: what a load test asks for again and again.
//!
//! The value found last is tried first. A search that keeps failing is given up for a while, so that a test in which
//! nothing repeats does not pay for it. Refuses to grow: past `KEPT` the oldest value goes. Invariant: a value comes
//! back only when the caller's own comparison accepts it.

use std::cell::{Cell, RefCell};

/// Values kept.
const KEPT: usize = 8;
/// Searches in vain, one after the other, before none is made any more.
const PATIENCE: u32 = 64;
/// Searches left out before the next is made.
const REST: u32 = 1024;

/// The values wanted lately.
pub(crate) struct Recent<T> {
    kept: RefCell<Vec<T>>,
    last: Cell<usize>,
    oldest: Cell<usize>,
    /// Searches in vain since the last success, those left out included.
    vain: Cell<u32>,
}

impl<T> Default for Recent<T> {
    fn default() -> Recent<T> {
        Recent { kept: RefCell::default(), last: Cell::new(0), oldest: Cell::new(0), vain: Cell::new(0) }
    }
}

impl<T: Clone> Recent<T> {
    /// The value that `is_wanted` accepts.
    #[inline]
    pub(crate) fn find(&self, mut is_wanted: impl FnMut(&T) -> bool) -> Option<T> {
        let kept = self.kept.borrow();
        if let Some(value) = kept.get(self.last.get())
            && is_wanted(value)
        {
            self.vain.set(0);
            return Some(value.clone());
        }
        self.search(&kept, is_wanted)
    }

    // Not inlined: the value that was found last is mostly the one that is wanted.
    #[inline(never)]
    fn search(&self, kept: &[T], is_wanted: impl FnMut(&T) -> bool) -> Option<T> {
        if self.is_resting() {
            return None;
        }
        let found = kept.iter().position(is_wanted);
        match found {
            Some(at) => {
                self.last.set(at);
                self.vain.set(0);
            }
            None => self.vain.set(self.vain.get() + 1),
        }
        found.map(|at| kept[at].clone())
    }

    fn is_resting(&self) -> bool {
        let vain = self.vain.get();
        if vain < PATIENCE {
            return false;
        }
        self.vain.set(if vain - PATIENCE < REST { vain + 1 } else { 0 });
        true
    }

    /// Whether it is worth keeping what was just not found.
    pub(crate) fn is_learning(&self) -> bool {
        self.vain.get() < PATIENCE
    }

    /// Keeps a value for the next search.
    pub(crate) fn keep(&self, value: T) {
        let mut kept = self.kept.borrow_mut();
        if kept.len() < KEPT {
            self.last.set(kept.len());
            kept.push(value);
            return;
        }
        let at = self.oldest.get();
        debug_assert!(at < KEPT && kept.len() == KEPT, "place {at} of {}", kept.len());
        kept[at] = value;
        self.last.set(at);
        self.oldest.set((at + 1) % KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_values_are_found() {
        let recent = Recent::default();
        assert_eq!(recent.find(|n| *n == 0), None);
        (0..KEPT + 2).for_each(|n| recent.keep(n));
        for gone in 0..2 {
            assert_eq!(recent.find(|n| *n == gone), None);
        }
        for kept in 2..KEPT + 2 {
            assert_eq!(recent.find(|n| *n == kept), Some(kept));
        }
    }

    #[test]
    fn a_search_in_vain_is_given_up_and_taken_up_again() {
        let recent = Recent::default();
        recent.keep(1);
        let mut made = 0;
        for _ in 0..PATIENCE + REST {
            recent.find(|_| {
                made += 1;
                false
            });
        }
        // The value found last is always tried; beyond it, each search tries the one value again.
        assert_eq!(made, PATIENCE + REST + PATIENCE);
        assert!(!recent.is_learning());
        for _ in 0..2 {
            recent.find(|n| *n == 2);
        }
        assert!(recent.is_learning());
        recent.keep(2);
        assert_eq!(recent.find(|n| *n == 2), Some(2));
    }
}
