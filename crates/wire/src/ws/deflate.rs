//! The bodies of permessage-deflate (RFC 7692 7.2): raw deflate whose last four bytes, `00 00 ff ff`, stay at home.
//!
//! A side that does not take its context over from message to message owns no state between them: it borrows one of the
//! thread's for the message, so that thousands of idle connections cost nothing. Refuses what does not inflate, and
//! more than the limit. Invariant: the memory of the output never outgrows the limit by more than one step.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::Violation;

/// What each message's compressed bytes would end with.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Room made for output at least, in one step. A flush needs more than six bytes to come to an end.
const STEP: usize = 512;
/// Output made in one step at most; memory follows what really comes out.
const MAX_STEP: usize = 256 << 10;
/// States kept for the next message on a thread: 270 KB each for compressing.
const SPARES: usize = 4;

thread_local! {
    static COMPRESSORS: RefCell<Vec<(Window, Compress)>> = const { RefCell::new(Vec::new()) };
    static DECOMPRESSORS: RefCell<Vec<(Window, Decompress)>> = const { RefCell::new(Vec::new()) };
}

/// The base-2 logarithm of the window, 8 to 15.
type Window = u8;

/// zlib's smallest raw window has nine bits.
const SMALLEST: Window = 9;

fn take<T>(spares: &'static std::thread::LocalKey<RefCell<Vec<(Window, T)>>>, window: Window) -> Option<T> {
    spares.with_borrow_mut(|spares| {
        let at = spares.iter().position(|(w, _)| *w == window)?;
        Some(spares.swap_remove(at).1)
    })
}

fn give_back<T>(spares: &'static std::thread::LocalKey<RefCell<Vec<(Window, T)>>>, window: Window, state: T) {
    spares.with_borrow_mut(|spares| {
        if spares.len() < SPARES {
            spares.push((window, state));
        }
    });
}

/// Makes messages smaller.
#[derive(Debug)]
pub(super) struct Deflater {
    state: Option<Compress>,
    window: Window,
    takes_over: bool,
}

impl Deflater {
    pub(super) fn new(window: Window, takes_over: bool) -> Deflater {
        debug_assert!((8..=15).contains(&window), "handshakes agree on 8 to 15 bits: {window}");
        Deflater { state: None, window, takes_over }
    }

    /// Appends the compressed payload to `out`.
    pub(super) fn compress(&mut self, mut payload: &[u8], out: &mut Vec<u8>) {
        if payload.is_empty() {
            // RFC 7692 7.2.3.6: an empty stored block without its tail. A second flush in a row would give nothing.
            return out.push(0);
        }
        let mut state = self.state.take().or_else(|| take(&COMPRESSORS, self.window)).unwrap_or_else(|| self.make());
        loop {
            out.reserve((payload.len() / 2).clamp(STEP, MAX_STEP));
            let before = state.total_in();
            let made = state.compress_vec(payload, out, FlushCompress::Sync);
            made.expect("a compressor takes any bytes and is never told to finish");
            payload = &payload[(state.total_in() - before) as usize..];
            // Room left over: the flush has come to its end.
            if payload.is_empty() && out.len() < out.capacity() {
                break;
            }
        }
        debug_assert!(out.ends_with(&TAIL));
        out.truncate(out.len() - TAIL.len());
        if self.takes_over {
            self.state = Some(state);
        } else {
            state.reset();
            give_back(&COMPRESSORS, self.window, state);
        }
    }

    fn make(&self) -> Compress {
        // Stored blocks refer to nothing: they fit the window of 256 bytes that zlib does not have. Level 1 is the
        // fastest that compresses; k6 uses it too.
        let level = if self.window < SMALLEST { Compression::none() } else { Compression::fast() };
        Compress::new_with_window_bits(level, false, self.window.max(SMALLEST))
    }
}

/// Makes messages whole again, in whatever pieces they come.
#[derive(Debug)]
pub(super) struct Inflater {
    state: Option<Decompress>,
    window: Window,
    takes_over: bool,
    /// The last block said that it is the last, and nothing followed yet.
    ended: bool,
}

impl Inflater {
    pub(super) fn new(window: Window, takes_over: bool) -> Inflater {
        debug_assert!((8..=15).contains(&window), "handshakes agree on 8 to 15 bits: {window}");
        Inflater { state: None, window: window.max(SMALLEST), takes_over, ended: false }
    }

    /// Appends what a piece of a message inflates to.
    pub(super) fn push(&mut self, mut piece: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<(), Violation> {
        if piece.is_empty() {
            return Ok(());
        }
        let state = self.state.take().or_else(|| take(&DECOMPRESSORS, self.window));
        let state = self.state.insert(state.unwrap_or_else(|| Decompress::new_with_window_bits(false, self.window)));
        loop {
            if out.capacity() - out.len() < STEP {
                let more = piece.len().saturating_mul(3).max(out.len()).clamp(STEP, MAX_STEP);
                // Doubled, as a vector does, but never past the limit: what is behind it fails.
                let room = (out.len() + more).max(2 * out.capacity()).min(limit.max(out.len()) + STEP);
                out.reserve_exact(room - out.len());
            }
            let before = state.total_in();
            let status = state.decompress_vec(piece, out, FlushDecompress::Sync);
            let status = status.map_err(|_| Violation {
                code: super::close::INVALID_PAYLOAD,
                message: "the compressed message does not inflate",
            })?;
            if out.len() > limit {
                return Err(Violation::too_big());
            }
            piece = &piece[(state.total_in() - before) as usize..];
            self.ended = status == Status::StreamEnd;
            if self.ended {
                // A block marked as the last one (RFC 7692 7.2.3.4): what follows, if anything, is another stream.
                state.reset(false);
            }
            if piece.is_empty() && (self.ended || out.len() < out.capacity()) {
                return Ok(());
            }
        }
    }

    /// The message has ended: what it kept back comes out.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>, limit: usize) -> Result<(), Violation> {
        if !std::mem::take(&mut self.ended) {
            self.push(&TAIL, out, limit)?;
        }
        if !self.takes_over
            && let Some(mut state) = self.state.take()
        {
            state.reset(false);
            give_back(&DECOMPRESSORS, self.window, state);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(deflater: &mut Deflater, inflater: &mut Inflater, payload: &[u8]) -> usize {
        let (mut small, mut back) = (Vec::new(), Vec::new());
        deflater.compress(payload, &mut small);
        for piece in small.chunks(7) {
            inflater.push(piece, &mut back, 1 << 24).unwrap();
        }
        inflater.finish(&mut back, 1 << 24).unwrap();
        assert_eq!(back, payload);
        small.len()
    }

    #[test]
    fn every_window_with_and_without_context() {
        let mut noise: Vec<u8> = (0..70_000).map(|_| fastrand::u8(..)).collect();
        noise.extend_from_within(..30_000);
        for window in 8..=15 {
            for takes_over in [false, true] {
                let (mut deflater, mut inflater) =
                    (Deflater::new(window, takes_over), Inflater::new(window, takes_over));
                for payload in [&b""[..], b"hello", b"hello", &noise, b"", &vec![b'x'; 100_000], b"hello"] {
                    round(&mut deflater, &mut inflater, payload);
                }
            }
        }
    }

    #[test]
    fn context_makes_repetitions_small() {
        let text: Vec<u8> = (0..200).map(|_| fastrand::alphanumeric() as u8).collect();
        let (mut deflater, mut inflater) = (Deflater::new(15, true), Inflater::new(15, true));
        let first = round(&mut deflater, &mut inflater, &text);
        assert!(round(&mut deflater, &mut inflater, &text) < first / 4);
        let (mut deflater, mut inflater) = (Deflater::new(15, false), Inflater::new(15, false));
        let first = round(&mut deflater, &mut inflater, &text);
        assert_eq!(round(&mut deflater, &mut inflater, &text), first);
    }

    /// A peer that keeps 256 bytes cannot follow a reference to what was before them.
    #[test]
    fn the_smallest_window_gets_stored_blocks() {
        let size =
            |window| round(&mut Deflater::new(window, false), &mut Inflater::new(window, false), &[b'x'; 10_000]);
        assert!(size(8) > 10_000 && size(9) < 1_000, "{} and {} bytes", size(8), size(9));
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let mut bomb = Vec::new();
        Deflater::new(15, false).compress(&vec![0; 100 << 20], &mut bomb);
        let mut out = Vec::new();
        assert_eq!(Inflater::new(15, false).push(&bomb, &mut out, 1 << 20), Err(Violation::too_big()));
        assert!(out.capacity() <= (1 << 20) + STEP, "{}", out.capacity());
    }

    #[test]
    fn what_does_not_inflate_is_refused() {
        let failed = Inflater::new(15, true).push(&[0xff; 9], &mut Vec::new(), 100).unwrap_err();
        assert_eq!(failed.code, 1007);
    }

    #[test]
    fn blocks_marked_as_the_last() {
        // RFC 7692 7.2.3.5: "Hello" in a final block, and the byte that the sender has to add; some do not.
        let marked: &[u8] = b"\xf3\x48\xcd\xc9\xc9\x07\x00";
        for message in [&[marked, b"\0"].concat()[..], marked] {
            let mut inflater = Inflater::new(15, false);
            for _ in 0..2 {
                let mut out = Vec::new();
                inflater.push(message, &mut out, 100).unwrap();
                inflater.finish(&mut out, 100).unwrap();
                assert_eq!(out, b"Hello");
            }
        }
    }
    /// Thousands of idle connections share what their thread keeps, and it keeps no more than four of each.
    #[test]
    fn a_side_without_context_leaves_its_state_to_the_next_message_of_the_thread() {
        let on_a_thread_of_its_own = std::thread::spawn(|| {
            let spares = || (COMPRESSORS.with_borrow(Vec::len), DECOMPRESSORS.with_borrow(Vec::len));
            let pair = |window, takes_over| (Deflater::new(window, takes_over), Inflater::new(window, takes_over));
            for _ in 0..2 {
                let (mut deflater, mut inflater) = pair(15, false);
                round(&mut deflater, &mut inflater, b"hello");
                assert!(deflater.state.is_none() && inflater.state.is_none());
                assert_eq!(spares(), (1, 1));
            }
            let (mut deflater, mut inflater) = pair(15, true);
            round(&mut deflater, &mut inflater, b"hello");
            assert!(deflater.state.is_some() && inflater.state.is_some());
            assert_eq!(spares(), (0, 0), "one that takes its context over begins with a spare and keeps it");
            for (window, kept) in [(9, 1), (10, 2), (11, 3), (12, 4), (13, 4), (12, 4)] {
                let (mut deflater, mut inflater) = pair(window, false);
                round(&mut deflater, &mut inflater, b"hello");
                assert_eq!(spares(), (kept, kept), "after a window of {window} bits");
            }
        });
        on_a_thread_of_its_own.join().unwrap();
    }
}
