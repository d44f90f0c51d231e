//! The runner of QuickJS, built from the sources of the package that carries the engine, with the patches or without.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::read;
use crate::parity;

/// The package; its version is the one of the lock file.
const PACKAGE: &str = "rquickjs-sys";
const PATCHES: &str = "crates/host/quickjs";
/// Where the runner writes what fails, by the name that its configuration has.
pub(super) const ERRORS: &str = "test262_errors.txt";
const CONFIGURATION: &str = "test262.conf";
const SOURCES: [&str; 5] = ["run-test262.c", "quickjs-libc.c", "libregexp.c", "libunicode.c", "dtoa.c"];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Patches {
    Without,
    With,
}

impl Patches {
    pub(super) fn told(self) -> &'static str {
        match self {
            Patches::Without => "without patches",
            Patches::With => "with patches",
        }
    }
}

pub(super) struct EngineBuild {
    pub(super) patches: Patches,
    /// Where it runs: its configuration is there.
    pub(super) folder: PathBuf,
}

impl EngineBuild {
    /// Compiles the runner, unless it is there for the same source.
    pub(super) fn build(root: &Path, patches: Patches) -> Result<EngineBuild, String> {
        let folder = root.join(patches.told().replace(' ', "-"));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let original = package()?.join("quickjs");
        let mut source = read(&original.join("quickjs.c"))?;
        if patches == Patches::With {
            source = patched(source)?;
        }
        write(&folder.join(CONFIGURATION), &read(&original.join(CONFIGURATION))?)?;
        write(&folder.join(ERRORS), "")?;
        let engine = EngineBuild { patches, folder };
        let own = engine.folder.join("quickjs.c");
        if !engine.program().exists() || read(&own).ok().as_ref() != Some(&source) {
            eprintln!("{}: building the runner", patches.told());
            let _none = fs::remove_file(engine.program());
            write(&own, &source)?;
            engine.compile(&original)?;
        }
        Ok(engine)
    }

    fn compile(&self, original: &Path) -> Result<(), String> {
        let compiler = std::env::var("CC").unwrap_or_else(|_| String::from("cc"));
        let mut command = Command::new(&compiler);
        command.args(["-O2", "-w", "-D_GNU_SOURCE", "-DNDEBUG", "-I"]).arg(original).arg("quickjs.c");
        command.args(SOURCES.map(|name| original.join(name))).arg("-o").arg(self.program());
        command.args(["-lm", "-lpthread", "-ldl"]).current_dir(&self.folder);
        let output = command.output().map_err(|error| format!("cannot run {compiler}: {error}"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{compiler} failed:\n{}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    fn program(&self) -> PathBuf {
        self.folder.join("run-test262")
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(self.program());
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The folder of the package, wherever cargo keeps it.
fn package() -> Result<PathBuf, String> {
    let mut command = Command::new("cargo");
    command.args(["metadata", "--format-version=1", "--locked"]).current_dir(parity::workspace()?);
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let known: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let mut packages = known["packages"].as_array().into_iter().flatten();
    let manifest =
        packages.find(|package| package["name"] == PACKAGE).and_then(|found| found["manifest_path"].as_str());
    let folder = manifest.and_then(|path| Path::new(path).parent()).ok_or(format!("the lock file has no {PACKAGE}"))?;
    Ok(folder.to_owned())
}

/// The engine's source with all patches, as crates/host/build.rs applies them.
fn patched(mut source: String) -> Result<String, String> {
    let folder = parity::workspace()?.join(PATCHES);
    for name in read(&folder.join("series"))?.lines() {
        let text = read(&folder.join(name))?;
        let patch = diffy::Patch::from_str(&text).map_err(|error| format!("{name} is no patch: {error}"))?;
        source = diffy::apply(&source, &patch).map_err(|error| format!("{name} does not fit: {error}"))?;
    }
    Ok(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_has_a_runner_and_all_patches_fit() {
        let original = package().expect("the package").join("quickjs");
        assert!(SOURCES.iter().all(|name| original.join(name).exists()), "{}", original.display());
        let source = read(&original.join("quickjs.c")).expect("the engine");
        let made = patched(source.clone()).expect("the patches fit");
        assert!(made.len() > source.len() && made.contains("JS_TrimObjects"));
    }

    /// Each patch is in the series, and says what it is for before its first line of code.
    #[test]
    fn every_patch_is_listed_and_described() {
        let folder = parity::workspace().expect("the root").join(PATCHES);
        let page = read(&folder.join("UPGRADING.md")).expect("the page");
        let mut listed: Vec<String> =
            read(&folder.join("series")).expect("the series").lines().map(str::to_owned).collect();
        for name in &listed {
            let text = read(&folder.join(name)).expect("a patch of the series");
            let head = text.split("--- a/").next().unwrap_or_default();
            assert!(head.lines().count() >= 4, "{name} does not say what it is for");
            assert!(page.contains(&format!("`{name}`")), "UPGRADING.md does not name {name}");
        }
        let entries = fs::read_dir(&folder).expect("the folder").filter_map(Result::ok);
        let mut there: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        there.retain(|name| name.ends_with(".patch"));
        listed.sort();
        there.sort();
        assert_eq!(there, listed);
    }
}
