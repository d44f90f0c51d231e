//! A test script, loaded: what all virtual users share, and the parts of its life that run once.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use engine::Interrupt;
use metrics::{Recorder, Registry};

use crate::error::{ScriptError, exit_code};
use crate::host::coroutine::{Fiber, GivenUp, Switch};
use crate::host::files::Files;
use crate::host::user_main::{self, CallError, Exported, Job, JobEnd, Returned};
use crate::loader::{ModuleStore, resolve};
use crate::log::LogSink;
use crate::message_log::MessageSink;
use crate::options::Options;
use crate::test_mark::TestMark;
use crate::unstamped::Unstamped;
use crate::vu::{Phase, Vu};
use crate::worker::WorkerState;

/// Where the entry script comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file; relative paths start at the working directory.
    File(PathBuf),
    /// Text, for instance of standard input; `name` is in its error messages, imports start at the working directory.
    Text {
        /// `-`.
        name: String,
        /// The script.
        text: String,
    },
}

/// What loading needs beside the script.
pub struct LoadOptions {
    /// `__ENV`.
    pub env: BTreeMap<String, String>,
    /// Where relative paths start.
    pub cwd: PathBuf,
    /// Where modules fetched from https URLs are kept between runs; `None`: nowhere.
    pub cache_dir: Option<PathBuf>,
    /// Options known before the script is read (proxies of the environment, flags): fetching modules obeys them.
    pub options: Options,
    /// Where log lines go.
    pub log: Arc<dyn LogSink>,
    /// The run's metrics; init code defines its own there.
    pub registry: Arc<Registry>,
    /// Samples of VU 0.
    pub recorder: Rc<Recorder>,
}

/// What all virtual users of a program share, on all threads.
pub(crate) struct Shared {
    /// A server program, not a test.
    pub is_app: bool,
    pub entry: String,
    pub modules: ModuleStore,
    pub env: BTreeMap<String, String>,
    pub log: Arc<dyn LogSink>,
    pub registry: Arc<Registry>,
    pub files: Files,
    options: RwLock<Arc<Options>>,
    setup_data: RwLock<Option<Arc<str>>>,
    process: Mutex<Vec<(TypeId, Arc<dyn Any + Send + Sync>)>>,
    /// Where received messages are logged, if they are.
    pub messages: OnceLock<Arc<dyn MessageSink>>,
}

impl Shared {
    /// What a program shares whose entry has this source.
    fn new(source: Source, load: LoadOptions, is_app: bool) -> Result<Arc<Shared>, ScriptError> {
        let modules = ModuleStore::new(load.cwd.clone(), load.cache_dir);
        let entry = match source {
            Source::File(path) => {
                let path = load.cwd.join(path);
                let name = resolve::file_name(&path);
                modules.insert_source(&name, read_entry(&path)?);
                name
            }
            Source::Text { name, text } => {
                let name = resolve::file_name(&load.cwd.join(name));
                modules.insert_source(&name, text);
                name
            }
        };
        Ok(Arc::new(Shared {
            is_app,
            entry,
            modules,
            env: load.env,
            log: load.log,
            registry: load.registry,
            files: Files::default(),
            options: RwLock::new(Arc::new(load.options)),
            setup_data: RwLock::default(),
            process: Mutex::default(),
            messages: OnceLock::new(),
        }))
    }

    /// What the workers of an app share.
    pub fn of_app(source: Source, load: LoadOptions) -> Result<Arc<Shared>, ScriptError> {
        Shared::new(source, load, true)
    }

    pub fn options(&self) -> Arc<Options> {
        self.options.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn setup_data(&self) -> Option<Arc<str>> {
        self.setup_data.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn process_state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let id = TypeId::of::<T>();
        let mut states = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let known = states.iter().find(|(known, _)| *known == id).map(|(_, state)| state.clone());
        let state = known.unwrap_or_else(|| {
            let made: Arc<dyn Any + Send + Sync> = Arc::new(T::default());
            states.push((id, made.clone()));
            made
        });
        drop(states);
        state.downcast::<T>().unwrap_or_else(|_| unreachable!("stored under its own type"))
    }
}

/// A user that belongs to no scenario: the first run of the init code, setup, teardown, summary.
pub(crate) struct Guest {
    pub fiber: Fiber<Job, JobEnd>,
    pub interrupt: Rc<Interrupt>,
}

impl Guest {
    pub fn new(shared: &Arc<Shared>, recorder: &Rc<Recorder>) -> Result<Guest, ScriptError> {
        let interrupt = Rc::new(Interrupt::default());
        let worker = WorkerState::of(shared, recorder);
        let (fiber, _) = new_fiber(shared, worker, None, interrupt.clone())?;
        Ok(Guest { fiber, interrupt })
    }
}

/// The coroutine of a user, not begun, and the user.
pub(crate) fn new_fiber(
    shared: &Arc<Shared>,
    worker: Rc<WorkerState>,
    seat: Option<engine::VuContext>,
    interrupt: Rc<Interrupt>,
) -> Result<(Fiber<Job, JobEnd>, Rc<Vu>), ScriptError> {
    let vu = Vu::new(Rc::new(Switch::new(interrupt)), shared.clone(), worker, seat);
    let (switch, user) = (vu.switch.clone(), vu.clone());
    let fiber = Fiber::new(switch, move |_: Job| user_main::run(user)).map_err(|error| {
        let message =
            format!("no stack for a virtual user: {error}; lower the number of users or raise the memory limit");
        ScriptError::new(message, exit_code::GENERIC)
    })?;
    Ok((fiber, vu))
}

/// The message for code that must stop but stays in native code.
pub(crate) fn stuck(fiber: &Fiber<Job, JobEnd>, what: &str) -> ScriptError {
    let why = fiber.given_up().map(GivenUp::to_string).unwrap_or_else(|| String::from("its coroutine has ended"));
    ScriptError::new(format!("{what} could not be stopped: {why}"), exit_code::GENERIC_TIMEOUT)
}

/// A loaded test script.
pub struct Program {
    pub(crate) shared: Arc<Shared>,
    exported: Exported,
}

impl Program {
    /// Reads the script and all it imports and runs its init code once, as VU 0.
    pub async fn load(source: Source, load: LoadOptions) -> Result<Program, ScriptError> {
        let recorder = load.recorder.clone();
        let shared = Shared::new(source, load, false)?;
        let mut guest = Guest::new(&shared, &recorder)?;
        let exported = match guest.fiber.run(Job::Init).await {
            Some(JobEnd::Ready(exported)) => exported?,
            _ => unreachable!("a coroutine answers its first job"),
        };
        if exported.functions.is_empty() {
            let message = format!(
                "no exported functions in {}; a test needs one to run, for instance a default export",
                shared.entry
            );
            return Err(ScriptError::new(message, exit_code::GENERIC));
        }
        shared.modules.seal();
        Ok(Program { shared, exported })
    }

    /// Names of the exported functions.
    pub fn functions(&self) -> &[String] {
        &self.exported.functions
    }

    /// The script's own `options` as JSON; `None` when it exports none.
    pub fn options_json(&self) -> Option<&str> {
        self.exported.options.as_deref()
    }

    /// The text of the script as it was read.
    pub fn source(&self) -> String {
        self.shared.modules.text(&self.shared.entry).unwrap_or_default()
    }

    /// Whether the script has marked the test as failed (`exec.test.fail`); k6's exit code for it is 110.
    pub fn marked_failed(&self) -> bool {
        self.shared.process_state::<TestMark>().failed()
    }

    /// One line when some timings are this program's own, not the kernel's; `requests` is how many there were in all.
    pub fn timing_remark(&self, requests: u64) -> Option<String> {
        self.shared.process_state::<Unstamped>().remark(requests)
    }

    /// How many answered requests were timed by this program because the kernel did not stamp them.
    pub fn unstamped(&self) -> u64 {
        self.shared.process_state::<Unstamped>().count()
    }

    /// Sets the consolidated options that users see from now on.
    pub fn set_options(&self, options: Options) {
        *self.shared.options.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(options);
    }

    /// Has every received WebSocket message logged there. To be called before users are made; the first call counts.
    pub fn log_messages(&self, sink: Arc<dyn MessageSink>) {
        let _first = self.shared.messages.set(sink);
    }

    /// What `setup()` returned, as JSON.
    pub fn setup_data(&self) -> Option<Arc<str>> {
        self.shared.setup_data()
    }

    /// The options that users see.
    pub fn options(&self) -> Arc<Options> {
        self.shared.options()
    }

    /// Whether a function of that name is exported.
    pub fn exports(&self, function: &str) -> bool {
        self.exported.functions.iter().any(|name| name == function)
    }

    /// Refuses scenarios whose function is not exported; pairs of scenario and function.
    pub fn check_functions<'a>(&self, wanted: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), ScriptError> {
        let missing = wanted.into_iter().filter(|(_, function)| !self.exports(function));
        let lines: Vec<String> = missing
            .map(|(scenario, function)| {
                let hint = metrics::suggest::hint(function, self.exported.functions.iter().map(String::as_str));
                format!("scenario '{scenario}': function '{function}' not found in exports{hint}")
            })
            .collect();
        if lines.is_empty() { Ok(()) } else { Err(ScriptError::new(lines.join("\n"), exit_code::INVALID_CONFIG)) }
    }

    /// Runs `setup()`, when there is one, and keeps what it returns for all users made from now on.
    /// `stop` ends it early.
    pub async fn run_setup(&self, recorder: &Rc<Recorder>, stop: impl Future<Output = ()>) -> Result<(), ScriptError> {
        let limit = self.options().setup_time_limit();
        if let Returned::Json(data) = self.run_once(Phase::Setup, "setup", None, recorder, limit, stop).await? {
            *self.shared.setup_data.write().unwrap_or_else(PoisonError::into_inner) = data.map(Arc::from);
        }
        Ok(())
    }

    /// Runs `teardown(data)`, when there is one.
    pub async fn run_teardown(
        &self,
        recorder: &Rc<Recorder>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ScriptError> {
        let limit = self.options().teardown_time_limit();
        let data = self.shared.setup_data();
        self.run_once(Phase::Teardown, "teardown", data, recorder, limit, stop).await.map(drop)
    }

    /// Runs `handleSummary(data)` with this JSON; file names (or `stdout`, `stderr`) and contents.
    pub async fn run_handle_summary(
        &self,
        data: &str,
        recorder: &Rc<Recorder>,
        stop: impl Future<Output = ()>,
    ) -> Result<Vec<(String, Vec<u8>)>, ScriptError> {
        let limit = self.options().summary_time_limit();
        match self.run_once(Phase::Summary, "handleSummary", Some(Arc::from(data)), recorder, limit, stop).await? {
            Returned::Files(files) => Ok(files),
            Returned::Json(_) => Ok(Vec::new()),
        }
    }

    async fn run_once(
        &self,
        phase: Phase,
        function: &str,
        argument: Option<Arc<str>>,
        recorder: &Rc<Recorder>,
        limit: Duration,
        stop: impl Future<Output = ()>,
    ) -> Result<Returned, ScriptError> {
        // k6 runs the init code once more for the summary even when nobody handles it.
        if !self.exports(function) && phase != Phase::Summary {
            return Ok(Returned::Json(None));
        }
        let mut guest = Guest::new(&self.shared, recorder)?;
        if let Some(JobEnd::Ready(Err(error))) = guest.fiber.run(Job::Init).await {
            return Err(error);
        }
        if !self.exports(function) {
            return Ok(Returned::Json(None));
        }
        let job = Job::Call { phase, function: function.to_string(), argument };
        let mut running = pin!(guest.fiber.run(job));
        let mut late = false;
        let end = tokio::select! {
            end = &mut running => end,
            () = tokio::time::sleep(limit) => {
                late = true;
                guest.interrupt.set(engine::StopReason::Aborted);
                running.await
            }
            () = stop => {
                guest.interrupt.set(engine::StopReason::Aborted);
                running.await
            }
        };
        match end {
            Some(JobEnd::Called(Ok(returned))) => Ok(returned),
            Some(JobEnd::Called(Err(error))) => Err(call_failed(phase, function, limit, late, error)),
            _ => {
                let error = call_failed(phase, function, limit, late, CallError::Stopped);
                let message = format!("{}; {}", error.message, stuck(&guest.fiber, &format!("{function}()")).message);
                Err(ScriptError { message, ..error })
            }
        }
    }
}

/// The text of the entry script. That it is missing is a mistake on the command line, with another exit code than k6 gives
/// to a missing import.
fn read_entry(path: &Path) -> Result<String, ScriptError> {
    let shown = resolve::normalize(path);
    let message = match std::fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => return Ok(text),
        Ok(Err(_)) => format!("the script {} is not UTF-8 text", shown.display()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            format!("there is no script {}; check the path, and the folder it starts from", shown.display())
        }
        Err(error) => format!("cannot read the script {}: {error}", shown.display()),
    };
    Err(ScriptError::new(message, exit_code::GENERIC))
}

fn call_failed(phase: Phase, function: &str, limit: Duration, late: bool, error: CallError) -> ScriptError {
    let code = match phase {
        Phase::Setup => exit_code::SETUP_TIMEOUT,
        Phase::Teardown => exit_code::TEARDOWN_TIMEOUT,
        _ => exit_code::GENERIC_TIMEOUT,
    };
    match error {
        CallError::Threw(error) => error,
        CallError::AbortTest(message) => ScriptError::new(message, exit_code::SCRIPT_ABORTED),
        CallError::Stopped if late => ScriptError::new(
            format!("{function}() did not end within {limit:?}; raise the limit with the option {function}Timeout"),
            code,
        ),
        CallError::Stopped => ScriptError::new(format!("{function}() was interrupted"), exit_code::INTERRUPTED),
    }
}

#[cfg(test)]
impl Program {
    /// What users share, with no script behind it.
    pub(crate) fn for_tests() -> Arc<Shared> {
        Arc::new(Shared {
            is_app: false,
            entry: String::from("file:///test.js"),
            modules: ModuleStore::new(PathBuf::from("/"), None),
            env: BTreeMap::new(),
            log: Arc::new(crate::log::Silent),
            registry: Registry::new(),
            files: Files::default(),
            options: RwLock::default(),
            setup_data: RwLock::default(),
            process: Mutex::default(),
            messages: OnceLock::new(),
        })
    }
}
