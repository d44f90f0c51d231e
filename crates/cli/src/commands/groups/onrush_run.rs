//! `onrush run` as a process of `capacity` and `compare --run`: how it is called, and what it says when it fails. `run`
//! with several scripts, whose runs print their summaries, has its binary from here.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ci;
use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// Where this binary is.
pub fn binary(code: ExitCode) -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::new(code, format!("cannot find the onrush binary: {error}")))
}

/// A run that shows nothing and keeps its result in this folder. It is no job of a CI.
pub fn command(binary: &Path, save: &Path) -> Command {
    let mut command = Command::new(binary);
    command.args(["run", "--quiet", "--no-color", "--summary-mode=disabled", "--no-tui"]).arg("--save").arg(save);
    for name in ci::OF_JOBS {
        command.env_remove(name);
    }
    command
}

/// Why a run failed, in its own words: the last lines that it printed, from the first that tells of an error.
pub fn own_words(lines: &[String]) -> String {
    let first = lines.iter().position(|line| line.contains("error")).unwrap_or(0);
    lines[first..].join("\n").trim().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_begin_with_the_error() {
        let lines = ["a warning", "error: there is no script", "look there"].map(String::from);
        assert_eq!(own_words(&lines), "there is no script\nlook there");
        assert_eq!(own_words(&lines[..1]), "a warning");
        assert_eq!(own_words(&[]), "");
    }
}
