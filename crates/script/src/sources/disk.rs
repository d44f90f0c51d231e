//! Where the files of a test are: at their paths, or in a folder where an archive was unpacked. Remembers which ones
//! were asked for: an archive takes them along.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The files of a test by their absolute paths.
#[derive(Default)]
pub struct Disk {
    /// Each file is at its own path below this folder.
    root: Option<PathBuf>,
    asked_for: Mutex<BTreeSet<PathBuf>>,
    /// Nothing is remembered any more: iterations open files without a lock that all workers share.
    sealed: AtomicBool,
}

impl Disk {
    /// Files below a folder.
    pub fn below(root: PathBuf) -> Disk {
        Disk { root: Some(root), ..Disk::default() }
    }

    /// From now on files are opened without being remembered: all that a test may ask for, it has asked for.
    pub(crate) fn seal(&self) {
        self.sealed.store(true, Ordering::Release);
    }

    /// Where a file is, whether there is one or not; it is remembered if there is and the test has not begun.
    pub fn place(&self, path: &Path) -> PathBuf {
        let place = self.below_root(path);
        if !self.sealed.load(Ordering::Acquire) {
            self.remember(path, &place);
        }
        place
    }

    /// The same for a file that options name, which are read after init code has run.
    pub(crate) fn take_along(&self, path: &Path) -> PathBuf {
        let place = self.below_root(path);
        self.remember(path, &place);
        place
    }

    fn below_root(&self, path: &Path) -> PathBuf {
        match &self.root {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_path_buf(),
        }
    }

    fn remember(&self, path: &Path, place: &Path) {
        if place.is_file() {
            self.asked_for.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf());
        }
    }

    /// Opens a regular file. What it is, it asks before: opening a pipe waits for its other end, and reading a device
    /// may never end.
    pub fn open(&self, path: &Path) -> Result<File, Unopened> {
        let place = self.place(path);
        let found = std::fs::metadata(&place).map_err(Unopened::Failed)?;
        match () {
            () if found.is_dir() => Err(Unopened::Directory),
            () if !found.is_file() => Err(Unopened::Special),
            () => File::open(place).map_err(Unopened::Failed),
        }
    }

    /// The files that were asked for and are there, by path.
    pub fn asked_for(&self) -> Vec<PathBuf> {
        self.asked_for.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Why a file was not opened.
pub enum Unopened {
    /// What the system said.
    Failed(std::io::Error),
    /// It is a directory.
    Directory,
    /// It is a pipe, a socket or a device.
    Special,
}
