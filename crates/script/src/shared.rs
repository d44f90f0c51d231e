//! What all users of a program share, on all threads: its modules, options, files and metrics.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use host::log::LogSink;
use metrics::{Recorder, Registry};

use crate::builtins::Builtins;
use crate::debug::{self, Debugger};
use crate::error::{ScriptError, exit_code};
use crate::loader::{ModuleStore, resolve};
use crate::message_sink::MessageSink;
use crate::options::Options;
use crate::secrets::Secrets;
use crate::sources::disk::Disk;
use crate::sources::files::{Files, Opened};
use crate::whole_test::test_clock::TestClock;

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
    /// A test that was unpacked from an archive.
    Unpacked {
        /// The folder that has its files, each at its own path below.
        root: PathBuf,
        /// The name of the script: `file:///path/test.js`.
        entry: String,
        /// The modules of https addresses, by address.
        remote: BTreeMap<String, String>,
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
    /// Modules of https URLs come from there alone: nothing is fetched.
    pub is_offline: bool,
    /// Options known before the script is read (proxies of the environment, flags): fetching modules obeys them.
    pub options: Options,
    /// Where log lines go.
    pub log: Arc<dyn LogSink>,
    /// The run's metrics; init code defines its own there.
    pub registry: Arc<Registry>,
    /// Samples of VU 0.
    pub recorder: Rc<Recorder>,
    /// The modules that scripts can import without a file or a URL.
    pub builtins: &'static Builtins,
    /// Where secrets come from.
    pub secrets: Arc<Secrets>,
    /// Who looks at its users while they run.
    pub debugger: Option<Arc<Debugger>>,
}

/// What all virtual users of a program share, on all threads.
pub struct Shared {
    pub(crate) entry: String,
    pub(crate) modules: ModuleStore,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) log: Arc<dyn LogSink>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) files: Files,
    pub(crate) disk: Arc<Disk>,
    pub(crate) secrets: Arc<Secrets>,
    options: RwLock<Arc<Options>>,
    setup_data: RwLock<Option<Arc<str>>>,
    process: Mutex<Vec<(TypeId, Arc<dyn Any + Send + Sync>)>>,
    /// Where received messages are logged, if they are.
    pub(crate) messages: OnceLock<Arc<dyn MessageSink>>,
    /// What time it is for the whole test.
    pub(crate) clock: Arc<TestClock>,
    /// Who looks at the users while they run.
    pub(crate) debugger: Option<Arc<Debugger>>,
}

impl Shared {
    /// What a program shares whose entry has this source.
    pub fn new(source: Source, load: LoadOptions) -> Result<Arc<Shared>, ScriptError> {
        let disk = Arc::new(match &source {
            Source::Unpacked { root, .. } => Disk::below(root.clone()),
            _ => Disk::default(),
        });
        let mut modules =
            ModuleStore::new(load.builtins, disk.clone(), load.cwd.clone(), load.cache_dir, load.is_offline);
        modules.places = load.debugger.as_ref().map(|debugger| Arc::clone(debugger.places()));
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
            Source::Unpacked { entry, remote, .. } => {
                remote.into_iter().for_each(|(address, text)| modules.insert_source(&address, text));
                entry
            }
        };
        Ok(Arc::new(Shared {
            entry,
            modules,
            env: load.env,
            log: load.log,
            registry: load.registry,
            files: Files::new(disk.clone()),
            disk,
            secrets: load.secrets,
            options: RwLock::new(Arc::new(load.options)),
            setup_data: RwLock::default(),
            process: Mutex::default(),
            messages: OnceLock::new(),
            clock: Arc::default(),
            debugger: load.debugger,
        }))
    }

    /// A limit of time, which does not hold where somebody looks at what takes it.
    pub(crate) fn time_limit(&self, limit: Duration) -> Duration {
        if self.debugger.is_some() { limit.max(debug::TIME_LIMIT) } else { limit }
    }

    /// From now on no module is added.
    pub fn seal(&self) {
        self.modules.seal();
    }

    /// A file of the script's, opened once; after loading only those that were opened before.
    pub fn open(&self, path: &Path) -> Result<Arc<Opened>, String> {
        self.files.open(path, self.is_sealed())
    }

    /// Where files are: on this machine, or in an archive.
    pub fn disk(&self) -> &Arc<Disk> {
        &self.disk
    }

    /// Where secrets come from.
    pub fn secrets(&self) -> &Arc<Secrets> {
        &self.secrets
    }

    /// Whether the test is loaded: no module or file is added any more.
    pub fn is_sealed(&self) -> bool {
        self.modules.is_sealed()
    }

    /// The name of the entry module.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The options that users see.
    pub fn options(&self) -> Arc<Options> {
        self.options.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What `setup()` returned, as JSON.
    pub fn setup_data(&self) -> Option<Arc<str>> {
        self.setup_data.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets what `setup()` returned.
    pub(crate) fn set_setup_data(&self, data: Option<Arc<str>>) {
        *self.setup_data.write().unwrap_or_else(PoisonError::into_inner) = data;
    }

    /// Sets the options that users see from now on.
    pub(crate) fn set_options(&self, options: Options) {
        *self.options.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(options);
    }

    /// State that native code shares in the whole process, made by `Default` at first use.
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

/// The text of the entry script. That it is missing is a mistake on the command line, with another exit code than k6
/// gives to a missing import.
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
