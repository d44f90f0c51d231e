//! `--scenario` and `--once`: what of a script runs.

use engine::scenario::Selection;

use crate::commands::run::start::flag_source::{FlagSource, generic};
use crate::failure::Failure;

/// What of the script runs. Names have commas between them, or come one by one.
pub fn read(source: &FlagSource<'_>) -> Result<Selection, Failure> {
    let names = source.all("scenario").flat_map(|text| text.split(',')).map(|name| name.trim().to_owned());
    let names: Vec<String> = names.collect();
    match names.iter().any(String::is_empty) {
        true => Err(generic(String::from("--scenario: found an empty name, expected names of scenarios, as in a,b"))),
        false => Ok(Selection { names, is_once: source.switch("once", false)? }),
    }
}
