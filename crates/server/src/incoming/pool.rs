//! Buffers that request bodies are received into, one pool a worker.
//!
//! A piece owns its buffer until it is dropped: memory an app still looks at is never written again. The buffer given
//! back last is handed out first, as it is the one the processor's cache still holds. The pool grows to what is in use
//! at once and gives back what was not needed between two sweeps.

use std::any::Any;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::stats::{Stats, WorkerStats};

/// Bytes of a buffer, and so of the largest piece, unless `Buffers::receive_size` says otherwise.
pub(crate) const PIECE: usize = 64 * 1024;

/// What request bodies are received into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// Bytes that one receive takes at most, and so the size of a buffer and of the largest piece. `None`: `PIECE` for
    /// apps, and 256 KiB where a built-in route reads a body.
    pub receive_size: Option<usize>,
    /// Buffers given back are used again; otherwise each piece gets a fresh one, which is there to be compared with.
    pub reuse: bool,
}

impl Default for Buffers {
    /// Of the default size, used again.
    fn default() -> Self {
        Buffers { receive_size: None, reuse: true }
    }
}

/// The buffers of one worker.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    size: usize,
    reuse: bool,
    free: Mutex<Free>,
    stats: Arc<Stats>,
    worker: usize,
}

#[derive(Default)]
struct Free {
    buffers: Vec<Box<[u8]>>,
    /// The fewest that were free since the last sweep: nobody needed these.
    spare: usize,
}

impl Pool {
    /// Buffers of `size` bytes; without `reuse` each is freshly allocated and freed after use, for comparison.
    pub(crate) fn new(size: usize, reuse: bool, stats: Arc<Stats>, worker: usize) -> Self {
        Pool(Arc::new(Shared { size: size.max(1), reuse, free: Mutex::default(), stats, worker }))
    }

    /// Bytes of a buffer.
    pub(crate) fn size(&self) -> usize {
        self.0.size
    }

    /// Bytes that an app is asked for, for each piece of a body of this length: the same for all, so that memory used
    /// again fits.
    pub(crate) fn wanted(&self, declared: Option<u64>) -> usize {
        let fits = |length: u64| usize::try_from(length).map_or(self.size(), |length| length.min(self.size()));
        let wanted = declared.map_or(self.size(), fits);
        debug_assert!(wanted <= self.size(), "no more than a piece: {wanted} of {}", self.size());
        wanted
    }

    /// A buffer with anything in it.
    pub(crate) fn take(&self) -> Pooled {
        let mut free = self.0.free();
        let buffer = free.buffers.pop();
        free.spare = free.spare.min(free.buffers.len());
        debug_assert!(self.0.reuse || free.buffers.is_empty(), "buffers are kept where they are used again");
        drop(free);
        let counts = self.0.counts();
        let bytes = match buffer {
            Some(bytes) => {
                counts.pool.reused.add(1);
                bytes
            }
            None => {
                counts.pool.allocated.add(1);
                vec![0; self.0.size].into_boxed_slice()
            }
        };
        counts.pool.in_use.add(1);
        debug_assert_eq!(bytes.len(), self.0.size, "all buffers of a pool are of one size");
        Pooled { bytes, pool: Some(self.clone()) }
    }

    /// Frees what nobody needed since the last call.
    pub(crate) fn trim(&self) {
        let mut free = self.0.free();
        debug_assert!(free.spare <= free.buffers.len(), "{} of {} are spare", free.spare, free.buffers.len());
        let kept = free.buffers.len().saturating_sub(free.spare);
        free.buffers.truncate(kept);
        free.spare = kept;
        if kept == 0 {
            free.buffers = Vec::new();
        }
    }
}

impl Shared {
    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self) -> &WorkerStats {
        self.stats.worker(self.worker)
    }
}

/// A buffer out of the pool; goes back when dropped.
pub(crate) struct Pooled {
    bytes: Box<[u8]>,
    pool: Option<Pool>,
}

impl Pooled {
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl AsRef<[u8]> for Pooled {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        let Some(Pool(pool)) = self.pool.take() else { return };
        debug_assert!(pool.counts().pool.in_use.get() > 0, "a buffer comes back once");
        pool.counts().pool.in_use.sub(1);
        debug_assert_eq!(self.bytes.len(), pool.size, "a buffer comes back as it was handed out");
        if pool.reuse {
            pool.free().buffers.push(std::mem::take(&mut self.bytes));
        }
    }
}

/// Memory the socket reads into. It stays where it is while the box lives.
pub trait PieceBuffer {
    /// The whole of it.
    fn bytes(&self) -> &[u8];
    /// The whole of it, to be written.
    fn bytes_mut(&mut self) -> &mut [u8];
    /// For the app to find its own type again.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// Where the bytes of a piece lie.
pub(crate) enum Buffer {
    Pooled(Pooled),
    App(Box<dyn PieceBuffer>),
    Shared(Bytes),
}

impl Buffer {
    /// All of it, to be read into.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Buffer::Pooled(pooled) => pooled.bytes_mut(),
            Buffer::App(buffer) => buffer.bytes_mut(),
            Buffer::Shared(_) => &mut [],
        }
    }
}

/// A run of bytes of a request body. Dropping it gives its memory back to where that came from.
pub struct Piece {
    buffer: Buffer,
    range: Range<usize>,
}

impl Piece {
    pub(crate) fn new(buffer: Buffer, range: Range<usize>) -> Self {
        debug_assert!(range.start <= range.end, "{range:?}");
        Piece { buffer, range }
    }

    /// The bytes, to be changed in place; `None` when the memory is shared with others (HTTP/2), so that it must be
    /// copied.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.buffer {
            Buffer::Shared(_) => None,
            own => Some(&mut own.bytes_mut()[self.range.clone()]),
        }
    }

    /// The app's own buffer with where in it the bytes are, when it came from `App::allocate`; otherwise the piece as
    /// it was.
    pub fn into_buffer(self) -> Result<(Box<dyn PieceBuffer>, Range<usize>), Piece> {
        match self {
            Piece { buffer: Buffer::App(buffer), range } => Ok((buffer, range)),
            other => Err(other),
        }
    }

    /// The bytes as a response body takes them: not copied unless they lie in the app's own memory.
    pub fn into_bytes(self) -> Bytes {
        match self.buffer {
            Buffer::Pooled(pooled) => Bytes::from_owner(pooled).slice(self.range),
            Buffer::Shared(bytes) => bytes.slice(self.range),
            Buffer::App(buffer) => Bytes::copy_from_slice(&buffer.bytes()[self.range]),
        }
    }
}

impl From<Bytes> for Piece {
    fn from(bytes: Bytes) -> Self {
        let range = 0..bytes.len();
        Piece { buffer: Buffer::Shared(bytes), range }
    }
}

impl Deref for Piece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let all = match &self.buffer {
            Buffer::Pooled(pooled) => &pooled.bytes,
            Buffer::App(buffer) => buffer.bytes(),
            Buffer::Shared(bytes) => &bytes[..],
        };
        &all[self.range.clone()]
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Piece({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(reuse: bool) -> (Pool, Arc<Stats>) {
        let stats = Arc::new(Stats::new(1, Vec::new(), 0));
        (Pool::new(8, reuse, stats.clone(), 0), stats)
    }

    fn counts(stats: &Stats) -> (u64, u64, u64) {
        let counts = stats.worker(0);
        (counts.pool.allocated.get(), counts.pool.in_use.get(), counts.pool.reused.get())
    }

    #[test]
    fn the_last_given_back_is_the_first_handed_out() {
        let (pool, stats) = pool(true);
        let (first, mut second) = (pool.take(), pool.take());
        second.bytes_mut()[0] = 7;
        drop(first);
        drop(second);
        assert_eq!(counts(&stats), (2, 0, 0));
        assert_eq!(pool.take().as_ref()[0], 7);
        assert_eq!(counts(&stats), (2, 0, 1));
    }

    #[test]
    fn trimming_frees_what_was_not_needed() {
        let (pool, stats) = pool(true);
        let all: Vec<_> = (0..10).map(|_| pool.take()).collect();
        drop(all);
        pool.trim();
        // Two of the ten are in use at once until the next sweep.
        drop((pool.take(), pool.take()));
        pool.trim();
        assert_eq!(pool.0.free().buffers.len(), 2);
        pool.trim();
        assert_eq!((pool.0.free().buffers.len(), counts(&stats).0), (0, 10));
    }

    #[test]
    fn without_reuse_each_is_fresh() {
        let (pool, stats) = pool(false);
        for _ in 0..3 {
            drop(pool.take());
        }
        assert_eq!((counts(&stats), pool.0.free().buffers.len()), ((3, 0, 0), 0));
    }

    #[test]
    fn bytes_of_a_piece_keep_its_buffer() {
        let (pool, stats) = pool(true);
        let mut pooled = pool.take();
        pooled.bytes_mut().copy_from_slice(b"01234567");
        let bytes = Piece::new(Buffer::Pooled(pooled), 2..5).into_bytes();
        assert_eq!((&bytes[..], counts(&stats).1), (&b"234"[..], 1));
        drop(bytes);
        assert_eq!(counts(&stats).1, 0);
    }
}
