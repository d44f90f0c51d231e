//! `--json`: what a command says, as one document for programs.
//!
//! The flag in one place, the documents that are made in this crate (those of results are made in `report`), and the
//! list of who prints what, from which docs/reference/json.md is made. Standard output has the document and nothing
//! else; what people read goes to standard error. A command that fails prints no document, except `run`, whose exit
//! code is in it.

mod documents;
#[cfg(test)]
mod list;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, ArgMatches};
use serde::Serialize;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output;

pub use documents::{
    Conversion, ConversionNote, Dependencies, FeatureAnswer, MatrixOrder, OrderTurn, Served, Serving, VersionAnswer,
    WrittenFiles,
};
#[cfg(test)]
pub use list::{ANSWERS, Answer, WITHOUT};

const NAME: &str = "json";

/// `--json` of a command whose document has this schema, a file of docs/schema.
pub fn flag(schema: &'static str) -> Arg {
    flag_saying(format!("As JSON (docs/schema/{schema})"))
}

/// The same with its own words.
pub fn flag_saying(help: impl Into<StyledStr>) -> Arg {
    Arg::new(NAME).long(NAME).action(ArgAction::SetTrue).help(help.into())
}

/// Whether it was asked for.
pub fn is_wanted(matches: &ArgMatches) -> bool {
    matches.get_flag(NAME)
}

/// The document as it is printed: with line breaks, since people read it too.
pub fn text(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("plain data") + "\n"
}

/// The same in one line, for what goes on for long and prints several.
pub fn line(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("plain data")
}

/// Prints the document, which is all that the command says.
pub fn print(document: &impl Serialize) -> Result<ExitCode, Failure> {
    output::answer(&text(document))
}
