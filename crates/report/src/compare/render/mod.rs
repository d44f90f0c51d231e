//! A comparison as text, Markdown for a pull request, JSON for programs and JUnit XML for CI.
//!
//! All four say the same; the sentences are made once, in `words`.

mod json;
mod junit;
mod markdown;
mod text;
mod words;

pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use text::text;
