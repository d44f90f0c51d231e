//! The files that scripts open: one descriptor a path for the process, a position for each handle.
//!
//! Bytes are read where the script asks for them, by position, and kept nowhere: the page cache of the system is the
//! copy that all virtual users share. Reading there costs a system call and takes no memory; a mapping would save the
//! call but end the process when somebody truncates the file. The size is fixed when the file is first opened: a file
//! that grows is read up to there, one that shrinks gives an error. Refused: directories, and what is no regular file
//! (opening a pipe could wait for ever).

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::experimental::named_error::NamedError;
use script::disk::{Disk, Unopened};

/// A file that a script has opened, shared by all handles of the process.
#[derive(Debug)]
pub struct DataFile {
    path: PathBuf,
    file: File,
    size: u64,
}

impl DataFile {
    /// Absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Last part of the path.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Bytes when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Fills `into` from this position as far as the file reaches; how many bytes that was.
    /// Fails when the system does, or when the file has become shorter.
    pub fn read_at(&self, position: u64, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size.saturating_sub(position)).unwrap_or(usize::MAX);
        let wanted = into.len().min(left);
        let mut filled = 0;
        while filled < wanted {
            match self.file.read_at(&mut into[filled..wanted], position + filled as u64) {
                Ok(0) => {
                    let message = format!("{} became shorter than the {} bytes it had", self.path.display(), self.size);
                    return Err(io::Error::new(ErrorKind::UnexpectedEof, message));
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// The files that were asked for in the process, by absolute path: open, or why not. What failed once is not tried
/// again, so that all virtual users see the same.
#[derive(Default)]
pub struct DataFiles {
    known: Mutex<HashMap<PathBuf, Result<Arc<DataFile>, NamedError>>>,
}

impl DataFiles {
    /// The file of this path. With `sealed` only one that was asked for before: as in k6, a file that the first run of
    /// the init code did not open cannot be opened by a later one.
    pub fn open(&self, disk: &Disk, path: &Path, sealed: bool) -> Result<Arc<DataFile>, NamedError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outcome) = known.get(path) {
            return outcome.clone();
        }
        if sealed {
            let message = format!(
                "open() failed: the first run of the init code did not open {}, and later runs may not add files; \
                 open it unconditionally",
                path.display()
            );
            return Err(NamedError::new("ForbiddenError", message));
        }
        let outcome = open(disk, path).map(Arc::new);
        known.insert(path.to_path_buf(), outcome.clone());
        outcome
    }
}

fn open(disk: &Disk, path: &Path) -> Result<DataFile, NamedError> {
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            NamedError::new("NotFoundError", format!("no such file or directory \"{}\"", path.display()))
        }
        _ => NamedError::new("Error", format!("cannot open \"{}\": {error}", path.display())),
    };
    let refused = |what: &str| {
        let message = format!("cannot open \"{}\": {what}, expected a regular file", path.display());
        NamedError::new("InvalidResourceError", message)
    };
    let file = disk.open(path).map_err(|unopened| match unopened {
        Unopened::Failed(error) => failed(error),
        Unopened::Directory => refused("it is a directory"),
        Unopened::Special => refused("it is a pipe, a socket or a device"),
    })?;
    let size = file.metadata().map_err(failed)?.len();
    Ok(DataFile { path: path.to_path_buf(), file, size })
}

/// From where an offset counts; the numbers of k6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeekMode {
    /// From the first byte.
    Start = 0,
    /// From where the handle is.
    Current = 1,
    /// From the last byte (k6 counts from there, not from behind it).
    End = 2,
}

impl SeekMode {
    /// All of them.
    pub const ALL: [SeekMode; 3] = [SeekMode::Start, SeekMode::Current, SeekMode::End];

    /// What scripts call it.
    pub fn name(self) -> &'static str {
        match self {
            SeekMode::Start => "Start",
            SeekMode::Current => "Current",
            SeekMode::End => "End",
        }
    }

    /// The mode of this number.
    pub fn of(number: i64) -> Option<SeekMode> {
        SeekMode::ALL.into_iter().find(|mode| *mode as i64 == number)
    }
}

/// A handle: a file and a position in it.
#[derive(Debug)]
pub struct Handle {
    file: Arc<DataFile>,
    position: Cell<u64>,
}

impl Handle {
    /// A handle at the first byte.
    pub fn new(file: Arc<DataFile>) -> Self {
        Self::at(file, 0)
    }

    /// A handle at another position.
    pub fn at(file: Arc<DataFile>, position: u64) -> Self {
        Handle { file, position: Cell::new(position) }
    }

    /// The file.
    pub fn file(&self) -> &Arc<DataFile> {
        &self.file
    }

    /// Where the next read begins.
    pub fn position(&self) -> u64 {
        self.position.get()
    }

    /// Fills `into` and moves on; how many bytes that was, or `None` at the end of the file.
    pub fn read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let position = self.position.get();
        if position >= self.file.size {
            return Ok(None);
        }
        let read = self.file.read_at(position, into)?;
        debug_assert!(position + read as u64 <= self.file.size, "the handle stays within the file");
        self.position.set(position + read as u64);
        Ok(Some(read))
    }

    /// Moves to `offset` from `mode`, within the file or right behind it; the new position.
    pub fn seek(&self, offset: i64, mode: SeekMode) -> Result<u64, NamedError> {
        let from = match mode {
            SeekMode::Start if offset < 0 => {
                return Err(NamedError::wrong(format!(
                    "offset {offset} is negative: SeekMode.Start expects 0 or more"
                )));
            }
            SeekMode::End if offset > 0 => {
                return Err(NamedError::wrong(format!("offset {offset} is positive: SeekMode.End expects 0 or less")));
            }
            SeekMode::Start => 0,
            SeekMode::Current => i128::from(self.position.get()),
            SeekMode::End => i128::from(self.file.size) - 1,
        };
        let target = from + i128::from(offset);
        let size = self.file.size;
        match u64::try_from(target) {
            Ok(position) if position <= size => {
                self.position.set(position);
                Ok(position)
            }
            Ok(_) => {
                Err(NamedError::wrong(format!("position {target} lies beyond the end of the file ({size} bytes)")))
            }
            Err(_) => Err(NamedError::wrong(format!("position {target} lies before the start of the file"))),
        }
    }
}

/// A handle, owned or shared, as a source of bytes. Who moves a shared handle moves the source.
#[derive(Debug)]
pub struct Reading<H>(pub H);

impl<H: Deref<Target = Handle>> io::Read for Reading<H> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map(Option::unwrap_or_default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of this name with these bytes, and its registry.
    fn file(name: &str, bytes: &[u8]) -> (PathBuf, DataFiles) {
        let path = std::env::temp_dir().join(format!("onrush-data-file-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        (path, DataFiles::default())
    }

    #[test]
    fn handles_share_the_file_and_not_the_position() {
        let (path, files) = file("shared", b"0123456789");
        let first = Handle::new(files.open(&Disk::default(), &path, false).unwrap());
        let second = Handle::new(files.open(&Disk::default(), &path, true).unwrap());
        assert!(Arc::ptr_eq(first.file(), second.file()));
        let mut bytes = [0; 4];
        let read = |handle: &Handle, bytes: &mut [u8]| handle.read(bytes).unwrap();
        assert_eq!((read(&first, &mut bytes), bytes), (Some(4), *b"0123"));
        assert_eq!((read(&first, &mut bytes), bytes), (Some(4), *b"4567"));
        assert_eq!((read(&first, &mut bytes), bytes), (Some(2), *b"8967"));
        assert_eq!((read(&first, &mut bytes), read(&first, &mut [])), (None, None));
        assert_eq!((second.position(), read(&second, &mut [])), (0, Some(0)));
        std::fs::remove_file(&path).unwrap();
        assert_eq!((read(&second, &mut bytes), bytes), (Some(4), *b"0123"), "an open file can be removed");
    }

    #[test]
    fn seeks_as_k6_does() {
        let (path, files) = file("seek", b"01234567890123456789");
        let handle = Handle::new(files.open(&Disk::default(), &path, false).unwrap());
        std::fs::remove_file(&path).unwrap();
        let (start, current, end) = (SeekMode::Start, SeekMode::Current, SeekMode::End);
        let cases = [
            (20, start, Ok(20)),
            (21, start, Err("beyond the end")),
            (-1, start, Err("is negative")),
            (0, end, Ok(19)),
            (-5, end, Ok(14)),
            (-20, end, Err("before the start")),
            (1, end, Err("is positive")),
            (0, current, Ok(14)),
            (-3, current, Ok(11)),
            (9, current, Ok(20)),
            (1, current, Err("beyond the end")),
            (i64::MAX, current, Err("beyond the end")),
            (i64::MIN, end, Err("before the start")),
            (0, current, Ok(20)),
        ];
        for (offset, mode, expected) in cases {
            match (handle.seek(offset, mode), expected) {
                (Ok(position), Ok(expected)) => assert_eq!(position, expected, "{offset} {mode:?}"),
                (Err(error), Err(part)) => assert!(error.message.contains(part), "{offset} {mode:?}: {error:?}"),
                (found, _) => panic!("{offset} {mode:?}: {found:?}"),
            }
        }
        assert_eq!([0, 1, 2].map(SeekMode::of), [Some(start), Some(current), Some(end)]);
        assert_eq!([-1, 3].map(SeekMode::of), [None, None]);
    }

    #[test]
    fn what_is_no_file_is_refused_by_name() {
        let (path, files) = file("refused", b"");
        let name = |path: &Path, sealed| files.open(&Disk::default(), path, sealed).unwrap_err().name;
        assert_eq!(name(&path.join("below"), false), "NotFoundError");
        assert_eq!(name(&path.join("below"), true), "NotFoundError", "asked for before");
        assert_eq!(name(&path.with_extension("not-there"), false), "NotFoundError");
        assert_eq!(name(&std::env::temp_dir(), false), "InvalidResourceError");
        assert_eq!(name(Path::new("/dev/null"), false), "InvalidResourceError");
        assert_eq!(name(&path, true), "ForbiddenError");
        let empty = Handle::new(files.open(&Disk::default(), &path, false).unwrap());
        assert_eq!(empty.read(&mut [0; 3]).unwrap(), None);
        assert!(empty.seek(0, SeekMode::End).is_err(), "an empty file has no last byte");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_file_that_changes_its_size_is_noticed() {
        let (path, files) = file("changes", b"0123456789");
        let file = files.open(&Disk::default(), &path, false).unwrap();
        std::fs::write(&path, b"0123456789 and more").unwrap();
        let mut bytes = [0; 32];
        assert_eq!(file.read_at(8, &mut bytes).unwrap(), 2);
        std::fs::write(&path, b"01").unwrap();
        let error = file.read_at(0, &mut bytes).unwrap_err();
        assert!(error.to_string().contains("became shorter than the 10 bytes it had"), "{error}");
        std::fs::remove_file(&path).unwrap();
    }
}
