//! One user of the engine: a coroutine, its runtime, its event loop, and what others keep with it.
//!
//! The host knows no scenario, metric or option. Who runs scripts on it implements `Embedder` and finds its own part of
//! the user by `embedder_of`. Lives on one worker thread, in an `Rc` that every native function reaches through its
//! context. All state is in cells; no borrow is held while JavaScript or a wait runs.

use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::{Ctx, Promise, Result, Value};

use crate::coroutine::stop::Stop;
use crate::coroutine::switch::Switch;
use crate::event_loop::EventLoop;
use crate::extensions::Extensions;
use crate::log::LogSink;
use crate::memory::Memory;
use crate::messages::Messages;
use crate::module::Module;
use crate::quickjs::exception;
use crate::runtime;
use crate::state::RuntimeState;

/// Which part of the life cycle is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Top-level code.
    Init,
    /// `setup()`.
    Setup,
    /// An iteration.
    Iteration,
    /// `teardown()`.
    Teardown,
    /// `handleSummary()`.
    Summary,
    /// Handlers of an app.
    Serving,
}

/// What the host asks of whoever runs scripts on it.
pub trait Embedder: Any {
    /// The one name of the module that `specifier` means in the module `base`.
    fn resolve(&self, ctx: &Ctx<'_>, base: &str, specifier: &str) -> Result<String>;

    /// Makes the module of that name.
    fn load<'js>(&self, ctx: &Ctx<'js>, name: &str) -> Result<Module<'js>>;

    /// A promise was rejected with this reason, and nobody handled it.
    fn unhandled(&self, ctx: &Ctx<'_>, reason: &Value<'_>);

    /// What the module's source, as it was compiled, calls at a place: for the error that it is no function. Line and
    /// column (of a byte) from 1; a call is at its opening bracket, with `new` at that word.
    fn callee_at(&self, _module: &str, _line: u32, _column: u32) -> Option<String> {
        None
    }

    /// Whether async contexts are kept (`async_context`). Called once, before the first script runs.
    fn keeps_async_contexts(&self) -> bool {
        false
    }

    /// Code of another async context runs from here on.
    fn async_context_changed(&self, _number: i64) {}

    /// The count of promises, timers and listeners that keep this context changed by so many.
    fn async_context_counted(&self, _number: i64, _by: i32) {}

    /// Lets go of values of the script: its runtime ends.
    fn clear(&self) {}
}

/// What a user is made of.
pub struct UserParts {
    /// Who stops it.
    pub stop: Rc<dyn Stop>,
    /// State that the users of its worker share.
    pub worker: Rc<Extensions>,
    /// Where its log lines go.
    pub log: Arc<dyn LogSink>,
    /// Global names of the language that its scripts do not find.
    pub hidden: &'static [&'static str],
}

/// One user: what every native function may ask for. Reached by `User::of(&ctx)`.
pub struct User {
    switch: Rc<Switch>,
    /// Timers, promises and sources that it waits for.
    pub events: EventLoop,
    /// The message that a handler is being called for.
    pub messages: Messages,
    pub(crate) state: RuntimeState,
    /// The async context of the code that runs; 0 where none is kept.
    pub async_context: Cell<i64>,
    memory: Rc<Memory>,
    log: Arc<dyn LogSink>,
    phase: Cell<Phase>,
    local: Extensions,
    worker: Rc<Extensions>,
    pub(crate) hidden: &'static [&'static str],
}

impl User {
    /// The user whose runtime this is.
    #[inline]
    pub fn of(ctx: &Ctx<'_>) -> Rc<User> {
        runtime::user_of(ctx)
    }

    /// A user before its coroutine begins.
    pub fn new(parts: UserParts) -> Rc<Self> {
        Rc::new(User {
            switch: Rc::new(Switch::new(parts.stop)),
            events: EventLoop::default(),
            messages: Messages::default(),
            state: RuntimeState::default(),
            async_context: Cell::new(0),
            memory: Rc::default(),
            log: parts.log,
            phase: Cell::new(Phase::Init),
            local: Extensions::default(),
            worker: parts.worker,
            hidden: parts.hidden,
        })
    }

    /// Current part of the life cycle.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// Enters a part of the life cycle.
    #[inline]
    pub fn set_phase(&self, phase: Phase) {
        self.phase.set(phase);
    }

    /// How its coroutine waits and gives way; `Fiber::new` takes it.
    pub fn switch(&self) -> &Rc<Switch> {
        &self.switch
    }

    /// Waits for `future` by suspending the user: synchronous for the script, asynchronous for the worker. When the
    /// user is told to stop, this throws an error that the script cannot catch, and the future is dropped. No `RefCell`
    /// borrow may be held across it.
    #[inline]
    pub fn block_on<T>(&self, ctx: &Ctx<'_>, future: impl Future<Output = T>) -> Result<T> {
        if self.phase() == Phase::Serving {
            return Err(refuse_to_wait(ctx));
        }
        self.events.flush_outgoing();
        self.wait(ctx, future)
    }

    /// The same for futures that write by themselves what is queued for connections of the user.
    #[inline]
    pub fn wait<T>(&self, ctx: &Ctx<'_>, future: impl Future<Output = T>) -> Result<T> {
        self.switch.block_on(future).ok_or_else(|| exception::throw_uncatchable(ctx, "the iteration was interrupted"))
    }

    /// The account of what this user holds in memory. Native code that holds as much as the script wants asks it first:
    /// `let held = user.memory().reserve(bytes).map_err(|over| over.throw(ctx))?`.
    #[inline]
    pub fn memory(&self) -> &Rc<Memory> {
        &self.memory
    }

    /// Runs `future` on the user's event loop and settles a promise with what `convert` makes of its output. The
    /// iteration does not end before it has.
    pub fn promise<'js, T: 'static>(
        &self,
        ctx: &Ctx<'js>,
        future: impl Future<Output = T> + 'static,
        convert: impl for<'a> FnOnce(&Ctx<'a>, T) -> Result<Value<'a>> + 'static,
    ) -> Result<Promise<'js>> {
        self.events.promise(ctx, future, convert)
    }

    /// Where log lines go.
    pub fn log(&self) -> &dyn LogSink {
        &*self.log
    }

    /// For how many whole slices of time the script has computed since it last waited.
    #[inline]
    pub fn slices_used(&self) -> u32 {
        self.switch.slices_used()
    }

    /// State that native code keeps for this user, made by `Default` at first use.
    pub fn local<T: Default + 'static>(&self) -> Rc<T> {
        self.local.get()
    }

    /// State that native code shares among the users of this worker thread (caches), made by `Default` at first use.
    pub fn worker_local<T: Default + 'static>(&self) -> Rc<T> {
        self.worker.get()
    }

    /// Goes on with a panic of native code that a script's frames were in the way of.
    pub fn resume_panic(&self) {
        if let Some(panic) = self.state.panic.take() {
            std::panic::resume_unwind(panic);
        }
    }

    /// Forgets what may hold values of the script, before the runtime goes.
    pub(crate) fn clear(&self) {
        self.local.clear();
        self.state.clear();
    }
}

/// The embedder's own part of the user whose runtime this is. A context belongs to one kind of embedder.
#[inline]
pub fn embedder_of<T: Embedder>(ctx: &Ctx<'_>) -> Rc<T> {
    runtime::embedder_of(ctx).expect("a context is asked for the embedder that it was made with")
}

/// The same for the time of a call, without a count of its own: what every native function asks for.
#[inline]
pub fn peek_embedder<'a, T: Embedder>(ctx: &'a Ctx<'_>) -> &'a T {
    runtime::peek_embedder(ctx).expect("a context is asked for the embedder that it was made with")
}

/// A handler that waits would hold up every request of its worker.
fn refuse_to_wait(ctx: &Ctx<'_>) -> rquickjs::Error {
    let message = "an app cannot wait this way, because all requests of its worker would wait with it; await a promise \
                   instead (for sleep: await new Promise((done) => setTimeout(done, milliseconds)); \
                   for a request: await http.asyncRequest(method, url))";
    rquickjs::Exception::throw_type(ctx, message)
}
