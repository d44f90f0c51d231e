//! One run with one fault: how it ended, what it said, and what the target counted.
//!
//! Each run has a folder of its own below `target/faults/runs`, which stays when a promise was broken. A run that does
//! not end is killed, with all that it started when it was traced.

use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::target::Target;
use crate::workload::{WORKLOADS, Workload};

/// A run takes a second; a traced one on a busy machine some more.
const LONGEST: Duration = Duration::from_secs(40);
/// Between two looks whether a process has ended.
const LOOK: Duration = Duration::from_millis(10);

/// What the runs share.
pub(crate) struct Bench<'a> {
    pub(crate) root: &'a Path,
    pub(crate) folder: &'a Path,
    pub(crate) onrush: &'a Path,
    target: &'a Target,
    /// Two saved runs without a fault.
    saved: [PathBuf; 2],
    runs: AtomicU64,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Code(i32),
    Signal(i32),
    /// It was killed after [`LONGEST`].
    Never,
}

/// A run with a fault.
pub(crate) struct Trial {
    pub(crate) end: End,
    pub(crate) output: String,
    pub(crate) error: String,
    /// Of this run alone; deleted by [`Trial::clear`].
    pub(crate) folder: PathBuf,
    /// Requests that the target counted.
    pub(crate) requests: u64,
}

/// How a run is made to fail.
pub(crate) enum Fault<'a> {
    None,
    /// The value of `ONRUSH_FAIL_ALLOCATION`.
    Allocation(&'a str),
    /// The tracer, what it shall do, and the words behind its file.
    Call {
        tracer: &'a Path,
        verb: &'a str,
        words: Vec<String>,
    },
}

impl<'a> Bench<'a> {
    pub(crate) fn new(
        root: &'a Path,
        folder: &'a Path,
        onrush: &'a Path,
        target: &'a Target,
    ) -> Result<Bench<'a>, String> {
        let saved = ["a", "b"].map(|name| folder.join("saved").join(name).join("result"));
        let bench = Bench { root, folder, onrush, target, saved: saved.clone(), runs: AtomicU64::new(0) };
        for result in &saved {
            let trial = bench.run(&WORKLOADS[0], &Fault::None)?;
            if trial.end != End::Code(0) {
                return Err(format!("without a fault the run ends with {:?}\n{}", trial.end, trial.error));
            }
            let folder = result.parent().expect("a result lies in a folder");
            _ = std::fs::remove_dir_all(folder);
            let moved =
                std::fs::create_dir_all(folder).and_then(|()| std::fs::rename(trial.folder.join("result"), result));
            moved.map_err(|error| format!("{}: {error}", result.display()))?;
            trial.clear();
        }
        Ok(bench)
    }

    /// Runs it in a folder of its own. An error: the suite itself cannot go on.
    pub(crate) fn run(&self, workload: &Workload, fault: &Fault<'_>) -> Result<Trial, String> {
        let run = format!("r{}", self.runs.fetch_add(1, Ordering::Relaxed));
        let folder = self.folder.join("runs").join(&run);
        _ = std::fs::remove_dir_all(&folder);
        let create = |name: &str| File::create(folder.join(name));
        let opened = std::fs::create_dir_all(&folder).and_then(|()| Ok((create("out.txt")?, create("err.txt")?)));
        let (output, error) = opened.map_err(|error| format!("{}: {error}", folder.display()))?;
        let url = format!("http://{}/{run}", self.target.address);
        let arguments = workload.arguments(self.root, &folder, &self.saved, &url);
        let traced = folder.join("traced.txt");
        let mut command = match fault {
            Fault::Call { tracer, verb, words } => {
                let mut command = Command::new(tracer);
                command.arg(verb).arg(&traced).args(words).arg("--").arg(self.onrush);
                command
            }
            _ => Command::new(self.onrush),
        };
        match fault {
            Fault::Allocation(value) => command.env("ONRUSH_FAIL_ALLOCATION", value),
            _ => command.env_remove("ONRUSH_FAIL_ALLOCATION"),
        };
        command.env("NO_COLOR", "1").env_remove("RUST_BACKTRACE").args(arguments);
        command.stdin(Stdio::null()).stdout(output).stderr(error);
        let mut child = command.spawn().map_err(|error| format!("cannot start {}: {error}", self.onrush.display()))?;
        let mut end = ended(&mut child);
        if let (Fault::Call { .. }, End::Code(0)) = (fault, end) {
            end = read_end(&traced)?;
        }
        let text =
            |name: &str| String::from_utf8_lossy(&std::fs::read(folder.join(name)).unwrap_or_default()).into_owned();
        let (output, error) = (text("out.txt"), text("err.txt"));
        Ok(Trial { end, output, error, requests: self.target.requests_of(&run), folder })
    }
}

impl Trial {
    /// Whether the tracer did what it was asked.
    pub(crate) fn was_hit(&self) -> bool {
        std::fs::read_to_string(self.folder.join("traced.txt")).is_ok_and(|text| text.starts_with("hit"))
    }

    /// Deletes what the run left.
    pub(crate) fn clear(&self) {
        _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn ended(child: &mut Child) -> End {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return end_of(status),
            _ if began.elapsed() > LONGEST => {
                _ = child.kill();
                _ = child.wait();
                return End::Never;
            }
            _ => std::thread::sleep(LOOK),
        }
    }
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Code(code),
        (None, signal) => End::Signal(signal.unwrap_or(0)),
    }
}

/// How the traced program ended, by the tracer's last line.
fn read_end(traced: &Path) -> Result<End, String> {
    let text = std::fs::read_to_string(traced).map_err(|error| format!("{}: {error}", traced.display()))?;
    let last = text.lines().last().and_then(|line| line.split_once(' '));
    match last.and_then(|(word, number)| Some((word, number.parse().ok()?))) {
        Some(("exit", code)) => Ok(End::Code(code)),
        Some(("signal", number)) => Ok(End::Signal(number)),
        _ => Err(format!("{}: expected 'exit CODE' or 'signal NUMBER' at the end, found {text:?}", traced.display())),
    }
}
