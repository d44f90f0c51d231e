//! Heads that came before, so that the same bytes are not parsed again.
//!
//! A server under load sends the same head many thousand times before its Date moves on. Comparing it with the last ones
//! costs a tenth of parsing it, and the copy of the bytes is shared among all responses that have it. A head ends where its
//! empty line ends, so an input that begins with the bytes of a whole head has exactly that head.
//! Invariant: only heads that the decoder accepted are kept, each with what it says.

use std::cell::{Cell, RefCell};

use bytes::Bytes;

use super::decode::Facts;

/// Heads kept: as many different answers as a script usually gets in one loop.
const KEPT: usize = 8;
/// Longer heads are not kept.
const LONGEST: usize = 4 << 10;

/// The last heads that a worker's connections received.
#[derive(Default)]
pub(crate) struct KnownHeads {
    heads: RefCell<Vec<(Facts, Bytes)>>,
    /// Where the next one goes.
    next: Cell<usize>,
    /// Where the last one was found.
    last: Cell<usize>,
}

impl KnownHeads {
    /// The head at the beginning of the input, if it is known.
    pub(super) fn find(&self, input: &[u8]) -> Option<(Facts, Bytes)> {
        let heads = self.heads.borrow();
        let last = self.last.get();
        let at = if heads.get(last).is_some_and(|(_, head)| input.starts_with(head)) {
            last
        } else {
            heads.iter().position(|(_, head)| input.starts_with(head))?
        };
        self.last.set(at);
        Some(heads[at].clone())
    }

    /// Keeps a head in the place of the oldest one. Returns the copy.
    pub(super) fn keep(&self, facts: &Facts, head: &[u8]) -> Bytes {
        let copy = Bytes::copy_from_slice(head);
        if head.len() <= LONGEST {
            let mut heads = self.heads.borrow_mut();
            let at = self.next.get();
            match heads.get_mut(at) {
                Some(oldest) => *oldest = (*facts, copy.clone()),
                None => heads.push((*facts, copy.clone())),
            }
            self.next.set((at + 1) % KEPT);
        }
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h1::decode::parse_head;

    fn keep(known: &KnownHeads, head: &str) -> Bytes {
        let facts = parse_head(head.as_bytes()).unwrap().expect("a whole head");
        known.keep(&facts, head.as_bytes())
    }

    #[test]
    fn only_the_same_bytes_are_found() {
        let known = KnownHeads::default();
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
        let copy = keep(&known, head);
        let (_, found) = known.find(format!("{head}abc").as_bytes()).expect("it was kept");
        assert_eq!(found.as_ptr(), copy.as_ptr());
        for other in
            ["", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd"]
        {
            assert!(known.find(other.as_bytes()).is_none(), "{other:?}");
        }
    }

    #[test]
    fn the_oldest_head_makes_room() {
        let known = KnownHeads::default();
        let head = |n: usize| format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Number: {n}\r\n\r\n");
        for n in 0..=KEPT {
            keep(&known, &head(n));
        }
        assert!(known.find(head(0).as_bytes()).is_none());
        assert!((1..=KEPT).all(|n| known.find(head(n).as_bytes()).is_some()));
        let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(LONGEST));
        keep(&known, &long);
        assert!(known.find(long.as_bytes()).is_none());
    }
}
