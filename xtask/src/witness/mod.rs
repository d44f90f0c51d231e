//! `cargo xtask witness`: load tools on trial. Each runs against `onrush serve --witness`, and `onrush witness` says
//! which of its printed figures are true.
//!
//! Two targets: a steady one, and one that is stopped (SIGSTOP) for a second in the middle of the run, so that its
//! clients wait while the kernel goes on stamping what arrives. The target answers after 2 ms: a load that two cores
//! carry, and latencies that are known. A new target for each run, since a witness is of one load. Fails when a figure
//! of Onrush is not true; what other tools print is their own. Tools come from `$PEERS/bin` and `PATH`; those that are
//! missing are named and left out.

mod page;
mod tools;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use report::witness::{ClaimVerdict, Trial};
use serde_json::Value;

use self::tools::{Setting, TOOLS, Tool};
use crate::programs;

/// What the target answers, after 2 ms.
const PATH: &str = "/delay/2ms";
/// How long the target is stopped, and when.
const STALL: Duration = Duration::from_secs(1);
const STALL_AFTER: Duration = Duration::from_secs(4);
/// A tool that takes so much longer than its load hangs.
const PATIENCE: Duration = Duration::from_secs(15);

/// A target that a trial runs against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetKind {
    Steady,
    Stalling,
}

impl TargetKind {
    fn seconds(self) -> u64 {
        match self {
            TargetKind::Steady => 5,
            TargetKind::Stalling => 10,
        }
    }

    fn name(self) -> &'static str {
        match self {
            TargetKind::Steady => "steady",
            TargetKind::Stalling => "stalling",
        }
    }
}

/// A trial that was held, with its text.
pub(crate) struct Held {
    tool: &'static Tool,
    kind: TargetKind,
    trial: Trial,
    text: String,
}

/// Runs the tools that the words name, or all that are there.
pub fn run(words: &[String]) -> Result<(), String> {
    let mut words = words.iter();
    let (mut onrush, mut page_at, mut picked) = (None, None, Vec::new());
    while let Some(word) = words.next() {
        let mut value = || words.next().map(PathBuf::from).ok_or_else(|| format!("{word}: expected a path behind it"));
        match word.as_str() {
            "--onrush" => onrush = Some(value()?),
            "--page" => page_at = Some(value()?),
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}, expected --onrush or --page")),
            name => picked.push(name.to_owned()),
        }
    }
    let onrush = match onrush {
        Some(path) => path.canonicalize().map_err(|error| format!("--onrush {}: {error}", path.display()))?,
        None => programs::onrush()?,
    };
    let folder = programs::folder("witness")?;
    let (mut held, mut missing) = (Vec::new(), Vec::new());
    for tool in TOOLS.iter().filter(|tool| picked.is_empty() || picked.iter().any(|name| name == tool.name)) {
        let Some(program) = tools::find(tool.program, &onrush) else {
            println!("{}: not found in $PEERS/bin and PATH, left out", tool.name);
            missing.push(tool.name);
            continue;
        };
        for kind in [TargetKind::Steady, TargetKind::Stalling] {
            let trial = hold(tool, &program, kind, &onrush, &folder)?;
            println!("--- {}, {} target\n{}", tool.name, kind.name(), trial.text);
            held.push(trial);
        }
    }
    if let Some(path) = page_at {
        let page = page::page(&held, &missing);
        std::fs::write(&path, page).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    judged(&held)
}

/// What Onrush prints has to be true.
fn judged(held: &[Held]) -> Result<(), String> {
    let ours = held.iter().filter(|held| held.tool.program == "onrush");
    let wrong: Vec<String> = ours
        .flat_map(|held| held.trial.figures.iter().map(move |figure| (held, figure)))
        .filter(|(_, figure)| figure.verdict == ClaimVerdict::NotTrue)
        .map(|(held, figure)| {
            format!("{}, {} target: {} {}", held.tool.name, held.kind.name(), figure.name, figure.why)
        })
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("figures of Onrush that are not true:\n{}", wrong.join("\n"))) }
}

/// One tool against one target.
fn hold(tool: &'static Tool, program: &Path, kind: TargetKind, onrush: &Path, folder: &Path) -> Result<Held, String> {
    let stem = format!("{}-{}", tool.name.replace(' ', "-"), kind.name());
    let file = |end: &str| folder.join(format!("{stem}.{end}"));
    let (witness, output) = (file("witness.json"), file("out"));
    let target = WitnessedTarget::start(onrush, &witness)?;
    let url = format!("{}{PATH}", target.address);
    let setting = Setting { program, url: &url, seconds: kind.seconds(), folder, output: &output };
    let began = Instant::now();
    let mut child = tools::start(tool, &setting)?;
    if kind == TargetKind::Stalling {
        std::thread::sleep(STALL_AFTER.saturating_sub(began.elapsed()));
        target.signal("STOP");
        std::thread::sleep(STALL);
        target.signal("CONT");
    }
    await_end(&mut child, began + Duration::from_secs(kind.seconds()) + PATIENCE, tool.name)?;
    tools::finish(tool, &setting)?;
    target.end()?;
    let judge = |json: bool| {
        let mut command = Command::new(onrush);
        command.arg("witness").arg(&witness).arg("--claims").arg(&output).args(json.then_some("--json"));
        let ended = command.output().map_err(|error| format!("cannot run {}: {error}", onrush.display()))?;
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        if ended.status.success() { Ok(text) } else { Err(format!("{}, {} target: {said}", tool.name, kind.name())) }
    };
    let trial = judge(true)?;
    let trial = serde_json::from_str(&trial).map_err(|error| format!("{}: {error} in {trial}", tool.name))?;
    Ok(Held { tool, kind, trial, text: judge(false)? })
}

fn await_end(child: &mut Child, until: Instant, name: &str) -> Result<(), String> {
    loop {
        if let Some(status) = child.try_wait().map_err(|error| format!("{name}: {error}"))? {
            // Some tools end with another code when requests failed; their output says more.
            return if status.code().is_some() { Ok(()) } else { Err(format!("{name} ended by a signal: {status}")) };
        }
        if Instant::now() > until {
            let _ended = child.kill();
            let _ended = child.wait();
            return Err(format!("{name} did not end in time"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A target with a witness.
struct WitnessedTarget {
    child: Child,
    address: String,
}

impl WitnessedTarget {
    fn start(onrush: &Path, witness: &Path) -> Result<WitnessedTarget, String> {
        let mut command = Command::new(onrush);
        command.args(["serve", "--json", "--listen", "tcp://127.0.0.1:0", "--witness"]).arg(witness);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| format!("cannot run {}: {error}", onrush.display()))?;
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("piped"));
        lines.read_line(&mut line).map_err(|error| format!("onrush serve: {error}"))?;
        // The rest is one line, which fits into the pipe.
        child.stdout = Some(lines.into_inner());
        let address = serde_json::from_str::<Value>(&line).ok();
        let address = address.and_then(|line| line["http"][0].as_str().map(str::to_owned));
        let Some(address) = address else {
            let _ended = child.kill();
            let _ended = child.wait();
            return Err(format!("onrush serve did not say where it listens: {line:?}"));
        };
        Ok(WitnessedTarget { child, address })
    }

    fn signal(&self, name: &str) {
        let _gone = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
    }

    /// It writes what it saw.
    fn end(mut self) -> Result<(), String> {
        self.signal("TERM");
        let until = Instant::now() + PATIENCE;
        await_end(&mut self.child, until, "onrush serve")
    }
}

impl Drop for WitnessedTarget {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}
