//! One run of Onrush against a referee: its JSON summary, what it logged and when, its exit code.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::account::Account;
use super::bench::Bench;
use super::busy::Spinners;
use super::referee::{Referee, Service, freeze};

/// What to run.
#[derive(Default)]
pub struct Load {
    /// The script; `__ENV.SERVER` is the referee's URL, `__ENV.HOST` where `referee.test` is, and `console.log('mark')`
    /// the moment of `spoil`.
    pub script: String,
    /// Further flags.
    pub flags: Vec<String>,
    /// Words before the program's name: `env`, `taskset`.
    pub before: Vec<String>,
    /// The referee.
    pub service: Service,
    /// What happens at the mark.
    pub spoil: Option<Spoil>,
    /// Programs that compute beside the whole run.
    pub spinners: usize,
}

/// What is done to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoil {
    /// The server is stopped for so long.
    FreezeServer(Duration),
    /// Onrush is stopped for so long.
    FreezeGenerator(Duration),
    /// So many programs compute on this core from then on.
    Spin(usize, usize),
    /// A file is made.
    Touch(PathBuf),
}

/// What came of it.
pub struct Trial {
    /// What the server had.
    pub account: Account,
    /// `--summary-export`.
    pub summary: Value,
    /// Lines of standard error, with the time since the start of the process.
    pub lines: Vec<(Duration, String)>,
    /// When it came to its mark.
    pub spoiled: Option<Duration>,
}

/// No run of the suite takes longer.
const LONGEST: Duration = Duration::from_secs(900);
/// The mark comes within this time, or never.
const PATIENCE: Duration = Duration::from_secs(120);

impl Load {
    /// Runs it.
    pub fn run(&self, bench: &Bench<'_>) -> Result<Trial, String> {
        let referee = Referee::start(&bench.programs.referee, &bench.folder, self.service)?;
        let [script, summary] = ["load.js", "summary.json"].map(|name| bench.folder.join(name));
        let _ = std::fs::remove_file(&summary);
        let written = std::fs::write(&script, &self.script);
        written.map_err(|error| format!("cannot write {}: {error}", script.display()))?;
        let mut spinners = Spinners::start(self.spinners, None)?;
        let mut command = self.command(bench.onrush, &referee);
        command.args(["run", "--quiet", "-e", &format!("SERVER={}", referee.url)]);
        command.args(["-e", &format!("HOST={}", referee.host)]).args(&self.flags);
        command.arg("--summary-export").arg(&summary).arg(&script);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let began = Instant::now();
        let mut child = command.spawn().map_err(|error| format!("cannot start onrush: {error}"))?;
        let log = Log::of(child.stderr.take(), began);
        let outcome = self
            .spoil
            .as_ref()
            .map(|spoil| log.await_mark().and_then(|()| act(spoil, referee.id(), child.id(), &mut spinners)));
        let status = ended(&mut child)?;
        outcome.transpose()?;
        let (lines, account) = (log.lines(), referee.account()?);
        let spoiled = lines.iter().find(|(_, line)| is_mark(line)).map(|(at, _)| *at);
        let summary = read_summary(&summary, status, &lines)?;
        Ok(Trial { account, summary, lines, spoiled })
    }

    fn command(&self, onrush: &Path, referee: &Referee) -> Command {
        let mut words: Vec<OsString> = self.before.iter().map(OsString::from).collect();
        if self.service.is_apart {
            let enter = ["nsenter", "-t", &referee.id().to_string(), "-n"].map(OsString::from);
            words.splice(0..0, enter);
        }
        words.push(onrush.into());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }
}

fn act(spoil: &Spoil, referee: u32, generator: u32, spinners: &mut Spinners) -> Result<(), String> {
    match spoil {
        Spoil::FreezeServer(time) => freeze(referee, *time)?,
        Spoil::FreezeGenerator(time) => freeze(generator, *time)?,
        Spoil::Spin(count, core) => *spinners = Spinners::start(*count, Some(*core))?,
        Spoil::Touch(file) => {
            std::fs::write(file, "").map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        }
    }
    Ok(())
}

/// Waits for it; ends it when it takes too long.
fn ended(child: &mut Child) -> Result<ExitStatus, String> {
    let deadline = Instant::now() + LONGEST;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("onrush did not end within {} s", LONGEST.as_secs()));
            }
            Err(error) => return Err(format!("onrush is lost: {error}")),
        }
    }
}

fn read_summary(path: &Path, status: ExitStatus, lines: &[(Duration, String)]) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(|_| {
        let log: Vec<&str> = lines.iter().map(|(_, line)| line.as_str()).collect();
        format!("onrush ended with {status} and no summary:\n{}", log.join("\n"))
    })?;
    serde_json::from_str(&text).map_err(|error| format!("the summary is no JSON: {error}"))
}

fn is_mark(line: &str) -> bool {
    line.contains("msg=mark")
}

/// What a process says on standard error, read as it comes.
struct Log {
    lines: std::thread::JoinHandle<Vec<(Duration, String)>>,
    marks: Receiver<()>,
}

impl Log {
    fn of(errors: Option<ChildStderr>, began: Instant) -> Log {
        let (mark, marks) = channel();
        let lines = std::thread::spawn(move || {
            let mut lines = Vec::new();
            for line in errors.map(BufReader::new).into_iter().flat_map(BufRead::lines).map_while(Result::ok) {
                if is_mark(&line) {
                    let _ = mark.send(());
                }
                lines.push((began.elapsed(), line));
            }
            lines
        });
        Log { lines, marks }
    }

    fn await_mark(&self) -> Result<(), String> {
        let came = self.marks.recv_timeout(PATIENCE);
        came.map_err(|_| String::from("the script never came to its mark"))
    }

    fn lines(self) -> Vec<(Duration, String)> {
        self.lines.join().unwrap_or_default()
    }
}

impl Trial {
    /// A figure of a metric: `count`, `p(99)`.
    pub fn figure(&self, metric: &str, figure: &str) -> f64 {
        self.summary["metrics"][metric][figure].as_f64().unwrap_or(f64::NAN)
    }

    /// A counter; 0 when it has no samples.
    pub fn count(&self, metric: &str) -> u64 {
        self.summary["metrics"][metric]["count"].as_u64().unwrap_or_default()
    }

    /// Iterations `planned`, `ended`, `dropped` or `interrupted`.
    pub fn iterations(&self, part: &str) -> u64 {
        self.summary["judgement"]["iterations"][part].as_u64().unwrap_or_default()
    }

    /// `TRUSTED`, `SUSPECT`, `INVALID`.
    pub fn verdict(&self) -> &str {
        self.summary["judgement"]["verdict"].as_str().unwrap_or("none")
    }

    /// Names of the causes that are no notes.
    pub fn causes(&self) -> Vec<&str> {
        let causes = self.summary["judgement"]["causes"].as_array().into_iter().flatten();
        causes.filter(|cause| cause["severity"] != "note").filter_map(|cause| cause["cause"].as_str()).collect()
    }

    /// What the server took for each request, in ms, ascending.
    pub fn served_ms(&self) -> Vec<f64> {
        super::statistics::sorted(self.account.records.iter().filter_map(super::account::Record::ms).collect())
    }

    /// From planned start to answer, in ms, ascending, by the referee: requests are numbered from 1 in the order of
    /// their plan, and those with number 0 have none. The plan began when the earliest start arrived, by its own
    /// planned time, less what that one was late: this constant alone is Onrush's own word.
    pub fn planned_ms(&self, rate: f64) -> Vec<f64> {
        let planned = || self.account.records.iter().filter(|record| record.number > 0);
        let arrivals = planned().map(|record| (record.number - 1, record.arrived_ns));
        let Some(origin) = super::statistics::origin_ns(arrivals, rate) else { return Vec::new() };
        let origin = origin - self.figure("iteration_lag", "min") * 1e6;
        let time = |record: &super::account::Record| {
            (record.written_ns as f64 - origin - (record.number - 1) as f64 * 1e9 / rate) / 1e6
        };
        super::statistics::sorted(planned().filter(|record| record.written_ns > 0).map(time).collect())
    }
}
