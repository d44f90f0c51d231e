//! What other tools recorded or were told (HAR, OpenAPI, Postman, JMeter, wrk, vegeta, access logs), written as a
//! script.
//!
//! Pure: text or a reader of bytes comes in; a script, its files and notes come out. No socket, no clock, no flag, no
//! file is opened here. The invariant: what is not carried over is said in a note, and input that lies or is cut short
//! ends with its place, never with a panic.

mod access_log;
pub mod commands;
mod conversion;
mod credentials;
mod detect;
mod har;
mod identifier;
mod jmeter;
mod meaningless;
pub mod model;
mod node;
mod notes;
mod openapi;
mod postman;
pub mod recording;
pub mod shell;
mod slicer;
pub mod source;
pub mod template;
mod vegeta;
mod write;
mod wrk;

use std::io::Read;

pub use conversion::{Converted, Settings};
pub use detect::{Format, detect};
pub use meaningless::is_meaningless;
pub use notes::{Note, Notes, Problem};
pub use write::{Style, script as write_script};

/// Reads a recording of a browser, entry by entry.
///
/// # Errors
/// When the text is no such recording, or is cut short.
pub fn from_har(input: impl Read, settings: &Settings) -> Result<Converted, Problem> {
    har::read(input, settings)
}

/// Reads the text of another format.
///
/// # Errors
/// When the text is not of that format.
pub fn from_text(format: Format, text: &str, settings: &Settings) -> Result<Converted, Problem> {
    match format {
        Format::Har => har::read(text.as_bytes(), settings),
        Format::Wrk => wrk::read(text, settings),
        Format::Vegeta => vegeta::read(text, settings),
        Format::AccessLog => access_log::read(text, settings),
        Format::Postman => postman::read(text, settings),
        Format::Jmeter => jmeter::read(text, settings),
        Format::OpenApi => openapi::read(text, settings),
        Format::Curl => Err(Problem::new("command lines of curl are read by the words of `onrush curl`")),
    }
}
