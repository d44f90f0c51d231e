//! The inside of a coroutine: how code that runs on it waits and gives way.
//!
//! `block_on` pins a future on the coroutine's stack, a pointer to it goes out, and the coroutine sleeps until the
//! outside (`Fiber`) has found the future ready. Code that computes gives way in `tick`, which QuickJS calls, or is
//! suspended by a signal (`preemption.rs`). Nothing here knows what jobs the coroutine does.

use std::cell::{Cell, OnceCell};
use std::future::Future;
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use corosensei::Yielder;

use crate::coroutine::carrier::Preempted;
use crate::coroutine::stop::Stop;

/// Address space of one coroutine stack. Only touched pages become resident (measured: 12-24 KiB after init code), so
/// this is a limit on recursion, not a cost: about 2,000 JavaScript calls deep.
pub(crate) const STACK_BYTES: usize = 1024 * 1024;

/// The smallest page. Where pages are larger, the kernel refuses what is not aligned and `trim_stack` does nothing.
pub(crate) const PAGE: usize = 4096;

/// How long a user may compute before others of its worker get their turn.
pub const SLICE: Duration = Duration::from_millis(5);

/// What suspending in native code needs of the stack, and going on from there.
const ROOM: usize = 16 * 1024;

/// What the worker tells the coroutine when it switches to it.
#[derive(Clone, Copy)]
pub(crate) enum Resume {
    /// There is a new job; only while the coroutine is between two jobs.
    Run,
    /// What it waited for is ready, or its next slice begins.
    Ready,
    /// It is to leave what it is doing.
    Stopped,
    /// It is to return; only while it is between two jobs.
    Quit,
}

/// What the coroutine tells the worker when it switches back.
pub(crate) enum Signal {
    /// Poll this until it is ready. Lives on the coroutine's stack, which stands still meanwhile.
    Wait(NonNull<dyn Wait>),
    /// The slice is over: let others run, then resume.
    Pause,
    /// The same, in the middle of native code: nobody may touch the user's runtime meanwhile.
    Preempt,
    /// The job is done; the next resume brings another one.
    Done,
}

/// A future whose output stays with the one who waits.
pub(crate) trait Wait {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}

struct Waiting<'a, F: Future> {
    future: Pin<&'a mut F>,
    output: Option<F::Output>,
}

impl<F: Future> Wait for Waiting<'_, F> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.future.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(output) => {
                self.output = Some(output);
                Poll::Ready(())
            }
        }
    }
}

/// The inside of a coroutine: how code that runs on it waits and gives way.
pub struct Switch {
    pub(crate) yielder: OnceCell<NonNull<Yielder<Resume, Signal>>>,
    pub(crate) stop: Rc<dyn Stop>,
    /// When running code was first seen in this slice; reading the clock is left to code that runs long.
    slice_began: Cell<Option<Instant>>,
    /// Slices that were used up since it last waited.
    slices_used: Cell<u32>,
    /// What its user has had of the worker since it last waited. Set by the outside when computing continues.
    pub(crate) computed: Cell<Duration>,
    /// How long code may run before it waits; nothing for users, whom the engine stops.
    turn_limit: Cell<Option<Duration>>,
    turn_began: Cell<Option<Instant>>,
    overran: Cell<bool>,
    /// Lowest usable address of the stack, and the one above its highest.
    pub(crate) stack: Cell<(usize, usize)>,
    /// Whether native code is not to be interrupted.
    is_whole: Cell<bool>,
    /// It is suspended in the middle of native code.
    is_preempted: Cell<bool>,
    /// Instruction and stack pointer of the native code that was interrupted last.
    pub(crate) interrupted: Cell<(usize, usize)>,
}

impl Switch {
    /// The inside of a coroutine that is about to be made with `Fiber::new`.
    pub fn new(stop: Rc<dyn Stop>) -> Self {
        Switch {
            yielder: OnceCell::new(),
            stop,
            slice_began: Cell::new(None),
            slices_used: Cell::new(0),
            computed: Cell::new(Duration::ZERO),
            turn_limit: Cell::new(None),
            turn_began: Cell::new(None),
            overran: Cell::new(false),
            stack: Cell::new((0, 0)),
            is_whole: Cell::new(false),
            is_preempted: Cell::new(false),
            interrupted: Cell::new((0, 0)),
        }
    }

    /// Whether the user has been told to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_due()
    }

    /// Whether it is suspended in the middle of native code: nobody may touch its runtime then.
    pub(crate) fn is_preempted(&self) -> bool {
        self.is_preempted.get()
    }

    /// From now on code that runs so long in one turn is stopped.
    pub fn limit_turns(&self, limit: Duration) {
        self.turn_limit.set(Some(limit));
    }

    /// Native code is never interrupted: for who lends memory of its runtime to others.
    pub fn forbid_preemption(&self) {
        self.is_whole.set(true);
    }

    /// Begins a turn: what ran before does not count against its limit.
    pub fn begin_turn(&self) {
        self.turn_began.set(None);
        self.overran.set(false);
    }

    /// The limit, when the turn was stopped because of it.
    pub fn overran(&self) -> Option<Duration> {
        self.turn_limit.get().filter(|_| self.overran.get())
    }

    /// Waits for a future; `None` when the user must stop, and the future is then dropped unfinished.
    #[inline]
    pub fn block_on<F: Future>(&self, future: F) -> Option<F::Output> {
        if self.stop.is_set() {
            return None;
        }
        let mut waiting = Waiting { future: pin!(future), output: None };
        let outside: NonNull<dyn Wait + '_> = NonNull::from(&mut waiting);
        // SAFETY: only the lifetime changes. The pointee lives on this stack until `suspend` returns, and the worker
        // uses the pointer only while the coroutine is suspended here.
        let outside: NonNull<dyn Wait> = unsafe { std::mem::transmute(outside) };
        match self.suspend(Signal::Wait(outside)) {
            Resume::Ready => waiting.output.take(),
            Resume::Stopped | Resume::Quit | Resume::Run => None,
        }
    }

    /// Called often by running code: gives way when the slice is over. Returns whether the code has to stop.
    pub fn tick(&self) -> bool {
        if self.is_stopped() {
            return true;
        }
        match self.slice_began.get() {
            None => self.begin_slice(),
            // Unit tests run scripts without a coroutine: there is nobody to give way to.
            Some(began) if began.elapsed() >= SLICE && self.yielder.get().is_some() => {
                if let (Some(limit), Some(began)) = (self.turn_limit.get(), self.turn_began.get())
                    && began.elapsed() >= limit
                {
                    self.overran.set(true);
                    return true;
                }
                self.suspend(Signal::Pause);
                self.note_slices();
                return self.is_stopped();
            }
            Some(_) => {}
        }
        false
    }

    /// How many whole slices code has run for since it last waited. The time of other users is left out.
    #[inline]
    pub fn slices_used(&self) -> u32 {
        self.slices_used.get()
    }

    /// Computing continues: nothing was waited for.
    fn note_slices(&self) {
        let slices = self.computed.get().as_nanos() / SLICE.as_nanos();
        self.slices_used.set(u32::try_from(slices).unwrap_or(u32::MAX));
    }

    fn begin_slice(&self) {
        let now = Instant::now();
        self.slice_began.set(Some(now));
        if self.turn_began.get().is_none() {
            self.turn_began.set(Some(now));
        }
    }

    /// Gives back the stack below the caller's frames, which init code may have used deeply, to the system. It comes
    /// back as zeroed pages when it is needed again.
    pub fn trim_stack(&self) {
        /// What the calls from here need, with room to spare.
        const KEPT: usize = 8 * 1024;
        self.trim_below(KEPT);
    }

    /// The same for a user that is about to wait long: what it needs to wait is all that is kept.
    pub fn trim_stack_to_wait(&self) {
        const KEPT: usize = 512;
        self.trim_below(KEPT);
    }

    /// Keeps so much below this frame.
    #[inline(never)]
    fn trim_below(&self, kept: usize) {
        let marker = 0u8;
        let here = std::ptr::from_ref(&marker) as usize;
        let top = here.saturating_sub(kept) & !(PAGE - 1);
        let (end, _) = self.stack.get();
        if end != 0 && top > end {
            // SAFETY: the range is in this coroutine's own stack, below all its live frames; anonymous private memory.
            unsafe { libc::madvise(end as *mut libc::c_void, top - end, libc::MADV_DONTNEED) };
        }
    }

    #[inline]
    pub(crate) fn suspend(&self, signal: Signal) -> Resume {
        let yielder = self.yielder.get().expect("set by the coroutine before its main function runs");
        // SAFETY: the yielder lives at the root of the coroutine's stack as long as the coroutine runs, and this code
        // runs on it.
        let resume = unsafe { yielder.as_ref() }.suspend(signal);
        self.slice_began.set(None);
        self.slices_used.set(0);
        resume
    }
}

impl Preempted for Switch {
    fn preempt(&self, instruction: usize, stack_pointer: usize) {
        let (end, top) = self.stack.get();
        let has_room = stack_pointer < top && stack_pointer.checked_sub(end).is_some_and(|room| room >= ROOM);
        if has_room && !self.is_whole.get() && self.yielder.get().is_some() {
            self.interrupted.set((instruction, stack_pointer));
            self.is_preempted.set(true);
            self.suspend(Signal::Preempt);
            self.is_preempted.set(false);
            self.note_slices();
        }
    }
}
