//! Where the flags of a run come from: the command line, else the variable that a flag has in the table of flags. An
//! empty text counts as nothing.

use std::collections::BTreeMap;

use clap::ArgMatches;
use script::options::parse_switch;

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// Flags and variables.
pub struct FlagSource<'a> {
    pub matches: &'a ArgMatches,
    pub env: BTreeMap<String, String>,
}

impl FlagSource<'_> {
    /// The flag, else its variable, else nothing; empty texts count as nothing.
    pub fn text(&self, name: &str) -> Option<String> {
        let flag = crate::flags::RUN_FLAGS.iter().find(|flag| flag.name == name).expect("in the list");
        let given = self.matches.try_get_one::<String>(name).ok().flatten().cloned();
        given.or_else(|| self.env.get(flag.env?).cloned()).filter(|text| !text.is_empty())
    }

    /// Whether it has a value from the command line.
    pub fn is_given(&self, name: &str) -> bool {
        self.matches.try_contains_id(name).is_ok_and(|given| given)
    }

    /// All values of a flag that may be repeated and has no variable.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &String> {
        self.matches.try_get_many::<String>(name).ok().flatten().into_iter().flatten()
    }

    pub fn switch(&self, name: &str, standard: bool) -> Result<bool, Failure> {
        match self.text(name) {
            None => Ok(standard),
            Some(text) => {
                parse_switch(&text).ok_or_else(|| generic(format!("--{name}: found '{text}', expected true or false")))
            }
        }
    }
}

/// A flag that cannot be obeyed.
pub(super) fn generic(message: String) -> Failure {
    Failure::new(ExitCode::Generic, message)
}
