//! What a body decodes into: blocks that never move, up to a limit.
//!
//! One buffer that doubles would hold a body twice at the moment it grows, beside what it is decoded from. Small bodies
//! need the first block alone, which stays for the next one. Refuses the first byte past the limit.

use bytes::Bytes;

/// The first block begins with this and doubles up to `BLOCK`.
const FIRST: usize = 4 << 10;
/// Bytes of every further block.
const BLOCK: usize = 1 << 20;

/// More was decoded than the limit allows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// A body under way.
#[derive(Default)]
pub(super) struct DecodedBody {
    /// The block that is being filled, and how far.
    block: Vec<u8>,
    filled: usize,
    full: Vec<Vec<u8>>,
    /// Bytes of all blocks together.
    length: u64,
    limit: u64,
}

impl DecodedBody {
    /// Forgets what was decoded before.
    pub(super) fn begin(&mut self, limit: u64) {
        self.full.clear();
        (self.filled, self.length, self.limit) = (0, 0, limit);
    }

    /// Room for at least one byte more; the code that fills it calls `advance`. It may reach past the limit.
    pub(super) fn room(&mut self) -> &mut [u8] {
        if self.filled == self.block.len() {
            if self.block.len() < BLOCK {
                self.block.resize((self.block.len() * 2).clamp(FIRST, BLOCK), 0);
            } else {
                self.full.push(std::mem::replace(&mut self.block, vec![0; BLOCK]));
                self.filled = 0;
            }
        }
        &mut self.block[self.filled..]
    }

    /// So many bytes of the room were filled: these.
    pub(super) fn advance(&mut self, bytes: usize) -> Result<&[u8], TooLong> {
        let from = self.filled;
        self.filled += bytes;
        self.length += bytes as u64;
        if self.length > self.limit { Err(TooLong) } else { Ok(&self.block[from..self.filled]) }
    }

    /// Everything in one piece. Each block is freed as soon as it was copied.
    pub(super) fn take(&mut self) -> Bytes {
        if self.full.is_empty() {
            return Bytes::copy_from_slice(&self.block[..self.filled]);
        }
        let length = usize::try_from(self.length).expect("it is in memory");
        let mut whole = Vec::with_capacity(length);
        for block in self.full.drain(..) {
            whole.extend_from_slice(&block);
        }
        whole.extend_from_slice(&self.block[..self.filled]);
        Bytes::from(whole)
    }

    /// Frees what a body left that failed.
    pub(super) fn drop_all(&mut self) {
        self.full = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(output: &mut DecodedBody, bytes: &[u8]) -> Result<(), TooLong> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = output.room();
            let n = room.len().min(rest.len());
            room[..n].copy_from_slice(&rest[..n]);
            assert_eq!(output.advance(n)?, &rest[..n]);
            rest = &rest[n..];
        }
        Ok(())
    }

    #[test]
    fn any_length_comes_back_whole() {
        let all: Vec<u8> = (0..3_500_000u32).map(|i| (i % 251) as u8).collect();
        let mut output = DecodedBody::default();
        for length in [0, 1, FIRST, FIRST + 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, all.len()] {
            output.begin(u64::MAX);
            fill(&mut output, &all[..length]).unwrap();
            assert_eq!(output.take(), all[..length], "{length} bytes");
        }
    }

    #[test]
    fn the_limit_is_the_last_byte_taken() {
        for limit in [10, BLOCK as u64 + 10] {
            let mut output = DecodedBody::default();
            output.begin(limit);
            assert_eq!(fill(&mut output, &vec![7; limit as usize]), Ok(()));
            assert_eq!(fill(&mut output, &[7]), Err(TooLong));
        }
    }
}
