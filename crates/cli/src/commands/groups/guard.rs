//! The guard: a process that stops what a matrix started when the matrix itself can no longer do so, be it killed
//! outright.
//!
//! It is this binary again (`onrush guard`, not in the help) in a process group of its own. It reads from a pipe which
//! groups are running; when the pipe ends, its other end is gone, and every group still listed is ended:
//! TERM, then KILL after a grace. It knows only the numbers it was given, and ends with the pipe.

use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use crate::exit_code::ExitCode;
use crate::failure::Failure;

/// How long a group may take to end by itself.
pub const GRACE: Duration = Duration::from_secs(5);

/// The name of its command.
pub const COMMAND: &str = "guard";

/// The guard's command; nobody types it.
pub fn command() -> clap::Command {
    clap::Command::new(COMMAND)
        .hide(true)
        .about("End the processes of a matrix that is gone")
        .arg(clap::Arg::new("scratch").value_name("FOLDER"))
}

/// The matrix's side. Clones share one guard.
#[derive(Clone)]
pub struct Guard(Arc<Mutex<GuardPipe>>);

struct GuardPipe {
    pipe: Option<ChildStdin>,
    child: Child,
}

impl Guard {
    /// Starts the guard. It removes `scratch` at the end.
    pub fn start(scratch: &Path) -> Result<Guard, Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(ExitCode::Generic, format!("cannot start the process that guards the servers: {error}"))
        };
        let mut child = Command::new(std::env::current_exe().map_err(failed)?)
            .arg(COMMAND)
            .arg(scratch)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let pipe = child.stdin.take();
        Ok(Guard(Arc::new(Mutex::new(GuardPipe { pipe, child }))))
    }

    /// This group runs.
    pub fn add(&self, group: Pid) {
        self.tell('+', group);
    }

    /// This group has ended.
    pub fn remove(&self, group: Pid) {
        self.tell('-', group);
    }

    fn tell(&self, sign: char, group: Pid) {
        let mut line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipe) = &mut line.pipe {
            // A guard that is gone cannot be told; what we start we still stop ourselves.
            let _ = pipe.write_all(format!("{sign}{}\n", group.as_raw_nonzero()).as_bytes());
        }
    }
}

impl Drop for GuardPipe {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _ = self.child.wait();
    }
}

/// The guard's own life.
pub fn main(scratch: Option<&String>) -> ExitCode {
    let mut groups = BTreeSet::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let number = line.get(1..).and_then(|digits| digits.parse::<i32>().ok());
        match (line.chars().next(), number) {
            (Some('+'), Some(group)) => drop(groups.insert(group)),
            (Some('-'), Some(group)) => drop(groups.remove(&group)),
            _ => {}
        }
    }
    let groups: Vec<Pid> = groups.into_iter().filter_map(Pid::from_raw).collect();
    end(&groups);
    if let Some(scratch) = scratch.map(PathBuf::from) {
        let _ = std::fs::remove_dir_all(scratch);
    }
    ExitCode::Ok
}

fn end(groups: &[Pid]) {
    let all = |signal: Signal| {
        for group in groups {
            // One that has ended meanwhile needs no signal.
            let _ = kill_process_group(*group, signal);
        }
    };
    all(Signal::TERM);
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline && groups.iter().any(|group| test_kill_process_group(*group).is_ok()) {
        std::thread::sleep(Duration::from_millis(20));
    }
    all(Signal::KILL);
}
