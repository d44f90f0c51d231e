//! `onrush report DIR`: a saved result as one HTML file.
//!
//! Reads the document, or the journal of a run that did not come to its end, writes the page, says where.

use std::path::{Path, PathBuf};

use ::report::document::{Document, path_of, read};
use ::report::html::run::page;
use ::report::visible;
use clap::{Arg, ArgMatches, Command};

use super::run::rebuild::rebuild;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output;

/// Name of the report beside its document.
const FILE_NAME: &str = "report.html";

/// The command line.
pub fn command() -> Command {
    Command::new("report")
        .about("Make an HTML report of a saved result")
        .after_help("The report is one file that opens offline: charts over time, distributions, tables.")
        .arg(Arg::new("result").value_name("DIR").required(true).help("What --save was given, or a result.json"))
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .help("Where to write it, - for standard output [default: report.html beside the result]"),
        )
}

/// Makes the report.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let result = Path::new(matches.get_one::<String>("result").expect("required"));
    let document = document(result).map_err(|problem| Failure::new(ExitCode::Generic, problem))?;
    let text = page(&document);
    match matches.get_one::<String>("output").map(String::as_str) {
        Some("-") => {
            output::print(&text).map_err(|e| not_written("standard output", &e))?;
        }
        given => {
            let path = given.map_or_else(|| beside(result), PathBuf::from);
            std::fs::write(&path, text).map_err(|e| not_written(&path.display().to_string(), &e))?;
            let wrote = format!("wrote {}\n", visible(&path.display().to_string()));
            output::stdout().print(wrote.as_bytes());
        }
    }
    Ok(ExitCode::Ok)
}

/// The result; of a run that did not come to its end, what its journal has, which is kept as the result from then on.
fn document(path: &Path) -> Result<Document, String> {
    let rebuilt = if path.is_dir() { rebuild(path)? } else { None };
    let Some(document) = rebuilt else { return read(path).map_err(|error| error.to_string()) };
    let file = visible(&path_of(path).display().to_string()).into_owned();
    let told = match document.write(path) {
        Ok(()) => format!("the run has not come to its end: {file} is made of its journal\n"),
        Err(error) => format!("the run has not come to its end: read from its journal; cannot write {file}: {error}\n"),
    };
    output::stderr().print(told.as_bytes());
    Ok(document)
}

fn beside(result: &Path) -> PathBuf {
    path_of(result).with_file_name(FILE_NAME)
}

fn not_written(place: &str, error: &std::io::Error) -> Failure {
    let text = format!("cannot write the report to {place}: {error}; name another place with -o FILE");
    Failure::new(ExitCode::ResultNotWritten, text)
}
