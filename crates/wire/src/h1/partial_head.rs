//! A response head that comes in pieces: put together in a buffer that grows with it.

use bytes::Bytes;

use super::response_facts::Facts;
use super::response_head::{MAX_HEAD, has_end, parse_head};

/// It is parsed again with each piece up to this size, afterwards when it has doubled.
const PARSED_OFTEN: usize = 16 << 10;

/// What a head says, its bytes, and what follows it in the input.
pub(super) type WholeHead<'i> = (Facts, Bytes, &'i [u8]);

/// A head that comes in pieces.
pub(crate) struct PartialHead {
    bytes: Vec<u8>,
    /// From which length on it is worth parsing without a sign of its end.
    parse_from: usize,
}

impl PartialHead {
    /// Of which this came first.
    pub(super) fn begun(input: &[u8]) -> PartialHead {
        PartialHead { bytes: input.to_vec(), parse_from: 0 }
    }

    #[cfg(test)]
    pub(super) fn parse_from(&self) -> usize {
        self.parse_from
    }

    /// Takes the next piece; the head, once it is whole.
    pub(super) fn feed<'i>(&mut self, input: &'i [u8]) -> Result<Option<WholeHead<'i>>, String> {
        let before = self.bytes.len();
        let room = (MAX_HEAD + 1).saturating_sub(before).min(input.len());
        self.bytes.extend_from_slice(&input[..room]);
        let may_wait = self.bytes.len() < self.parse_from.min(MAX_HEAD);
        if may_wait && !has_end(&self.bytes, before) {
            return Ok(None);
        }
        let Some(facts) = parse_head(&self.bytes)? else {
            self.parse_from = if self.bytes.len() > PARSED_OFTEN { self.bytes.len() * 2 } else { 0 };
            return Ok(None);
        };
        let rest = &input[facts.head_len - before..];
        self.bytes.truncate(facts.head_len);
        Ok(Some((facts, Bytes::from(std::mem::take(&mut self.bytes)), rest)))
    }
}
