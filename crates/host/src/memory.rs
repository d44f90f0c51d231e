//! What one virtual user holds in memory, counted against its limit (`--vu-memory-limit`): JavaScript's blocks and what
//! native code holds for the script, in one account.
//!
//! Native code that is about to hold something as large as the script wants (a body, a decoded response, timers, a text
//! being built) asks first: `let reserved = user.memory().reserve(bytes)?`, `reserved.grow(more)?` while it grows;
//! dropping `reserved` gives the bytes back. Nothing is allocated by it. A refusal is an `OverLimit`: print it, or
//! `throw` it. Code that cannot refuse by pieces asks `room` beforehand. Fixed costs of a few KiB are not counted. The
//! allocator of the JavaScript engine asks for its own.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use rquickjs::{Ctx, Error, Exception};

/// What small blocks of the engine may take beyond the limit: with nothing left, a script could not even catch the
/// refusal of something large.
const FOR_ERRORS: usize = 64 << 10;

/// A block of the engine up to this size is small: an arena.
const SMALL: usize = 4 << 10;

/// The account of one user. Reached by `User::memory`.
#[derive(Debug)]
pub struct Memory {
    reserved: Cell<usize>,
    limit: Cell<usize>,
    /// Blocks that the engine did not get.
    refusals: Cell<u64>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { reserved: Cell::new(0), limit: Cell::new(usize::MAX), refusals: Cell::new(0) }
    }
}

impl Memory {
    /// Bytes that may still be reserved.
    pub fn room(&self) -> usize {
        self.limit.get().saturating_sub(self.reserved.get())
    }

    /// Counts `bytes` as reserved until the returned value is dropped, or refuses when they would not fit.
    pub fn reserve(self: &Rc<Self>, bytes: usize) -> Result<Reservation, OverLimit> {
        let mut reserved = Reservation { memory: self.clone(), bytes: 0 };
        reserved.grow(bytes)?;
        Ok(reserved)
    }

    /// From now on no more than this is reserved.
    pub fn set_limit(&self, limit: usize) {
        self.limit.set(limit);
    }

    /// Whether the engine may have a block of this size.
    pub(crate) fn admits(&self, size: usize) -> bool {
        let beyond = if size <= SMALL { FOR_ERRORS } else { 0 };
        self.reserved.get().saturating_add(size) <= self.limit.get().saturating_add(beyond)
    }

    /// Counts a block that the engine did not get.
    pub(crate) fn note_refusal(&self) {
        self.refusals.set(self.refusals.get() + 1);
    }

    /// Blocks that the engine did not get so far.
    pub(crate) fn refusals(&self) -> u64 {
        self.refusals.get()
    }

    /// Counts a block that was allocated.
    pub(crate) fn add(&self, bytes: usize) {
        self.reserved.set(self.reserved.get() + bytes);
    }

    /// Counts a block that was freed.
    pub(crate) fn remove(&self, bytes: usize) {
        self.reserved.set(self.reserved.get().saturating_sub(bytes));
    }
}

/// Bytes on the account of a user. Dropped: given back.
#[derive(Debug)]
pub struct Reservation {
    memory: Rc<Memory>,
    bytes: usize,
}

impl Reservation {
    /// How many there are.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Holds so many more, or refuses and leaves what is reserved as it is.
    pub fn grow(&mut self, more: usize) -> Result<(), OverLimit> {
        if more > self.memory.room() {
            return Err(OverLimit { wanted: more, limit: self.memory.limit.get() });
        }
        self.memory.add(more);
        self.bytes += more;
        Ok(())
    }

    /// Gives some of them back.
    pub fn shrink(&mut self, less: usize) {
        let less = less.min(self.bytes);
        self.memory.remove(less);
        self.bytes -= less;
    }

    /// Holds this much in all: gives back the rest, or grows.
    pub fn resize(&mut self, bytes: usize) -> Result<(), OverLimit> {
        if bytes > self.bytes {
            return self.grow(bytes - self.bytes);
        }
        self.shrink(self.bytes - bytes);
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.remove(self.bytes);
    }
}

/// What was asked for does not fit into the user's memory limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverLimit {
    wanted: usize,
    limit: usize,
}

impl OverLimit {
    /// An exception that the script can catch, as it can catch the engine's own.
    pub fn throw(self, ctx: &Ctx<'_>) -> Error {
        Exception::throw_internal(ctx, &self.to_string())
    }
}

impl OverLimit {
    /// Bytes that the user may hold.
    pub fn limit(self) -> usize {
        self.limit
    }
}

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OverLimit { wanted, limit } = self;
        write!(
            f,
            "out of memory: {wanted} more bytes do not fit into the {limit} bytes of a virtual user; \
             raise the limit with --vu-memory-limit"
        )
    }
}

impl std::error::Error for OverLimit {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_up_to_the_limit_and_gives_back() {
        let memory = Rc::new(Memory::default());
        memory.set_limit(100);
        let mut first = memory.reserve(60).unwrap();
        let refused = memory.reserve(41).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "out of memory: 41 more bytes do not fit into the 100 bytes of a virtual user; \
             raise the limit with --vu-memory-limit"
        );
        let second = memory.reserve(40).unwrap();
        assert!(first.grow(1).is_err() && first.bytes() == 60 && memory.room() == 0);
        drop(second);
        first.resize(90).unwrap();
        assert!(first.resize(101).is_err() && memory.room() == 10);
        first.resize(5).unwrap();
        assert_eq!(memory.room(), 95);
        drop(first);
        assert_eq!(memory.room(), 100);
    }
}
