//! Bytes of a script value, as a part of a payload.

use std::rc::Rc;

use host::borrow::{Borrowed, Content};
use wire::{BorrowedBytes, Segment};

/// As `wire` asks for them.
struct OfScript(Borrowed);

impl BorrowedBytes for OfScript {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn show(&self, look: &mut dyn FnMut(&[u8])) {
        self.0.show(look);
    }
}

/// A segment of what a script value holds.
pub fn segment(content: Content) -> Segment {
    match content {
        Content::Shared(bytes) => Segment::Shared(bytes),
        Content::Borrowed(bytes) => Segment::Borrowed(Rc::new(OfScript(bytes))),
    }
}
