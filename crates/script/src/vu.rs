//! A virtual user as the modules see it.
//!
//! Lives on one worker thread, in an `Rc` that every native function reaches through its context. All state is in cells; no
//! borrow is held while JavaScript or a wait runs.

use std::any::{Any, TypeId};
use std::cell::{Cell, OnceCell, RefCell};
use std::future::Future;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use engine::clock::AnyClock;
use engine::{Iteration, VuContext};
use metrics::system_tags::SystemTag;
use metrics::{ErrorKind, Recorder, Registry, Series, TagSet, builtin};
use rquickjs::{Ctx, Promise, Value};
use wire::link::Link;

use crate::app::Door;
use crate::error::ScriptError;
use crate::host::coroutine::Switch;
use crate::host::event_loop::EventLoop;
use crate::host::handled::Handled;
use crate::host::memory::Memory;
use crate::host::user_main::{Job, JobEnd};
use crate::host::{exception, runtime};
use crate::message_log::MessageLog;
use crate::modules::http::url::UrlCache;
use crate::options::Options;
use crate::program::Shared;
use crate::worker::WorkerState;

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

/// One virtual user: what every module function may ask for. Reached from any native function by `Vu::of(&ctx)`.
pub struct Vu {
    pub(crate) switch: Rc<Switch<Job, JobEnd>>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) events: EventLoop,
    /// The message that a handler is being called for.
    pub(crate) handled: Handled,
    pub(crate) runtime: runtime::RuntimeState,
    memory: Rc<Memory>,
    worker: Rc<WorkerState>,
    seat: Option<VuContext>,
    own_clock: OnceCell<AnyClock>,
    phase: Cell<Phase>,
    iteration: RefCell<Option<Iteration>>,
    iterations_done: Cell<u64>,
    tags: RefCell<TagState>,
    group: RefCell<Arc<str>>,
    data: Cell<(u64, u64)>,
    /// When it was last reported.
    data_reported_ns: Cell<u64>,
    /// Where `data` goes, for the tags with this key.
    data_series: Cell<Option<(u32, [Series; 2])>>,
    /// The option `noVUConnectionReuse`.
    closes_connections: OnceCell<bool>,
    client: OnceCell<Rc<wire::Client>>,
    /// Of the scenario, under all connections of this user.
    link: RefCell<Option<Rc<Link>>>,
    local: RefCell<Vec<(TypeId, Rc<dyn Any>)>>,
    abort: RefCell<Option<String>>,
    app_door: Rc<Door>,
    this: Weak<Vu>,
}

#[derive(Default)]
struct TagState {
    /// What the script set (or, with `None`, removed) in this scenario.
    own: Vec<(Arc<str>, Option<Arc<str>>)>,
    current: Option<(u32, TagSet)>,
}

impl Vu {
    /// The user whose runtime this is.
    pub fn of(ctx: &Ctx<'_>) -> Rc<Vu> {
        runtime::user_of(ctx)
    }

    pub(crate) fn new(
        switch: Rc<Switch<Job, JobEnd>>,
        shared: Arc<Shared>,
        worker: Rc<WorkerState>,
        seat: Option<VuContext>,
    ) -> Rc<Self> {
        Rc::new_cyclic(|this| Vu {
            switch,
            shared,
            worker,
            seat,
            own_clock: OnceCell::new(),
            events: EventLoop::default(),
            handled: Handled::default(),
            runtime: runtime::RuntimeState::default(),
            memory: Rc::default(),
            phase: Cell::new(Phase::Init),
            iteration: RefCell::default(),
            iterations_done: Cell::new(0),
            tags: RefCell::default(),
            group: RefCell::new(Arc::from("")),
            data: Cell::new((0, 0)),
            data_reported_ns: Cell::new(0),
            data_series: Cell::new(None),
            closes_connections: OnceCell::new(),
            client: OnceCell::new(),
            link: RefCell::default(),
            local: RefCell::default(),
            abort: RefCell::default(),
            app_door: Rc::default(),
            this: this.clone(),
        })
    }

    /// This user, for what it owns: a strong reference there would keep it alive.
    pub fn weak(&self) -> Weak<Vu> {
        self.this.clone()
    }

    /// Current part of the life cycle.
    pub fn phase(&self) -> Phase {
        self.phase.get()
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.set(phase);
        self.tags.borrow_mut().current = None;
    }

    /// Waits for `future` by suspending the virtual user: synchronous for the script, asynchronous for the worker.
    /// When the engine interrupts the user, this throws an error that the script cannot catch, and the future is dropped.
    /// No `RefCell` borrow may be held across it.
    pub fn block_on<T>(&self, ctx: &Ctx<'_>, future: impl Future<Output = T>) -> rquickjs::Result<T> {
        if self.phase() == Phase::Serving {
            return Err(refuse_to_wait(ctx));
        }
        self.events.flush_outgoing();
        self.wait(ctx, future)
    }

    /// The same for futures that write by themselves what is queued for connections of the user.
    pub(crate) fn wait<T>(&self, ctx: &Ctx<'_>, future: impl Future<Output = T>) -> rquickjs::Result<T> {
        self.switch.block_on(future).ok_or_else(|| exception::throw_uncatchable(ctx, "the iteration was interrupted"))
    }

    /// What goes in and out between an app and its server.
    pub(crate) fn app_door(&self) -> Rc<Door> {
        self.app_door.clone()
    }

    /// The account of what this user holds in memory. Native code that holds as much as the script wants asks it first:
    /// `let held = vu.memory().hold(bytes).map_err(|over| over.throw(ctx))?`.
    pub fn memory(&self) -> &Rc<Memory> {
        &self.memory
    }

    /// Runs `future` on the user's event loop and settles a promise with what `convert` makes of its output. The iteration
    /// does not end before it has.
    pub fn promise<'js, T: 'static>(
        &self,
        ctx: &Ctx<'js>,
        future: impl Future<Output = T> + 'static,
        convert: impl for<'a> FnOnce(&Ctx<'a>, T) -> rquickjs::Result<Value<'a>> + 'static,
    ) -> rquickjs::Result<Promise<'js>> {
        self.events.promise(ctx, future, convert)
    }

    /// Ends the whole test (`exec.test.abort`): return the error that this gives; the script cannot catch it.
    pub fn abort_test(&self, ctx: &Ctx<'_>, message: &str) -> rquickjs::Error {
        let caller = exception::caller(ctx, &self.shared.modules);
        let told = caller.map_or_else(|| message.to_string(), |caller| format!("{message} at {caller}"));
        *self.abort.borrow_mut() = Some(told);
        exception::throw_uncatchable(ctx, message)
    }

    pub(crate) fn take_abort(&self) -> Option<String> {
        self.abort.borrow_mut().take()
    }

    /// Whether the user is on its way out: told to stop, or ending the test. What fails now is no result of the script.
    pub fn is_leaving(&self) -> bool {
        let stopped = self.seat.as_ref().is_some_and(|seat| seat.interrupt.reason().is_some());
        stopped || self.abort.borrow().is_some()
    }

    /// The worker's recorder.
    pub fn recorder(&self) -> &Recorder {
        &self.worker.recorder
    }

    /// The run's metrics.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.shared.registry
    }

    /// Options of the run; in init code those known so far.
    pub fn options(&self) -> Arc<Options> {
        match self.phase() {
            Phase::Init => self.shared.options(),
            _ => self.worker.options(&self.shared),
        }
    }

    /// Where log lines go.
    pub fn log(&self) -> &dyn crate::log::LogSink {
        &*self.shared.log
    }

    /// For how many whole slices of time the script has computed since it last waited.
    #[inline]
    pub(crate) fn slices_used(&self) -> u32 {
        self.switch.slices_used()
    }

    /// Whether received messages are logged.
    pub fn logs_messages(&self) -> bool {
        self.shared.messages.get().is_some()
    }

    /// The log of a connection to this address, if messages are logged.
    pub fn message_log(&self, url: &str) -> Option<MessageLog> {
        let lines = self.worker.messages(&self.shared)?;
        Some(MessageLog::new(lines, &UrlCache::of(self).mask().url(url)))
    }

    /// The user's place in the run; `None` in VU 0 (first run of init code, setup, teardown, summary).
    pub fn seat(&self) -> Option<&VuContext> {
        self.seat.as_ref()
    }

    /// The run's clock; outside a run, time since the program was made for this user.
    pub fn clock(&self) -> AnyClock {
        match &self.seat {
            Some(seat) => seat.clock.clone(),
            None => self.own_clock.get_or_init(AnyClock::real).clone(),
        }
    }

    /// Now, in nanoseconds since the Unix epoch: the time of a sample.
    pub fn now_ns(&self) -> u64 {
        match &self.seat {
            Some(seat) => seat.clock.now_epoch_ns(),
            None => self.own_clock.get_or_init(AnyClock::real).now_epoch_ns(),
        }
    }

    /// The iteration that is running.
    pub fn iteration(&self) -> Option<Iteration> {
        self.iteration.borrow().clone()
    }

    /// Tells scenarios apart, without a count of the running one's; 0 before the first iteration.
    pub(crate) fn scenario_address(&self) -> usize {
        self.iteration.borrow().as_ref().map_or(0, |iteration| Rc::as_ptr(&iteration.scenario) as usize)
    }

    /// `__VU`: from 1, or 0 outside the scenarios.
    pub fn id(&self) -> u64 {
        self.seat.as_ref().map_or(0, |seat| seat.id_in_instance)
    }

    /// `__ITER`: how many iterations this user began before the current one.
    pub fn iterations_before(&self) -> u64 {
        self.iterations_done.get()
    }

    /// Makes `Math.random` of this user a reproducible sequence.
    pub fn seed_random(&self, ctx: &Ctx<'_>, seed: u64) -> rquickjs::Result<()> {
        let numbers = RefCell::new(fastrand::Rng::with_seed(seed));
        let math: rquickjs::Object<'_> = ctx.globals().get("Math")?;
        math.set("random", rquickjs::Function::new(ctx.clone(), move || numbers.borrow_mut().f64())?)
    }

    /// Prepares for an iteration; whether its scenario is another than the last one's.
    pub(crate) fn begin_iteration(&self, iteration: Iteration) -> bool {
        let same = self.iteration.borrow().as_ref().is_some_and(|last| Rc::ptr_eq(&last.scenario, &iteration.scenario));
        *self.iteration.borrow_mut() = Some(iteration);
        if !same || !self.group.borrow().is_empty() || self.phase() != Phase::Iteration {
            // Tags that the script sets stay with the user until it goes to another scenario.
            if !same {
                self.tags.borrow_mut().own.clear();
                self.change_link();
            }
            *self.group.borrow_mut() = Arc::from("");
            self.set_phase(Phase::Iteration);
        }
        !same
    }

    /// The link of the scenario that begins, if it has one.
    fn change_link(&self) {
        let scenario = self.iteration.borrow().as_ref().map(|iteration| Rc::clone(&iteration.scenario));
        let settings = scenario.and_then(|scenario| self.options().link_of(&scenario.name));
        if settings.is_none() && self.link.borrow().is_none() {
            return;
        }
        let link = settings.map(|settings| Link::new(settings, self.id()));
        self.link.borrow_mut().clone_from(&link);
        if let Some(client) = self.client_if_made() {
            client.set_link(link);
        }
    }

    /// What all connections of this user go over, if its scenario says so.
    pub fn link(&self) -> Option<Rc<Link>> {
        self.link.borrow().clone()
    }

    /// Counts the iteration. What it moved is reported by `report_data`, once the engine has said when it ended.
    pub(crate) fn end_iteration(&self) {
        self.iterations_done.set(self.iterations_done.get() + 1);
        if self.data.get() == (0, 0) {
            return;
        }
        let options = || self.options().no_vu_connection_reuse == Some(true);
        if *self.closes_connections.get_or_init(options)
            && let Some(client) = self.client_if_made()
        {
            client.close_idle();
        }
    }

    /// Counts an iteration that ended in an exception, as a sample and by what was thrown.
    pub(crate) fn count_exception(&self, error: &ScriptError) {
        let recorder = self.recorder();
        recorder.add(recorder.series(builtin::ITERATIONS_THREW, &self.tags()), 1.0, self.now_ns());
        recorder.count_error(&ErrorKind::Exception(UrlCache::of(self).mask().text(&error.in_one_line()).into()));
    }

    /// Reports the bytes moved until `at_ns`, also none: k6 has both metrics in every run.
    pub(crate) fn report_data(&self, at_ns: u64) {
        let (sent, received) = self.data.replace((0, 0));
        self.data_reported_ns.set(at_ns);
        let key = self.tags_key();
        let series = match self.data_series.get() {
            Some((known, series)) if known == key => series,
            _ => {
                let tags = self.tags();
                let series = [builtin::DATA_SENT, builtin::DATA_RECEIVED]
                    .map(|metric| self.worker.data_series(key, metric, &tags));
                self.data_series.set(Some((key, series)));
                series
            }
        };
        self.recorder().add(series[0], sent as f64, at_ns);
        self.recorder().add(series[1], received as f64, at_ns);
    }

    /// Tags that every sample carries now: run tags, scenario and its tags, group, `exec.vu.metrics.tags`. Only the enabled
    /// system tags among them.
    pub fn tags(&self) -> TagSet {
        self.with_tags(|_, tags| tags.clone())
    }

    /// Changes whenever `tags` would return another set; caches of resolved series compare it. Values are unique within
    /// a worker for distinct sets, and equal sets have equal values unless there are very many, so that users of one worker
    /// may share a cache.
    pub fn tags_key(&self) -> u32 {
        self.with_tags(|key, _| key)
    }

    fn with_tags<R>(&self, use_them: impl FnOnce(u32, &TagSet) -> R) -> R {
        let mut state = self.tags.borrow_mut();
        if state.current.is_none() {
            let tags = self.compute_tags(&state.own);
            state.current = Some((self.worker.tags_key(&tags), tags));
        }
        let (key, tags) = state.current.as_ref().expect("just set");
        use_them(*key, tags)
    }

    fn compute_tags(&self, own: &[(Arc<str>, Option<Arc<str>>)]) -> TagSet {
        let options = self.options();
        let mut all: Vec<(Arc<str>, Arc<str>)> = options.run_tags();
        let system = options.enabled_system_tags();
        if let Some(iteration) = &*self.iteration.borrow() {
            if system.has(SystemTag::Scenario) {
                all.push((Arc::from("scenario"), Arc::from(iteration.scenario.name.as_str())));
            }
            all.extend(iteration.scenario.tags.iter().map(|(k, v)| (Arc::from(k.as_str()), Arc::from(v.as_str()))));
        }
        if system.has(SystemTag::Group) {
            all.push((Arc::from("group"), self.group.borrow().clone()));
        }
        all.retain(|(name, _)| own.iter().all(|(changed, _)| changed != name));
        all.extend(own.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?))));
        TagSet::new(all)
    }

    /// Sets a tag of this user (`exec.vu.metrics.tags[...] = …`), whatever its origin; `None` removes it.
    pub fn set_tag(&self, name: &str, value: Option<&str>) {
        let mut state = self.tags.borrow_mut();
        state.own.retain(|(known, _)| &**known != name);
        state.own.push((Arc::from(name), value.map(Arc::from)));
        state.current = None;
    }

    /// Current group path: empty at the root, else `::outer::inner`.
    pub fn group(&self) -> Arc<str> {
        self.group.borrow().clone()
    }

    /// Enters (`Some(path)`) or leaves a group: sets the path.
    pub fn set_group(&self, path: Arc<str>) {
        *self.group.borrow_mut() = path;
        self.tags.borrow_mut().current = None;
    }

    /// Adds bytes to what the user reports as data_sent and data_received when its iteration ends.
    pub fn count_data(&self, sent: u64, received: u64) {
        let (sent_before, received_before) = self.data.get();
        self.data.set((sent_before + sent, received_before + received));
    }

    /// Reports what a lasting connection has moved once a second: k6 does at the iteration's end alone, which puts the data of
    /// minutes into one second. Inside a group it waits: the data of an iteration belongs to none.
    pub fn report_data_by_second(&self, now_ns: u64) {
        if now_ns >= self.data_reported_ns.get() + 1_000_000_000 && self.group.borrow().is_empty() {
            self.report_data(now_ns);
        }
    }

    /// The user's HTTP client.
    pub fn client(&self) -> Rc<wire::Client> {
        let make = || {
            let client = wire::Client::new(self.worker.wire(&self.options()));
            if let Some(link) = self.link() {
                client.set_link(Some(link));
            }
            Rc::new(client)
        };
        self.client.get_or_init(make).clone()
    }

    /// The client, if a request was made already.
    pub fn client_if_made(&self) -> Option<&Rc<wire::Client>> {
        self.client.get()
    }

    /// State that a module keeps for this user, made by `Default` at first use.
    pub fn local<T: Default + 'static>(&self) -> Rc<T> {
        find_or_default(&self.local)
    }

    /// State that a module shares among the users of this worker thread (caches), made by `Default` at first use.
    pub fn worker_local<T: Default + 'static>(&self) -> Rc<T> {
        find_or_default(&self.worker.local)
    }

    /// State that a module shares in the whole process (`SharedArray`), made by `Default` at first use.
    pub fn process<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.shared.process_state()
    }

    /// Forgets module state before the runtime goes: it may hold JavaScript values.
    pub(crate) fn clear_local(&self) {
        let states = std::mem::take(&mut *self.local.borrow_mut());
        drop(states);
    }
}

/// A handler that waits would hold up every request of its worker.
fn refuse_to_wait(ctx: &Ctx<'_>) -> rquickjs::Error {
    let message = "an app cannot wait this way, because all requests of its worker would wait with it; await a promise \
        instead \
                   (for sleep: await new Promise((done) => setTimeout(done, milliseconds)); \
                   for a request: await http.asyncRequest(method, url))";
    rquickjs::Exception::throw_type(ctx, message)
}

/// A short list beats a hash map here: a user has fewer than ten such states.
fn find_or_default<T: Default + 'static>(states: &RefCell<Vec<(TypeId, Rc<dyn Any>)>>) -> Rc<T> {
    let id = TypeId::of::<T>();
    let known = states.borrow().iter().find(|(known, _)| *known == id).map(|(_, state)| state.clone());
    let state = known.unwrap_or_else(|| {
        let made: Rc<dyn Any> = Rc::new(T::default());
        states.borrow_mut().push((id, made.clone()));
        made
    });
    state.downcast::<T>().expect("stored under its own type")
}
