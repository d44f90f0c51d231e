//! The web platform's tests of URLs, against the class `URL` that scripts and apps have.
//!
//! The crate `url`, which reads URLs here, brings the tests along in its package, with a list of those that it does not
//! pass: they lie where cargo keeps it. A test that differs and is not in that list is our own fault.

use super::script;
use crate::parity;

/// How many tests must be the same at least: fewer were found than the package had.
const LEAST: usize = 1_000;

/// Takes no arguments.
pub fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(argument) = arguments.first() {
        return Err(format!("found {argument:?}, expected no arguments"));
    }
    let tests = script::package(&parity::workspace()?.join("Cargo.toml"), "url")?.join("tests");
    let known = tests.join("expected_failures.txt");
    let known = std::fs::read_to_string(&known).map_err(|error| format!("cannot read {}: {error}", known.display()))?;
    let told = script::told("url.js", &tests)?;
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
