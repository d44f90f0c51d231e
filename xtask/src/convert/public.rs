//! Files that other people published, from packages of npm and PyPI: each is converted and its script run, or it is
//! refused with a reason that is known. `cargo test` does so with the small ones, which are in the repository; here are
//! those that are too many, too large, or of licences that do not let us keep them.
//!
//! Nothing but the registries is asked: requests of scripts go to a proxy that answers them here. A package that cannot
//! be fetched is named and skipped.

#[path = "../../../crates/cli/tests/cli/convert/offline.rs"]
mod offline;
mod packages;
mod samples;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use self::packages::{PACKAGES, Package};
use crate::curl::capture::{Capture, arrived};

/// Why a published file may be refused: what it says, in the words of the message.
const KNOWN_REFUSALS: &[&str] = &[
    // A description of webhooks, of schemas, or of nothing yet.
    "there is no request to convert",
];

#[derive(Default)]
struct PackageOutcome {
    files: usize,
    requests: u64,
    refused: BTreeMap<String, usize>,
    not_converted: BTreeMap<String, u64>,
    wrong: Vec<String>,
}

/// Converts and runs what all packages hold.
pub(super) fn run(onrush: &Path, folder: &Path) -> Result<(), String> {
    let (mut wrong, mut read) = (Vec::new(), 0);
    for package in PACKAGES {
        let root = match package.fetch() {
            Ok(root) => root,
            Err(why) => {
                println!("skipped {}: {why}", package.shown());
                continue;
            }
        };
        let files = files(package, &root, folder)?;
        let mut outcome = PackageOutcome::default();
        for file in &files {
            outcome.add(onrush, file, folder);
        }
        outcome.tell(package);
        read += files.len();
        wrong.append(&mut outcome.wrong);
    }
    match (read, wrong.is_empty()) {
        (0, _) => Err(String::from("no package could be fetched: npm, pip and their registries are needed")),
        (_, true) => Ok(()),
        _ => Err(format!("{} files went wrong:\n{}", wrong.len(), wrong.join("\n"))),
    }
}

/// What is to be converted; the samples of descriptions are written into files of their own.
fn files(package: &Package, root: &Path, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = package.files(root)?;
    if package.has_samples {
        files.extend(samples::write(&files, &folder.join("samples"))?);
    }
    Ok(files)
}

impl PackageOutcome {
    fn add(&mut self, onrush: &Path, file: &Path, folder: &Path) {
        self.files += 1;
        if let Err(why) = self.one(onrush, file, folder) {
            self.wrong.push(format!("{}: {why}", file.display()));
        }
    }

    fn one(&mut self, onrush: &Path, file: &Path, folder: &Path) -> Result<(), String> {
        let failed = |error: std::io::Error| error.to_string();
        let mut command = Command::new(onrush);
        command.arg("convert").arg(file).args(["--json", "--no-timing", "--force", "-O", "script.js"]);
        let output = command.current_dir(folder).output().map_err(failed)?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let known = KNOWN_REFUSALS.iter().find(|known| said.contains(**known));
            let known = known.ok_or_else(|| format!("refused: {}", said.trim()))?;
            *self.refused.entry((*known).to_owned()).or_default() += 1;
            return Ok(());
        }
        let told: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        self.note(&told);
        let requests = told["requests"].as_u64().unwrap_or_default();
        self.requests += requests;
        run_script(onrush, folder, requests)
    }

    /// Counts commands that stay comments, by their reason.
    fn note(&mut self, told: &Value) {
        for note in told["notes"].as_array().into_iter().flatten() {
            if let Some(why) = note["text"].as_str().and_then(|text| text.strip_prefix("not converted: ")) {
                *self.not_converted.entry(why.to_owned()).or_default() += note["count"].as_u64().unwrap_or(1);
            }
        }
    }

    fn tell(&self, package: &Package) {
        let refused: usize = self.refused.values().sum();
        println!(
            "{}: {} files, {} requests, {refused} refused, {} wrong",
            package.shown(),
            self.files,
            self.requests,
            self.wrong.len()
        );
        let refused = self.refused.iter().map(|(why, count)| (why, *count as u64));
        let commands = self.not_converted.iter().map(|(why, count)| (why, *count));
        refused.chain(commands).for_each(|(why, count)| println!("{count:>8} {why}"));
    }
}

/// Every request of a script must arrive, and none of its iterations throw.
fn run_script(onrush: &Path, folder: &Path, requests: u64) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let proxy = Capture::answering("{}").map_err(|error| format!("cannot listen: {error}"))?;
    let script = fs::read_to_string(folder.join("script.js")).map_err(failed)?;
    let script = offline::prepare(&script, folder).map_err(failed)?;
    fs::write(folder.join("script.js"), &script).map_err(failed)?;
    let mut command = Command::new(onrush);
    command.args(["run", "-q", "--no-color", "--fail-on", "exceptions>0", "script.js"]).current_dir(folder);
    offline::aim(&mut command, &script, &proxy.address);
    let output = command.output().map_err(failed)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let arrived = arrived(&proxy).len() as u64;
    match output.status.success() && arrived == requests {
        true => Ok(()),
        false => Err(format!("{}, {arrived} of {requests} requests arrived; {}", output.status, said.trim())),
    }
}
