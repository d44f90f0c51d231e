//! What the command line asks for.

use std::ops::Range;

const USAGE: &str = "usage: cargo xtask world [--seeds N] [--first N] [--seed N]";

/// Which seeds are tried.
pub(crate) struct Options {
    pub(crate) seeds: Range<u64>,
    /// So many failed seeds end the command.
    pub(crate) most_failed: usize,
}

impl Options {
    pub(crate) fn read(arguments: &[String]) -> Result<Options, String> {
        let (mut count, mut first) = (100_000, 0);
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"))?;
            let number: u64 =
                value.parse().map_err(|_| format!("{argument} {value}: expected a whole number\n{USAGE}"))?;
            match argument.as_str() {
                "--seeds" => count = number,
                "--first" => first = number,
                "--seed" => (first, count) = (number, 1),
                other => return Err(format!("found {other:?}\n{USAGE}")),
            }
        }
        Ok(Options { seeds: first..first.saturating_add(count), most_failed: 10 })
    }
}
