//! Bytes that come from no file: a pattern repeated to a length, and pseudo-random bytes.
//!
//! Both can be read from any position without what comes before, so that uploads of any length need no memory and can
//! start over. Random bytes are SplitMix64 words in little-endian order: fast, and a server can check them. They are no
//! secrets.
//! Invariant: the byte at a position depends on pattern or seed and on the position alone.

use std::cell::RefCell;

use bytes::Bytes;

use super::PIECE;

/// A pattern repeated up to a length. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// The pattern a whole number of times, long enough to be written in few runs.
    block: Bytes,
    /// Position in the block where this begins.
    phase: u64,
    len: u64,
}

impl Repeat {
    /// `total` bytes of the pattern, the last time cut off where they end. An empty pattern gives zero bytes.
    pub fn new(pattern: Bytes, total: u64) -> Repeat {
        let pattern = if pattern.is_empty() { Bytes::from_static(&[0]) } else { pattern };
        let wanted = usize::try_from(total).map_or(PIECE, |total| total.min(PIECE));
        let block = if pattern.len() >= wanted { pattern } else { block(pattern, wanted) };
        debug_assert!(!block.is_empty() && block.len() >= wanted, "{} bytes of {wanted}", block.len());
        Repeat { block, phase: 0, len: total }
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes from `start` up to `end`; `None` when that is not inside.
    pub fn slice(&self, start: u64, end: u64) -> Option<Repeat> {
        let inside = start <= end && end <= self.len;
        inside.then(|| {
            let phase = (self.phase + start) % self.block.len() as u64;
            Repeat { block: self.block.clone(), phase, len: end - start }
        })
    }

    /// The bytes from `offset` on, up to the end of the block or of all.
    pub(crate) fn run_at(&self, offset: u64) -> &[u8] {
        let left = self.len.saturating_sub(offset);
        let start = ((self.phase + offset) % self.block.len() as u64) as usize;
        let run = &self.block[start..];
        &run[..usize::try_from(left).map_or(run.len(), |left| left.min(run.len()))]
    }
}

/// At least `wanted` bytes of a pattern. Users who repeat the same one share the last block of their thread: 64 KiB
/// each would fit into no cache.
fn block(pattern: Bytes, wanted: usize) -> Bytes {
    thread_local! {
        static LAST: RefCell<Option<(Bytes, Bytes)>> = const { RefCell::new(None) };
    }
    let times = wanted.div_ceil(pattern.len());
    LAST.with_borrow_mut(|last| match last {
        Some((known, block)) if *known == pattern && block.len() == times * pattern.len() => block.clone(),
        _ => {
            let block = Bytes::from(pattern.repeat(times));
            *last = Some((pattern, block.clone()));
            block
        }
    })
}

/// Pseudo-random bytes. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    start: u64,
    len: u64,
}

/// The odd constant by which SplitMix64 counts (Steele, Lea, Flood 2014).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// `total` bytes that depend on the seed alone.
    pub fn new(total: u64, seed: u64) -> Random {
        Random { seed, start: 0, len: total }
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes from `start` up to `end`; `None` when that is not inside.
    pub fn slice(&self, start: u64, end: u64) -> Option<Random> {
        let inside = start <= end && end <= self.len;
        inside.then(|| Random { seed: self.seed, start: self.start + start, len: end - start })
    }

    /// Fills the buffer from `offset` on; less only at the end.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let left = self.len.saturating_sub(offset);
        let n = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let at = self.start + offset;
        let (mut index, skip) = (at / 8, (at % 8) as usize);
        // The rest of a word that the position is in, then whole words.
        let lead = if skip == 0 { 0 } else { (8 - skip).min(n) };
        let (first, rest) = buffer[..n].split_at_mut(lead);
        if lead > 0 {
            first.copy_from_slice(&self.word(index)[skip..skip + lead]);
            index += 1;
        }
        for piece in rest.chunks_mut(8) {
            piece.copy_from_slice(&self.word(index)[..piece.len()]);
            index += 1;
        }
        n
    }

    fn word(&self, index: u64) -> [u8; 8] {
        let mut z = self.seed.wrapping_add(index.wrapping_add(1).wrapping_mul(STEP));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(random: &Random, offset: u64, len: usize) -> Vec<u8> {
        let mut buffer = vec![0; len];
        let n = random.read_at(offset, &mut buffer);
        buffer.truncate(n);
        buffer
    }

    #[test]
    fn random_bytes_are_those_of_splitmix64() {
        // The generator's first outputs for the seed 1234567, as published with its reference implementation.
        let words = [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        let expected: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(random(&Random::new(24, 1_234_567), 0, 99), expected);
    }

    #[test]
    fn random_bytes_depend_on_position_alone() {
        let all = Random::new(1000, 7);
        let whole = random(&all, 0, 1000);
        for offset in 0..40 {
            for len in 0..40 {
                assert_eq!(random(&all, offset, len), whole[offset as usize..offset as usize + len]);
            }
        }
        assert_eq!(random(&all.slice(13, 30).unwrap(), 3, 99), whole[16..30]);
        assert_ne!(random(&Random::new(1000, 8), 0, 1000), whole);
        assert!(all.slice(0, 1001).is_none());
    }

    #[test]
    fn users_of_a_thread_share_the_block_of_a_pattern() {
        let large = |pattern: &'static [u8]| Repeat::new(Bytes::copy_from_slice(pattern), 1 << 20);
        let (one, two, other) = (large(b"abc"), large(b"abc"), large(b"xyz"));
        assert_eq!(one.block.as_ptr(), two.block.as_ptr());
        assert!(one.block.len() >= PIECE && other.run_at(0).starts_with(b"xyzxyz"));
        assert!(Repeat::new(Bytes::from_static(b"abc"), 100).block.len() < 110, "no longer than needed");
    }

    #[test]
    fn patterns_are_repeated_and_cut_off() {
        let repeat = Repeat::new(Bytes::from_static(b"abc"), 8);
        let slice = repeat.slice(4, 8).unwrap();
        let all = |repeat: &Repeat| {
            let mut out = Vec::new();
            while (out.len() as u64) < repeat.len() {
                out.extend_from_slice(repeat.run_at(out.len() as u64));
            }
            out
        };
        assert_eq!(all(&repeat), b"abcabcab");
        assert_eq!(all(&slice), b"bcab");
        assert_eq!(all(&Repeat::new(Bytes::new(), 3)), [0; 3]);
        assert_eq!(all(&Repeat::new(Bytes::from_static(b"abcdef"), 2)), b"ab");
        assert_eq!(all(&Repeat::new(Bytes::from_static(b"abc"), 5)), b"abcab");
        assert!(repeat.slice(2, 9).is_none());
    }
}
