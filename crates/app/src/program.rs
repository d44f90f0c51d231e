//! An app, loaded: what its workers share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use host::log::LogSink;
use metrics::{Recorder, Registry};
use script::builtins::Builtins;
use script::error::ScriptError;
use script::options::Options;
use script::{LoadOptions, Shared, Source};
use server::AppFactory;

use crate::serving::{Job, JobEnd};
use crate::target::AppHandle;
use crate::worker::{self, App};

/// What loading an app needs beside its text.
pub struct AppOptions {
    /// `__ENV`, and `env` of the handlers' second argument.
    pub env: BTreeMap<String, String>,
    /// Where relative paths start.
    pub cwd: PathBuf,
    /// Where modules fetched from https URLs are kept between runs; `None`: nowhere.
    pub cache_dir: Option<PathBuf>,
    /// Proxies and limits for what the app itself fetches.
    pub options: Options,
    /// Where `console` lines and exceptions go.
    pub log: Arc<dyn LogSink>,
    /// The modules that apps can import without a file or a URL.
    pub builtins: &'static Builtins,
    /// How long JavaScript may run without waiting before it is broken off.
    pub busy_limit: Duration,
}

/// A server program that was read and found to be one.
pub struct AppProgram {
    shared: Arc<Shared>,
    registry: Arc<Registry>,
    busy_limit: Duration,
}

impl AppProgram {
    /// Reads the app and all it imports, runs its top-level code once, and checks its default export.
    pub async fn load(source: Source, options: AppOptions) -> Result<AppProgram, ScriptError> {
        let registry = Registry::new();
        let recorder = Rc::new(Recorder::new(registry.clone()));
        let load = LoadOptions {
            env: options.env,
            cwd: options.cwd,
            cache_dir: options.cache_dir,
            is_offline: false,
            options: options.options,
            log: options.log,
            registry: registry.clone(),
            recorder: recorder.clone(),
            builtins: options.builtins,
            secrets: Default::default(),
            debugger: None,
        };
        let shared = Shared::new(source, load)?;
        let (mut fiber, _, _) = worker::make(&shared, &recorder)?;
        match fiber.run(Job::Init).await {
            Some(JobEnd::Ready(ready)) => drop(ready?),
            _ => unreachable!("a coroutine answers its first job"),
        }
        drop(fiber);
        shared.seal();
        Ok(AppProgram { shared, registry, busy_limit: options.busy_limit })
    }

    /// Starts the app on this thread, which runs a `tokio::task::LocalSet`; the top-level code runs again, for this
    /// thread. When the last reference is dropped, with what it is answering, its JavaScript ends.
    pub fn start(&self) -> Result<Rc<dyn server::App>, ScriptError> {
        let recorder = Rc::new(Recorder::new(self.registry.clone()));
        let app = App::start(&self.shared, &recorder, self.busy_limit)?;
        Ok(Rc::new(AppHandle(app)))
    }

    /// What starts an app on each worker of a server.
    pub fn factory(self) -> AppFactory {
        Arc::new(move || self.start().map_err(|error| error.to_string()))
    }
}
