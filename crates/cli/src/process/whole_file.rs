//! Writes a file completely or leaves it as it was, so that a full disk leaves no half of a report.
//!
//! It is written beside its place and renamed. What is no ordinary file (a pipe, `/dev/stdout`) and what cannot be
//! replaced (a folder without the right to write, a single file that a container mounts) is written in place.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Writes the file, or leaves it as it was.
pub(crate) fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> io::Result<()> {
    let (path, content) = (path.as_ref(), content.as_ref());
    // A symbolic link stays one: what it leads to is replaced.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let before = fs::metadata(&place).ok();
    let Some(beside) = beside(&place).filter(|_| before.as_ref().is_none_or(fs::Metadata::is_file)) else {
        return fs::write(path, content);
    };
    let Ok(mut file) = File::create_new(&beside) else { return fs::write(path, content) };
    let written = file.write_all(content);
    drop(file);
    if let Some(before) = before {
        // Who might read it may read it still; where that cannot be had, the file counts more.
        _ = fs::set_permissions(&beside, before.permissions());
    }
    match written.map(|()| fs::rename(&beside, &place)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_cannot_be_replaced)) => {
            _ = fs::remove_file(&beside);
            fs::write(path, content)
        }
        Err(error) => {
            _ = fs::remove_file(&beside);
            Err(error)
        }
    }
}

/// A name in the same folder; none for what has no name.
fn beside(place: &Path) -> Option<PathBuf> {
    let name = place.file_name()?.to_str()?;
    Some(place.with_file_name(format!(".{name}.{}.partial", std::process::id())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("onrush-whole-file-{name}-{}", std::process::id()));
        _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_with_its_rights_and_nothing_stays_beside() {
        let folder = folder("replaced");
        let (file, link) = (folder.join("a.html"), folder.join("link"));
        write(&file, "first").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        write(&link, "second").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "second");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(names(&folder), ["a.html", "link"]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_no_file_is_written_in_place() {
        write("/dev/null", "nothing").unwrap();
        assert!(write("/dev/full", "too much").is_err());
        assert!(write("/nowhere/at/all", "x").is_err());
        let folder = folder("in-place");
        assert!(write(&folder, "x").is_err(), "a folder is no file");
        assert_eq!(names(&folder), [""; 0]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
