//! The k6 that is looked at: a given binary, or the newest version that the Go proxy serves, and its sources.
//!
//! A proxy may list a version that it does not serve, or serve versions without listing any, so they are tried from the
//! newest on.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Major versions whose modules are asked for, the newest first.
const MODULES: [&str; 2] = ["go.k6.io/k6/v3", "go.k6.io/k6/v2"];

/// A version that is known to be served, for proxies that list none.
const KNOWN: &str = "v2.2.0";

/// A k6 and where it is from.
pub(crate) struct K6 {
    /// The program to run.
    pub binary: PathBuf,
    /// As its own command says it, `v2.2.0`.
    pub version: String,
    /// The folder of its sources, where they are served.
    pub sources: Option<PathBuf>,
}

/// The one at this path.
pub(crate) fn given(binary: &Path, folder: &Path) -> Result<K6, String> {
    let told = output(Command::new(binary).arg("version"))?;
    let version = told.split_whitespace().find(|word| word.starts_with('v') && word.contains('.'));
    let version = version.ok_or_else(|| format!("{} says no version: {told}", binary.display()))?.to_owned();
    let major = version.split('.').next().unwrap_or_default();
    let module = if major == "v1" { String::from("go.k6.io/k6") } else { format!("go.k6.io/k6/{major}") };
    let sources = download(&module, &version, folder).ok();
    Ok(K6 { binary: binary.to_owned(), version, sources })
}

/// The newest that is served, built in a folder below this one.
pub(crate) fn served(folder: &Path) -> Result<K6, String> {
    let mut tried = Vec::new();
    for module in MODULES {
        for version in versions(module, folder) {
            match download(module, &version, folder) {
                Ok(sources) => {
                    let binary = build(module, &version, &folder.join(&version))?;
                    return Ok(K6 { binary, version, sources: Some(sources) });
                }
                Err(why) => tried.push(format!("{module} {version}: {}", why.lines().next().unwrap_or_default())),
            }
        }
    }
    Err(format!("no version of k6 is served; name a binary with --k6\n{}", tried.join("\n")))
}

/// Versions of a module, the newest first.
fn versions(module: &str, folder: &Path) -> Vec<String> {
    let ask = |words: &[&str]| output(go(folder).args(words)).unwrap_or_default();
    let listed = ask(&["list", "-m", "-versions", module]);
    let latest = ask(&["list", "-m", "-f", "{{.Version}}", &format!("{module}@latest")]);
    let is_release = |word: &&str| word.starts_with('v') && !word.contains('-');
    let mut all: Vec<String> = listed.split_whitespace().filter(is_release).rev().map(str::to_owned).collect();
    let known = module.ends_with("v2").then_some(KNOWN);
    for version in latest.split_whitespace().chain(known) {
        if !all.iter().any(|listed| listed == version) {
            all.push(version.to_owned());
        }
    }
    all
}

/// Fetches the sources of a version; where Go keeps them.
fn download(module: &str, version: &str, folder: &Path) -> Result<PathBuf, String> {
    let told = output(go(folder).args(["mod", "download", "-json", &format!("{module}@{version}")]))?;
    let told: Value = serde_json::from_str(&told).map_err(|error| format!("go mod download: {error}"))?;
    let dir = told["Dir"].as_str().ok_or_else(|| format!("{module}@{version}: {}", told["Error"]))?;
    Ok(PathBuf::from(dir))
}

/// Builds it inside of a module of its own that requires this version: `go install` would ask for the list of versions.
fn build(module: &str, version: &str, folder: &Path) -> Result<PathBuf, String> {
    let binary = folder.join("k6");
    if binary.is_file() {
        return Ok(binary);
    }
    println!("building k6 {version} in {}", folder.display());
    let files = [
        ("go.mod", format!("module watch.invalid/k6\n\ngo 1.25\n\nrequire {module} {version}\n")),
        ("tools.go", format!("//go:build tools\n\npackage tools\n\nimport _ \"{module}\"\n")),
    ];
    let written = fs::create_dir_all(folder)
        .and_then(|()| files.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text)));
    written.map_err(|error| format!("{}: {error}", folder.display()))?;
    output(go(folder).env("GOFLAGS", "-mod=mod").args(["build", "-trimpath", "-o", "k6", module]))?;
    Ok(binary)
}

fn go(folder: &Path) -> Command {
    let mut go = Command::new("go");
    go.current_dir(folder).envs([("GOTOOLCHAIN", "local"), ("GOWORK", "off")]);
    go
}

/// What a command prints when it succeeds.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    match command.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(format!("cannot find what {shown} would run")),
        Err(error) => Err(format!("cannot run {shown}: {error}")),
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("{shown} failed: {}", if said.trim().is_empty() { "without a word" } else { said.trim() }))
        }
    }
}
