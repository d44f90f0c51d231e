//! Readers of documents that have no other way out of this crate, for `cargo xtask fuzz`.

use std::path::Path;

use crate::document::{Document, file, vlq};

/// Numbers of a packed column: written again they are the same text, but for digits that say nothing.
pub fn vlq(input: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let Ok(numbers) = vlq::numbers(&text) else { return Ok(()) };
    let mut written = String::new();
    numbers.iter().for_each(|number| vlq::push(&mut written, *number));
    let again = vlq::numbers(&written);
    if again.as_ref() != Ok(&numbers) || written.len() > text.len() {
        return Err(format!("{text:?} is {numbers:?}, written as {written:?}, which reads as {again:?}"));
    }
    Ok(())
}

/// A result document: what is read can be written and read again, and be shown as a report and as text.
pub fn document(input: &[u8]) -> Result<(), String> {
    let Ok(document) = file::parse(Path::new("result.json"), input) else { return Ok(()) };
    let written = serde_json::to_vec(&document).map_err(|error| format!("cannot be written: {error}"))?;
    let again: Document = file::parse(Path::new("result.json"), &written).map_err(|error| {
        format!("is written as {}, which cannot be read: {error}", String::from_utf8_lossy(&written))
    })?;
    let _ = (crate::html::run::page(&document), crate::ci::digest(&document));
    match serde_json::to_vec(&again) {
        Ok(rewritten) if rewritten == written => Ok(()),
        _ => Err(String::from("written twice it is another document")),
    }
}
