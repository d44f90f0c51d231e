//! Installs what was made, each as its users would, into a place of its own, and runs the README's command with it.
//! What cannot be installed here (no dpkg, no Python, no npm) is named, not passed over.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::ZlibDecoder;
use serde_json::Value;

use super::release::VERSION;

/// One way to get the program.
struct Way {
    name: &'static str,
    /// Its program has to be there.
    needs: &'static str,
    /// Installs from a folder of files into another; the program that is installed.
    install: fn(&Path, &Path) -> Result<PathBuf, String>,
}

const WAYS: [Way; 4] = [
    Way { name: "archive", needs: "tar", install: archive },
    Way { name: "deb", needs: "dpkg", install: deb },
    Way { name: "wheel", needs: "python3", install: wheel },
    Way { name: "npm", needs: "npm", install: npm },
];

/// Tries every way, then what is inside of the program, then the black-box tests with it: what is stripped and
/// linked in another way than the tests' own binary may behave in another way.
pub(super) fn run(binary: &Path, files: &Path, root: &Path) -> Result<(), String> {
    sums(files)?;
    let place = files.with_extension("installed");
    let _none = fs::remove_dir_all(&place);
    for way in &WAYS {
        if Command::new(way.needs).arg("--version").output().is_err() {
            println!("{}: not tried, there is no {}", way.name, way.needs);
            continue;
        }
        let into = place.join(way.name);
        fs::create_dir_all(&into).map_err(|error| format!("{}: {error}", into.display()))?;
        let failed = |problem: String| format!("{}: {problem}", way.name);
        let program = (way.install)(files, &into).map_err(failed)?;
        try_out(&program, root).map_err(failed)?;
        println!("{}: installed, runs the README's command", way.name);
    }
    dependencies(&place.join("archive"))?;
    black_box_tests(binary, root)?;
    fs::remove_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))
}

/// The command of the README, for a second.
fn try_out(program: &Path, root: &Path) -> Result<(), String> {
    let said = said_by(Command::new(program).arg("version"))?;
    if !said.starts_with(&format!("onrush v{VERSION}")) {
        return Err(format!("onrush version: found {said:?}"));
    }
    let words = ["run", "--quiet", "--serve", "-e", "DURATION=1s", "examples/first.js"];
    let said = said_by(Command::new(program).args(words).current_dir(root))?;
    match said.contains("checks_succeeded") {
        true => Ok(()),
        false => Err(format!("onrush {}: found {said:?}", words.join(" "))),
    }
}

/// Runs the tests of `cli/tests/cli` with this binary in place of the one that cargo builds for them.
fn black_box_tests(binary: &Path, root: &Path) -> Result<(), String> {
    let path = |error| format!("{}: {error}", binary.display());
    let binary = fs::canonicalize(binary).map_err(path)?;
    println!("black-box tests with {}", binary.display());
    let status = Command::new("cargo")
        .args(["test", "-q", "-p", "onrush-cli", "--test", "cli"])
        .env("ONRUSH_TEST_BINARY", &binary)
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("black-box tests fail with {}", binary.display())),
    }
}

/// Checks every checksum.
fn sums(files: &Path) -> Result<(), String> {
    said_by(Command::new("sha256sum").args(["--check", "--quiet", "SHA256SUMS"]).current_dir(files)).map(drop)
}

fn archive(files: &Path, into: &Path) -> Result<PathBuf, String> {
    let archive = named(files, "onrush-", ".tar.gz")?;
    said_by(Command::new("tar").arg("-xzf").arg(archive).args(["--strip-components=1", "-C"]).arg(into))?;
    for page in ["share/man/man1/onrush.1", "share/bash-completion/completions/onrush", "share/doc/onrush/LICENSE-MIT"]
    {
        if !into.join(page).exists() {
            return Err(format!("{page} is missing"));
        }
    }
    Ok(into.join("bin/onrush"))
}

/// Into a root of its own, whose libraries are those of this machine: what is needed is only checked for its form.
fn deb(files: &Path, into: &Path) -> Result<PathBuf, String> {
    let package = named(files, "onrush_", ".deb")?;
    for folder in ["var/lib/dpkg/updates", "var/lib/dpkg/info"] {
        fs::create_dir_all(into.join(folder)).map_err(|error| error.to_string())?;
    }
    for file in ["var/lib/dpkg/status", "var/lib/dpkg/available"] {
        fs::write(into.join(file), "").map_err(|error| error.to_string())?;
    }
    let mut install = Command::new("dpkg");
    install.arg(format!("--root={}", into.display())).args(["--force-depends", "--force-not-root", "--install"]);
    said_by(install.arg(package))?;
    let status = said_by(Command::new("dpkg").arg(format!("--root={}", into.display())).args(["--status", "onrush"]))?;
    match status.contains("Status: install ok installed") && status.contains("Depends: libc6 (>= ") {
        true => Ok(into.join("usr/bin/onrush")),
        false => Err(status),
    }
}

fn wheel(files: &Path, into: &Path) -> Result<PathBuf, String> {
    let wheel = named(files, "onrush_cli-", ".whl")?;
    said_by(Command::new("python3").args(["-m", "venv"]).arg(into))?;
    said_by(Command::new(into.join("bin/pip")).args(["install", "--quiet", "--no-index"]).arg(wheel))?;
    said_by(Command::new(into.join("bin/pip")).args(["show", "--files", "onrush-cli"]))?;
    Ok(into.join("bin/onrush"))
}

fn npm(files: &Path, into: &Path) -> Result<PathBuf, String> {
    let mut install = Command::new("npm");
    install.args(["install", "--offline", "--no-audit", "--no-fund", "--silent", "--prefix"]).arg(into);
    said_by(install.arg(named(files, "onrush-cli-linux-", ".tgz")?).arg(named(files, "onrush-cli-0", ".tgz")?))?;
    Ok(into.join("node_modules/.bin/onrush"))
}

/// The list of dependencies in the program itself, as scanners read it.
fn dependencies(archive: &Path) -> Result<(), String> {
    let section = archive.join("dep-v0");
    let mut copy = Command::new("objcopy");
    copy.args(["--dump-section", &format!(".dep-v0={}", section.display())]).arg(archive.join("bin/onrush"));
    said_by(copy.arg("/dev/null"))?;
    let packed = fs::read(&section).map_err(|error| format!(".dep-v0: {error}"))?;
    let list: Value =
        serde_json::from_reader(ZlibDecoder::new(packed.as_slice())).map_err(|error| error.to_string())?;
    let count = list["packages"].as_array().map_or(0, Vec::len);
    println!(".dep-v0: {count} packages");
    if count > 100 { Ok(()) } else { Err(format!(".dep-v0: found {count} packages, expected hundreds")) }
}

/// The only file that begins and ends so.
fn named(files: &Path, begins: &str, ends: &str) -> Result<PathBuf, String> {
    let entries = fs::read_dir(files).map_err(|error| format!("{}: {error}", files.display()))?;
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let fits = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with(begins) && name.ends_with(ends)
    };
    paths.filter(fits).min().ok_or_else(|| format!("there is no {begins}…{ends}"))
}

/// What a command prints; what it said, where it failed.
fn said_by(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("cannot run {:?}: {error}", command.get_program()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "{command:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}
