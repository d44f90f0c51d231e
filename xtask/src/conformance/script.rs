//! A suite that is a script: what it prints when the binary runs it.

use std::path::Path;
use std::process::Command;

use crate::parity;

/// The lines of the script of this name, which finds its tests in a folder.
pub(super) fn told(name: &str, tests: &Path) -> Result<String, String> {
    let root = parity::workspace()?;
    let onrush = parity::build_onrush(&root)?;
    let mut command = Command::new(&onrush);
    command.args(["run", "-q", "--log-format", "raw", "-e"]).arg(format!("TESTS={}", tests.display()));
    command.arg(root.join("xtask/conformance").join(name));
    let output = command.output().map_err(|error| format!("cannot run {}: {error}", onrush.display()))?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(told) } else { Err(format!("the script failed:\n{told}")) }
}

/// The folder of a package that a Cargo.toml depends on, where cargo keeps it.
pub(super) fn package(manifest: &Path, name: &str) -> Result<std::path::PathBuf, String> {
    let mut command = Command::new("cargo");
    command.args(["metadata", "--format-version=1", "--manifest-path"]).arg(manifest);
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let known: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let mut packages = known["packages"].as_array().into_iter().flatten();
    let package = packages.find(|package| package["name"] == name);
    let folder =
        package.and_then(|package| package["manifest_path"].as_str()).and_then(|path| Path::new(path).parent());
    folder.map(Path::to_owned).ok_or_else(|| format!("cargo metadata has no package {name}"))
}
