//! Programs of others that the suites need, in `$ENGINES/bin` (default /opt/engines/bin), and ours. What is missing is
//! named.

use std::path::{Path, PathBuf};

use crate::parity;

/// The folder of these programs; the error names those that are missing.
pub(crate) fn engines(names: &[&str]) -> Result<PathBuf, String> {
    let engines = std::env::var("ENGINES").unwrap_or_else(|_| String::from("/opt/engines"));
    let bin = Path::new(&engines).join("bin");
    let missing: Vec<&str> = names.iter().copied().filter(|name| !bin.join(name).exists()).collect();
    match missing.is_empty() {
        true => Ok(bin),
        false => Err(format!("{} has no {}; $ENGINES names its folder", bin.display(), missing.join(", "))),
    }
}

/// `$ONRUSH`, or a release build of this workspace; from the root, because processes start in folders of their own.
pub(crate) fn onrush() -> Result<PathBuf, String> {
    match std::env::var_os("ONRUSH") {
        Some(path) => {
            let path = PathBuf::from(path);
            path.canonicalize().map_err(|error| format!("$ONRUSH, {}: {error}", path.display()))
        }
        None => parity::build_onrush(&parity::workspace()?),
    }
}

/// An empty folder below `target`.
pub(crate) fn folder(name: &str) -> Result<PathBuf, String> {
    let folder = parity::workspace()?.join("target").join(name);
    let _none = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}
