//! `onrush debug`: a debug adapter for editors, by the Debug Adapter Protocol over standard input and output.
//!
//! The adapter is one process, the run another: `onrush run` by this binary again, whose standard input is a socket on
//! which the two exchange messages of the protocol, one a line. So the run's output cannot get into the editor's
//! stream, variables of the launch are its own, and a run that is ended cannot take the adapter along.

mod adapter;
pub mod debuggee;
pub mod messages;
mod requests;

use clap::{Arg, ArgMatches, Command};

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// The name of the command that the adapter starts; nobody types it.
pub const DEBUGGEE: &str = "debuggee";

const AFTER_HELP: &str = "\
An editor starts this command and speaks the Debug Adapter Protocol with it, by standard input and output. What it can \
launch with: program (the script), args (flags of `onrush run`), env, cwd, stopOnEntry. Without flags for a load, each \
scenario runs once, with one user.

How to set up VS Code, Neovim and Helix: docs/guides/debugging.md";

/// The command and its arguments.
pub fn command() -> Command {
    Command::new("debug")
        .about("Debug a script in an editor: breakpoints, steps and variables, by the Debug Adapter Protocol")
        .after_help(AFTER_HELP)
        .arg(Arg::new("script").value_name("SCRIPT").help("The script, where the editor's launch names no program"))
}

/// Serves one editor.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    adapter::serve(matches.get_one::<String>("script").cloned())
}
