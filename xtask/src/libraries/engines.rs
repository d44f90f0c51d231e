//! The programs that run the calls, and the scripts that they run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::parity;

const DRIVER: &str = include_str!("../../libraries/driver.js");

/// The calls of each library.
const CALLS: &[(&str, &str)] = &[
    ("aws", include_str!("../../libraries/aws.js")),
    ("formdata", include_str!("../../libraries/formdata.js")),
    ("http-instrumentation-tempo", include_str!("../../libraries/http-instrumentation-tempo.js")),
    ("httpx", include_str!("../../libraries/httpx.js")),
    ("k6-summary", include_str!("../../libraries/k6-summary.js")),
    ("k6-testing", include_str!("../../libraries/k6-testing.js")),
    ("k6-utils", include_str!("../../libraries/k6-utils.js")),
    ("k6chaijs", include_str!("../../libraries/k6chaijs.js")),
    ("papaparse", include_str!("../../libraries/papaparse.js")),
    ("totp", include_str!("../../libraries/totp.js")),
    ("url", include_str!("../../libraries/url.js")),
];

/// The calls of a library.
pub fn calls(library: &str) -> Option<&'static str> {
    CALLS.iter().find(|(name, _)| *name == library).map(|(_, calls)| *calls)
}

/// Who runs a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Onrush,
    K6,
}

/// The programs, and a folder for what they run.
pub struct Engines {
    onrush: PathBuf,
    k6: Option<PathBuf>,
    folder: PathBuf,
}

impl Engines {
    /// Builds Onrush and looks for k6, without which its half is left out.
    pub fn find(root: &Path, folder: &Path) -> Result<Engines, String> {
        let k6 = parity::find_k6().map_err(|why| println!("without k6: {why}")).ok();
        fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(Engines { onrush: parity::build_onrush(root)?, k6, folder: folder.to_owned() })
    }

    pub fn has_k6(&self) -> bool {
        self.k6.is_some()
    }

    /// Our text as a file that k6 can import.
    pub fn write_module(&self, path: &str, text: &str) -> Result<String, String> {
        self.write(&path.replace('/', "-"), text)
    }

    fn write(&self, name: &str, text: &str) -> Result<String, String> {
        let file = self.folder.join(name);
        fs::write(&file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        Ok(file.display().to_string())
    }

    /// The lines that the calls of a library write, about a module.
    pub fn run(&self, engine: Engine, library: &str, subject: &str, seed: u32, count: u32) -> Result<String, String> {
        let calls = calls(library).ok_or_else(|| format!("no calls of {library}"))?;
        let head = format!("import * as subject from {subject:?};\nconst SEED = {seed}, COUNT = {count};");
        let script = self.write("calls.js", &[&head, calls, DRIVER].join("\n"))?;
        let mut command = match (engine, &self.k6) {
            (Engine::K6, Some(k6)) => Command::new(k6),
            (Engine::K6, None) => return Err("there is no k6".into()),
            (Engine::Onrush, _) => Command::new(&self.onrush),
        };
        command.args(["run", "--quiet", "--log-format", "raw", "--no-usage-report"]).arg(&script);
        if engine == Engine::Onrush {
            command.arg("--offline");
        }
        let output = command.output().map_err(|error| format!("cannot run {engine:?}: {error}"))?;
        // Log lines are calls, the standard output has the summary.
        Ok([String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout)].join("\n"))
    }
}
