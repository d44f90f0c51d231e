//! The programs in C: built, started, frozen, and asked at the end what they had.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::account::{Account, read};

/// What is made of `xtask/truth/*.c`.
pub struct Programs {
    /// The server.
    pub referee: PathBuf,
    /// A bare loop that starts requests at planned times.
    pub pacer: PathBuf,
    /// A library that steps the wall clock of the process that preloads it.
    pub clock: PathBuf,
}

/// Compiles them with the system's C compiler.
pub fn build(root: &Path, folder: &Path) -> Result<Programs, String> {
    let at = |name: &str| root.join("xtask/truth").join(name);
    let make = |name: &str, sources: &[&str], flags: &[&str]| {
        let program = folder.join(name);
        let made = Command::new("cc")
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&program)
            .args(sources.iter().map(|source| at(source)))
            .args(flags)
            .output()
            .map_err(|error| format!("cannot start cc: {error}; install a C compiler"))?;
        match made.status.success() {
            true => Ok(program),
            false => Err(format!(
                "cc could not build {}, which needs OpenSSL's headers (libssl-dev) for the server:\n{}",
                sources.join(" and "),
                String::from_utf8_lossy(&made.stderr)
            )),
        }
    };
    Ok(Programs {
        referee: make("referee", &["referee.c", "tls.c"], &["-lssl", "-lcrypto"])?,
        pacer: make("pacer", &["pacer.c"], &[])?,
        clock: make("clock.so", &["clock.c"], &["-shared", "-fPIC", "-ldl"])?,
    })
}

/// By what a server is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carrier {
    /// 127.0.0.1.
    #[default]
    Tcp,
    /// The same, encrypted.
    Tls,
    /// A unix socket.
    Unix,
}

impl Carrier {
    /// As the table has it.
    pub fn name(self) -> &'static str {
        match self {
            Carrier::Tcp => "tcp",
            Carrier::Tls => "tls",
            Carrier::Unix => "unix",
        }
    }
}

/// How a server is started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service {
    /// By what it is reached.
    pub carrier: Carrier,
    /// Whether it counts only, so that millions of requests need no memory. It then has no priority, because it may be
    /// busy all the time. Otherwise it goes before other programs.
    pub counts_only: bool,
    /// The one core it may use.
    pub core: Option<usize>,
    /// Whether it is in a network of its own, which has few ports.
    pub is_apart: bool,
}

/// A running server.
pub struct Referee {
    child: Child,
    file: PathBuf,
    /// `http://127.0.0.1:PORT`.
    pub url: String,
    /// For the option `hosts`: where `referee.test` is.
    pub host: String,
}

impl Referee {
    /// Starts one.
    pub fn start(program: &Path, folder: &Path, service: Service) -> Result<Referee, String> {
        let [file, socket] = ["account", "socket"].map(|name| folder.join(name));
        let transport = match service.carrier {
            Carrier::Tcp => String::from("tcp"),
            Carrier::Tls => certificate(folder)?,
            Carrier::Unix => format!("unix:{}", socket.display()),
        };
        let mut command = if service.is_apart { apart(program) } else { pinned(service.core, program) };
        command.arg(&file).arg(transport).arg(if service.counts_only { "totals" } else { "realtime" });
        let started = command.stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("the referee has no output")?;
        BufReader::new(out).read_line(&mut line).map_err(|error| format!("the referee says nothing: {error}"))?;
        let port =
            line.trim().strip_prefix("port ").ok_or_else(|| format!("the referee said '{line}', expected a port"))?;
        let (url, host) = match service.carrier {
            Carrier::Tcp => (format!("http://127.0.0.1:{port}"), String::from("127.0.0.1")),
            Carrier::Tls => (format!("https://127.0.0.1:{port}"), String::from("127.0.0.1")),
            Carrier::Unix => (String::from("http://referee.test"), format!("unix:{}", socket.display())),
        };
        Ok(Referee { child, file, url, host })
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it; what it had.
    pub fn account(mut self) -> Result<Account, String> {
        signal(self.child.id(), "TERM")?;
        let status = self.child.wait().map_err(|error| format!("the referee is lost: {error}"))?;
        if !status.success() {
            return Err(format!("the referee ended with {status}"));
        }
        let bytes = std::fs::read(&self.file).map_err(|error| format!("no account: {error}"))?;
        read(&bytes).ok_or_else(|| String::from("the referee's account cannot be read"))
    }
}

impl Drop for Referee {
    fn drop(&mut self) {
        // It has ended already but where a case broke off.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command on one core, or on any.
pub fn pinned(core: Option<usize>, program: &Path) -> Command {
    let Some(core) = core else { return Command::new(program) };
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string()]).arg(program);
    command
}

/// A command in a network of its own with fifty ports for connections.
fn apart(program: &Path) -> Command {
    let prepare = "ip link set lo up && echo 40000 40049 > /proc/sys/net/ipv4/ip_local_port_range && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-n", "sh", "-c", prepare, "sh"]).arg(program);
    command
}

/// Makes a key and a certificate once; the transport that has them.
fn certificate(folder: &Path) -> Result<String, String> {
    let [key, certificate] = ["key.pem", "certificate.pem"].map(|name| folder.join(name));
    if !certificate.exists() {
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"])
            .args(["-subj", "/CN=referee", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout"])
            .arg(&key)
            .arg("-out")
            .arg(&certificate)
            .output()
            .map_err(|error| format!("cannot start openssl: {error}; install it"))?;
        if !made.status.success() {
            return Err(format!("openssl made no certificate:\n{}", String::from_utf8_lossy(&made.stderr)));
        }
    }
    Ok(format!("tls:{}:{}", certificate.display(), key.display()))
}

/// Stops a process for this long.
pub fn freeze(process: u32, time: Duration) -> Result<(), String> {
    signal(process, "STOP")?;
    std::thread::sleep(time);
    signal(process, "CONT")
}

fn signal(process: u32, name: &str) -> Result<(), String> {
    let sent = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status();
    match sent {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("cannot send SIG{name} to process {process}: {other:?}")),
    }
}
