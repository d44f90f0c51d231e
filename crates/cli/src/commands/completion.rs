//! `onrush completion` and `onrush man`: what shells and `man` know of the commands, made from the one list of flags.

use std::io;
use std::path::Path;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output;

/// The command `completion`, named as in k6.
pub fn command() -> Command {
    Command::new("completion").about("Print a shell's completion script").after_help(HELP).arg(
        Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)).help("Whose script"),
    )
}

const HELP: &str = "\
To use it:
  bash        onrush completion bash > ~/.local/share/bash-completion/completions/onrush
  zsh         onrush completion zsh > \"${fpath[1]}/_onrush\"
  fish        onrush completion fish > ~/.config/fish/completions/onrush.fish
  powershell  onrush completion powershell >> $PROFILE";

/// Prints the script; `whole` is the program with all its commands.
pub fn main(matches: &ArgMatches, mut whole: Command) -> Result<ExitCode, Failure> {
    let shell = *matches.get_one::<Shell>("shell").expect("required");
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut whole, "onrush", &mut script);
    output::answer(&String::from_utf8_lossy(&script))
}

/// The command `man`.
pub fn man_command() -> Command {
    Command::new("man").about("Write the manual pages, one for each command").arg(
        Arg::new("folder").value_name("FOLDER").required(true).help("Where to write, for example /usr/share/man/man1"),
    )
}

/// Writes the pages.
pub fn man(matches: &ArgMatches, whole: Command) -> Result<ExitCode, Failure> {
    let folder = Path::new(matches.get_one::<String>("folder").expect("required"));
    let fail = |error: io::Error| {
        Failure::new(ExitCode::Generic, format!("cannot write manual pages to {}: {error}", folder.display()))
    };
    std::fs::create_dir_all(folder).map_err(fail)?;
    clap_mangen::generate_to(whole.disable_help_subcommand(true), folder).map_err(fail)?;
    output::answer(&format!("{}: manual pages; begin with `man {}/onrush.1`\n", folder.display(), folder.display()))
}
