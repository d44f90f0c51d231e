//! What a response answers, and what becomes of its body: all that a reader is told from outside.

use std::rc::Rc;

use super::known_heads::KnownHeads;
use super::response_facts::Facts;
use crate::request::BodyUse;
use crate::room::Room;

/// What a response answers, and what is done with its body.
#[derive(Clone, Copy)]
pub(crate) struct Handling<'a> {
    /// The request was HEAD, or asks for a tunnel: whatever the head says, there is no body.
    pub(crate) is_bodiless: bool,
    pub(crate) body_use: &'a BodyUse,
    /// Where a body that is kept finds room.
    pub(crate) room: &'a Rc<Room>,
    pub(crate) heads: &'a KnownHeads,
}

impl Handling<'_> {
    /// A body of known length that is kept and lies complete in the input: its length.
    #[inline]
    pub(super) fn whole_length(&self, facts: &Facts, input: &[u8]) -> Option<usize> {
        if self.has_no_body(facts) || facts.chunked || facts.folded || !matches!(self.body_use, BodyUse::Keep) {
            return None;
        }
        let length = usize::try_from(facts.length?).ok()?;
        (length <= input.len()).then_some(length)
    }

    pub(super) fn has_no_body(&self, facts: &Facts) -> bool {
        self.is_bodiless || facts.status == 204 || facts.status == 304
    }
}
