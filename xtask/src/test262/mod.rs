//! `cargo xtask test262 --suite DIR`: ECMAScript's own tests on QuickJS as its makers ship it and on QuickJS with our
//! patches. The suite fails when the two differ; what both get wrong is the makers' affair.
//!
//! The runner is the engine's own, `run-test262.c` with its configuration, out of the package that carries QuickJS. So
//! this shows that the patches change nothing that tc39/test262 sees, with the exclusions that the makers chose.
//! Not part of `cargo test`: the suite has 50,000 files, is not in this repository, and takes minutes.

mod engine;
mod outcome;
mod progress;

use std::fs;
use std::path::{Path, PathBuf};

use crate::parity;
use engine::{EngineBuild, Patches};
use outcome::SuiteOutcome;

const USAGE: &str =
    "expected --suite DIR, a checkout of tc39/test262, and perhaps --threads N and folders of its test/";

/// What was asked for.
struct Choice {
    suite: PathBuf,
    threads: usize,
    /// Folders below `test/`; none: all that the configuration of QuickJS has.
    folders: Vec<String>,
}

impl Choice {
    fn read(arguments: &[String]) -> Result<Choice, String> {
        let (mut suite, mut folders) = (None, Vec::new());
        let mut threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--suite" => suite = words.next().map(PathBuf::from),
                "--threads" => threads = words.next().and_then(|text| text.parse().ok()).ok_or(USAGE)?,
                flag if flag.starts_with('-') => return Err(format!("found {flag}, {USAGE}")),
                folder => folders.push(folder.trim_matches('/').to_owned()),
            }
        }
        let suite = suite.ok_or(USAGE)?;
        let wanted =
            ["harness/assert.js".to_owned()].into_iter().chain(folders.iter().map(|name| format!("test/{name}")));
        if let Some(missing) = wanted.map(|path| suite.join(path)).find(|path| !path.exists()) {
            return Err(format!("there is no {}; {USAGE}", missing.display()));
        }
        let suite = suite.canonicalize().map_err(|error| format!("{}: {error}", suite.display()))?;
        Ok(Choice { suite, threads, folders })
    }
}

/// Runs the suite twice and compares.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let choice = Choice::read(arguments)?;
    let folder = parity::workspace()?.join("target/test262");
    let files = progress::files(&choice.suite, &choice.folders)?;
    let mut outcomes = Vec::new();
    for patches in [Patches::Without, Patches::With] {
        let engine = EngineBuild::build(&folder, patches)?;
        outcomes.push(run_with(&engine, &choice, &files)?);
    }
    let [without, with] = &*outcomes else { unreachable!("one for each engine") };
    println!("without patches: {}", without.counts);
    println!("with patches:    {}", with.counts);
    let differences = without.differences(with);
    match differences.is_empty() {
        true => Ok(()),
        false => Err(format!("the patches change {} results:\n{}", differences.len(), differences.join("\n"))),
    }
}

fn run_with(engine: &EngineBuild, choice: &Choice, files: &[String]) -> Result<SuiteOutcome, String> {
    let link = engine.folder.join("test262");
    let _none = fs::remove_file(&link);
    std::os::unix::fs::symlink(&choice.suite, &link).map_err(|error| format!("{}: {error}", link.display()))?;
    let mut command = engine.command();
    command.args(["-u", "-T", "1", "-a", "-t", &choice.threads.to_string(), "-c", "test262.conf"]);
    for name in &choice.folders {
        command.args(["-d", &format!("test262/test/{name}")]);
    }
    let told = progress::follow(command, engine.patches.told(), files)?;
    let errors = read(&engine.folder.join(engine::ERRORS))?;
    SuiteOutcome::parse(&told, &errors)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
