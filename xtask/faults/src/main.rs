//! `cargo run --package faults`: the suite alone, so that nothing of the product has to be compiled for it.

use std::path::PathBuf;
use std::process::ExitCode;

#[allow(clippy::print_stderr)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match root().and_then(|root| faults::run(&root, &arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The repository that this is called in.
fn root() -> Result<PathBuf, String> {
    let folder = std::env::current_dir().map_err(|e| format!("the working directory: {e}"))?;
    let root = folder.ancestors().find(|folder| folder.join(faults::TRACER).exists());
    root.map(Into::into).ok_or_else(|| format!("no {} here or above: run it in the repository", faults::TRACER))
}
