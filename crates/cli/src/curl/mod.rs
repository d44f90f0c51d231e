//! A command line in the words of curl, and of wrk, oha, hey and bombardier where they agree: which request it means.
//!
//! `flag.rs` is the one table of flags, `letter.rs` says what a letter means, `line.rs` reads the words, `request.rs`
//! makes the request; `convert::source` writes it as JavaScript. What load the line asks for is read in
//! `quick/traffic.rs`.

mod address;
pub mod body;
pub mod flag;
mod form;
mod headers;
pub mod input;
pub mod letter;
pub mod line;
mod reach;
pub mod request;
pub mod url_word;
