//! `cargo xtask extensions`: the test scripts of the extensions against real servers.
//!
//! Not part of `cargo test`, because the servers are other programs: redis-server, postgres, mariadbd. They
//! run in folders of their own below the target folder, at ports that were free, and end with the suite. What is not
//! installed is skipped by name.

mod redis;
mod sql;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::parity;

const SOURCES: &str = "crates/extensions/src";
/// A server that does not listen after this long does not start.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program that ends with this.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The cases of an extension.
type Cases = fn(&Suite) -> Result<(), String>;

/// Each extension by its folder. One line an extension.
#[rustfmt::skip]
const ALL: &[(&str, Cases)] = &[
    ("kv", |suite| suite.script("kv", "four users", &[])),
    ("redis", redis::cases),
    ("sql", sql::cases),
];

/// Runs each extension whose name is given, or all.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(unknown) = arguments.iter().find(|argument| ALL.iter().all(|(name, _)| name != argument)) {
        let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
        return Err(format!("found {unknown:?}, expected one of {}", names.join(", ")));
    }
    let root = parity::workspace()?;
    let suite = Suite { onrush: parity::build_onrush(&root)?, folder: root.join("target/extensions"), root };
    let chosen = ALL.iter().filter(|(name, _)| arguments.is_empty() || arguments.iter().any(|given| given == name));
    let problems: Vec<String> =
        chosen.filter_map(|(name, run)| run(&suite).err().map(|why| format!("{name}: {why}"))).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

struct Suite {
    root: PathBuf,
    folder: PathBuf,
    onrush: PathBuf,
}

impl Suite {
    /// An empty folder for a server's files.
    fn fresh(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.folder.join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// Runs the test script of an extension.
    fn script(&self, extension: &str, what: &str, variables: &[&str]) -> Result<(), String> {
        let mut command = Command::new(&self.onrush);
        command.args(["run", "--quiet", "--no-color", "--summary-mode", "disabled"]);
        variables.iter().for_each(|variable| {
            command.args(["-e", variable]);
        });
        let output = command.arg(self.root.join(SOURCES).join(extension).join("test.js")).output();
        let output = output.map_err(|error| format!("cannot run {}: {error}", self.onrush.display()))?;
        match output.status.success() {
            true => {
                println!("{extension}: {what}: as expected");
                Ok(())
            }
            false => Err(format!("{what}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr))),
        }
    }
}

fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// A port that nobody listens at.
fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| format!("no free port: {error}"))?;
    Ok(listener.local_addr().map_err(|error| error.to_string())?.port())
}

/// Starts a server and waits until it listens.
fn start(program: &str, arguments: &[&str], folder: &Path, port: u16) -> Result<Process, String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut process = Process(command.spawn().map_err(|error| format!("cannot run {program}: {error}"))?);
    let end = Instant::now() + PATIENCE;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if let Ok(Some(status)) = process.0.try_wait() {
            return Err(format!("{program} ended at once: {status}"));
        }
        if Instant::now() > end {
            return Err(format!("{program} does not listen at port {port}"));
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(process)
}
