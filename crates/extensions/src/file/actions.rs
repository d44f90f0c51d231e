//! What is done to a file or a folder: the system's calls, and what they fail with.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use super::rows;

/// What is to be done at a path.
pub enum Action {
    /// Write these bytes in the place of what is there.
    Write(Vec<u8>),
    /// Write these bytes behind what is there.
    Append(Vec<u8>),
    /// Read all of it.
    Read,
    /// Leave nothing in it.
    Clear,
    /// Give it another path.
    Rename(PathBuf),
    /// Remove the file.
    Delete,
    /// Remove the rows from the first to the last, which count from 1.
    RemoveRows(usize, usize),
    /// Make a folder and those above it.
    MakeFolder,
    /// Remove a folder and all in it.
    DeleteFolder,
}

impl Action {
    /// What it does to its path, for people.
    fn verb(&self) -> &'static str {
        match self {
            Action::Write(_) => "write",
            Action::Append(_) => "append to",
            Action::Read => "read",
            Action::Clear => "clear",
            Action::Rename(_) => "rename",
            Action::Delete => "delete",
            Action::RemoveRows(..) => "remove rows of",
            Action::MakeFolder => "create",
            Action::DeleteFolder => "delete",
        }
    }

    /// Does it. Gives what was read; the error says what failed, where and why.
    pub fn run(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        self.call(path).map_err(|error| {
            let target = match self {
                Action::Rename(target) => format!(" to {}", target.display()),
                _ => String::new(),
            };
            format!("cannot {} {}{target}: {error}", self.verb(), path.display())
        })
    }

    fn call(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match self {
            Action::Write(bytes) => fs::write(path, bytes)?,
            // In one call, so that what several users append does not mix.
            Action::Append(bytes) => OpenOptions::new().append(true).create(true).open(path)?.write_all(bytes)?,
            Action::Read => return regular(path).and_then(|()| fs::read(path)).map(Some),
            Action::Clear => File::options().write(true).open(path)?.set_len(0)?,
            Action::Rename(target) => fs::rename(path, target)?,
            Action::Delete => fs::remove_file(path)?,
            Action::RemoveRows(first, last) => {
                regular(path)?;
                fs::write(path, rows::without(&fs::read(path)?, *first, *last))?;
            }
            Action::MakeFolder => fs::create_dir_all(path)?,
            Action::DeleteFolder => named(path).and_then(|()| fs::remove_dir_all(path))?,
        }
        Ok(None)
    }
}

/// Refuses pipes and devices: reading one may never end.
fn regular(path: &Path) -> io::Result<()> {
    let found = fs::metadata(path)?;
    match () {
        () if found.is_dir() => Err(io::Error::other("it is a directory, expected a file")),
        () if !found.is_file() => Err(io::Error::other("it is a pipe, a socket or a device, expected a file")),
        () => Ok(()),
    }
}

/// Refuses `/`, `.` and `..`: nobody means to lose what they are in.
fn named(path: &Path) -> io::Result<()> {
    match path.components().next_back() {
        Some(Component::Normal(_)) => Ok(()),
        _ => Err(io::Error::other("expected a path that ends with the folder's own name")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_folders_are_deleted() {
        for path in ["/", ".", "..", "a/..", ""] {
            let error = Action::DeleteFolder.run(Path::new(path)).unwrap_err();
            assert_eq!(error, format!("cannot delete {path}: expected a path that ends with the folder's own name"));
        }
    }

    #[test]
    fn devices_are_not_read() {
        let error = Action::Read.run(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error, "cannot read /dev/zero: it is a pipe, a socket or a device, expected a file");
    }
}
