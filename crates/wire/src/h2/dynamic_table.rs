//! The fields that one side of a connection has named before (RFC 7541 2.3.2 and 4).
//!
//! Invariant: the sizes of the fields, 32 bytes more than their text each, add up to `max` at most.

use std::collections::VecDeque;

/// Fields, the newest first.
pub(super) struct DynamicTable {
    entries: VecDeque<Named>,
    size: usize,
    max: usize,
    /// Changes so far: what was found out with a table holds until the next.
    changes: u64,
}

/// A field in one piece.
pub(super) struct Named {
    text: Box<[u8]>,
    name: usize,
}

impl Named {
    pub(super) fn new(name: &[u8], value: &[u8]) -> Named {
        Named { text: [name, value].concat().into_boxed_slice(), name: name.len() }
    }
}

/// The size of a field, as tables and lists count it.
pub(super) fn size_of(name: &[u8], value: &[u8]) -> usize {
    name.len() + value.len() + 32
}

impl DynamicTable {
    pub(super) fn new(max: usize) -> DynamicTable {
        DynamicTable { entries: VecDeque::new(), size: 0, max, changes: 0 }
    }

    pub(super) fn max(&self) -> usize {
        self.max
    }

    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    pub(super) fn resize(&mut self, max: usize) {
        self.max = max;
        self.changes += 1;
        self.evict(max);
    }

    fn evict(&mut self, allowed: usize) {
        while self.size > allowed
            && let Some(oldest) = self.entries.pop_back()
        {
            self.size -= oldest.text.len() + 32;
        }
        debug_assert!(self.size <= allowed, "{} bytes of {allowed}", self.size);
    }

    /// A field larger than the table empties it.
    pub(super) fn insert(&mut self, entry: Named) {
        self.changes += 1;
        let size = entry.text.len() + 32;
        self.evict(self.max.saturating_sub(size));
        if size <= self.max {
            self.size += size;
            self.entries.push_front(entry);
        }
        debug_assert!(self.size <= self.max, "{} bytes of {}", self.size, self.max);
        debug_assert_eq!(
            self.size,
            self.entries.iter().map(|entry| entry.text.len() + 32).sum::<usize>(),
            "both sides have to count alike"
        );
    }

    /// The field at this place, from 0 on.
    pub(super) fn get(&self, at: usize) -> Option<(&[u8], &[u8])> {
        self.entries.get(at).map(|entry| entry.text.split_at(entry.name))
    }

    /// Where the field is, and where one of its name is.
    pub(super) fn find(&self, name: &[u8], value: &[u8]) -> (Option<usize>, Option<usize>) {
        let mut of_name = None;
        for (at, entry) in self.entries.iter().enumerate() {
            let (known, content) = entry.text.split_at(entry.name);
            if known == name {
                if content == value {
                    return (Some(at), Some(at));
                }
                of_name = of_name.or(Some(at));
            }
        }
        (None, of_name)
    }
}
