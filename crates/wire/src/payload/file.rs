//! Files as parts of bodies: opened once, read by position while they are sent.
//!
//! Positional reads, because many users send the same file at once and each is somewhere else in it. A read blocks the
//! worker: from the page cache that is microseconds for a piece, and a file under load is in the page cache after the
//! first user has read it; a thread pool would cost more than it saves. Refuses what is not a regular file (a
//! directory, a pipe): its length is not known ahead. Invariant: a range lies inside of the file as it was when it was
//! opened.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::PayloadError;

/// An open file of known length.
pub struct PayloadFile {
    file: File,
    path: PathBuf,
    len: u64,
}

/// A part of a file. Cheap to clone.
#[derive(Clone)]
pub struct FileRange {
    file: Arc<PayloadFile>,
    start: u64,
    len: u64,
}

impl PayloadFile {
    /// Opens a regular file for reading and notes its length. The error says what is wrong with it.
    pub fn open(path: &Path) -> Result<Arc<PayloadFile>, PayloadError> {
        // Without O_NONBLOCK, opening a pipe waits for a writer, and with it the worker.
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path);
        let file = file.map_err(|error| cannot_open(path, &error))?;
        let meta = file.metadata().map_err(|error| cannot_open(path, &error))?;
        if meta.is_dir() {
            return Err(PayloadError(format!("open {}: is a directory, expected a file", path.display())));
        }
        if !meta.is_file() {
            let message = "is not a regular file, so its length is not known; expected a file";
            return Err(PayloadError(format!("open {}: {message}", path.display())));
        }
        Ok(Arc::new(PayloadFile { file, path: path.to_path_buf(), len: meta.len() }))
    }

    /// Length in bytes when it was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it was empty when it was opened.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn cannot_open(path: &Path, error: &io::Error) -> PayloadError {
    let path = path.display();
    PayloadError(match error.kind() {
        io::ErrorKind::NotFound => format!("open {path}: no such file or directory"),
        io::ErrorKind::PermissionDenied => format!("open {path}: permission denied"),
        _ => format!("open {path}: {}", error.to_string().to_lowercase()),
    })
}

impl FileRange {
    /// The whole file.
    pub fn whole(file: Arc<PayloadFile>) -> FileRange {
        let len = file.len;
        FileRange { file, start: 0, len }
    }

    /// The bytes from `start` up to `end` of this range; `None` when that is not inside of it.
    pub fn slice(&self, start: u64, end: u64) -> Option<FileRange> {
        let inside = start <= end && end <= self.len;
        debug_assert!(self.start + self.len <= self.file.len, "a range lies within its file: {self:?}");
        inside.then(|| FileRange { file: Arc::clone(&self.file), start: self.start + start, len: end - start })
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The file.
    pub fn file(&self) -> &PayloadFile {
        &self.file
    }

    /// Fills the buffer from `offset` of the range on; less only at its end. Fails when the file has become too short.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, PayloadError> {
        let left = self.len.saturating_sub(offset);
        let want = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let mut filled = 0;
        while filled < want {
            let at = self.start + offset + filled as u64;
            match self.file.file.read_at(&mut buffer[filled..want], at) {
                Ok(0) => return Err(self.too_short(offset + filled as u64)),
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unreadable(&error)),
            }
        }
        Ok(want)
    }

    /// The descriptor and the position in the file of `offset` of this range, for sendfile.
    pub(crate) fn at(&self, offset: u64) -> (&File, u64) {
        (&self.file.file, self.start + offset)
    }

    /// The file ended `offset` bytes into the range.
    pub(crate) fn too_short(&self, offset: u64) -> PayloadError {
        let (path, end) = (self.file.path.display(), self.start + self.len);
        let found = self.start + offset;
        PayloadError(format!(
            "read {path}: the file ends after {found} bytes, expected {end} as when it was opened: it was truncated \
             during the test"
        ))
    }

    /// The file cannot be read.
    pub(crate) fn unreadable(&self, error: &io::Error) -> PayloadError {
        PayloadError(format!("read {}: {}", self.file.path.display(), error.to_string().to_lowercase()))
    }
}

impl fmt::Debug for FileRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "File({}, {} bytes from {})", self.file.path.display(), self.len, self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of its own for each test, gone with the value.
    struct Scratch(PathBuf);

    impl Scratch {
        fn with(content: &[u8]) -> Scratch {
            let name = format!("onrush-payload-{}-{:x}", std::process::id(), fastrand::u64(..));
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, content).unwrap();
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn read(range: &FileRange, offset: u64, len: usize) -> Result<Vec<u8>, PayloadError> {
        let mut buffer = vec![0; len];
        let n = range.read_at(offset, &mut buffer)?;
        buffer.truncate(n);
        Ok(buffer)
    }

    #[test]
    fn ranges_of_ranges_read_their_part() {
        let scratch = Scratch::with(b"0123456789");
        let whole = FileRange::whole(PayloadFile::open(&scratch.0).unwrap());
        let middle = whole.slice(2, 8).unwrap();
        assert_eq!(read(&middle, 0, 99).unwrap(), b"234567");
        assert_eq!(read(&middle.slice(1, 3).unwrap(), 1, 9).unwrap(), b"4");
        assert_eq!(read(&middle, 6, 9).unwrap(), b"");
        assert!(middle.slice(0, 7).is_none() && middle.slice(3, 2).is_none());
        assert!(middle.slice(6, 6).unwrap().is_empty());
    }

    #[test]
    fn a_file_that_shrinks_is_named_with_what_was_expected() {
        let scratch = Scratch::with(b"0123456789");
        let whole = FileRange::whole(PayloadFile::open(&scratch.0).unwrap());
        std::fs::write(&scratch.0, b"0123").unwrap();
        let error = read(&whole, 2, 99).unwrap_err().0;
        assert!(
            error.ends_with(
                "the file ends after 4 bytes, expected 10 as when it was opened: it was truncated during the test"
            ),
            "{error}"
        );
        assert!(error.starts_with(&format!("read {}", scratch.0.display())));
    }

    #[test]
    fn an_unlinked_file_goes_on_and_a_missing_one_is_refused() {
        let scratch = Scratch::with(b"abc");
        let whole = FileRange::whole(PayloadFile::open(&scratch.0).unwrap());
        std::fs::remove_file(&scratch.0).unwrap();
        assert_eq!(read(&whole, 0, 9).unwrap(), b"abc");
        let error = PayloadFile::open(&scratch.0).map(|_| ()).unwrap_err().0;
        assert_eq!(error, format!("open {}: no such file or directory", scratch.0.display()));
    }

    #[test]
    fn directories_and_devices_are_refused() {
        let error = |path: &str| PayloadFile::open(Path::new(path)).map(|_| ()).unwrap_err().0;
        assert_eq!(error("/"), "open /: is a directory, expected a file");
        assert_eq!(
            error("/dev/null"),
            "open /dev/null: is not a regular file, so its length is not known; expected a file"
        );
    }
}
