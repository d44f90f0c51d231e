//! What happens when the machine refuses memory to Rust code that cannot go on without: the process ends with one line
//! and an exit code, and not by a signal.
//!
//! Rust's own way is a line and `abort`. Its handler can be changed by nightly compilers only; but the allocator sees
//! the refusal, and the handler of SIGABRT sees the end. Callers that can go on (`Vec::try_reserve`, `fs::read`) get
//! their null and their error as before. JavaScript gets an exception: its blocks are not Rust's.

use std::cell::Cell;
use std::ffi::c_int;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::OnceLock;

thread_local! {
    /// Whether this thread's last refused block was one of Rust's. Needs no destructor, so it can be touched in an
    /// allocator.
    static IS_REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// The text of the last line, and the exit code.
static ENDING: OnceLock<(&str, u8)> = OnceLock::new();

/// Notes that a block was refused to Rust code of this thread.
#[cold]
#[inline(never)]
pub(super) fn note_refused() {
    IS_REFUSED.set(true);
}

/// Has the process write this line to standard error and end with this code when it is refused memory that it cannot
/// do without. The standard library has named the number of bytes by then.
pub fn end_with(line: &'static str, code: u8) {
    if ENDING.set((line, code)).is_err() {
        return;
    }
    // SAFETY: the handler has the signature that is wanted without SA_SIGINFO, and calls only what a handler may.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = on_abort as extern "C" fn(c_int) as usize;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGABRT, &action, null_mut());
    }
}

/// Any other abort goes on: the C library restores the default action when the handler returns, and tries again.
extern "C" fn on_abort(_signal: c_int) {
    if !IS_REFUSED.get() {
        return;
    }
    if let Some((line, code)) = ENDING.get() {
        // SAFETY: the bytes are there; both functions may be called in a handler.
        unsafe {
            libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
            libc::_exit(c_int::from(*code));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc as _, Layout, handle_alloc_error};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Command, Output};

    use super::*;
    use crate::allocator::RustAllocator;

    /// Says to a copy of this process how it shall end.
    const WAY: &str = "ONRUSH_TEST_OF_SHORTAGE";

    fn ended(way: &str) -> Output {
        let mut copy = Command::new(std::env::current_exe().unwrap());
        copy.args(["--exact", "quickjs::shortage::tests::a_process_ends", "--nocapture"]);
        copy.env(WAY, way).output().unwrap()
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a copy of the test's process hears in this way what to do")]
    fn a_process_ends() {
        let Ok(way) = std::env::var(WAY) else { return };
        end_with("no memory is left\n", 77);
        if way == "refused" {
            let layout = Layout::from_size_align(isize::MAX as usize - 4096, 8).unwrap();
            // SAFETY: the size is not 0.
            assert!(unsafe { RustAllocator.alloc(layout) }.is_null());
            handle_alloc_error(layout);
        }
        std::process::abort();
    }

    #[test]
    fn a_refused_block_ends_the_process_with_the_line_and_the_code() {
        let output = ended("refused");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(77), "{error}");
        assert!(error.contains("memory allocation of ") && error.ends_with("no memory is left\n"), "{error}");
    }

    #[test]
    fn any_other_abort_stays_one() {
        let output = ended("other");
        assert_eq!(output.status.signal(), Some(libc::SIGABRT));
        assert!(!String::from_utf8_lossy(&output.stderr).contains("no memory is left"));
    }
}
