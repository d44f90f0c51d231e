//! Response heads that came lately, each with what it says. A server under test sends the same head again and again,
//! for a second at least (Date): comparing it with the last one costs a twentieth of parsing it, and all responses
//! share its bytes.
//!
//! Refuses heads over 4 KiB, interim ones, and those with fields over several lines, which are kept in another form.
//! Invariant: a head is accepted only when the input begins with exactly its bytes, up to and including the empty line.

use bytes::Bytes;

use super::response_facts::Facts;
use crate::recent::Recent;

/// A longer head is not kept.
const LONGEST: usize = 4 << 10;

/// The heads of one worker.
#[derive(Default)]
pub(crate) struct KnownHeads(Recent<(Bytes, Facts)>);

impl KnownHeads {
    /// The head that the input begins with.
    #[inline]
    pub(super) fn find(&self, input: &[u8]) -> Option<(Bytes, Facts)> {
        self.0.find(|(head, _)| input.starts_with(head))
    }

    /// Keeps a head that was just parsed, if it is likely to come again; then gives its bytes.
    pub(super) fn learn(&self, input: &[u8], facts: &Facts) -> Option<Bytes> {
        if facts.head_len > LONGEST || facts.folded || !self.0.is_learning() {
            return None;
        }
        let head = Bytes::copy_from_slice(&input[..facts.head_len]);
        self.0.keep((head.clone(), *facts));
        Some(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h1::response_head::parse_head;

    fn learn(known: &KnownHeads, head: &str) -> Option<Bytes> {
        let facts = parse_head(head.as_bytes()).unwrap().expect("a whole head");
        known.learn(head.as_bytes(), &facts)
    }

    #[test]
    fn only_the_same_bytes_are_found() {
        let known = KnownHeads::default();
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
        let copy = learn(&known, head).expect("it is short");
        let (found, _) = known.find(format!("{head}abc").as_bytes()).expect("it was kept");
        assert_eq!(found.as_ptr(), copy.as_ptr());
        for other in
            ["", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd"]
        {
            assert!(known.find(other.as_bytes()).is_none(), "{other:?}");
        }
    }

    #[test]
    fn heads_of_more_than_four_kibibytes_and_folded_ones_are_not_kept() {
        let folded = String::from("HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n");
        let of = |length: usize| format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(length - 24));
        for (head, kept) in [(of(4096), true), (of(4097), false), (folded, false)] {
            let known = KnownHeads::default();
            assert_eq!(learn(&known, &head).is_some(), kept, "{} bytes", head.len());
            assert_eq!(known.find(head.as_bytes()).is_some(), kept, "{} bytes", head.len());
        }
    }
}
