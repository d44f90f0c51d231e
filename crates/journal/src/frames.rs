//! Frames of a file that grows: length, checksum, content. What was cut or damaged is known when it is read.
//!
//! Length and checksum (CRC-32) are 32 bits each, little-endian. A frame is written by one call, so that only the last
//! one of a process that was killed can be cut.

use std::io::{self, Read, Write};

/// In front of each frame's content.
pub(crate) const HEAD_BYTES: usize = 8;
/// More than an interval can have; so much is not allocated because a length is damaged.
const LONGEST: u32 = 1 << 30;

/// Appends a frame. Returns how many bytes it takes.
pub(crate) fn write(file: &mut impl Write, content: &[u8]) -> io::Result<u64> {
    let length = u32::try_from(content.len()).ok().filter(|length| *length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other(format!("{} bytes are too many for a frame", content.len())))?;
    let mut frame = Vec::with_capacity(HEAD_BYTES + content.len());
    frame.extend(length.to_le_bytes());
    frame.extend(crc32fast::hash(content).to_le_bytes());
    frame.extend(content);
    file.write_all(&frame)?;
    Ok(frame.len() as u64)
}

/// The next frame's content; `None` at the end. The error says what is wrong.
pub(crate) fn read(file: &mut impl Read) -> Result<Option<Vec<u8>>, String> {
    let mut head = Vec::new();
    let read = |file: &mut dyn Read, bytes: u64, into: &mut Vec<u8>| {
        file.take(bytes).read_to_end(into).map_err(|error| error.to_string())
    };
    read(file, HEAD_BYTES as u64, &mut head)?;
    let Ok(head) = <[u8; HEAD_BYTES]>::try_from(head.as_slice()) else {
        let cut = format!("it ends after {} of the {HEAD_BYTES} bytes of a frame's head", head.len());
        return if head.is_empty() { Ok(None) } else { Err(cut) };
    };
    let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (length, checksum) = (number(0), number(4));
    if length > LONGEST {
        return Err(format!("found a frame of {length} bytes, expected at most {LONGEST}"));
    }
    let mut content = Vec::new();
    read(file, u64::from(length), &mut content)?;
    if content.len() < length as usize {
        return Err(format!("it ends after {} of the {length} bytes of a frame", content.len()));
    }
    let found = crc32fast::hash(&content);
    if found != checksum {
        return Err(format!("found checksum {found:08x}, expected {checksum:08x}"));
    }
    Ok(Some(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_until_one_is_cut_or_damaged() {
        let mut bytes = Vec::new();
        write(&mut bytes, b"first").unwrap();
        write(&mut bytes, b"").unwrap();
        let all = |mut bytes: &[u8]| -> Result<Vec<Vec<u8>>, String> {
            std::iter::from_fn(|| read(&mut bytes).transpose()).collect()
        };
        assert_eq!(all(&bytes), Ok(vec![b"first".to_vec(), Vec::new()]));
        assert_eq!(all(&bytes[..bytes.len() - 3]), Err("it ends after 5 of the 8 bytes of a frame's head".into()));
        assert_eq!(all(&bytes[..11]), Err("it ends after 3 of the 5 bytes of a frame".into()));
        let mut damaged = bytes.clone();
        damaged[9] ^= 1;
        assert!(all(&damaged).unwrap_err().starts_with("found checksum "));
        damaged[3] = 0xff;
        assert!(all(&damaged).unwrap_err().starts_with("found a frame of "));
    }
}
