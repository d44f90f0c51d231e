//! The web platform's tests of URLs, against the class `URL` that scripts and apps have.
//!
//! The crate `url`, which reads URLs here, brings the tests along in its package, with a list of those that it does not
//! pass: they lie where cargo keeps it. A test that differs and is not in that list is our own fault.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::parity;

/// How many tests must be the same at least: fewer were found than the package had.
const LEAST: usize = 1_000;

/// Takes no arguments.
pub fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(argument) = arguments.first() {
        return Err(format!("found {argument:?}, expected no arguments"));
    }
    let root = parity::workspace()?;
    let tests = package(&root)?.join("tests");
    let known = tests.join("expected_failures.txt");
    let known = std::fs::read_to_string(&known).map_err(|error| format!("cannot read {}: {error}", known.display()))?;
    let told = ask(&root, &tests)?;
    let differing: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("differs ")).collect();
    let same = told.lines().find_map(|line| line.strip_prefix("same ")?.parse().ok()).unwrap_or(0_usize);
    let ours: Vec<&str> = differing.iter().copied().filter(|name| !known.lines().any(|line| line == *name)).collect();
    println!("url: {same} same, {} differ as the crate url's own list has it", differing.len() - ours.len());
    match (ours.is_empty(), same >= LEAST) {
        (false, _) => Err(format!("tests that differ and are not in the crate's list:\n  {}", ours.join("\n  "))),
        (true, false) => Err(format!("found {same} tests that are the same, expected at least {LEAST}")),
        (true, true) => Ok(()),
    }
}

/// What the script says of each test.
fn ask(root: &Path, tests: &Path) -> Result<String, String> {
    let onrush = parity::build_onrush(root)?;
    let mut command = Command::new(&onrush);
    command.args(["run", "-q", "--log-format", "raw", "-e"]).arg(format!("TESTS={}", tests.display()));
    command.arg(root.join("xtask/conformance/url.js"));
    let output = command.output().map_err(|error| format!("cannot run {}: {error}", onrush.display()))?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(told) } else { Err(format!("the script failed:\n{told}")) }
}

/// The folder of the package.
fn package(root: &Path) -> Result<PathBuf, String> {
    let output = Command::new("cargo").args(["metadata", "--format-version=1", "--locked"]).current_dir(root).output();
    let output = output.map_err(|error| format!("cannot run cargo: {error}"))?;
    let known: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let mut packages = known["packages"].as_array().into_iter().flatten();
    let url = packages.find(|package| package["name"] == "url").and_then(|package| package["manifest_path"].as_str());
    let folder = url.and_then(|manifest| Path::new(manifest).parent());
    folder.map(Path::to_owned).ok_or_else(|| String::from("cargo metadata has no package url"))
}
