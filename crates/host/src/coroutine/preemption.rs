//! Suspends a virtual user that computes inside of QuickJS's C code, where the engine does not ask whether it should
//! stop: `new Array(1e9).join()`, a sort, `JSON.parse` of a long text. The way of Go's scheduler since 1.14: a signal
//! to the thread.
//!
//! The handler runs on the coroutine's stack and suspends the coroutine from there, exactly as the engine's interrupt
//! handler does from a loop of JavaScript. When the coroutine is resumed, the handler returns and the kernel restores
//! every register.
//!
//! # Why this is sound
//!
//! The handler suspends under these conditions only, and otherwise returns at once:
//!
//! 1. A coroutine is running on this thread (`Carrier`: the number of resumes is odd), and this very resume is the one
//!    to end.
//! 2. The interrupted instruction belongs to a C function of QuickJS, looked up in the exact table of its functions
//!    (`EngineCode`). So no allocator, no lock of the C library and no Rust code is innermost, and none of it is left
//!    halfway. Functions that hold the engine's one process-wide lock (`Atomics`) are not in the table.
//! 3. The stack pointer is in that coroutine's stack, and there is room below it.
//!
//! What is left halfway is then the runtime of this user, and of what runtimes share at most the thread's table of
//! names (`quickjs/names.patch`), which is made for it: a name is whole before it can be found, nobody adds one while
//! another is being added, and a count that was cut in two is set right when it comes to zero. Nobody touches the
//! runtime
//! before the user is resumed, because every way to a runtime leads through the user's own coroutine:
//! futures are polled from outside only while the user waits in `block_on`, and never while it is suspended here;
//! dropping a user that is suspended here leaks it. Apps of `onrush serve` lend memory to connections that give it back
//! at any time, so they are never preempted (`Switch::forbid_preemption`).
//!
//! Rust frames may lie further out on the coroutine's stack. They are where they would be if the engine's own interrupt
//! handler had suspended, with one difference: that is called by JavaScript only, and this may also happen in a short
//! call from Rust into the engine. So the rule of ARCHITECTURE.md is stricter for what users of a worker share: no
//! borrow and no lock of shared state is held across a call into QuickJS. State of one user may be borrowed.
//!
//! A signal restarts system calls (`SA_RESTART`) and may come again while a handler of another coroutine is suspended
//! (`SA_NODEFER`): the mask of the thread is therefore the same inside and outside. The kernel puts some KiB onto the
//! coroutine's stack; QuickJS keeps 192 KiB of it free for native code. `errno` is put back.
//!
//! x86-64 and AArch64. On other machines nothing is preempted: native code then holds up the other users of its worker,
//! and the engine gives up on the worker when the test should have ended.

use std::ffi::{c_int, c_void};
use std::mem::{MaybeUninit, zeroed};
use std::ptr::null_mut;
use std::sync::Once;
use std::time::Duration;

use crate::coroutine::carrier::Carrier;
use crate::coroutine::engine_code::EngineCode;

/// Whether code can be told where it was interrupted.
pub(crate) const IS_SUPPORTED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Ignored unless somebody listens, and passed on by debuggers: Go's choice for the same purpose.
const SIGNAL: c_int = libc::SIGURG;

/// The kernel's number of the calling thread.
pub(crate) fn thread_number() -> i32 {
    // SAFETY: has no arguments and cannot fail.
    unsafe { libc::gettid() }
}

/// Makes the handler known, once.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: the handler has the signature that SA_SIGINFO wants and calls only what is safe in a handler.
        unsafe {
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_RESTART;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(SIGNAL, &action, null_mut());
        }
    });
}

/// Interrupts a thread of this process. One that has ended meanwhile is no harm: the signal finds nobody, or a thread
/// that has nothing to be preempted.
pub(crate) fn interrupt(thread: i32) {
    // SAFETY: numbers only.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, SIGNAL) };
}

extern "C" fn on_signal(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: `errno` of this thread.
    let errno = unsafe { *libc::__errno_location() };
    if let Some(carrier) = Carrier::interrupted()
        && let Some(inside) = carrier.to_be_preempted()
        && let Some(code) = EngineCode::loaded()
    {
        // SAFETY: the kernel gives a context to handlers that were installed with SA_SIGINFO.
        let (instruction, stack) = unsafe { registers(context.cast()) };
        if code.contains(instruction) {
            inside.preempt(instruction, stack);
        }
    }
    // SAFETY: as above; the coroutine is resumed on the thread it was suspended on.
    unsafe { *libc::__errno_location() = errno };
}

/// Instruction and stack pointer at the interruption; on machines whose registers we do not know, none of the engine's.
unsafe fn registers(context: *const libc::ucontext_t) -> (usize, usize) {
    // SAFETY: by contract it points to the context of an interrupted thread.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        let [instruction, stack] = [libc::REG_RIP, libc::REG_RSP]
            .map(|at| (&raw const (*context).uc_mcontext.gregs[at as usize]).read() as usize);
        #[cfg(target_arch = "aarch64")]
        let [instruction, stack] = [(*context).uc_mcontext.pc as usize, (*context).uc_mcontext.sp as usize];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let (instruction, stack) = (0, 0);
        (instruction, stack)
    }
}

/// A timer that sends the signal to one thread, again and again from the end of a slice on: code that could not be
/// suspended at first is tried again.
pub(crate) struct SliceTimer(libc::timer_t);

impl SliceTimer {
    /// A timer of the calling thread, which has this number; none when the system refuses one.
    pub(crate) fn new(thread: i32) -> Option<SliceTimer> {
        install();
        let mut timer = MaybeUninit::uninit();
        // SAFETY: the event is whole, and the kernel fills in the timer when it returns 0.
        unsafe {
            let mut event: libc::sigevent = zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = SIGNAL;
            event.sigev_notify_thread_id = thread;
            let made = libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, timer.as_mut_ptr()) == 0;
            made.then(|| SliceTimer(timer.assume_init()))
        }
    }

    pub(crate) fn start(&self, slice: Duration) {
        self.set(slice);
    }

    pub(crate) fn stop(&self) {
        self.set(Duration::ZERO);
    }

    fn set(&self, after: Duration) {
        let time = libc::timespec { tv_sec: 0, tv_nsec: i64::from(after.subsec_nanos()) };
        let times = libc::itimerspec { it_interval: time, it_value: time };
        // SAFETY: the timer was created and not deleted; zero times disarm it.
        unsafe { libc::timer_settime(self.0, 0, &times, null_mut()) };
    }
}

impl Drop for SliceTimer {
    fn drop(&mut self) {
        // SAFETY: the timer was created and is deleted once.
        unsafe { libc::timer_delete(self.0) };
    }
}
