//! Refuses one allocation of the process, the n-th: for tests of what happens then (`cargo xtask faults`). Does nothing
//! without the feature `faults`, which nothing that is handed out has.
//!
//! `ONRUSH_FAIL_ALLOCATION=rust:120` refuses Rust's 120th, `engine:45` QuickJS's 45th; `count` refuses none. Blocks
//! that C libraries take by themselves (zstd, SQLite) are not counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Who asks for a block.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    /// Rust's code, by the global allocator.
    Rust,
    /// QuickJS, in any user's runtime.
    Engine,
}

/// Blocks asked for so far, of each side.
static ASKED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// What the variable says: not read yet.
const UNREAD: u64 = u64::MAX;

/// The block to refuse, of each side; 0: none.
static REFUSED: [AtomicU64; 2] = [const { AtomicU64::new(UNREAD) }; 2];

/// Whether the block that is being asked for is the one to refuse; never without the feature.
#[inline]
pub(super) fn is_refused(side: Side) -> bool {
    #[cfg(test)]
    if matches!(side, Side::Engine) && in_tests::is_refused() {
        return true;
    }
    cfg!(feature = "faults") && count(side)
}

fn count(side: Side) -> bool {
    let number = ASKED[side as usize].fetch_add(1, Ordering::Relaxed) + 1;
    let mut refused = REFUSED[side as usize].load(Ordering::Relaxed);
    if refused == UNREAD {
        refused = read(side);
        REFUSED[side as usize].store(refused, Ordering::Relaxed);
    }
    number == refused
}

/// Blocks asked for so far, by Rust's code and by QuickJS.
pub fn asked() -> (u64, u64) {
    (ASKED[Side::Rust as usize].load(Ordering::Relaxed), ASKED[Side::Engine as usize].load(Ordering::Relaxed))
}

/// Reads the variable without allocating.
fn read(side: Side) -> u64 {
    let name: &[u8] = match side {
        Side::Rust => b"rust:",
        Side::Engine => b"engine:",
    };
    // SAFETY: the name ends with a null; the text belongs to the environment, which nobody changes this early.
    let text = unsafe {
        let text = libc::getenv(c"ONRUSH_FAIL_ALLOCATION".as_ptr());
        if text.is_null() {
            return 0;
        }
        std::ffi::CStr::from_ptr(text).to_bytes()
    };
    let digits = text.strip_prefix(name).unwrap_or_default();
    digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit.wrapping_sub(b'0')))
}

/// The same for the engine's blocks of one thread, so that tests beside each other do not meet.
#[cfg(test)]
pub(crate) mod in_tests {
    use std::cell::Cell;

    thread_local! {
        static LEFT: Cell<u64> = const { Cell::new(0) };
        static REFUSALS: Cell<u64> = const { Cell::new(0) };
    }

    /// Has the engine's n-th block from now on be refused to this thread, and those after it: so many in all.
    pub(crate) fn refuse(nth: u64, many: u64) {
        LEFT.set(nth);
        REFUSALS.set(many);
    }

    pub(super) fn is_refused() -> bool {
        LEFT.set(LEFT.get().saturating_sub(1));
        let is_refused = LEFT.get() == 0 && REFUSALS.get() > 0;
        REFUSALS.set(REFUSALS.get() - u64::from(is_refused));
        is_refused
    }
}
