//! A test script, loaded: what all virtual users share, and the parts of its life that run once.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use engine::Interrupt;
use metrics::{Recorder, Registry};

use crate::error::ScriptError;
use crate::host::coroutine::{Fiber, Switch};
use crate::host::user_main::{self, Exported, Job, JobEnd};
use crate::loader::{ModuleStore, resolve};
use crate::log::LogSink;
use crate::modules::execution::TestMark;
use crate::options::Options;
use crate::vu::Vu;
use crate::worker::WorkerState;

/// Where the entry script comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file; relative paths start at the working directory.
    File(PathBuf),
    /// Text, for instance of standard input; `name` stands in its error messages, imports start at the working directory.
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
    /// Where log lines go.
    pub log: Arc<dyn LogSink>,
    /// The run's metrics; init code defines its own there.
    pub registry: Arc<Registry>,
    /// Samples of VU 0.
    pub recorder: Rc<Recorder>,
}

/// What all virtual users of a program share, on all threads.
pub(crate) struct Shared {
    pub entry: String,
    pub modules: ModuleStore,
    pub env: BTreeMap<String, String>,
    pub log: Arc<dyn LogSink>,
    pub registry: Arc<Registry>,
    options: RwLock<Arc<Options>>,
    setup_data: RwLock<Option<Arc<str>>>,
    process: Mutex<Vec<(TypeId, Arc<dyn Any + Send + Sync>)>>,
}

impl Shared {
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
        state.downcast::<T>().ok().expect("stored under its own type")
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
        let fiber = new_fiber(shared, worker, None, interrupt.clone())?;
        Ok(Guest { fiber, interrupt })
    }
}

/// The coroutine of a user, not begun.
pub(crate) fn new_fiber(
    shared: &Arc<Shared>,
    worker: Rc<WorkerState>,
    seat: Option<engine::Seat>,
    interrupt: Rc<Interrupt>,
) -> Result<Fiber<Job, JobEnd>, ScriptError> {
    let vu = Vu::new(Rc::new(Switch::new(interrupt)), shared.clone(), worker, seat);
    let switch = vu.switch.clone();
    Fiber::new(switch, move |_: Job| user_main::run(vu)).map_err(|error| {
        let message =
            format!("no stack for a virtual user: {error}; lower the number of users or raise the memory limit");
        ScriptError::new(message, crate::error::exit_code::GENERIC)
    })
}

/// A loaded test script.
pub struct Program {
    pub(crate) shared: Arc<Shared>,
    exported: Exported,
}

impl Program {
    /// Reads the script and all it imports and runs its init code once, as VU 0.
    pub async fn load(source: Source, load: LoadOptions) -> Result<Program, ScriptError> {
        let modules = ModuleStore::new(load.cwd.clone());
        let entry = match source {
            Source::File(path) => resolve::file_name(&load.cwd.join(path)),
            Source::Text { name, text } => {
                let name = resolve::file_name(&load.cwd.join(name));
                modules.insert_source(&name, text);
                name
            }
        };
        let shared = Arc::new(Shared {
            entry,
            modules,
            env: load.env,
            log: load.log,
            registry: load.registry,
            options: RwLock::default(),
            setup_data: RwLock::default(),
            process: Mutex::default(),
        });
        let mut guest = Guest::new(&shared, &load.recorder)?;
        let exported = match guest.fiber.run(Job::Init).await {
            Some(JobEnd::Ready(exported)) => exported?,
            _ => unreachable!("a coroutine answers its first job"),
        };
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

    /// Whether the script has marked the test as failed (`exec.test.fail`); k6's exit code for it is 110.
    pub fn marked_failed(&self) -> bool {
        self.shared.process_state::<TestMark>().failed()
    }

    /// Sets the consolidated options that users see from now on.
    pub fn set_options(&self, options: Options) {
        *self.shared.options.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(options);
    }
}
