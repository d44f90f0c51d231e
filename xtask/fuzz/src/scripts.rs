//! Whether a text is a script: read, stripped of types and compiled by the loader that runs use, and not run.
//!
//! A `throw` at its beginning ends it; that error alone means that it was compiled.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use metrics::{Recorder, Registry};
use script::log::Silent;
use script::options::Options;
use script::{LoadOptions, Program, Source};

/// Loads scripts as runs do.
pub struct Compiler {
    runtime: tokio::runtime::LocalRuntime,
}

impl Compiler {
    /// With a runtime of its own.
    pub fn new() -> Result<Compiler, String> {
        let runtime = wire::event_loop();
        runtime.map(|runtime| Compiler { runtime }).map_err(|error| error.to_string())
    }

    /// What the loader says of a text that throws at once.
    pub fn load(&self, name: &str, text: &str) -> Result<(), String> {
        let registry = Registry::new();
        let source = Source::Text { name: name.into(), text: format!("throw 'the end of it'; {text}") };
        let options = LoadOptions {
            env: BTreeMap::new(),
            cwd: PathBuf::from("/nowhere"),
            cache_dir: None,
            is_offline: false,
            options: Options::default(),
            log: Arc::new(Silent),
            recorder: Rc::new(Recorder::new(registry.clone())),
            builtins: &modules::BUILTINS,
            secrets: Default::default(),
            debugger: None,
            registry,
        };
        match self.runtime.block_on(Program::load(source, options)) {
            Err(error) => Err(error.to_string()),
            Ok(_) => Ok(()),
        }
    }

    /// Whether a script compiles.
    pub fn compile(&self, text: &str) -> Result<(), String> {
        match self.load("script.js", text) {
            Err(error) if error.contains("the end of it") => Ok(()),
            Err(error) => Err(error),
            Ok(()) => Err(String::from("a script that throws was loaded")),
        }
    }
}
