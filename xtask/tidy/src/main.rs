//! `cargo run --package tidy`: the rules alone, so that nothing of the product has to be compiled for them.

use std::path::PathBuf;
use std::process::ExitCode;

#[allow(clippy::print_stdout, clippy::print_stderr)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match root().and_then(|root| tidy::run(&root, &arguments)) {
        Ok((report, is_error)) => {
            print!("{report}");
            ExitCode::from(u8::from(is_error))
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The repository that this is called in.
fn root() -> Result<PathBuf, String> {
    let folder = std::env::current_dir().map_err(|e| format!("the working directory: {e}"))?;
    let root = folder.ancestors().find(|folder| folder.join(tidy::ALLOW_LIST).exists());
    root.map(Into::into).ok_or_else(|| format!("no {} here or above: run it in the repository", tidy::ALLOW_LIST))
}
