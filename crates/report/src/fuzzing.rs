//! Readers of documents that have no other way out of this crate, for `cargo xtask fuzz`.

use std::path::Path;

use crate::document::{Document, file, vlq};
use crate::witness;

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

/// What a load tool printed: it is refused in words, or read as numbers, judged, and shown.
pub fn claims(input: &[u8]) -> Result<(), String> {
    let claims = match witness::parse_claims(&String::from_utf8_lossy(input)) {
        Err(problem) if problem.is_empty() => return Err(String::from("an error without a text")),
        Err(_) => return Ok(()),
        Ok(claims) => claims,
    };
    if let Some(odd) = claims.figures.iter().find(|claim| !(claim.value >= 0.0 && claim.rounding >= 0.0)) {
        return Err(format!("no number: {odd:?}"));
    }
    let trial = witness::judge(&witness::WitnessDocument::default(), &claims);
    let _ = witness::text(&trial);
    Ok(())
}

/// The file of a witness: what is read can be written and read again, and a tool be judged by it.
pub fn witness(input: &[u8]) -> Result<(), String> {
    let Ok(document) = witness::parse_witness(&String::from_utf8_lossy(input)) else { return Ok(()) };
    let written = serde_json::to_string(&document).map_err(|error| format!("cannot be written: {error}"))?;
    witness::parse_witness(&written).map_err(|error| format!("is written as {written}, which is refused: {error}"))?;
    let output = include_str!("../tests/witness/wrk.txt");
    let claims = witness::parse_claims(output).map_err(|error| format!("wrk's output: {error}"))?;
    let _ = witness::text(&witness::judge(&document, &claims));
    Ok(())
}
