//! The event loop of one virtual user: promise jobs, timers, and native futures that settle promises.
//!
//! It turns inside the user's coroutine after the script's function has returned, until nothing is pending: then, as in
//! k6, the iteration is over. No borrow of its cells is held while JavaScript runs.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Instant;

use rquickjs::{Ctx, Error, Function, Persistent, Promise, Value, qjs};

use crate::memory::Memory;
use crate::quickjs::exception;
use crate::timers::{Due, Timers};

type Settle = Box<dyn for<'a> FnOnce(&Ctx<'a>) -> rquickjs::Result<()>>;

/// Something besides timers and futures that a user waits for: it brings events again and again, until it is over.
pub trait Source {
    /// Ready when there is something to dispatch. Polled on the worker's stack, where no JavaScript may run.
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()>;
    /// Calls what the script gave for it, on the user's stack.
    fn dispatch(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()>;
    /// Nothing will come any more.
    fn is_over(&self) -> bool;
    /// The iteration was cut short: ends without calling the script.
    fn abandon(&self);
}

/// Something queued for the next that waits to write.
pub trait Outgoing {
    /// Writes what the kernel takes at once.
    fn flush_now(&self);
}

/// A timer of the runtime, armed for a moment.
type Armed = (Instant, Pin<Box<tokio::time::Sleep>>);

/// Pending work of one user.
#[derive(Default)]
pub struct EventLoop {
    /// Something may be pending: nearly all iterations need not look into what follows.
    was_used: Cell<bool>,
    has_outgoing: Cell<bool>,
    timers: Timers,
    futures: RefCell<Vec<Pending>>,
    settled: RefCell<VecDeque<Settle>>,
    sources: RefCell<Vec<Rc<dyn Source>>>,
    /// Sources that have something to dispatch.
    ready: RefCell<VecDeque<Rc<dyn Source>>>,
    outgoing: RefCell<Vec<Rc<dyn Outgoing>>>,
    /// Kept from wait to wait: arming one again costs more than a message.
    armed: RefCell<Option<Armed>>,
    /// Rejected promises nobody looked after yet, and their reasons.
    rejections: RefCell<Vec<(Persistent<Value<'static>>, Persistent<Value<'static>>)>>,
}

/// A native future with a waker of its own, so that a wake-up polls only what it is for.
struct Pending {
    future: Pin<Box<dyn Future<Output = Settle>>>,
    woken: Arc<Woken>,
}

struct Woken {
    flag: AtomicBool,
    parent: std::sync::Mutex<Option<Waker>>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.flag.store(true, Ordering::Release);
        let parent = self.parent.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(parent) = parent {
            parent.wake();
        }
    }
}

impl Pending {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Settle> {
        *self.woken.parent.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(cx.waker().clone());
        if !self.woken.flag.swap(false, Ordering::Acquire) {
            return Poll::Pending;
        }
        let waker = Waker::from(self.woken.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }
}

impl EventLoop {
    /// See `User::promise`.
    pub(crate) fn promise<'js, T: 'static>(
        &self,
        ctx: &Ctx<'js>,
        future: impl Future<Output = T> + 'static,
        convert: impl for<'a> FnOnce(&Ctx<'a>, T) -> rquickjs::Result<Value<'a>> + 'static,
    ) -> rquickjs::Result<Promise<'js>> {
        let (promise, resolve, reject) = ctx.promise()?;
        let resolve = Persistent::save(ctx, resolve);
        let reject = Persistent::save(ctx, reject);
        let settle_later = async move {
            let output = future.await;
            let settle: Settle = Box::new(move |ctx| settle(ctx, convert(ctx, output), resolve, reject));
            settle
        };
        let woken = Arc::new(Woken { flag: AtomicBool::new(true), parent: std::sync::Mutex::new(None) });
        self.was_used.set(true);
        self.futures.borrow_mut().push(Pending { future: Box::pin(settle_later), woken });
        Ok(promise)
    }

    /// Adds a timer and returns its number. `delay_ms` below 0 or not a number counts as 0. Throws when it does not fit
    /// into the user's memory.
    pub(crate) fn add_timer<'js>(
        &self,
        ctx: &Ctx<'js>,
        memory: &Rc<Memory>,
        call: (Function<'js>, Vec<Value<'js>>),
        delay_ms: f64,
        repeat: bool,
        async_context: i64,
    ) -> rquickjs::Result<u32> {
        self.was_used.set(true);
        self.timers.add(ctx, memory, call, delay_ms, repeat, async_context)
    }

    /// Removes a timer; unknown numbers are fine.
    pub fn clear_timer(&self, id: u32) {
        self.timers.clear(id);
    }

    /// Waits for this source as long as it is not over; the iteration does not end before.
    pub fn add_source(&self, source: Rc<dyn Source>) {
        self.was_used.set(true);
        self.sources.borrow_mut().push(source);
    }

    /// Has something written when the user waits next.
    pub fn add_outgoing(&self, outgoing: Rc<dyn Outgoing>) {
        self.has_outgoing.set(true);
        self.outgoing.borrow_mut().push(outgoing);
    }

    /// Writes what was queued, before the user waits for something else.
    #[inline]
    pub(crate) fn flush_outgoing(&self) {
        if self.has_outgoing.take() {
            let outgoing = std::mem::take(&mut *self.outgoing.borrow_mut());
            outgoing.iter().for_each(|one| one.flush_now());
        }
    }

    /// Whether nothing at all is pending, promise jobs and rejections included.
    #[inline]
    pub(crate) fn is_quiet(&self, ctx: &Ctx<'_>) -> bool {
        // SAFETY: the runtime is live and this is its thread.
        let has_jobs = unsafe { qjs::JS_IsJobPending(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) };
        debug_assert!(self.was_used.get() || self.is_idle(), "whatever is added sets the flag");
        !has_jobs && (!self.was_used.get() || self.has_settled())
    }

    /// The same of all but jobs, looked at.
    #[inline(never)]
    fn has_settled(&self) -> bool {
        let has_settled = self.is_idle() && self.rejections.borrow().is_empty();
        self.was_used.set(!has_settled);
        has_settled
    }

    /// Whether a timer, a native future or a source is pending.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.sources.borrow().is_empty()
            && self.timers.is_empty()
            && self.futures.borrow().is_empty()
            && self.settled.borrow().is_empty()
    }

    /// Settles one promise; whether there was one.
    pub(crate) fn settle_one(&self, ctx: &Ctx<'_>) -> rquickjs::Result<bool> {
        let settle = self.settled.borrow_mut().pop_front();
        settle.map_or(Ok(false), |settle| settle(ctx).map(|()| true))
    }

    /// What the first timer calls, when it is due.
    pub(crate) fn take_due<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Option<Due<'js>>> {
        self.timers.take_due(ctx)
    }

    /// Runs promise jobs until there are none.
    pub fn run_jobs(&self, ctx: &Ctx<'_>) -> rquickjs::Result<()> {
        loop {
            let mut context = std::ptr::null_mut();
            // SAFETY: the runtime is live and this is its thread; the out-pointer is a local.
            let result = unsafe {
                let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
                qjs::JS_ExecutePendingJob(runtime, &mut context)
            };
            match result {
                0 => return Ok(()),
                1.. => {}
                // A job fails only by an error that no script can catch; others have become rejections.
                _ => return Err(Error::Exception),
            }
        }
    }

    /// Calls a source that has something to dispatch; nothing when there is none.
    pub(crate) fn dispatch(&self, ctx: &Ctx<'_>) -> Option<rquickjs::Result<()>> {
        let source = self.ready.borrow_mut().pop_front()?;
        let dispatched = source.dispatch(ctx);
        self.sources.borrow_mut().retain(|source| !source.is_over());
        Some(dispatched)
    }

    /// Takes the reasons of rejections that nobody handled.
    pub(crate) fn take_rejections(&self) -> Vec<Persistent<Value<'static>>> {
        if self.rejections.borrow().is_empty() {
            return Vec::new();
        }
        let rejections = std::mem::take(&mut *self.rejections.borrow_mut());
        rejections.into_iter().map(|(_, reason)| reason).collect()
    }

    /// Removes all timers: their numbers, in the order in which they were added, and whether they repeat.
    pub(crate) fn take_timers(&self) -> Vec<(u32, bool)> {
        self.timers.take_all()
    }

    /// Resolves when a timer is due or a native future is ready. Polled on the worker's stack.
    pub(crate) async fn next_event(&self) {
        let due = self.next_due();
        poll_fn(|cx| {
            let mut ready = self.poll_futures(cx).is_ready();
            for source in &*self.sources.borrow() {
                if source.poll(cx).is_ready() {
                    self.ready.borrow_mut().push_back(source.clone());
                    ready = true;
                }
            }
            if ready {
                return Poll::Ready(());
            }
            due.map_or(Poll::Pending, |due| self.poll_due(due, cx))
        })
        .await;
    }

    /// When the earliest timer is due.
    pub fn next_due(&self) -> Option<Instant> {
        self.timers.next_due()
    }

    /// Polls native futures; whether to settle a promise now.
    pub fn poll_futures(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut ready = Poll::Pending;
        self.futures.borrow_mut().retain_mut(|pending| match pending.poll(cx) {
            Poll::Pending => true,
            Poll::Ready(settle) => {
                self.settled.borrow_mut().push_back(settle);
                ready = Poll::Ready(());
                false
            }
        });
        ready
    }

    fn poll_due(&self, due: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let mut armed = self.armed.borrow_mut();
        match &mut *armed {
            Some((at, _)) if *at == due => {}
            Some((at, sleep)) => {
                *at = due;
                sleep.as_mut().reset(due.into());
            }
            None => *armed = Some((due, Box::pin(tokio::time::sleep_until(due.into())))),
        }
        armed.as_mut().map_or(Poll::Pending, |(_, sleep)| sleep.as_mut().poll(cx))
    }

    /// Ends every source of an iteration that was cut short, and of one that is over.
    pub fn abandon_sources(&self) {
        let sources = std::mem::take(&mut *self.sources.borrow_mut());
        sources.iter().for_each(|source| source.abandon());
        drop(std::mem::take(&mut *self.ready.borrow_mut()));
        drop(std::mem::take(&mut *self.outgoing.borrow_mut()));
    }

    /// Forgets everything pending, for an iteration that was cut short. What promise jobs were queued run out now:
    /// natives that wait fail at once, since the user has been told to stop.
    pub fn clear(&self, ctx: &Ctx<'_>) {
        const MOST_JOBS: usize = 10_000;
        for _ in 0..MOST_JOBS {
            self.timers.take_all();
            drop(std::mem::take(&mut *self.futures.borrow_mut()));
            drop(std::mem::take(&mut *self.settled.borrow_mut()));
            if !ctx.execute_pending_job() {
                break;
            }
        }
        drop(std::mem::take(&mut *self.rejections.borrow_mut()));
    }

    pub(crate) fn note_rejection<'js>(
        &self,
        ctx: &Ctx<'js>,
        promise: Value<'js>,
        reason: Value<'js>,
        is_handled: bool,
    ) {
        let promise = Persistent::save(ctx, promise);
        if is_handled {
            self.remove_rejection(&promise);
        } else {
            self.was_used.set(true);
            self.rejections.borrow_mut().push((promise, Persistent::save(ctx, reason)));
        }
    }

    /// Takes a promise into the host's own care: its rejection is not logged as unhandled and does not end the loop.
    pub fn look_after<'js>(&self, ctx: &Ctx<'js>, promise: &Value<'js>) {
        // SAFETY: a live promise of this context.
        unsafe { qjs::JS_PromiseMarkAsHandled(ctx.as_raw().as_ptr(), promise.as_raw()) };
        self.remove_rejection(&Persistent::save(ctx, promise.clone()));
    }

    fn remove_rejection(&self, promise: &Persistent<Value<'static>>) {
        let removed: Vec<_> = {
            let mut rejections = self.rejections.borrow_mut();
            rejections.extract_if(.., |(known, _)| known == promise).collect()
        };
        drop(removed);
    }
}

fn settle<'js>(
    ctx: &Ctx<'js>,
    value: rquickjs::Result<Value<'js>>,
    resolve: Persistent<Function<'static>>,
    reject: Persistent<Function<'static>>,
) -> rquickjs::Result<()> {
    let resolve = resolve.restore(ctx)?;
    let reject = reject.restore(ctx)?;
    match value {
        Ok(value) => resolve.call((value,)),
        Err(Error::Exception) => {
            let thrown = ctx.catch();
            if exception::is_uncatchable(&thrown) {
                return Err(ctx.throw(thrown));
            }
            reject.call((thrown,))
        }
        Err(error) => {
            let message = rquickjs::Exception::from_message(ctx.clone(), &error.to_string())?;
            reject.call((message,))
        }
    }
}
