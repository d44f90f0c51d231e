//! Programs of Go that suites need: built once from the module proxy, into a folder under target.

use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Writes these files into the folder and builds `package` from them. Nothing when there is no go command. A program
/// that is there is built anew only when a file has changed.
pub(crate) fn build(
    folder: &Path,
    package: &str,
    program: &str,
    files: &[(&str, &str)],
) -> Result<Option<PathBuf>, String> {
    build_with(folder, package, program, files, &[])
}

/// The same with these build tags.
pub(crate) fn build_with(
    folder: &Path,
    package: &str,
    program: &str,
    files: &[(&str, &str)],
    tags: &[&str],
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
    go.args(["build", "-trimpath", "-tags", &tags.join(","), "-o", program, package]);
    go.current_dir(folder).envs([("GOTOOLCHAIN", "local"), ("GOFLAGS", "-mod=mod"), ("GOWORK", "off")]);
    match go.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot run go, which builds {program}: {error}")),
        Ok(output) if output.status.success() => Ok(Some(path)),
        Ok(output) => Err(format!("cannot build {program}:\n{}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// A server that serves until it is dropped; it ends by itself, too, when its input does.
pub(crate) struct Server {
    process: Child,
    /// Where it listens, in the order that was asked for.
    pub(crate) addresses: Vec<String>,
}

impl Server {
    /// Starts it. It prints a line with a name and an address for each of `names`.
    pub(crate) fn start(mut command: Command, names: &[&str]) -> Result<Server, String> {
        let shown = format!("{command:?}");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("cannot run {shown}: {error}"))?;
        let output = process.stdout.take().ok_or("the server has no output")?;
        let mut server = Server { process, addresses: Vec::new() };
        let mut lines = BufReader::new(output).lines();
        for name in names {
            let line = lines.next().and_then(Result::ok).unwrap_or_default();
            let address = line.strip_prefix(name).map(|rest| rest.trim().to_owned());
            let wrong = || format!("{shown} said {line:?}, expected the address of {name:?}");
            server.addresses.push(address.ok_or_else(wrong)?);
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs what prints a line a case, and shows its lines. An error unless so many cases begin with "ok".
pub(crate) fn cases(mut command: Command, count: usize) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    let told = String::from_utf8_lossy(&output.stdout);
    told.lines().for_each(|line| println!("  {line}"));
    let passed = told.lines().filter(|line| line.starts_with("ok ")).count();
    if output.status.success() && passed == count {
        return Ok(());
    }
    Err(format!("{passed} of {count} cases passed, {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}
