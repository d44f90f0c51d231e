//! The five bytes before each message: whether it is compressed, and its length.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Bytes before a message.
pub const PREFIX: usize = 5;

/// Writes the prefix of a message that begins at `at + PREFIX` and ends with the buffer.
pub fn finish(out: &mut [u8], at: usize) {
    debug_assert!(u32::try_from(out.len() - at - PREFIX).is_ok(), "a prefix has no room for {} bytes", out.len());
    let length = (out.len() - at - PREFIX) as u32;
    out[at] = 0;
    out[at + 1..at + PREFIX].copy_from_slice(&length.to_be_bytes());
}

/// Bytes compressed by gzip, behind those of `out`.
pub fn zip(bytes: &[u8], out: &mut Vec<u8>) {
    let mut encoder = GzEncoder::new(out, Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish().map(drop)).expect("memory takes every byte");
}

/// A message compressed by gzip, with its prefix.
pub fn gzip(message: &[u8]) -> Vec<u8> {
    let mut out = vec![1, 0, 0, 0, 0];
    zip(message, &mut out);
    let length = (out.len() - PREFIX) as u32;
    out[1..PREFIX].copy_from_slice(&length.to_be_bytes());
    out
}

/// What arrived and is not a whole message yet.
#[derive(Debug, Default)]
pub struct Frames {
    held: Vec<u8>,
    at: usize,
}

/// Why a message cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadFrame {
    /// It is longer than allowed.
    TooLong {
        /// Its length.
        length: usize,
    },
    /// It is marked as compressed where no compression was named, or is no gzip.
    Compression,
    /// The flags are none that exist.
    Flags(u8),
}

impl Frames {
    /// More bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        debug_assert!(self.at <= self.held.len(), "{} of {} bytes are taken", self.at, self.held.len());
        if self.at == self.held.len() {
            self.held.clear();
            self.at = 0;
        }
        self.held.extend_from_slice(bytes);
    }

    /// Bytes of memory that it holds.
    pub fn held(&self) -> usize {
        self.held.capacity()
    }

    /// Whether all bytes were taken.
    pub fn is_empty(&self) -> bool {
        self.at == self.held.len()
    }

    /// The next message, `None` until it is complete.
    pub fn next(&mut self, gzip: bool, most: usize) -> Result<Option<Vec<u8>>, BadFrame> {
        Ok(self.next_of(0, gzip, most)?.map(|(_, message)| message))
    }

    /// The next message with those of the flags `known` that it has, `None` until it is complete.
    pub fn next_of(&mut self, known: u8, gzip: bool, most: usize) -> Result<Option<(u8, Vec<u8>)>, BadFrame> {
        let Some(&[flags, a, b, c, d]) = self.held[self.at..].first_chunk::<PREFIX>() else { return Ok(None) };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > most {
            return Err(BadFrame::TooLong { length });
        }
        let from = self.at + PREFIX;
        let Some(message) = self.held.get(from..from + length) else { return Ok(None) };
        let message = match flags & !known {
            0 => message.to_vec(),
            1 if gzip => unzip(message, most)?,
            1 => return Err(BadFrame::Compression),
            _ => return Err(BadFrame::Flags(flags)),
        };
        self.at = from + length;
        Ok(Some((flags & known, message)))
    }
}

/// What was compressed by gzip, up to `most` bytes.
pub fn unzip(bytes: &[u8], most: usize) -> Result<Vec<u8>, BadFrame> {
    let mut out = Vec::new();
    let mut reader = GzDecoder::new(bytes).take((most as u64).saturating_add(1));
    reader.read_to_end(&mut out).map_err(|_| BadFrame::Compression)?;
    if out.len() > most { Err(BadFrame::TooLong { length: out.len() }) } else { Ok(out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_put_together() {
        let mut out = vec![0; PREFIX];
        out.extend_from_slice(b"hello");
        finish(&mut out, 0);
        out.extend_from_slice(&gzip(b"again"));
        let mut frames = Frames::default();
        let mut found = Vec::new();
        for byte in &out {
            frames.add(&[*byte]);
            found.extend(frames.next(true, 100).unwrap());
        }
        assert_eq!(found, [b"hello", b"again"]);
        assert!(frames.is_empty());
    }

    #[test]
    fn bad_frames_are_refused() {
        let next = |bytes: &[u8], gzip: bool| {
            let mut frames = Frames::default();
            frames.add(bytes);
            frames.next(gzip, 4)
        };
        assert_eq!(next(&[0, 0, 0, 0, 5], false), Err(BadFrame::TooLong { length: 5 }));
        assert_eq!(next(&[1, 0, 0, 0, 0], false), Err(BadFrame::Compression));
        assert_eq!(next(&[1, 0, 0, 0, 2, 1, 2], true), Err(BadFrame::Compression));
        assert_eq!(next(&[7, 0, 0, 0, 0], true), Err(BadFrame::Flags(7)));
        assert_eq!(next(&gzip(&[0; 64]), true), Err(BadFrame::TooLong { length: gzip(&[0; 64]).len() - PREFIX }));
        assert_eq!(next(&[0, 0, 0, 0, 1], false), Ok(None));
    }
}
