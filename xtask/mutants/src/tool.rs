//! cargo-mutants: installed on demand at one version, asked for changes, told to make them in the copy.
//!
//! Only the package's own tests run. Builds are kept between runs: without debug information because nobody debugs
//! them, and optimised a little because every change runs all tests.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Subject;
use crate::change::Change;
use crate::outcome::{self, Outcome};

const VERSION: &str = "27.1.0";

/// Tests of a change that take longer never end; where the unchanged code takes a fifth of it, five times that.
const LEAST_PATIENCE_S: &str = "60";

/// What cargo-mutants exits with after changes that were missed, and after some that did not end.
const MISSED: i32 = 2;
const NEVER_ENDED: i32 = 3;

/// The program and the copy it changes.
pub(crate) struct Tool {
    program: PathBuf,
    pub(crate) tree: PathBuf,
    build: PathBuf,
    output: PathBuf,
}

impl Tool {
    /// Installs the program below `tools` where that version is not there.
    pub(crate) fn install(tools: &Path, folder: &Path) -> Result<Tool, String> {
        let program = tools.join("bin/cargo-mutants");
        let version = Command::new(&program).args(["mutants", "--version"]).output();
        if !version.is_ok_and(|found| String::from_utf8_lossy(&found.stdout).trim_end().ends_with(VERSION)) {
            println!("installing cargo-mutants {VERSION} into {}", tools.display());
            let mut cargo = Command::new("cargo");
            cargo.args(["install", "--locked", "--force", "cargo-mutants", "--version", VERSION, "--root"]).arg(tools);
            let status = cargo.status().map_err(|error| format!("cannot run cargo: {error}"))?;
            if !status.success() {
                return Err(format!("cargo-mutants {VERSION} could not be installed: {status}"));
            }
        }
        let tree = folder.join("tree");
        std::fs::create_dir_all(&tree).map_err(|error| format!("cannot make {}: {error}", tree.display()))?;
        Ok(Tool { program, tree, build: folder.join("build"), output: folder.join("output") })
    }

    /// Every change of the subject, in the order of the source.
    pub(crate) fn list(&self, subject: &Subject) -> Result<Vec<Change>, String> {
        let output = self.command(subject, subject.files.iter().copied()).args(["--list", "--json"]).output();
        let output = output.map_err(|error| format!("cannot run cargo-mutants: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo-mutants --list failed: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let items: Vec<Value> = serde_json::from_slice(&output.stdout).map_err(|error| format!("changes: {error}"))?;
        items.iter().map(|item| Change::read(&self.tree, item)).collect()
    }

    /// Makes the changes one by one, and tests each; outcomes by the names of changes.
    pub(crate) fn test(&self, subject: &Subject, changes: &[Change]) -> Result<HashMap<String, Outcome>, String> {
        if changes.is_empty() {
            return Ok(HashMap::new());
        }
        // The files by name, because cargo-mutants makes the deletions of fields in all files that it may change, asked
        // or not.
        let files: BTreeSet<&str> = changes.iter().map(|change| change.file.as_str()).collect();
        let mut command = self.command(subject, files);
        command.args(["--in-place", "--no-shuffle", "--colors", "never", "--output"]).arg(&self.output);
        for change in changes {
            command.arg("--re").arg(format!("^{}$", escaped(&change.name)));
        }
        // A machine that others keep busy takes ten times as long, which is no endless loop.
        command.args(["--minimum-test-timeout", LEAST_PATIENCE_S]);
        // Without the examples, which would be built for each change and test nothing.
        command.arg("--cargo-arg=--tests");
        command.env("CARGO_TARGET_DIR", &self.build).stdin(Stdio::null());
        command.env("CARGO_PROFILE_DEV_DEBUG", "false").env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
        std::fs::create_dir_all(&self.output)
            .map_err(|error| format!("cannot make {}: {error}", self.output.display()))?;
        let status = command.status().map_err(|error| format!("cannot run cargo-mutants: {error}"))?;
        if !matches!(status.code(), Some(0 | MISSED | NEVER_ENDED)) {
            return Err(format!("cargo-mutants broke off: {status}"));
        }
        let path = self.output.join("mutants.out/outcomes.json");
        let text = std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        outcome::read(&serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?)
    }

    /// About these files; none: the whole package.
    fn command<'a>(&self, subject: &Subject, files: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("mutants").arg("--dir").arg(&self.tree).args(["--package", subject.package]);
        files.into_iter().for_each(|glob| {
            command.args(["--file", glob]);
        });
        command.current_dir(&self.tree);
        command
    }
}

/// A text as a regular expression that fits nothing else.
fn escaped(text: &str) -> String {
    // Not `<` and `>`: behind a backslash they are the bounds of a word.
    let special = |c: char| r"\.+*?()|[]{}^$#&-~".contains(c);
    text.chars().fold(String::new(), |mut out, c| {
        if special(c) {
            out.push('\\');
        }
        out.push(c);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_expressions() {
        assert_eq!(escaped("a/b.rs:1:2: replace <= with ()"), "a/b\\.rs:1:2: replace <= with \\(\\)");
    }
}
