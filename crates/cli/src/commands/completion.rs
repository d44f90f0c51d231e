//! `onrush completion` and `onrush man`: what shells and `man` know of the commands, made from the one list of flags.

use std::io;
use std::path::Path;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::json_answer::{self, WrittenFiles};
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
    let folder = Arg::new("folder").value_name("FOLDER").required(true);
    Command::new("man")
        .about("Write the manual pages, one for each command")
        .arg(folder.help("Where to write, for example /usr/share/man/man1"))
        .arg(json_answer::flag("files-1.json"))
}

/// Writes the pages.
pub fn man(matches: &ArgMatches, whole: Command) -> Result<ExitCode, Failure> {
    let folder = Path::new(matches.get_one::<String>("folder").expect("required"));
    let fail = |error: io::Error| {
        Failure::new(ExitCode::Generic, format!("cannot write manual pages to {}: {error}", folder.display()))
    };
    std::fs::create_dir_all(folder).map_err(fail)?;
    clap_mangen::generate_to(whole.disable_help_subcommand(true), folder).map_err(fail)?;
    if json_answer::is_wanted(matches) {
        return json_answer::print(&WrittenFiles::new("man", pages(folder).map_err(fail)?, vec![]));
    }
    output::answer(&format!("{}: manual pages; begin with `man {}/onrush.1`\n", folder.display(), folder.display()))
}

/// Our pages in a folder, which may have others.
fn pages(folder: &Path) -> io::Result<Vec<String>> {
    let entries = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    let names = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let ours = names.filter(|name| name.starts_with("onrush") && name.ends_with(".1"));
    let mut paths: Vec<String> = ours.map(|name| folder.join(name).display().to_string()).collect();
    paths.sort();
    Ok(paths)
}
