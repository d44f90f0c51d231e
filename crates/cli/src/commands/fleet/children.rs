//! Agents that are started on this machine: processes of this program, one a part.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::ArgMatches;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output;

/// How long one may take to end when it has been let go.
const PATIENCE: Duration = Duration::from_secs(5);

/// Processes that end with this one.
#[derive(Default)]
pub struct Children {
    processes: Vec<Child>,
    /// Those that pass on what they say, where a picture stands on the terminal.
    passing: Vec<JoinHandle<()>>,
}

impl Children {
    /// Starts them. They hear no signals of the terminal: what a signal means is for the coordinator to say.
    pub fn start(
        matches: &ArgMatches,
        (agents, workers): (u32, Option<usize>),
        invitation: &fleet::Invitation,
    ) -> Result<Children, Failure> {
        let failed = |error: std::io::Error| Failure::new(ExitCode::Generic, format!("cannot start an agent: {error}"));
        let program = std::env::current_exe().map_err(failed)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = workers.unwrap_or((cores / agents as usize).max(1));
        let mut children = Children::default();
        for index in 0..agents {
            let mut command = Command::new(&program);
            command.args(["agent", "--with-parent", "--index", &index.to_string(), "--workers", &workers.to_string()]);
            command.args(forwarded(matches, index));
            command.env("ONRUSH_JOIN", invitation.to_string());
            std::env::vars_os()
                .map(|(name, _)| name)
                .filter(|name| name.to_string_lossy().starts_with("K6_"))
                .for_each(|name| {
                    command.env_remove(name);
                });
            command.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
            // What others write would stand in the middle of the picture.
            let is_passed_on = output::stderr().is_terminal();
            command.stderr(if is_passed_on { Stdio::piped() } else { Stdio::inherit() });
            let mut child = command.spawn().map_err(failed)?;
            children.passing.extend(child.stderr.take().and_then(pass_on));
            children.processes.push(child);
        }
        Ok(children)
    }

    /// One that has ended: which, and how.
    pub fn ended(&mut self) -> Option<(usize, String)> {
        let ended = |child: &mut Child| child.try_wait().ok().flatten();
        self.processes.iter_mut().enumerate().find_map(|(index, child)| Some((index, ended(child)?.to_string())))
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.processes.is_empty()
    }

    /// Waits for all; those that do not end are killed.
    pub fn finish(mut self) {
        let until = Instant::now() + PATIENCE;
        for child in &mut self.processes {
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            if matches!(child.try_wait(), Ok(None)) {
                let _ = child.kill();
            }
        }
        self.passing.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.processes {
            if matches!(child.try_wait(), Ok(None)) {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// Passes on line by line what an agent says, until it has ended.
fn pass_on(from: ChildStderr) -> Option<JoinHandle<()>> {
    let work = || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            output::stderr().line(&line);
            line.clear();
        }
    };
    std::thread::Builder::new().name(String::from("agent's log")).spawn(work).ok()
}

/// Flags that are an agent's matter, too; each writes files of its own.
fn forwarded(matches: &ArgMatches, index: u32) -> Vec<String> {
    let all = |name: &str| -> Vec<String> {
        matches.try_get_many::<String>(name).ok().flatten().into_iter().flatten().cloned().collect()
    };
    let mut words = Vec::new();
    for name in ["log-format", "secret-source", "no-color", "verbose", "vu-memory-limit"] {
        words.extend(all(name).into_iter().map(|value| format!("--{name}={value}")));
    }
    words.extend(all("console-output").last().map(|path| format!("--console-output={path}.{index}")));
    words.extend(all("log-output").last().map(|place| match place.strip_prefix("file=") {
        Some(rest) => {
            let (path, level) = rest.split_once(',').unwrap_or((rest, ""));
            let level = if level.is_empty() { String::new() } else { format!(",{level}") };
            format!("--log-output=file={path}.{index}{level}")
        }
        None => format!("--log-output={place}"),
    }));
    words
}
