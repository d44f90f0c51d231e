//! A comparison as text, Markdown for a pull request, JSON for programs and JUnit XML for CI.
//!
//! All four say the same; the sentences are made once, in `words`.

mod json;
mod junit;
mod markdown;
mod text;
mod words;

use crate::compare::Comparison;

pub use json::{ComparisonAnswer, json};
pub use junit::{junit, suite};
pub use markdown::markdown;
pub use text::text;
pub use words::headline;
pub(crate) use words::{condition, row};

/// Heads and rows of the table over all pairs; the last cell of a row is the verdict.
pub fn table(comparison: &Comparison) -> (Vec<String>, Vec<Vec<String>>) {
    let section = &comparison.all;
    let head = words::columns(section).into_iter().map(str::to_owned).collect();
    (head, section.judged.iter().chain(&section.shown).map(|row| words::cells(row, section)).collect())
}

/// What there is to know about it: runs that were left out, what may explain a difference, how it was judged.
pub fn notes(comparison: &Comparison) -> Vec<String> {
    let warnings = comparison.warnings.iter().cloned();
    words::left_out(comparison).into_iter().chain(warnings).chain(words::notes(comparison)).collect()
}
