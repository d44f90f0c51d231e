//! Files of the init code, read once for the process: what `open` and modules that open files have in common.
//!
//! Text is kept once and becomes a string in each user. Of `open(path, "b")` the process keeps one copy in memory,
//! which it maps privately: each user gets an ordinary, writable ArrayBuffer over pages that all share until one
//! writes. As in k6, what becomes of the file later changes nothing (the file itself mapped, truncating it would end
//! the process with SIGBUS), and a file that the first run of the init code did not open cannot be opened by a later
//! one. Refuses what is no regular file.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::sources::disk::{Disk, Unopened};
use host::sealed_file::{Mapping, SealedFile};

/// Files that the script has opened, by absolute path.
pub(crate) struct Files {
    disk: Arc<Disk>,
    known: Mutex<HashMap<PathBuf, Arc<Opened>>>,
}

/// A file that was opened, read at its first use.
pub struct Opened {
    file: File,
    place: PathBuf,
    text: OnceLock<Arc<str>>,
    copy: Mutex<Option<Arc<SealedFile>>>,
}

impl Files {
    /// Files of this disk, none opened.
    pub fn new(disk: Arc<Disk>) -> Files {
        Files { disk, known: Mutex::default() }
    }

    /// The file at an absolute path; one that is not known is refused once the store is sealed.
    pub fn open(&self, path: &Path, sealed: bool) -> Result<Arc<Opened>, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = known.get(path) {
            return Ok(opened.clone());
        }
        let place = self.disk.place(path);
        if sealed && place.exists() {
            return Err(format!(
                "cannot open {}: the first run of the init code did not open it, and later runs may not add files; \
                 open it unconditionally",
                path.display()
            ));
        }
        let file = self.disk.open(path).map_err(|unopened| match unopened {
            Unopened::Failed(error) => describe(path, &error),
            Unopened::Directory => format!("open() can't be used with directories, path: {path:?}"),
            Unopened::Special => format!("open() can't be used with pipes, sockets and devices, path: {path:?}"),
        })?;
        let opened = Arc::new(Opened { file, place, text: OnceLock::new(), copy: Mutex::default() });
        known.insert(path.to_path_buf(), opened.clone());
        Ok(opened)
    }
}

fn describe(path: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("stat {}: no such file or directory", path.display()),
        std::io::ErrorKind::PermissionDenied => format!("open {}: permission denied", path.display()),
        _ => format!("open {}: {error}", path.display()),
    }
}

impl Opened {
    /// The content as text, invalid bytes replaced.
    pub fn text(&self, path: &Path) -> Result<Arc<str>, String> {
        if let Some(text) = self.text.get() {
            return Ok(text.clone());
        }
        let bytes = std::fs::read(&self.place).map_err(|error| describe(path, &error))?;
        let text: Arc<str> = Arc::from(String::from_utf8_lossy(&bytes));
        Ok(self.text.get_or_init(|| text).clone())
    }

    /// The content, mapped for one user.
    pub fn map(&self, path: &Path) -> Result<Mapping, String> {
        self.copy(path)?.map().map_err(|error| describe(path, &error))
    }

    /// The process's copy of the file, as it was when it was first asked for.
    fn copy(&self, path: &Path) -> Result<Arc<SealedFile>, String> {
        // Held while copying: a second user that comes meanwhile waits instead of making a copy of its own.
        let mut copy = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        if copy.is_none() {
            let made = SealedFile::copy_of(&self.file).map_err(|error| format!("read {}: {error}", path.display()))?;
            *copy = Some(Arc::new(made));
        }
        Ok(copy.clone().expect("it was made just now"))
    }
}
