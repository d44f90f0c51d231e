//! Apps in JavaScript, `onrush serve app.js`: loaded with what flags and environment say.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use app::{AppOptions, AppProgram};
use script::error::exit_code;
use script::log::LogSink;
use script::options::Options;
use script::{ScriptError, Source};
use server::AppFactory;

use crate::builtins::BUILTINS;
use crate::process::environment::{self, Variables};

/// How long JavaScript of an app may run without waiting when no flag says otherwise.
pub const BUSY_LIMIT: Duration = Duration::from_secs(5);

/// Reads an app and makes what the target starts on each worker.
pub fn load(
    path: &str,
    env: Variables,
    log: Arc<dyn LogSink>,
    busy_limit: Duration,
) -> Result<AppFactory, ScriptError> {
    let broken = |what: String| ScriptError::new(what, exit_code::GENERIC);
    let cwd = std::env::current_dir().map_err(|e| broken(format!("cannot tell the current folder: {e}")))?;
    let options = AppOptions {
        cwd,
        cache_dir: environment::cache_folder(&env),
        options: Options {
            proxies: environment::proxies(&env),
            no_http2: environment::forbids_http2(&env),
            ..Options::default()
        },
        env,
        log,
        builtins: &BUILTINS,
        busy_limit,
    };
    let runtime = wire::event_loop();
    let runtime = runtime.map_err(|e| broken(format!("cannot make an event loop: {e}")))?;
    let loaded = runtime.block_on(AppProgram::load(Source::File(PathBuf::from(path)), options));
    loaded.map(AppProgram::factory).map_err(|error| placed(error, path))
}

/// What is wrong with the default export is found by JavaScript of ours, and has no place in the app.
fn placed(error: ScriptError, path: &str) -> ScriptError {
    match &error.place {
        None if error.exit_code == exit_code::SCRIPT_EXCEPTION => {
            ScriptError::new(format!("{path}: {}", error.message), error.exit_code)
        }
        _ => error,
    }
}
