//! Reading a plan: TOML by its ending, else a JavaScript or TypeScript module whose default export is the plan.
//!
//! A module is evaluated by the same host as scripts, so it may import, compute and read `__ENV`.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use metrics::{Recorder, Registry};
use report::matrix::plan::{self, Plan, PlanError};
use script::log::LogSink;
use script::options::Options;
use script::{LoadOptions, Program, Source};

use crate::builtins::BUILTINS;
use crate::commands::run::script_failure;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::{LogFlags, Logger};

/// A plan and what its complaints need.
pub struct Written {
    /// As written.
    pub plan: Plan,
    /// The file's name as it was given.
    file: String,
    /// Its text.
    source: String,
}

impl Written {
    /// A complaint about the plan, with its place.
    pub fn refuse(&self, error: &PlanError) -> Failure {
        Failure::new(ExitCode::InvalidConfig, error.shown(&self.file, &self.source))
    }
}

/// Reads the plan in this file.
pub fn read(file: &str) -> Result<Written, Failure> {
    let path = Path::new(file);
    let source = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(
            ExitCode::Generic,
            format!("cannot read the plan {file}: {error}; expected a .toml file or a module"),
        )
    })?;
    let is_module = ["js", "mjs", "ts"].iter().any(|end| path.extension().is_some_and(|found| found == *end));
    let plan = match is_module {
        true => plan::from_json(file, &exported(path)?),
        false => plan::from_toml(file, &source),
    };
    let mut plan = plan.map_err(|message| Failure::new(ExitCode::InvalidConfig, message))?;
    if plan.name.is_none() {
        plan.name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    }
    Ok(Written { plan, file: file.to_owned(), source })
}

/// The default export of a module as JSON: it becomes the options of a script that imports it, which the host hands
/// out.
fn exported(path: &Path) -> Result<String, Failure> {
    let failed =
        |error: std::io::Error| Failure::new(ExitCode::Generic, format!("cannot load {}: {error}", path.display()));
    let path: PathBuf = std::fs::canonicalize(path).map_err(failed)?;
    let cwd = std::env::current_dir().map_err(failed)?;
    let runtime = wire::event_loop().map_err(failed)?;
    let name = serde_json::Value::from(path.display().to_string());
    let text = format!("import plan from {name};\nexport const options = plan;\nexport default function () {{}}\n");
    let registry = Registry::new();
    let load = LoadOptions {
        env: std::env::vars().collect(),
        cwd,
        cache_dir: None,
        is_offline: false,
        options: Options::default(),
        log: Arc::new(Logger::new(&LogFlags::default())?) as Arc<dyn LogSink>,
        recorder: Rc::new(Recorder::new(registry.clone())),
        builtins: &BUILTINS,
        secrets: Default::default(),
        debugger: None,
        registry,
    };
    let source = Source::Text { name: String::from("plan"), text };
    let program = runtime.block_on(Program::load(source, load)).map_err(script_failure)?;
    let json = program.options_json().map(str::to_owned);
    json.ok_or_else(|| {
        let problem = "found no default export that is an object, expected `export default { axes, variants, load }`";
        Failure::new(ExitCode::InvalidConfig, format!("{}: {problem}", path.display()))
    })
}
