//! `cargo xtask convert`: a recording of 200 MB, thousands of files that other people published, converted scripts run
//! by k6, and what newman sends for collections.
//!
//! Not part of `cargo test`, because it needs k6, newman and packages of npm and PyPI, and takes minutes.

mod by_k6;
mod large;
mod newman;
mod public;

use std::process::{Command, Output};

use crate::programs;

/// Runs the parts that are named, or all.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    const PARTS: [&str; 4] = ["large", "public", "k6", "newman"];
    if let Some(other) = arguments.iter().find(|part| !PARTS.contains(&part.as_str())) {
        return Err(format!("found '{other}', expected some of {}", PARTS.join(", ")));
    }
    let is_wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|wanted| wanted == part);
    let onrush = programs::onrush()?;
    let folder = programs::folder("convert")?;
    if is_wanted("large") {
        large::run(&onrush, &folder)?;
    }
    if is_wanted("public") {
        public::run(&onrush, &folder)?;
    }
    if is_wanted("k6") {
        by_k6::run(&onrush, &folder)?;
    }
    if is_wanted("newman") {
        newman::run(&folder)?;
    }
    std::fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))
}

fn done(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(output),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}
