//! `--scenario`, `--once` and `--hold`: what of a script runs, and under which load.

use engine::scenario::{Hold, Selection};

use crate::commands::run::start::flag_source::{FlagSource, generic};
use crate::failure::Failure;

/// What of the script runs. Names have commas between them, or come one by one.
pub fn read(source: &FlagSource<'_>) -> Result<Selection, Failure> {
    let names = source.all("scenario").flat_map(|text| text.split(',')).map(|name| name.trim().to_owned());
    let names: Vec<String> = names.collect();
    match names.iter().any(String::is_empty) {
        true => Err(generic(String::from("--scenario: found an empty name, expected names of scenarios, as in a,b"))),
        false => Ok(Selection { names, is_once: source.switch("once", false)?, once_for: None }),
    }
}

/// The load in place of the script's shape.
pub fn hold(source: &FlagSource<'_>) -> Result<Option<Hold>, Failure> {
    let hold = source.text("hold").map(|text| Hold::read(&text)).transpose();
    hold.map_err(|problem| generic(format!("--hold: {problem}")))
}
