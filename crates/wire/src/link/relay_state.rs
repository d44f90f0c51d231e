//! What a relay and the socket of the user before it tell each other, for bytes between them look the same whenever
//! they pass.
//!
//! The user's socket says when it wrote, so that a relay that gets round to it late counts from there; the relay says
//! when bytes were due, which is when they arrived, so that a user that gets round to reading them late knows. Refuses
//! to hold times for bytes that have passed. Both live on one thread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::Instant;

/// One connection over a link.
#[derive(Debug, Default)]
pub(crate) struct RelayState {
    /// How the real connection ended, if by an error: what the user's socket, which knows of none, reports instead of
    /// an end.
    pub(crate) error: Cell<Option<i32>>,
    /// When the user wrote.
    pub(crate) written: RefCell<ByteTimes<Instant>>,
    /// When bytes for the user arrived: wall clock, nanoseconds since 1970.
    pub(crate) arrived: RefCell<ByteTimes<u64>>,
}

/// Moments by position in a stream of bytes.
#[derive(Debug)]
pub(crate) struct ByteTimes<T> {
    put: u64,
    taken: u64,
    /// Where the bytes of each moment end.
    ends: VecDeque<(u64, T)>,
}

impl<T> Default for ByteTimes<T> {
    fn default() -> Self {
        ByteTimes { put: 0, taken: 0, ends: VecDeque::new() }
    }
}

impl<T: Copy + PartialEq> ByteTimes<T> {
    /// The next bytes, this many, have this moment.
    pub(crate) fn put(&mut self, bytes: usize, moment: T) {
        self.put += bytes as u64;
        match self.ends.back_mut() {
            Some((end, last)) if *last == moment => *end = self.put,
            _ => self.ends.push_back((self.put, moment)),
        }
    }

    /// So many bytes pass: the moment of the last of them, if it is known.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<T> {
        self.taken += bytes as u64;
        while self.ends.front().is_some_and(|(end, _)| *end < self.taken) {
            self.ends.pop_front();
        }
        let (end, moment) = *self.ends.front()?;
        if end == self.taken {
            self.ends.pop_front();
        }
        Some(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_their_moments_however_they_are_cut() {
        let mut marks = ByteTimes::default();
        [(3, 'a'), (1, 'a'), (5, 'b'), (2, 'c')].into_iter().for_each(|(bytes, moment)| marks.put(bytes, moment));
        assert_eq!(marks.ends.len(), 3);
        let cuts = [(1, 'a'), (3, 'a'), (1, 'b'), (5, 'c')];
        for (bytes, moment) in cuts {
            assert_eq!(marks.take(bytes), Some(moment));
        }
        assert_eq!(marks.take(1), Some('c'));
        assert_eq!((marks.take(1), marks.ends.len()), (None, 0));
    }
}
