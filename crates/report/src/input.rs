//! Files that somebody names as results, read whole within bounds.
//!
//! Refuses what is no regular file before opening it: a pipe would wait for its other end, a device may never end.
//! Refuses what is larger than any result, packed or not, instead of filling the memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// No result has more bytes, packed or not: a day of seconds with a hundred series takes half of it.
const LARGEST: u64 = 1 << 30;

/// The bytes of a file.
pub(crate) fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    bytes_within(path, LARGEST)
}

/// The text of a file, also of one that was packed with gzip afterwards.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    text_within(path, LARGEST)
}

fn bytes_within(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let found = std::fs::metadata(path)?;
    if found.is_dir() {
        return refuse(io::ErrorKind::IsADirectory, "it is a directory, expected a file".into());
    }
    if !found.is_file() {
        let why = "it is a pipe, a socket or a device, expected a regular file";
        return refuse(io::ErrorKind::InvalidInput, why.into());
    }
    if found.len() > largest {
        return refuse(io::ErrorKind::FileTooLarge, format!("it has {} bytes, {}", found.len(), expected(largest)));
    }
    all_of(File::open(path)?, largest)
}

fn text_within(path: &Path, largest: u64) -> io::Result<String> {
    let bytes = bytes_within(path, largest)?;
    let bytes = match bytes.starts_with(&[0x1f, 0x8b]) {
        true => all_of(flate2::read::MultiGzDecoder::new(&bytes[..]), largest)?,
        false => bytes,
    };
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// Up to the bound, whatever the length was said to be: a file may grow while it is read.
fn all_of(from: impl Read, largest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(largest + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > largest {
        true => refuse(io::ErrorKind::FileTooLarge, format!("it has more than {largest} bytes, {}", expected(largest))),
        false => Ok(bytes),
    }
}

fn expected(largest: u64) -> String {
    format!("expected a result, which has {largest} at most")
}

fn refuse<T>(kind: io::ErrorKind, why: String) -> io::Result<T> {
    Err(io::Error::new(kind, why))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_no_file_and_what_is_too_large_is_refused() {
        let folder = std::env::temp_dir().join(format!("onrush-input-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("file");
        std::fs::write(&file, "x".repeat(100)).unwrap();
        let error = |path: &Path, largest| text_within(path, largest).unwrap_err().to_string();
        assert_eq!(text_within(&file, 100).unwrap().len(), 100);
        assert_eq!(error(&file, 99), "it has 100 bytes, expected a result, which has 99 at most");
        assert_eq!(error(&folder, 99), "it is a directory, expected a file");
        let special = "it is a pipe, a socket or a device, expected a regular file";
        assert_eq!(error(Path::new("/dev/zero"), 99), special);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&[b' '; 100_000]).unwrap();
        std::fs::write(&file, packed.finish().unwrap()).unwrap();
        assert_eq!(text_within(&file, 100_000).unwrap().len(), 100_000);
        assert_eq!(error(&file, 99_999), "it has more than 99999 bytes, expected a result, which has 99999 at most");
        // A file of /proc says that it is empty.
        assert!(!bytes_within(Path::new("/proc/self/status"), 1 << 20).unwrap().is_empty());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
