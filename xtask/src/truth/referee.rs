//! The server in C: built, started, frozen, and asked at the end what it had.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A request as the server had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The number in its path.
    pub number: u64,
    /// When the kernel received it, in ns of the wall clock.
    pub arrived_ns: i64,
    /// When its answer was written; 0 when none was.
    pub written_ns: i64,
}

impl Record {
    /// From arrival to answer, in ms; none without an answer.
    pub fn ms(&self) -> Option<f64> {
        (self.written_ns > 0).then(|| (self.written_ns - self.arrived_ns) as f64 / 1e6)
    }
}

/// All that a server had.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Each request.
    pub records: Vec<Record>,
    /// Bytes it received.
    pub bytes_in: u64,
    /// Bytes it sent.
    pub bytes_out: u64,
}

/// A running server.
pub struct Referee {
    child: Child,
    file: PathBuf,
    /// `127.0.0.1:PORT`.
    pub address: String,
}

/// Compiles it with the system's C compiler.
pub fn build(root: &Path, folder: &Path) -> Result<PathBuf, String> {
    let program = folder.join("referee");
    let source = root.join("xtask/truth/referee.c");
    let made =
        Command::new("cc").args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).arg(&source).output();
    let made = made.map_err(|error| format!("cannot start cc: {error}; install a C compiler"))?;
    match made.status.success() {
        true => Ok(program),
        false => Err(format!("cc could not build {}:\n{}", source.display(), String::from_utf8_lossy(&made.stderr))),
    }
}

impl Referee {
    /// Starts one.
    pub fn start(program: &Path, folder: &Path) -> Result<Referee, String> {
        let file = folder.join("account");
        let mut child = Command::new(program)
            .arg(&file)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("the referee has no output")?;
        BufReader::new(out).read_line(&mut line).map_err(|error| format!("the referee says nothing: {error}"))?;
        let port =
            line.trim().strip_prefix("port ").ok_or_else(|| format!("the referee said '{line}', expected a port"))?;
        Ok(Referee { address: format!("127.0.0.1:{port}"), child, file })
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
        let text = std::fs::read_to_string(&self.file).map_err(|error| format!("no account: {error}"))?;
        read(&text).ok_or_else(|| String::from("the referee's account cannot be read"))
    }
}

impl Drop for Referee {
    fn drop(&mut self) {
        // It has ended already but where a case broke off.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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

fn read(text: &str) -> Option<Account> {
    let mut account = Account::default();
    for line in text.lines() {
        if let Some(totals) = line.strip_prefix("total ") {
            let totals: Vec<u64> = totals.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
            let [count, bytes_in, bytes_out] = totals[..] else { return None };
            (account.bytes_in, account.bytes_out) = (bytes_in, bytes_out);
            return (count == account.records.len() as u64).then_some(account);
        }
        let mut fields = line.split(' ');
        account.records.push(Record {
            number: fields.next()?.parse().ok()?,
            arrived_ns: fields.next()?.parse().ok()?,
            written_ns: fields.next()?.parse().ok()?,
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_whole_or_none() {
        let account = read("7 1000 2501000 90 40\n8 5 0 90 0\ntotal 2 180 40\n").expect("an account");
        assert_eq!(account.records[0].ms(), Some(2.5));
        assert_eq!((account.records[1].ms(), account.bytes_in, account.bytes_out), (None, 180, 40));
        assert_eq!(read("7 1000 2501000 90 40\n"), None);
        assert_eq!(read("total 1 180 40\n"), None);
    }
}
