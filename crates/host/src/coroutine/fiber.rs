//! The outside of a coroutine: one future that runs JavaScript on a stack of its own, driven by the worker.
//!
//! `Fiber` polls what the coroutine waits for on the worker's stack and switches back only when it is ready, so
//! coroutine stacks stay small and a wake-up without progress costs no switch.
//!
//! Invariant: a suspended coroutine is never dropped, because C frames lie on its stack. It is resumed with
//! `Resume::Stopped` (every wait then fails) or, between two jobs, with `Resume::Quit`, and runs to its end. One that
//! stays in native code although it must stop is given up: its stack and its runtime are leaked. If the engine breaks
//! the rule, the stack is leaked too and the program stops in debug builds.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult};

use crate::coroutine::carrier::Carrier;
use crate::coroutine::computation::Computation;
use crate::coroutine::engine_code::EngineCode;
use crate::coroutine::switch::{PAGE, Resume, SLICE, STACK_BYTES, Signal, Switch, Wait};

/// How long a user that must stop may stay in native code before it is given up, and how many slices it has at least.
/// It has those at once: what was interrupted in plain JavaScript needs one or two.
const GRACE: (Duration, u32) = (Duration::from_secs(2), 20);

/// Where a job goes in and its end comes out.
struct Exchange<J, E> {
    job: Cell<Option<J>>,
    end: Cell<Option<E>>,
}

/// How the code inside of a coroutine gets its jobs.
pub struct Jobs<J, E> {
    switch: Rc<Switch>,
    exchange: Rc<Exchange<J, E>>,
}

impl<J, E> Jobs<J, E> {
    /// Reports the end of a job and sleeps until the next one; `None`: the coroutine is to return.
    pub fn next(&self, end: E) -> Option<J> {
        self.exchange.end.set(Some(end));
        match self.switch.suspend(Signal::Done) {
            Resume::Run => self.exchange.job.take(),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
enum State {
    /// Between two jobs, or not begun.
    Idle,
    /// Has a job to begin with.
    Starting,
    /// Asks for this.
    Asking(NonNull<dyn Wait>),
    /// What it asked for is there, or it must go on without it.
    Answered(Resume),
    /// Computes, and its slice is over.
    Paused,
    /// The same, in the middle of code; since when it has been told to stop, and its slices since then.
    Preempted(Option<(Instant, u32)>),
    Returned,
}

/// Steps of a job before other tasks have their turn, timers among them. A wait that is over at once begins a new
/// slice, so a loop of such waits (requests to a URL that cannot be sent) never uses one up.
const IN_A_ROW: usize = 61;

/// How far a job has come.
pub enum Advance<E> {
    /// It is over. `None`: the coroutine returned, or was given up, instead of finishing it.
    Over(Option<E>),
    /// It asks for something: `attend` until that is there.
    Asks,
    /// It gives way; its waker will be called.
    Waits,
}

/// The outside of a coroutine.
pub struct Fiber<J: 'static, E: 'static> {
    coroutine: Option<Coroutine<Resume, Signal, (), DefaultStack>>,
    exchange: Rc<Exchange<J, E>>,
    state: State,
    switch: Rc<Switch>,
    carrier: Rc<Carrier>,
    /// Since it last waited; made when its first slice is over.
    computation: Option<Box<Computation>>,
    given_up: Option<GivenUp>,
}

/// A coroutine that stayed in native code.
#[derive(Clone, Debug)]
pub struct GivenUp {
    /// What it had computed since it last waited.
    pub computed: Duration,
    /// The C function of QuickJS that the script called, as far as it is known.
    pub native: Option<&'static str>,
}

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let native = self.native.map(|name| format!(" ({name})")).unwrap_or_default();
        let seconds = self.computed.as_secs_f64();
        write!(f, "it is in native code of the JavaScript engine{native}, where it has computed for {seconds:.1} s")
    }
}

impl<J: 'static, E: 'static> Fiber<J, E> {
    /// A coroutine that will run `main` with its first job. `main` returns when `Jobs::next` says `None`.
    pub fn new(switch: Rc<Switch>, main: impl FnOnce(J, &Jobs<J, E>) + 'static) -> std::io::Result<Self> {
        let stack = DefaultStack::new(STACK_BYTES)?;
        // The limit is the guard page's own address.
        switch.stack.set((stack.limit().get() + PAGE, stack.base().get()));
        let exchange = Rc::new(Exchange { job: Cell::new(None), end: Cell::new(None) });
        let jobs = Jobs { switch: switch.clone(), exchange: exchange.clone() };
        let coroutine = Coroutine::with_stack(stack, move |yielder, _: Resume| {
            jobs.switch.yielder.set(NonNull::from(yielder)).expect("a switch belongs to one coroutine");
            if let Some(job) = jobs.exchange.job.take() {
                main(job, &jobs);
            }
        });
        Ok(Fiber {
            coroutine: Some(coroutine),
            exchange,
            state: State::Idle,
            switch,
            carrier: Carrier::current(),
            computation: None,
            given_up: None,
        })
    }

    /// Runs one job to its end. `None` when the coroutine returned instead of finishing it (or had returned before).
    pub fn run(&mut self, job: J) -> Run<'_, J, E> {
        self.start(job);
        Run { fiber: self }
    }

    /// Gives it a job, for callers that poll it themselves.
    #[inline]
    pub fn start(&mut self, job: J) {
        if matches!(self.state, State::Idle) {
            self.exchange.job.set(Some(job));
            self.state = State::Starting;
        }
    }

    /// Whether it has returned.
    pub fn is_over(&self) -> bool {
        self.coroutine.as_ref().is_none_or(Coroutine::done)
    }

    /// Why it will run no further job although it did not return.
    pub fn given_up(&self) -> Option<&GivenUp> {
        self.given_up.as_ref()
    }

    /// Ends the coroutine between two jobs: it drops what it holds and returns.
    pub fn quit(&mut self) {
        if matches!(self.state, State::Idle) && self.coroutine.as_ref().is_some_and(Coroutine::started) {
            // Freeing much takes its time too, but nobody is there to go on with it later.
            self.switch.forbid_preemption();
            self.switch_to(Resume::Quit);
        }
    }

    #[inline]
    fn switch_to(&mut self, resume: Resume) -> Option<E> {
        let Some(coroutine) = &mut self.coroutine else { return None };
        self.carrier.enter(&*self.switch);
        let result = coroutine.resume(resume);
        self.carrier.leave();
        match result {
            CoroutineResult::Yield(Signal::Wait(wait)) => self.state = State::Asking(wait),
            CoroutineResult::Yield(Signal::Pause) => self.state = State::Paused,
            CoroutineResult::Yield(Signal::Preempt) => self.state = State::Preempted(None),
            CoroutineResult::Yield(Signal::Done) => {
                self.state = State::Idle;
                return self.exchange.end.take();
            }
            CoroutineResult::Return(()) => self.state = State::Returned,
        }
        None
    }

    /// Goes on with the job as far as it can without waiting, whatever kind of work that is.
    pub fn poll_job(&mut self, cx: &mut Context<'_>) -> Poll<Option<E>> {
        for _ in 0..IN_A_ROW {
            ready!(self.attend(cx));
            match self.advance(cx) {
                Advance::Over(end) => return Poll::Ready(end),
                Advance::Waits => return Poll::Pending,
                Advance::Asks => {}
            }
        }
        give_way(cx);
        Poll::Pending
    }

    /// Gets what the coroutine asks for; ready when it can go on, at once where it asks for nothing.
    #[inline]
    pub fn attend(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let State::Asking(mut wait) = self.state else { return Poll::Ready(()) };
        let resume = if self.switch.stop.is_set() {
            Resume::Stopped
        } else {
            // SAFETY: the coroutine is suspended in `block_on`, whose frame holds the pointee; nobody else uses it.
            let is_pending = unsafe { wait.as_mut() }.poll(cx).is_pending();
            if is_pending && !self.switch.stop.watch(cx.waker()) {
                return Poll::Pending;
            }
            if is_pending { Resume::Stopped } else { Resume::Ready }
        };
        self.state = State::Answered(resume);
        Poll::Ready(())
    }

    /// Goes on with the job until it asks for something. Whoever has many such jobs does each kind of work (running
    /// JavaScript, sending, receiving) for all before the next.
    #[inline(always)]
    pub fn advance(&mut self, cx: &mut Context<'_>) -> Advance<E> {
        let resume = match self.state {
            State::Starting => Resume::Run,
            State::Answered(resume) => resume,
            State::Asking(_) => return Advance::Asks,
            state @ (State::Paused | State::Preempted(_)) => return self.go_on_computing(state, cx),
            State::Idle | State::Returned => return Advance::Over(None),
        };
        match self.switch_to(resume) {
            Some(end) => Advance::Over(Some(end)),
            None => self.suspended(cx),
        }
    }

    /// The coroutine was suspended, or has returned.
    #[inline]
    fn suspended(&self, cx: &mut Context<'_>) -> Advance<E> {
        match self.state {
            State::Paused | State::Preempted(_) => {
                give_way(cx);
                Advance::Waits
            }
            State::Asking(_) => Advance::Asks,
            _ => Advance::Over(None),
        }
    }

    #[inline(never)]
    fn go_on_computing(&mut self, state: State, cx: &mut Context<'_>) -> Advance<E> {
        match self.compute(state, cx) {
            Poll::Pending => Advance::Waits,
            Poll::Ready(None) if self.given_up.is_none() => self.suspended(cx),
            Poll::Ready(end) => Advance::Over(end),
        }
    }

    /// Goes on computing for a slice, when it is this user's turn; the job's end, if it was reached.
    fn compute(&mut self, mut state: State, cx: &mut Context<'_>) -> Poll<Option<E>> {
        let is_stopped = self.switch.is_stopped();
        let mut ends_now = is_stopped;
        if let State::Preempted(stopped) = &mut state
            && is_stopped
        {
            let (since, slices) = stopped.get_or_insert_with(|| (Instant::now(), 0));
            ends_now = *slices < GRACE.1;
            if !ends_now && since.elapsed() >= GRACE.0 {
                self.give_up();
                return Poll::Ready(None);
            }
        }
        let mut computation = self.computation.take().unwrap_or_else(|| {
            let mut computation = Box::<Computation>::default();
            computation.add(SLICE);
            computation
        });
        if !ends_now && computation.poll_turn(&self.carrier, cx).is_pending() {
            self.switch.stop.register(cx.waker());
            (self.state, self.computation) = (state, Some(computation));
            return Poll::Pending;
        }
        let stopped = if let State::Preempted(stopped) = state { stopped } else { None };
        let stopped = stopped.map(|(since, slices)| (since, slices + 1));
        if computation.is_long() {
            self.carrier.count_long_resume();
        }
        let (carrier, began) = (self.carrier.clone(), Instant::now());
        self.switch.computed.set(computation.used());
        let slice = carrier.begin_slice(computation.slice());
        let end = self.switch_to(Resume::Ready);
        drop(slice);
        if let State::Preempted(since) = &mut self.state {
            *since = stopped;
        }
        if matches!(self.state, State::Paused | State::Preempted(_)) {
            computation.add(began.elapsed());
            self.computation = Some(computation);
        }
        Poll::Ready(end)
    }

    /// Leaves the coroutine where it is, for good. Its runtime is halfway through something, so no part of it can be
    /// freed.
    fn give_up(&mut self) {
        let computed = self.computation.take().map_or(SLICE, |computation| computation.used());
        self.given_up = Some(GivenUp { computed, native: self.native() });
        std::mem::forget(self.coroutine.take());
        self.state = State::Returned;
    }

    /// The native function that the script is in: the outermost one of the engine's behind its call of C functions.
    fn native(&self) -> Option<&'static str> {
        /// Through this the engine calls every native function.
        const CALL: &str = "js_call_c_function";
        let code = EngineCode::loaded()?;
        let (instruction, stack_pointer) = self.switch.interrupted.get();
        let mut found = code.name_at(instruction);
        let word = size_of::<usize>();
        for address in (stack_pointer.next_multiple_of(word)..self.switch.stack.get().1).step_by(word) {
            // SAFETY: between the stack pointer and the top of a stack that is not freed; whatever is there is a
            // number.
            let value = unsafe { (address as *const usize).read_volatile() };
            match code.name_at(value.wrapping_sub(1)) {
                Some(CALL) => return found,
                Some(name) if name.starts_with("js_") => found = Some(name),
                _ => {}
            }
        }
        found
    }
}

impl<J: 'static, E: 'static> Drop for Fiber<J, E> {
    fn drop(&mut self) {
        self.quit();
        let unfinished = self.coroutine.as_ref().is_some_and(|c| c.started() && !c.done());
        if unfinished {
            // Unwinding through C frames is undefined behaviour; a leaked stack is only memory.
            std::mem::forget(self.coroutine.take());
            debug_assert!(
                std::thread::panicking() || matches!(self.state, State::Preempted(_)),
                "a virtual user was dropped in the middle of an iteration: this is a bug"
            );
        }
    }
}

/// Asks to be polled again after sockets and timers had their turn. A plain wake would only queue behind the tasks that
/// are ready: tokio looks at sockets and timers every 61 polls, and 61 slices are a third of a second.
fn give_way(cx: &mut Context<'_>) {
    let woken = pin!(tokio::task::yield_now()).poll(cx);
    debug_assert!(woken.is_pending(), "the first poll of yield_now is pending");
}

/// The future of one job.
pub struct Run<'a, J: 'static, E: 'static> {
    fiber: &'a mut Fiber<J, E>,
}

impl<J, E> Future for Run<'_, J, E> {
    type Output = Option<E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<E>> {
        self.fiber.poll_job(cx)
    }
}

// Nothing in `Run` is self-referential: it borrows the fiber.
impl<J, E> Unpin for Run<'_, J, E> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coroutine::stop::StopFlag;
    use std::future::{pending, poll_fn};
    use std::task::Waker;

    fn fiber(main: impl FnOnce(&Switch, u32, &Jobs<u32, String>) + 'static) -> (Fiber<u32, String>, Rc<StopFlag>) {
        let stop = Rc::new(StopFlag::default());
        let switch = Rc::new(Switch::new(stop.clone()));
        let inside = switch.clone();
        (Fiber::new(switch, move |job, jobs| main(&inside, job, jobs)).unwrap(), stop)
    }

    fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
        Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn runs_jobs_and_returns_on_quit() {
        let (mut fiber, _) = fiber(|_, first, jobs| {
            let mut job = first;
            while let Some(next) = jobs.next(format!("did {job}")) {
                job = next;
            }
        });
        assert_eq!(poll(&mut fiber.run(1)), Poll::Ready(Some("did 1".into())));
        assert_eq!(poll(&mut fiber.run(2)), Poll::Ready(Some("did 2".into())));
        fiber.quit();
        assert_eq!(poll(&mut fiber.run(3)), Poll::Ready(None));
    }

    #[test]
    fn a_pending_future_is_polled_without_switching() {
        let polls = Rc::new(Cell::new(0));
        let counted = polls.clone();
        let (mut fiber, _) = fiber(move |switch, _, jobs| {
            let got = switch.block_on(poll_fn(|_| {
                counted.set(counted.get() + 1);
                if counted.get() < 3 { Poll::Pending } else { Poll::Ready(7) }
            }));
            jobs.next(format!("{got:?}"));
        });
        fiber.start(0);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(matches!(fiber.advance(&mut cx), Advance::Asks));
        assert_eq!(polls.get(), 0, "others run their JavaScript before this one's wait begins");
        assert!(fiber.attend(&mut cx).is_pending());
        assert!(fiber.attend(&mut cx).is_pending());
        assert!(fiber.attend(&mut cx).is_ready());
        let Advance::Over(end) = fiber.advance(&mut cx) else { panic!("there is nothing more to ask for") };
        assert_eq!((end, polls.get()), (Some("Some(7)".into()), 3));
    }

    #[test]
    fn one_that_asks_is_not_resumed_before_it_is_answered() {
        let (mut fiber, _) = fiber(|switch, _, jobs| {
            let answer = switch.block_on(std::future::ready(7));
            jobs.next(format!("{answer:?}"));
        });
        fiber.start(0);
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            assert!(matches!(fiber.advance(&mut cx), Advance::Asks));
        }
        assert_eq!(fiber.poll_job(&mut cx), Poll::Ready(Some("Some(7)".into())));
    }

    #[test]
    fn waits_that_are_over_at_once_give_way_too() {
        let (mut fiber, stop) = fiber(|switch, _, jobs| {
            while switch.block_on(std::future::ready(())).is_some() {}
            jobs.next("stopped".into());
        });
        let mut run = fiber.run(0);
        assert!(poll(&mut run).is_pending());
        stop.set();
        assert_eq!(poll(&mut run), Poll::Ready(Some("stopped".into())));
    }

    #[test]
    fn a_stop_ends_a_wait_and_drops_the_future() {
        struct Canary(Rc<Cell<bool>>);
        impl Drop for Canary {
            fn drop(&mut self) {
                self.0.set(true);
            }
        }
        let dropped = Rc::new(Cell::new(false));
        let canary = Canary(dropped.clone());
        let (mut fiber, stop) = fiber(move |switch, _, jobs| {
            let got: Option<()> = switch.block_on(async move {
                let _canary = canary;
                pending().await
            });
            jobs.next(format!("{got:?}"));
        });
        let mut run = fiber.run(0);
        assert!(poll(&mut run).is_pending());
        stop.set();
        assert_eq!(poll(&mut run), Poll::Ready(Some("None".into())));
        assert!(dropped.get());
    }

    #[test]
    fn a_long_computation_gives_way() {
        let (mut fiber, stop) = fiber(|switch, _, jobs| {
            while !switch.tick() {}
            jobs.next("stopped".into());
        });
        let mut run = fiber.run(0);
        assert!(poll(&mut run).is_pending());
        assert!(poll(&mut run).is_pending());
        stop.set();
        assert_eq!(poll(&mut run), Poll::Ready(Some("stopped".into())));
    }
}
