//! Durations, sizes, bandwidths, dates and names: how people write them and how Onrush shows them.
//!
//! The ground that every other crate may stand on. It imports none of them, does no IO and reads no clock. Errors say
//! what was found and what was expected; which option, flag or field it was is the caller's to say.

pub mod bandwidth;
pub mod date;
pub mod field;
mod left_out;
pub mod show;
pub mod size;
pub mod span;
pub mod suggest;

pub use bandwidth::Bandwidth;
pub use left_out::left_out;
pub use span::Span;
