//! A virtual user as the modules see it: a user of the host, and what a load test adds to it.
//!
//! What waits, computes, logs and remembers is the host's `User`, to which a `Vu` dereferences. Here is its place in
//! the run: scenario, iteration, tags, samples and network.

mod async_contexts;
mod debugged;
mod metadata;
mod network;
mod received;
mod script_state;
mod tags;
mod tls_of_user;
mod traffic;
mod user_tls;

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Deref;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use engine::clock::{AnyClock, Clock};
use engine::{Interrupt, Iteration, VuContext};
use host::js::Ctx;
use host::{Phase, Stop, StopFlag, User, UserParts};
use metrics::batches::Note;
use metrics::{ErrorKind, Recorder, Registry, TagSet, builtin};
use wire::link::Link;
use wire::mask::Mask;

use crate::debug::Debugger;
use crate::error::ScriptError;
use crate::loader::ModuleStore;
use crate::options::Options;
use crate::shared::Shared;
use crate::sources::disk::Disk;
use crate::worker::WorkerState;
use async_contexts::AsyncContexts;
pub use async_contexts::SampleContext;
use metadata::UserMetadata;
use network::Network;
use received::ReceivedBytes;
use script_state::ScriptState;
use tags::Tags;
use traffic::Traffic;

/// One virtual user: what every module function may ask for. Reached from any native function by `Vu::of(&ctx)`.
pub struct Vu {
    user: Rc<User>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) worker: Rc<WorkerState>,
    pub(crate) script: ScriptState,
    context: Option<VuContext>,
    own_clock: OnceCell<AnyClock>,
    iterations: Iterations,
    tags: Tags,
    metadata: UserMetadata,
    contexts: AsyncContexts,
    traffic: Traffic,
    network: Network,
    abort: RefCell<Option<String>>,
    this: Weak<Vu>,
}

/// Where a user is in its iterations.
#[derive(Default)]
struct Iterations {
    /// The running one, or the last.
    latest: RefCell<Option<Iteration>>,
    /// Whether a plan gives the starts of the scenario's iterations.
    has_plan: Cell<bool>,
    /// Whether the request that the plan started is still to come.
    awaits_planned: Cell<bool>,
    done: Cell<u64>,
    /// `done` when the latest one began.
    begun: Cell<u64>,
}

impl Deref for Vu {
    type Target = User;

    #[inline]
    fn deref(&self) -> &User {
        &self.user
    }
}

/// The engine's interrupt, as the host asks for it.
struct Interrupted(Rc<Interrupt>);

impl Stop for Interrupted {
    #[inline]
    fn is_set(&self) -> bool {
        self.0.is_set()
    }

    fn is_due(&self) -> bool {
        self.0.reason().is_some()
    }

    #[inline]
    fn register(&self, waker: &std::task::Waker) {
        self.0.register(waker);
    }
}

/// Who a virtual user is.
pub enum Role {
    /// One of the test's users.
    Member(VuContext),
    /// It belongs to no scenario: the first run of the init code, setup, teardown, summary, an app. Stopped by the
    /// flag.
    Guest(Rc<StopFlag>),
}

impl Vu {
    /// The user whose runtime this is.
    #[inline]
    pub fn of(ctx: &Ctx<'_>) -> Rc<Vu> {
        host::embedder_of(ctx)
    }

    /// The same for the time of a call.
    #[inline]
    pub fn peek<'a>(ctx: &'a Ctx<'_>) -> &'a Vu {
        host::peek_embedder(ctx)
    }

    /// A user before its coroutine begins. Its scripts do not find these global names of the language.
    pub fn new(shared: Arc<Shared>, worker: Rc<WorkerState>, role: Role, hidden: &'static [&'static str]) -> Rc<Self> {
        let (stop, context): (Rc<dyn Stop>, _) = match role {
            Role::Member(context) => (Rc::new(Interrupted(context.interrupt.clone())), Some(context)),
            Role::Guest(flag) => (flag, None),
        };
        let parts = UserParts { stop, worker: worker.local.clone(), log: shared.log.clone(), hidden };
        Rc::new_cyclic(|this| Vu {
            user: User::new(parts),
            shared,
            worker,
            script: ScriptState::default(),
            context,
            own_clock: OnceCell::new(),
            iterations: Iterations::default(),
            tags: Tags::default(),
            metadata: UserMetadata::default(),
            contexts: AsyncContexts::default(),
            traffic: Traffic::default(),
            network: Network::default(),
            abort: RefCell::default(),
            this: this.clone(),
        })
    }

    /// This user, for what it owns: a strong reference there would keep it alive.
    pub fn weak(&self) -> Weak<Vu> {
        self.this.clone()
    }

    /// The host's part of it.
    pub fn user(&self) -> &Rc<User> {
        &self.user
    }

    /// Enters a part of the life cycle.
    pub fn set_phase(&self, phase: Phase) {
        self.user.set_phase(phase);
        self.tags.forget_current();
    }

    /// The test is to end, and why.
    pub(crate) fn note_abort(&self, why: String) {
        *self.abort.borrow_mut() = Some(why);
    }

    pub(crate) fn take_abort(&self) -> Option<String> {
        self.abort.borrow_mut().take()
    }

    /// Whether the user is on its way out: told to stop, or ending the test. What fails now is no result of the script.
    pub fn is_leaving(&self) -> bool {
        self.is_stopped() || self.abort.borrow().is_some()
    }

    /// Where the files of the test are.
    pub fn disk(&self) -> &Disk {
        &self.shared.disk
    }

    /// What the users of all threads share.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Whether the user was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.context.as_ref().is_some_and(|context| context.interrupt.reason().is_some())
    }

    /// The worker's recorder, for samples of this user.
    #[inline]
    pub fn recorder(&self) -> &Recorder {
        self.worker.recorder.annotate(|| self.note());
        &self.worker.recorder
    }

    /// The same for samples that carry what `noted` gave earlier.
    pub fn recorder_as_noted(&self, noted: Option<&Note>) -> &Recorder {
        self.worker.recorder.annotate(|| noted.cloned());
        &self.worker.recorder
    }

    /// What samples carry now besides tags; nothing where nobody reads it.
    pub fn noted(&self) -> Option<Note> {
        if self.worker.recorder.has_batches() { self.note() } else { None }
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

    /// What is hidden of URLs in this run.
    pub fn mask(&self) -> &Mask {
        self.worker.mask(|| self.options().url_mask())
    }

    /// A time of this machine, in nanoseconds after 1970, by the clock of the whole test.
    pub fn test_time(&self, own_ns: u64) -> u64 {
        self.shared.clock.of(own_ns)
    }

    /// Who looks at this user while it runs.
    pub(crate) fn debugger(&self) -> Option<&Arc<Debugger>> {
        self.shared.debugger.as_ref()
    }

    /// Whether received messages are logged.
    pub fn logs_messages(&self) -> bool {
        self.shared.messages.get().is_some()
    }

    /// State that a module shares in the whole process (`SharedArray`), made by `Default` at first use.
    pub fn process<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.shared.process_state()
    }

    /// The modules of the program.
    pub fn modules(&self) -> &ModuleStore {
        &self.shared.modules
    }

    /// The user's place in the run; `None` in VU 0 (first run of init code, setup, teardown, summary).
    pub fn context(&self) -> Option<&VuContext> {
        self.context.as_ref()
    }

    /// The run's clock; outside a run, time since the program was made for this user.
    pub fn clock(&self) -> AnyClock {
        match &self.context {
            Some(context) => context.clock.clone(),
            None => self.own_clock.get_or_init(AnyClock::real).clone(),
        }
    }

    /// Now, in nanoseconds since the Unix epoch: the time of a sample.
    pub fn now_ns(&self) -> u64 {
        match &self.context {
            Some(context) => context.clock.now_epoch_ns(),
            None => self.own_clock.get_or_init(AnyClock::real).now_epoch_ns(),
        }
    }

    /// The iteration that is running.
    pub fn iteration(&self) -> Option<Iteration> {
        self.iterations.latest.borrow().clone()
    }

    /// Tells scenarios apart, without a count of the running one's; 0 before the first iteration.
    pub(crate) fn scenario_address(&self) -> usize {
        self.iterations.latest.borrow().as_ref().map_or(0, |iteration| Rc::as_ptr(&iteration.scenario) as usize)
    }

    /// `__VU`: from 1, or 0 outside the scenarios.
    pub fn id(&self) -> u64 {
        self.context.as_ref().map_or(0, |context| context.id_in_instance)
    }

    /// `__ITER`: how many iterations this user began before the current one.
    pub fn iterations_before(&self) -> u64 {
        self.iterations.done.get()
    }

    /// Prepares for an iteration; whether its scenario is another than the last one's.
    #[inline]
    pub(crate) fn begin_iteration(&self, iteration: Iteration) -> bool {
        let same = self
            .iterations
            .latest
            .borrow()
            .as_ref()
            .is_some_and(|last| Rc::ptr_eq(&last.scenario, &iteration.scenario));
        if !same {
            self.iterations.has_plan.set(iteration.scenario.is_planned);
        }
        self.iterations.awaits_planned.set(self.iterations.has_plan.get());
        *self.iterations.latest.borrow_mut() = Some(iteration);
        self.iterations.begun.set(self.iterations.done.get());
        if !same || self.tags.is_in_group() || self.phase() != Phase::Iteration {
            // Tags that the script sets stay with the user until it goes to another scenario.
            if !same {
                self.tags.clear_own();
                self.metadata.clear();
                self.change_network();
            }
            self.tags.set_group(Arc::from(""));
            self.set_phase(Phase::Iteration);
        }
        self.begin_async_contexts();
        !same
    }

    /// How late the first request of an iteration begins after its planned start. None for later requests, and where no
    /// plan gives the starts.
    pub fn take_lateness(&self) -> Option<Duration> {
        if !self.iterations.awaits_planned.take() {
            return None;
        }
        let planned = self.iterations.latest.borrow().as_ref()?.planned;
        Some(self.context.as_ref()?.clock.now().saturating_sub(planned))
    }

    /// The network of the scenario that begins: its link, if it has one, and its use of HTTP/2.
    fn change_network(&self) {
        let scenario = self.iterations.latest.borrow().as_ref().map(|iteration| Rc::clone(&iteration.scenario));
        let Some(scenario) = scenario else { return };
        let options = self.options();
        let settings = options.link_of(&scenario.name);
        if settings.is_some() || self.network.link().is_some() {
            self.network.set_link(settings.map(|settings| Link::new(settings, self.id())));
        }
        self.network.set_http2(options.http2_of(&scenario.name), || self.worker.http2_pools.of(&scenario, &options));
        self.network.set_tls_resumption(options.tls_resumption_of(&scenario.name));
    }

    /// What all connections of this user go over, if its scenario says so.
    pub fn link(&self) -> Option<Rc<Link>> {
        self.network.link()
    }

    /// Counts the iteration. What it moved is reported by `report_data`, once the engine has said when it ended.
    #[inline]
    pub(crate) fn end_iteration(&self) {
        self.iterations.done.set(self.iterations.done.get() + 1);
        if !self.traffic.is_zero() {
            self.network.end_iteration(|| self.options().no_vu_connection_reuse == Some(true));
        }
    }

    /// Counts an iteration that ended in an exception, as a sample and by what was thrown.
    pub(crate) fn count_exception(&self, error: &ScriptError) {
        let recorder = self.recorder();
        recorder.add(recorder.series(builtin::ITERATIONS_THREW, &self.tags()), 1.0, self.now_ns());
        recorder.count_error(&ErrorKind::Exception(self.mask().text(&error.in_one_line()).into()));
    }

    /// Reports the bytes moved until `at_ns`, also none: k6 has both metrics in every run.
    #[inline]
    pub(crate) fn report_data(&self, at_ns: u64) {
        let (recorder, key) = (self.recorder(), self.tags_key());
        self.traffic.report(recorder, key, at_ns, || {
            let tags = self.tags();
            let of = |metric| self.worker.data_series(key, metric, &tags);
            recorder.bundle(&[builtin::DATA_SENT, builtin::DATA_RECEIVED].map(of))
        });
    }

    /// Tags that every sample carries now: run tags, scenario and its tags, group, `exec.vu.metrics.tags`. Only the
    /// enabled system tags among them.
    pub fn tags(&self) -> TagSet {
        self.with_tags(|_, tags| tags.clone())
    }

    /// Changes whenever `tags` would return another set; caches of resolved series compare it. Values are unique within
    /// a worker for distinct sets, and equal sets have equal values unless there are very many, so that users of one
    /// worker may share a cache.
    #[inline]
    pub fn tags_key(&self) -> u32 {
        self.tags.known_key().unwrap_or_else(|| self.with_tags(|key, _| key))
    }

    /// The same for the samples of an iteration that has ended; 0 where the script set no tags of its own.
    pub fn iteration_tags_key(&self) -> u32 {
        if self.tags.has_own() { self.tags_key() + 1 } else { 0 }
    }

    fn with_tags<R>(&self, use_them: impl FnOnce(u32, &TagSet) -> R) -> R {
        let compute = |own: &tags::ScriptTags| {
            let tags = tags::all(&self.options(), self.iterations.latest.borrow().as_ref(), self.group(), own);
            (self.worker.tags_key(&tags), tags)
        };
        self.tags.with(compute, use_them)
    }

    /// Sets a tag of this user (`exec.vu.metrics.tags[...] = …`), whatever its origin; `None` removes it.
    pub fn set_tag(&self, name: &str, value: Option<&str>) {
        self.tags.set(name, value);
        self.number_context();
    }

    /// Current group path: empty at the root, else `::outer::inner`.
    pub fn group(&self) -> Arc<str> {
        self.tags.group()
    }

    /// Enters (`Some(path)`) or leaves a group: sets the path.
    pub fn set_group(&self, path: Arc<str>) {
        self.tags.set_group(path);
        self.number_context();
    }

    /// Adds bytes to what the user reports as data_sent and data_received when its iteration ends.
    pub fn count_data(&self, sent: u64, received: u64) {
        self.traffic.count(sent, received);
    }

    /// Counts the requests that an interruption, an exception or a rejection has just cut short, with their bytes.
    #[inline]
    pub(crate) fn count_cancelled(&self) {
        let wire::Cancelled { requests, bytes_sent, bytes_received } = self.worker.take_cancelled();
        self.count_data(bytes_sent, bytes_received);
        if requests > 0 {
            let (key, at_ns) = (self.tags_key(), self.now_ns());
            let series = self.worker.data_series(key, builtin::HTTP_REQS_INTERRUPTED, &self.tags());
            self.recorder().add(series, requests as f64, at_ns);
        }
    }

    /// Reports what a lasting connection has moved once a second: k6 does at the iteration's end alone, which puts the
    /// data of minutes into one second. Inside a group it waits: the data of an iteration belongs to none.
    pub fn report_data_by_second(&self, now_ns: u64) {
        if self.traffic.is_due(now_ns) && !self.tags.is_in_group() {
            self.report_data(now_ns);
        }
    }

    /// What clients of this worker share.
    pub fn client_context(&self) -> Rc<wire::ClientContext> {
        self.worker.wire(&self.options(), &self.shared)
    }

    /// The user's HTTP client.
    #[inline]
    pub fn client(&self) -> &Rc<wire::Client> {
        let make = || {
            let options = self.options();
            // Outside the scenarios the test's own choice holds.
            if self.iterations.latest.borrow().is_none() {
                self.network.set_http2(options.http2.as_deref().copied().unwrap_or_default(), || None);
                self.network.set_tls_resumption(options.tls_resumption.unwrap_or(false));
            }
            let client = wire::Client::new(self.worker.wire(&options, &self.shared));
            self.count_received(&client);
            client
        };
        self.network.client(make)
    }

    /// Counts what a client receives in this user's memory while it arrives.
    pub fn count_received(&self, client: &wire::Client) {
        if let Ok(nothing) = self.memory().reserve(0) {
            client.set_budget(Rc::new(ReceivedBytes(RefCell::new(nothing))));
        }
    }

    /// The client, if a request was made already.
    pub fn client_if_made(&self) -> Option<&Rc<wire::Client>> {
        self.network.client_if_made()
    }
}
