//! What the cases of all extensions need: servers, folders, ports, and running a test script.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const SOURCES: &str = "crates/extensions/src";
/// A server that does not listen after this long does not start.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A program that ends with this.
pub(super) struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program under test, and where its servers live.
pub(super) struct Suite {
    pub(super) root: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) onrush: PathBuf,
}

impl Suite {
    /// An empty folder for a server's files.
    pub(super) fn fresh(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.folder.join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// Runs the test script of an extension.
    pub(super) fn script(&self, extension: &str, what: &str, variables: &[&str]) -> Result<(), String> {
        self.script_with(extension, what, variables, &[])
    }

    /// The same with variables of the environment.
    pub(super) fn script_with(
        &self,
        extension: &str,
        what: &str,
        variables: &[&str],
        environment: &[(&str, String)],
    ) -> Result<(), String> {
        let mut command = Command::new(&self.onrush);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        self.run(command, extension, what, variables)
    }

    /// The same in another working directory.
    pub(super) fn script_in(
        &self,
        folder: &Path,
        extension: &str,
        what: &str,
        variables: &[&str],
    ) -> Result<(), String> {
        let mut command = Command::new(&self.onrush);
        command.current_dir(folder);
        self.run(command, extension, what, variables)
    }

    fn run(&self, mut command: Command, extension: &str, what: &str, variables: &[&str]) -> Result<(), String> {
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

/// Whether a program is in the path.
pub(super) fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// A port that nobody listens at.
pub(super) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| format!("no free port: {error}"))?;
    Ok(listener.local_addr().map_err(|error| error.to_string())?.port())
}

/// Starts a server and waits until it listens.
pub(super) fn start(program: &str, arguments: &[&str], folder: &Path, port: u16) -> Result<Process, String> {
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

/// A certificate for localhost that is its own authority.
pub(super) fn certificate(folder: &Path) -> Result<(), String> {
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]);
    openssl.args(["-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost"]);
    openssl.args([
        "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "-addext",
        "basicConstraints=critical,CA:FALSE",
    ]);
    let made = openssl.current_dir(folder).stderr(Stdio::null()).status();
    match made {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("openssl req: {status}")),
        Err(error) => Err(format!("cannot run openssl: {error}")),
    }
}
