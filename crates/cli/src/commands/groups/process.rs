//! A process of the plan with all its descendants: a process group of its own, pinned to cores, its output in a file.
//!
//! Output goes to a file and not to us: a server that logs must not wake anybody beside the measurement. Whatever
//! happens the group ends with its owner; the guard knows of it from its start to its end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use report::matrix::document::Usage;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, pidfd_open, waitid,
};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::guard::{GRACE, Guard};
use super::interruption;

/// How many of its last lines are shown of a process that failed.
const LINES: usize = 20;
/// The unit of CPU times in /proc, the same on every Linux.
const TICKS_PER_S: f64 = 100.0;
/// How much of its output is read at most, from the end.
const MOST_OUTPUT: u64 = 4 << 20;

/// A running process group.
pub struct Group {
    child: Child,
    pid: Pid,
    pidfd: OwnedFd,
    output: PathBuf,
    guard: Guard,
    stopped: bool,
}

impl Group {
    /// Starts a command on these cores (all when there are none), its output going to this file. A program that is not
    /// there ends with exit code 127, as in a shell.
    pub fn spawn(command: &Command, cores: &[usize], output: PathBuf, guard: &Guard) -> io::Result<Group> {
        let file = File::create(&output)?;
        let mut command = held(command);
        command.stdin(Stdio::piped()).stdout(file.try_clone()?).stderr(file).process_group(0);
        let mut child = on_cores(cores, || command.spawn())?;
        let pid = Pid::from_child(&child);
        guard.add(pid);
        let go = child.stdin.take().map(|mut pipe| pipe.write_all(b"go\n"));
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) if matches!(go, Some(Ok(()))) => {
                Ok(Group { child, pid, pidfd, output, guard: guard.clone(), stopped: false })
            }
            opened => {
                let _ = kill_process_group(pid, Signal::KILL);
                let _ = child.wait();
                guard.remove(pid);
                Err(opened.map_or_else(io::Error::from, |_| io::Error::other("it ended at once")))
            }
        }
    }

    /// How it ended, when it has. It stays a zombie, so that its CPU time can still be read.
    pub fn ended(&mut self) -> Option<ProcessEnd> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.pid), options).ok()??;
        Some(ProcessEnd { code: status.exit_status(), signal: status.terminating_signal() })
    }

    /// CPU time of all its processes, ended ones included once their parent knows, and their memory.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        let Ok(processes) = std::fs::read_dir("/proc") else { return usage };
        for folder in processes.flatten().filter(|entry| is_number(&entry.file_name())) {
            let Some(used) = used_by(&folder.path(), self.pid) else { continue };
            usage.cpu_s += used.cpu_s;
            usage.peak_bytes = match (usage.peak_bytes, used.peak_bytes) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            };
        }
        usage
    }

    /// All of its output, or the last megabytes.
    pub fn output(&self) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&self.output)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(MOST_OUTPUT)))?;
            let mut bytes = Vec::new();
            file.take(MOST_OUTPUT).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
    }

    /// Its last lines.
    pub fn last_lines(&self) -> Vec<String> {
        last_lines(&self.output())
    }

    /// Asks its first process to end, which ends the others in its own way.
    pub fn ask_to_end(&self) {
        let _ = kill_process(self.pid, Signal::TERM);
    }

    /// Ends the group: TERM, and KILL for what is left after a grace.
    pub fn stop(&mut self) -> Option<ExitStatus> {
        if !self.stopped {
            let _ = kill_process_group(self.pid, Signal::TERM);
            wait_for(&[self], GRACE);
        }
        self.kill()
    }

    /// Ends the group at once.
    pub fn kill(&mut self) -> Option<ExitStatus> {
        if self.stopped {
            return None;
        }
        self.stopped = true;
        // Descendants may outlive the first process; none stays.
        let _ = kill_process_group(self.pid, Signal::KILL);
        let status = self.child.wait().ok();
        self.guard.remove(self.pid);
        let _ = std::fs::remove_file(&self.output);
        status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The command behind a shell that waits for a word of ours: we give it when the guard knows of the process. When we
/// are killed before that, the pipe ends and so does the shell. The number of the process stays the same.
fn held(command: &Command) -> Command {
    let mut held = Command::new("sh");
    held.args(["-c", "read go && exec \"$@\" </dev/null", "sh"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => held.env(name, value),
            None => held.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        held.current_dir(folder);
    }
    held
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEnd {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl ProcessEnd {
    /// `exit code 1`, `signal 9`.
    pub fn text(self) -> String {
        match (self.code, self.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => String::from("no exit code"),
        }
    }
}

/// The last lines of a text, empty ones at its end left out.
fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES)..].iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Waits until one of these processes has ended, without waking up in between.
pub fn wait_for(groups: &[&Group], at_most: Duration) {
    let mut fds: Vec<PollFd<'_>> = groups.iter().map(|group| PollFd::new(&group.pidfd, PollFlags::IN)).collect();
    let end = Instant::now() + at_most;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let Ok(timeout) = Timespec::try_from(left) else { return };
        match poll(&mut fds, Some(&timeout)) {
            Err(rustix::io::Errno::INTR) => {}
            _ => return,
        }
    }
}

/// Runs a shell line to its end, in this folder. What it printed comes back with a failure.
pub fn shell(
    line: &str,
    folder: &Path,
    env: &BTreeMap<String, String>,
    output: PathBuf,
    guard: &Guard,
) -> Result<(), String> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).envs(env);
    to_its_end(&command, line, output, guard, Duration::MAX).map(drop)
}

/// Runs a command to its end, limited in time; what it printed. `what` names it in errors.
pub fn to_its_end(
    command: &Command,
    what: &str,
    output: PathBuf,
    guard: &Guard,
    at_most: Duration,
) -> Result<String, String> {
    let mut group =
        Group::spawn(command, &[], output, guard).map_err(|error| format!("'{what}' cannot be started: {error}"))?;
    let began = Instant::now();
    while group.ended().is_none() {
        if interruption::is_asked() {
            return Err(format!("'{what}' was interrupted"));
        }
        if began.elapsed() > at_most {
            group.kill();
            return Err(format!("'{what}' did not end within {} s", at_most.as_secs()));
        }
        wait_for(&[&group], Duration::from_millis(100));
    }
    let (said, last) = (group.output(), group.last_lines());
    match group.kill() {
        Some(status) if status.success() => Ok(said),
        Some(status) => {
            let ending = ProcessEnd { code: status.code(), signal: status.signal() };
            Err(format!("'{what}' failed with {}\n{}", ending.text(), last.join("\n")).trim_end().to_owned())
        }
        None => Err(format!("'{what}' cannot be waited for")),
    }
}

/// The cores this process may use.
pub fn allowed_cores() -> Vec<usize> {
    let set = sched_getaffinity(None).ok();
    set.map_or_else(Vec::new, |set| (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect())
}

/// Does something on these cores: a process started meanwhile inherits them. This thread goes back to its own
/// afterwards.
fn on_cores<T>(cores: &[usize], act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    if cores.is_empty() {
        return act();
    }
    let own = sched_getaffinity(None)?;
    let mut wanted = CpuSet::new();
    cores.iter().for_each(|core| wanted.set(*core));
    sched_setaffinity(None, &wanted)?;
    let done = act();
    sched_setaffinity(None, &own)?;
    done
}

/// Whether a name in /proc is that of a process.
fn is_number(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What one process used, when it belongs to this group.
fn used_by(folder: &Path, group: Pid) -> Option<Usage> {
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    // The name in parentheses may hold spaces and parentheses: fields are counted from its end.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if fields.get(2)?.parse::<i32>().ok()? != group.as_raw_nonzero().get() {
        return None;
    }
    let ticks = |range: std::ops::Range<usize>| -> Option<f64> {
        let ticks: u64 = fields.get(range)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
        Some(ticks as f64 / TICKS_PER_S)
    };
    // Ticks know threads that have ended, the scheduler's figure is exact: a short run uses few ticks.
    let cpu_s = ticks(11..13)?.max(scheduled_s(folder)) + ticks(13..15)?;
    let status = std::fs::read_to_string(folder.join("status")).unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    Some(Usage { cpu_s, peak_bytes: peak.map(|kb| kb * 1024) })
}

/// CPU time of a process's threads that are there, in nanoseconds as the scheduler counts it.
fn scheduled_s(folder: &Path) -> f64 {
    let Ok(threads) = std::fs::read_dir(folder.join("task")) else { return 0.0 };
    let of_thread = |folder: std::fs::DirEntry| -> Option<u64> {
        std::fs::read_to_string(folder.path().join("schedstat")).ok()?.split_whitespace().next()?.parse().ok()
    };
    threads.flatten().filter_map(of_thread).sum::<u64>() as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept() {
        let text: String = (1..=30).map(|n| format!("line {n}\n")).collect();
        let lines = last_lines(&text);
        assert_eq!((lines.len(), lines[0].as_str(), lines[19].as_str()), (20, "line 11", "line 30"));
        assert_eq!(last_lines("\n\n"), Vec::<String>::new());
    }

    #[test]
    fn this_process_may_use_some_cores() {
        let cores = allowed_cores();
        assert!(!cores.is_empty());
        let pinned = on_cores(&cores[..1], || Ok(allowed_cores())).unwrap();
        assert_eq!(pinned, cores[..1]);
        assert_eq!(allowed_cores(), cores, "as before");
    }
}
