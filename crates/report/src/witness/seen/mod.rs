//! What a target saw: kept while it serves, and as a document behind it.

mod account;
mod document;
mod slots;

pub use account::{Account, AnswerSeen, RequestSeen, Served};
#[cfg(feature = "fuzzing")]
pub(crate) use document::parse;
pub use document::{Stall, WitnessDocument, read};
