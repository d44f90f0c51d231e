//! HAR 1.2, the recordings of browsers and proxies, read entry by entry.
//!
//! Only the entry that is being read is in memory: a file of some hundred megabytes, most of it answers, takes no more
//! than the requests in it. Pages stand anywhere in the file, so groups are named at the end. What nothing
//! reads is named.

mod entry;
mod log;

use std::collections::HashMap;
use std::io::Read;

use crate::Format;
use crate::conversion::{Converted, Settings};
use crate::notes::Problem;
use crate::recording::Recording;
use log::Found;

/// Reads a recording.
pub fn read(input: impl Read, settings: &Settings) -> Result<Converted, Problem> {
    let mut recording = Recording::new(settings);
    let mut titles = HashMap::new();
    let mut count = 0;
    let mut reader = serde_json::Deserializer::from_reader(std::io::BufReader::with_capacity(64 << 10, input));
    let found = log::read(&mut reader, &mut titles, &mut |found| match found {
        Found::Entry(entry) => {
            count += 1;
            entry::add(&entry, &mut recording, count);
        }
        Found::Beside(name, node) => node.unread_from(Format::Har, name, &mut |unread| {
            recording.note("", format!("log.{} is left out", unread.path.join(".").escape_debug()));
        }),
    });
    found.and_then(|has_log| reader.end().map(|()| has_log)).map_err(Problem::from).and_then(
        |has_log| match has_log {
            true => Ok(()),
            false => Err(Problem::new("found JSON without 'log.entries', expected a recording in the form HAR 1.2")),
        },
    )?;
    Ok(recording.named(&titles).finish())
}
