//! An app, loaded: what its workers share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use metrics::{Recorder, Registry};

use super::worker::App;
use crate::error::ScriptError;
use crate::host::user_main::{Job, JobEnd};
use crate::log::LogSink;
use crate::options::Options;
use crate::program::{Guest, LoadOptions, Shared, Source};

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
            options: options.options,
            log: options.log,
            registry: registry.clone(),
            recorder: recorder.clone(),
        };
        let shared = Shared::of_app(source, load)?;
        let mut guest = Guest::new(&shared, &recorder)?;
        match guest.fiber.run(Job::Init).await {
            Some(JobEnd::Ready(ready)) => drop(ready?),
            _ => unreachable!("a coroutine answers its first job"),
        }
        drop(guest);
        shared.modules.seal();
        Ok(AppProgram { shared, registry, busy_limit: options.busy_limit })
    }

    /// Starts the app on this thread, which runs a `tokio::task::LocalSet`; the top-level code runs again, for this thread.
    pub fn start(&self) -> Result<Rc<App>, ScriptError> {
        let recorder = Rc::new(Recorder::new(self.registry.clone()));
        App::start(&self.shared, &recorder, self.busy_limit)
    }
}
