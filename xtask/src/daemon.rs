//! A program that ends when it is dropped, and whose output is in a file.

use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A running program.
pub(crate) struct Daemon(Child);

impl Daemon {
    /// Starts it; standard output and error go to the end of the log.
    pub(crate) fn start(mut command: Command, log: &Path) -> Result<Daemon, String> {
        let file = OpenOptions::new().create(true).append(true).open(log);
        let file = file.map_err(|error| format!("{}: {error}", log.display()))?;
        let other = file.try_clone().map_err(|error| error.to_string())?;
        let started = command.stdin(Stdio::null()).stdout(file).stderr(other).spawn();
        Ok(Daemon(started.map_err(|error| format!("cannot run {command:?}: {error}"))?))
    }

    /// Its number in `/proc`.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten()
    }

    /// Sends a signal by its name: only `kill` is needed for that.
    pub(crate) fn signal(&self, name: &str) {
        let _gone = Command::new("kill").args([&format!("-{name}"), &self.0.id().to_string()]).status();
    }

    /// Ends it as a system does: a signal, and another one when the time is over.
    pub(crate) fn end(&mut self, grace: Duration) {
        self.signal("TERM");
        let end = Instant::now() + grace;
        while self.ended().is_none() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ended = self.0.kill();
        let _ended = self.0.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _ended = self.0.wait();
    }
}
