//! `onrush report DIR`: a saved result as one HTML file.
//!
//! Reads the document, writes the page, says where. Nothing is measured and nothing but the document is read.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command};

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
    let document = ::report::document::read(result).map_err(|e| Failure::new(ExitCode::Generic, e.to_string()))?;
    let page = ::report::html::run::page(&document);
    match matches.get_one::<String>("output").map(String::as_str) {
        Some("-") => {
            output::print(&page).map_err(|e| not_written("standard output", &e))?;
        }
        given => {
            let path = given.map_or_else(|| beside(result), PathBuf::from);
            std::fs::write(&path, page).map_err(|e| not_written(&path.display().to_string(), &e))?;
            let wrote = format!("wrote {}\n", ::report::visible(&path.display().to_string()));
            output::stdout().print(wrote.as_bytes());
        }
    }
    Ok(ExitCode::Ok)
}

fn beside(result: &Path) -> PathBuf {
    ::report::document::path_of(result).with_file_name(FILE_NAME)
}

fn not_written(place: &str, error: &std::io::Error) -> Failure {
    let text = format!("cannot write the report to {place}: {error}; name another place with -o FILE");
    Failure::new(ExitCode::ResultNotWritten, text)
}
