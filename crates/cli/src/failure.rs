//! What a command says when it cannot go on: a message for the person who typed it, and an exit code.

use crate::exit_code::ExitCode;

/// A reason to end with this code after printing this message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub code: ExitCode,
    /// What failed, where, what was found, what was expected, what to do.
    pub message: String,
}

impl Failure {
    /// A failure ready to be printed.
    pub fn new(code: ExitCode, message: impl Into<String>) -> Self {
        Failure { code, message: message.into() }
    }
    /// The failure of a flag whose value does not fit.
    pub fn of_flag(flag: &str, found: &str, expected: &str) -> Self {
        Failure::new(ExitCode::Generic, format!("{flag}: found '{found}', expected {expected}"))
    }
}
