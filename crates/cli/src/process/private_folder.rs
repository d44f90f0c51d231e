//! A folder in the folder of temporary files that only this user can enter.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Goes away, with all that is in it, when this is dropped.
pub struct PrivateFolder(PathBuf);

impl PrivateFolder {
    /// A new one. Its path is short, for paths of sockets have to be.
    pub fn make() -> io::Result<PrivateFolder> {
        // A name nobody has: several may be made in one process's lifetime.
        for number in 0.. {
            let path = std::env::temp_dir().join(format!("onrush-{}-{number}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(PrivateFolder(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("numbers do not end")
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
