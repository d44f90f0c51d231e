//! The thread that carries coroutines, as those see it that suspend them from outside: which one runs, and since when.
//!
//! A coroutine that is resumed says so with two stores and one atomic number, which is odd while it runs. The watchdog
//! reads the number from its thread; the signal handler reads the rest on the thread itself. What only users who
//! compute long need (a timer, a clock) is not touched before one is there.

use std::cell::{Cell, OnceCell};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, compiler_fence};
use std::time::{Duration, Instant};

use crate::coroutine::preemption::{self, SliceTimer};
use crate::coroutine::watchdog;

/// The inside of a coroutine, for the signal handler.
pub(crate) trait Preempted {
    /// Suspends the coroutine, which was interrupted at this instruction and has used its stack down to this address,
    /// if there is room for that. Called by the signal handler.
    fn preempt(&self, instruction: usize, stack_pointer: usize);
}

/// What other threads may know.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// Odd while a coroutine runs, and another one at each resume.
    pub resumes: AtomicU64,
    /// The resume that is to end; 0 for none.
    pub wanted: AtomicU64,
    /// The kernel's number of the thread.
    pub thread: i32,
}

/// One a thread.
pub(crate) struct Carrier {
    pub watched: Arc<Watched>,
    /// The coroutine of the last resume, which is over when `resumes` is even.
    running: Cell<Option<NonNull<dyn Preempted>>>,
    /// Resumes of users who compute long.
    long_resumes: Cell<u64>,
    /// How many resumes others had, and when that was seen to change.
    others: Cell<(u64, Option<Instant>)>,
    /// When the next of those who compute long may run although others are at work.
    next_turn: Cell<Option<Instant>>,
    timer: OnceCell<Option<SliceTimer>>,
}

thread_local! {
    static CARRIER: Rc<Carrier> = Carrier::new();
    /// The same, for the signal handler: null before it is made and after it is gone.
    static FOR_SIGNALS: Cell<*const Carrier> = const { Cell::new(std::ptr::null()) };
}

impl Carrier {
    /// Of the calling thread.
    pub fn current() -> Rc<Carrier> {
        CARRIER.with(Rc::clone)
    }

    fn new() -> Rc<Carrier> {
        let watched = Arc::new(Watched { thread: preemption::thread_number(), ..Watched::default() });
        watchdog::watch(&watched);
        let carrier = Rc::new(Carrier {
            watched,
            running: Cell::new(None),
            long_resumes: Cell::new(0),
            others: Cell::new((0, None)),
            next_turn: Cell::new(None),
            timer: OnceCell::new(),
        });
        FOR_SIGNALS.set(Rc::as_ptr(&carrier));
        carrier
    }

    /// The carrier of the thread that a signal interrupted, if there is one.
    pub fn interrupted<'a>() -> Option<&'a Carrier> {
        // SAFETY: set while the carrier lives, by this thread, and nulled before it goes.
        unsafe { FOR_SIGNALS.get().as_ref() }
    }

    /// A coroutine is about to be resumed; it stays where it is until `leave`.
    #[inline]
    pub fn enter(&self, inside: &(impl Preempted + 'static)) {
        self.running.set(Some(NonNull::from(inside)));
        compiler_fence(Ordering::Release);
        let resumes = &self.watched.resumes;
        resumes.store(resumes.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// It is suspended.
    #[inline]
    pub fn leave(&self) {
        let resumes = &self.watched.resumes;
        resumes.store(resumes.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// The coroutine that runs now, when its end is wanted. For the signal handler.
    pub fn to_be_preempted(&self) -> Option<&dyn Preempted> {
        let now = self.watched.resumes.load(Ordering::Relaxed);
        compiler_fence(Ordering::Acquire);
        if now.is_multiple_of(2) || self.watched.wanted.load(Ordering::Relaxed) != now {
            return None;
        }
        // SAFETY: the number is odd, so this is between `enter` and `leave`, and the pointer is what `enter` was given.
        self.running.get().map(|inside| unsafe { inside.as_ref() })
    }

    /// The next resume is one of a user who computes long: it ends after this time, native code or not, as long as the
    /// guard lives.
    pub fn begin_slice(&self, slice: Duration) -> Slice<'_> {
        let timer = self.timer.get_or_init(|| SliceTimer::new(self.watched.thread)).as_ref();
        if let Some(timer) = timer {
            self.watched.wanted.store(self.watched.resumes.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            timer.start(slice);
        }
        Slice(timer)
    }

    /// A resume does not count as work of others.
    pub fn count_long_resume(&self) {
        self.long_resumes.set(self.long_resumes.get() + 1);
    }

    /// When another user than those who compute long last ran, as far as those have looked.
    pub fn others_ran(&self, now: Instant) -> Instant {
        let count = self.watched.resumes.load(Ordering::Relaxed) / 2 - self.long_resumes.get();
        match self.others.get() {
            (known, Some(at)) if known == count => at,
            _ => {
                self.others.set((count, Some(now)));
                now
            }
        }
    }

    /// Takes the next turn that those who compute long have while others are at work; turns are this far apart.
    pub fn take_turn(&self, now: Instant, apart: Duration) -> Instant {
        let turn = self.next_turn.get().map_or(now, |next| next.max(now));
        self.next_turn.set(Some(turn + apart));
        turn
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        FOR_SIGNALS.set(std::ptr::null());
        watchdog::forget(&self.watched);
    }
}

/// A slice that is running.
pub(crate) struct Slice<'a>(Option<&'a SliceTimer>);

impl Drop for Slice<'_> {
    fn drop(&mut self) {
        if let Some(timer) = self.0 {
            timer.stop();
        }
    }
}
