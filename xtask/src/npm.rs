//! Packages of npm's registry, for suites that run other people's programs.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

/// What is not on this machine, Node or npm.
pub(crate) fn missing() -> Option<&'static str> {
    ["node", "npm"].into_iter().find(|program| !is_installed(program))
}

fn is_installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    !found.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Writes files into a folder, `package.json` among them, and installs what that names unless `package` is there.
pub(crate) fn install(folder: &Path, files: &[(&str, &str)], package: &str) -> Result<(), String> {
    std::fs::create_dir_all(folder)
        .and_then(|()| files.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text)))
        .map_err(|error| format!("cannot write into {}: {error}", folder.display()))?;
    if folder.join("node_modules").join(package).exists() {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(folder);
    let output = npm.output().map_err(|error| format!("cannot run npm: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("cannot install {package}:\n{}", String::from_utf8_lossy(&output.stderr))),
    }
}
