//! `onrush table`: the result of a matrix, shown again in another way.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command};
use report::matrix::document;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::process::whole_file;
use crate::terminal::tables::{self, Asked};

/// The `table` command.
pub fn command() -> Command {
    let command = Command::new("table")
        .about("Show the result of a matrix again: other groups, another format")
        .arg(Arg::new("result").value_name("RESULT").required(true).help("The file that `onrush matrix` wrote"))
        .arg(Arg::new("output").short('o').long("output").value_name("FILE").help("Write there instead of printing"))
        .arg(
            Arg::new("accept-late")
                .long("accept-late")
                .action(ArgAction::SetTrue)
                .help("Count runs whose generator was late or the limit; the tables say so"),
        );
    tables::flags(command)
}

/// Shows a result.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let asked = Asked::read(matches)?;
    let file: &String = matches.get_one("result").expect("required");
    let mut document = document::read(Path::new(file)).map_err(generic)?;
    if matches.get_flag("accept-late") {
        document.accept_late();
    }
    let text = asked.text(&document)?;
    match matches.get_one::<String>("output").map(PathBuf::from) {
        Some(path) => {
            whole_file::write(&path, text)
                .map_err(|error| generic(format!("cannot write {}: {error}", path.display())))?;
        }
        None => tables::print(&text)?,
    }
    Ok(ExitCode::Ok)
}

fn generic(message: impl Into<String>) -> Failure {
    Failure::new(ExitCode::Generic, message)
}
