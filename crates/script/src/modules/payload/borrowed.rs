//! Bytes that a script lends to a request, as a part of a payload.

use std::rc::Rc;

use host::loan::{Content, Lent};
use wire::{Lender, Segment};

/// The lender of a payload's segment.
struct Borrowed(Lent);

impl Lender for Borrowed {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }
}

/// A segment of what a script value holds.
pub fn segment(content: Content) -> Segment {
    match content {
        Content::Shared(bytes) => Segment::Shared(bytes),
        Content::Lent(lent) => Segment::Lent(Rc::new(Borrowed(lent))),
    }
}
