//! `/body/{kind}/{size}`: the same bytes in every way a server can have them, to compare the ways.
//!
//! The bytes are the static megabyte of noise again and again, so nothing is made for a request but a list of pieces.
//! Only files are made: one for the process, without a name, grown to the longest body asked for.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::outgoing::respond::{BINARY, Body, Reply, Response};
use crate::outgoing::timed::TimedPieces;
use crate::range::asked;
use crate::request::{Request, bad_request};
use crate::routes::data::{BLOCK, MAX_BYTES, noise, noise_pieces};

/// Pieces of an array: their list takes 32 bytes each.
const MOST_PIECES: u64 = 100_000;

pub(crate) fn body(request: &Request<'_>) -> Reply {
    try_body(request).map_or_else(|reply| *reply, Reply::from)
}

fn try_body(request: &Request<'_>) -> Result<Response, Box<Reply>> {
    let total = size("the size", &request.param(1), 0..=MAX_BYTES)?;
    let piece = request.arg("piece").map_or(Ok(1024), |text| size("piece", &text, 1..=BLOCK as u64))?;
    let body = match &*request.param(0) {
        "string" if total <= BLOCK as u64 => Body::Static(&noise()[..total as usize]),
        "string" => Body::Array(pieces(total, BLOCK as u64).collect()),
        "array" if total / piece >= MOST_PIECES => {
            return Err(bad_request(&format!("{total} bytes in pieces of {piece} are more than {MOST_PIECES} pieces")));
        }
        "array" => Body::Array(pieces(total, piece).collect()),
        "chunked" => Body::stream(TimedPieces::new(noise_pieces(total, piece as usize, None))),
        "file" => {
            let file = file_of(total)
                .map_err(|e| Response::error(500, &format!("the file of the body could not be made: {e}")))
                .map_err(|response| Box::new(Reply::from(response)))?;
            Body::File { file, offset: 0, length: total }
        }
        kind => return Err(bad_request(&format!("the kind is {kind:?}, expected string, array, chunked or file"))),
    };
    Ok(Response::new(200, BINARY, body).within(asked(request, None).as_deref()))
}

/// Bytes with an optional `k`, `m` or `g` (powers of 1024).
fn size(name: &str, text: &str, range: RangeInclusive<u64>) -> Result<u64, Box<Reply>> {
    units::size::parse(text).filter(|bytes| range.contains(bytes)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        bad_request(&format!("{name} is {text:?}, expected {least} to {most} bytes, such as 500, 10k or 1m"))
    })
}

fn pieces(total: u64, step: u64) -> impl Iterator<Item = Bytes> {
    noise_pieces(total, step as usize, None).map(|piece| piece.bytes)
}

/// The file with at least this many bytes.
fn file_of(length: u64) -> io::Result<Arc<File>> {
    static KEPT: Mutex<Option<(Arc<File>, u64)>> = Mutex::new(None);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.is_none() {
        *kept = Some((Arc::new(nameless()?), 0));
    }
    let (file, has) = kept.as_mut().expect("it was just made");
    while *has < length {
        file.as_ref().write_all(noise())?;
        *has += BLOCK as u64;
    }
    Ok(Arc::clone(file))
}

/// A file that goes when the process does.
fn nameless() -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("onrush-body-{}-{:016x}", std::process::id(), fastrand::u64(..)));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_within_their_range() {
        assert_eq!(size("size", "1g", 0..=MAX_BYTES).ok(), Some(1 << 30));
        for text in ["", "-1", "2g", "1.5k"] {
            assert!(size("size", text, 0..=MAX_BYTES).is_err(), "{text}");
        }
        assert!(size("piece", "0", 1..=9).is_err());
    }
}
