//! `cargo xtask world`: the whole machine in simulated time, compiled quickly and a little optimised, as
//! `xtask/world` has it.
//!
//! A process of its own, because its client is built with the feature `simulated`, which no other command is to have.

use std::process::Command;

use crate::parity;

/// The arguments are those of the suite.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(parity::workspace()?).args(["run", "--quiet", "--profile", "quick", "--package", "world", "--"]);
    let status = cargo.args(arguments).status().map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(String::from("a world broke a promise, or was not built: see above")) }
}
