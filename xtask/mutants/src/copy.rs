//! The copy of the working tree that changes are made in.
//!
//! Files are written where their contents differ only, so that cargo builds again what has changed and no more. What a
//! run that was broken off has left changed is put right the same way.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Waits until no other run changes the copy; the caller is alone as long as it holds the file.
pub(crate) fn alone(folder: &Path) -> Result<fs::File, String> {
    let locked = fs::File::create(folder.join("lock")).and_then(|file| file.lock().map(|()| file));
    locked.map_err(|error| format!("cannot lock {}: {error}", folder.display()))
}

/// Makes `tree` equal to what git knows of `root`, and to what is new there and not ignored.
pub(crate) fn mirror(root: &Path, tree: &Path) -> Result<(), String> {
    let files = known_files(root)?;
    for file in &files {
        copy(&root.join(file), &tree.join(file)).map_err(|error| format!("cannot copy {}: {error}", file.display()))?;
    }
    let kept: HashSet<PathBuf> = files.into_iter().map(|file| tree.join(file)).collect();
    remove_others(tree, &kept).map_err(|error| format!("cannot tidy {}: {error}", tree.display()))
}

fn known_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let output = git.output().map_err(|error| format!("cannot run git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let files = names.map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned()));
    // A file that is deleted and not committed is still known.
    Ok(files.filter(|file| root.join(file).is_file()).collect())
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let contents = fs::read(from)?;
    if fs::read(to).is_ok_and(|existing| existing == contents) {
        return Ok(());
    }
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    fs::write(to, contents)
}

fn remove_others(folder: &Path, kept: &HashSet<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_put_right_and_what_is_equal_is_left_alone() {
        let folder = std::env::temp_dir().join(format!("onrush-mutants-copy-{}", std::process::id()));
        let (root, tree) = (folder.join("root"), folder.join("tree"));
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(&tree).unwrap();
        let git = Command::new("git").args(["init", "--quiet"]).current_dir(&root).status().unwrap();
        assert!(git.success());
        fs::write(root.join("src/a.rs"), "a").unwrap();
        fs::write(root.join("src/b.rs"), "b").unwrap();
        mirror(&root, &tree).unwrap();
        let written = fs::metadata(tree.join("src/a.rs")).unwrap().modified().unwrap();
        fs::write(tree.join("src/b.rs"), "changed").unwrap();
        fs::write(tree.join("src/c.rs"), "c").unwrap();
        mirror(&root, &tree).unwrap();
        assert_eq!(fs::read_to_string(tree.join("src/b.rs")).unwrap(), "b");
        assert!(!tree.join("src/c.rs").exists());
        assert_eq!(fs::metadata(tree.join("src/a.rs")).unwrap().modified().unwrap(), written);
        fs::remove_dir_all(folder).unwrap();
    }
}
