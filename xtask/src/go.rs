//! Programs of Go that suites need: built once from the module proxy, into a folder under target.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes these files into the folder and builds `package` from them. Nothing when there is no go command. A program
/// that is there is built anew only when a file has changed.
pub(crate) fn build(
    folder: &Path,
    package: &str,
    program: &str,
    files: &[(&str, &str)],
) -> Result<Option<PathBuf>, String> {
    let path = folder.join(program);
    let is_current =
        |(name, text): &(&str, &str)| std::fs::read_to_string(folder.join(name)).is_ok_and(|old| old == *text);
    // Go writes what it needs beside them into go.mod.
    if path.exists() && files.iter().filter(|(name, _)| *name != "go.mod").all(is_current) {
        return Ok(Some(path));
    }
    println!("building {program} into {}", folder.display());
    std::fs::create_dir_all(folder)
        .and_then(|()| files.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text)))
        .map_err(|error| format!("cannot write into {}: {error}", folder.display()))?;
    let mut go = Command::new("go");
    go.args(["build", "-trimpath", "-o", program, package]);
    go.current_dir(folder).envs([("GOTOOLCHAIN", "local"), ("GOFLAGS", "-mod=mod"), ("GOWORK", "off")]);
    match go.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot run go, which builds {program}: {error}")),
        Ok(output) if output.status.success() => Ok(Some(path)),
        Ok(output) => Err(format!("cannot build {program}:\n{}", String::from_utf8_lossy(&output.stderr))),
    }
}
