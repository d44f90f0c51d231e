//! One run's load: `onrush run` as a child with its own result, or another program whose output is read.
//!
//! A child process for each run, so that nothing of one run is left in the next: sockets, heap, caches. A run that made
//! no request, or in which more requests failed than the plan allows, is a failure and not a low figure.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use report::document::{self, Document, Environment, Value};
use report::matrix::cells::Cell;
use report::matrix::document::{Usage, slim};
use report::matrix::failed_requests::FailedRequests;
use report::matrix::figures::{self, Figures};
use report::matrix::parts::{Amount, BodySpec, LoadKind, LoadSpec, Part};
use report::matrix::plan::Plan;

use super::script;
use super::server::{Places, Running, plan_command, told};
use crate::ci;
use crate::commands::groups::guard::Guard;
use crate::commands::groups::interruption;
use crate::commands::groups::process::{Group, wait_for};
use crate::process::machine::{self, Moment};

/// What a load that is not measured is called in the names of its files.
const WARM_UP: &str = "warm-up";
/// How long a run may take beyond its plan.
const SLACK: Duration = Duration::from_secs(60);
/// How long a run of a number of requests, or of a script by its own options, may take.
const MOST: Duration = Duration::from_secs(3600);

/// The outcome of a load.
pub struct Measured {
    /// The result of `onrush run`.
    pub result: Option<Document>,
    /// What another program told.
    pub figures: Option<Figures>,
    /// What the load used.
    pub load: Usage,
    /// The machine meanwhile; of `onrush run` its result tells.
    pub machine: Option<Environment>,
    /// What the server used meanwhile.
    pub server: Option<Usage>,
    /// The measured time.
    pub measured_s: f64,
    /// From the program's start to its end.
    pub wall_s: f64,
}

/// Why a load measured nothing that counts.
pub enum Failed {
    /// The load failed.
    Load(Box<Invalid>),
    /// The server died meanwhile.
    Server(Box<Invalid>),
    /// Somebody wants the matrix to end.
    Interrupted,
}

/// A run that is not valid.
#[derive(Default)]
pub struct Invalid {
    /// Why.
    pub reason: String,
    /// What the load printed, or the server that died.
    pub output: Vec<String>,
    /// What was measured all the same: which requests failed, and how many did not.
    pub measured: Option<Measured>,
}

impl Invalid {
    fn load(reason: impl Into<String>) -> Failed {
        Failed::Load(Box::new(Invalid { reason: reason.into(), ..Invalid::default() }))
    }
}

/// A load that can be run against a running server.
pub struct Load<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The variant.
    pub part: &'a Part,
    /// The cell.
    pub cell: &'a Cell,
    /// Number of the run, from 1.
    pub run: usize,
    /// From 1.
    pub round: u32,
    /// Where things lie.
    pub places: &'a Places,
    /// Ends what is left.
    pub guard: &'a Guard,
    /// Whether runs count although their generator was late or the limit.
    pub accept_late: bool,
}

impl Load<'_> {
    /// Load that is not measured. A load that breaks off is the run's failure; nothing else of it counts.
    pub fn warm_up(&self, running: &mut Running, tick: &mut dyn FnMut()) -> Result<Option<Measured>, Failed> {
        if self.plan.warm_up.0.is_zero() {
            return Ok(None);
        }
        let mut spec = self.spec(running, Some(Amount::Time(self.plan.warm_up)))?;
        spec.given.amount = true;
        self.carry_out(&spec, running, WARM_UP, tick).map(Some)
    }

    /// The measured load.
    pub fn measure(&self, running: &mut Running, tick: &mut dyn FnMut()) -> Result<Measured, Failed> {
        let spec = self.spec(running, None)?;
        self.carry_out(&spec, running, "run", tick)
    }

    fn spec(&self, running: &Running, amount: Option<Amount>) -> Result<LoadSpec, Failed> {
        let spec = self.part.load_for(self.cell, &running.names, amount);
        spec.map_err(|error| Invalid::load(error.message))
    }

    fn carry_out(
        &self,
        spec: &LoadSpec,
        running: &mut Running,
        what: &str,
        tick: &mut dyn FnMut(),
    ) -> Result<Measured, Failed> {
        let results = self.places.scratch.join(format!("{what}-{}", self.run));
        let command = self.command(spec, running, what, &results).map_err(Invalid::load)?;
        let output = self.places.scratch.join(format!("{what}-{}.log", self.run));
        let before = running.group.as_ref().map(Group::usage);
        let start = Moment::now();
        let began = Instant::now();
        let mut load = Group::spawn(&command, &self.plan.pin.load, output, self.guard)
            .map_err(|error| Invalid::load(format!("the load cannot be started: {error}")))?;
        let ended = watch(&mut load, running, at_most(spec), tick);
        let wall_s = began.elapsed().as_secs_f64();
        let used = load.usage();
        let end = Moment::now();
        let server = running.group.as_ref().zip(before).map(|(group, before)| since(before, group.usage()));
        let (said, last) = (load.output(), load.last_lines());
        if ended.is_ok() {
            load.kill()
        } else {
            load.stop()
        };
        let is_measured = what != WARM_UP;
        let read = if is_measured { self.read(spec, &said, &results, wall_s, running) } else { Ok(Read::default()) };
        let _ = std::fs::remove_dir_all(&results);
        let problem = match &ended {
            // A cold server may miss thresholds.
            Ok(Some(0 | 99)) if !is_measured => None,
            Ok(Some(0)) => read.as_ref().err().cloned().or_else(|| self.problem(read.as_ref().ok()?)),
            Ok(code) => Some(ended_badly(*code, &last)),
            Err(Watched::TooLong(limit)) => Some(format!("the load did not end within {} s", limit.as_secs())),
            Err(Watched::ServerDied(reason, _)) => Some(reason.clone()),
            Err(Watched::Interrupted) => return Err(Failed::Interrupted),
        };
        let measured = read.ok().map(|Read { result, figures, measured_s }| {
            let machine = figures.as_ref().map(|_| machine::environment(&start, &end));
            Measured { result, figures, load: used, machine, server, measured_s, wall_s }
        });
        match (problem, measured, ended) {
            (None, Some(measured), _) => Ok(measured),
            (reason, measured, Err(Watched::ServerDied(_, output))) => {
                Err(Failed::Server(Box::new(Invalid { reason: reason.unwrap_or_default(), output, measured })))
            }
            (reason, measured, _) => {
                Err(Failed::Load(Box::new(Invalid { reason: reason.unwrap_or_default(), output: last, measured })))
            }
        }
    }

    fn command(&self, spec: &LoadSpec, running: &Running, what: &str, results: &PathBuf) -> Result<Command, String> {
        let mut command = match &spec.kind {
            LoadKind::Command(command, _) => plan_command(command),
            LoadKind::Script(path) => {
                let mut command = self.run_command(spec, what, results);
                command.args(script_flags(spec)).args(&spec.flags).arg(self.places.folder.join(path));
                command
            }
            LoadKind::Url { url, method, headers, body } => {
                let body = body.clone().map(|body| match body {
                    BodySpec::File(file) => BodySpec::File(self.places.folder.join(file).display().to_string()),
                    body => body,
                });
                let text = script::of_url(url, method, headers, body.as_ref(), spec)?;
                let mut command = self.run_command(spec, what, results);
                command.args(&spec.flags).arg(self.write_script(&text, what)?);
                command
            }
        };
        // Options that lie about in the environment would change what the plan says, and a run of a matrix is no job.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("K6_") || ci::OF_JOBS.contains(&text.as_ref()) {
                command.env_remove(name);
            }
        }
        command.current_dir(&self.places.folder).envs(told(self.part, self.cell, &running.names)).envs(&spec.env);
        Ok(command)
    }

    /// `onrush run`, up to its flags.
    fn run_command(&self, spec: &LoadSpec, what: &str, results: &PathBuf) -> Command {
        let binary = spec.binary.as_ref().map_or_else(|| self.places.onrush.clone(), PathBuf::from);
        let mut command = Command::new(binary);
        command.args(["run", "-q", "--no-color", "--summary-mode=disabled"]);
        if what != WARM_UP {
            command.arg("--save").arg(results).args(self.labels());
            // An older binary of the plan does not know the flag: only who asks for it needs one that does.
            command.args(self.accept_late.then_some("--accept-late"));
        }
        command
    }

    fn labels(&self) -> Vec<String> {
        let run = [format!("variant={}", self.part.name), format!("round={}", self.round)];
        let axes = self.cell.axes.iter().map(|(axis, value)| format!("{axis}={}", value.name));
        run.into_iter().chain(axes).flat_map(|label| [String::from("--label"), label]).collect()
    }

    fn write_script(&self, text: &str, what: &str) -> Result<PathBuf, String> {
        let path = self.places.scratch.join(format!("{what}-{}.js", self.run));
        std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(path)
    }

    /// The outcome of a load; of one that failed too, as far as it got.
    fn read(
        &self,
        spec: &LoadSpec,
        said: &str,
        results: &PathBuf,
        wall_s: f64,
        running: &Running,
    ) -> Result<Read, String> {
        if let LoadKind::Command(_, expressions) = &spec.kind {
            let figures = figures::read(said, expressions)?;
            let asked = match spec.amount {
                Amount::Time(time) => time.seconds(),
                Amount::Requests(_) => wall_s,
            };
            return Ok(Read { figures: Some(figures), result: None, measured_s: asked.min(wall_s) });
        }
        let result = document::read(results).map_err(|error| error.to_string())?;
        let measured_s = result.duration_s;
        let mut result = slim(result, self.plan);
        result.script = match &spec.kind {
            LoadKind::Url { url, .. } => url.clone(),
            LoadKind::Script(path) => path.clone(),
            LoadKind::Command(..) => String::new(),
        };
        self.put_placeholders_back(&mut result, running);
        Ok(Read { result: Some(result), figures: None, measured_s })
    }

    /// Ports and sockets are other ones in each run; what is compared is what the plan says.
    fn put_placeholders_back(&self, result: &mut Document, running: &Running) {
        for name in ["aunix", "unix", "base", "scratch"] {
            let value = match name {
                "base" => told(self.part, self.cell, &running.names).remove("BASE"),
                name => running.names.get(name).cloned(),
            };
            if let Some(value) = value {
                let placeholder = format!("{{{name}}}");
                result.script = result.script.replace(&value, &placeholder);
                put_back(&mut result.options, &value, &placeholder);
            }
        }
    }

    /// Why a load that ended is not a valid run.
    fn problem(&self, read: &Read) -> Option<String> {
        if let Some(result) = &read.result {
            let metric = &self.plan.measure.rate;
            match result.metric(metric).map(|metric| &metric.value) {
                Some(Value::Counter { count, .. }) if *count > 0.0 => {}
                Some(Value::Counter { .. }) | None => {
                    return Some(format!(
                        "nothing was measured: the metric '{metric}' has no samples; did the load make requests?"
                    ));
                }
                Some(_) => return Some(format!("measure.rate: '{metric}' is not a Counter")),
            }
        }
        let (errors, requests) = read.errors()?;
        // A program that counts only errors made no valid run with any.
        let share = requests.map_or(f64::INFINITY, |requests| errors.total / requests);
        (errors.total > 0.0 && share > self.plan.measure.max_failed).then(|| {
            let of_all = requests.map_or(String::new(), |requests| format!(" of {requests}"));
            let kinds = if errors.kinds.is_empty() { String::new() } else { format!(": {}", errors.text()) };
            format!("{}{of_all} requests failed{kinds}", errors.total)
        })
    }
}

/// Replaces a value by its placeholder in all texts.
fn put_back(options: &mut serde_json::Value, value: &str, placeholder: &str) {
    match options {
        serde_json::Value::String(text) if text.contains(value) => *text = text.replace(value, placeholder),
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| put_back(item, value, placeholder)),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(|item| put_back(item, value, placeholder)),
        _ => {}
    }
}

/// What is left of a load when it has ended.
#[derive(Default)]
struct Read {
    result: Option<Document>,
    figures: Option<Figures>,
    measured_s: f64,
}

impl Read {
    /// Failed requests, and how many were made when that is known.
    fn errors(&self) -> Option<(FailedRequests, Option<f64>)> {
        if let Some(figures) = &self.figures {
            return Some((FailedRequests::of_figures(figures)?, figures.count));
        }
        let result = self.result.as_ref()?;
        let made = match result.metric("http_req_failed")?.value {
            Value::Rate { total, .. } => Some(total as f64),
            _ => None,
        };
        Some((FailedRequests::of_result(result)?, made))
    }
}

/// What the plan says of a script's load goes before the script's options.
fn script_flags(spec: &LoadSpec) -> Vec<String> {
    let mut flags = Vec::new();
    if spec.given.connections || spec.given.amount {
        flags.extend([String::from("--vus"), spec.connections.to_string()]);
    }
    match spec.amount {
        _ if !spec.given.amount => {}
        // A duration begins at a second; a stage may be shorter. Only warm-ups are.
        Amount::Time(time) if time.seconds() < 1.0 => {
            flags.extend([String::from("--stage"), format!("{time}:{}", spec.connections)]);
        }
        Amount::Time(time) => flags.extend([String::from("--duration"), time.to_string()]),
        Amount::Requests(requests) => flags.extend([String::from("--iterations"), requests.to_string()]),
    }
    if spec.insecure {
        flags.push(String::from("--insecure-skip-tls-verify"));
    }
    flags
}

fn at_most(spec: &LoadSpec) -> Duration {
    match spec.amount {
        Amount::Time(time) if spec.given.amount || !matches!(spec.kind, LoadKind::Script(_)) => time.0 + SLACK,
        _ => MOST,
    }
}

fn ended_badly(code: Option<i32>, lines: &[String]) -> String {
    let ending = match code {
        Some(99) => return String::from("the script's thresholds did not hold (exit code 99)"),
        Some(code) => format!("exit code {code}"),
        None => String::from("a signal"),
    };
    // The line that says why; the others are kept beside it.
    let why = lines.iter().find(|line| line.to_lowercase().contains("error")).or(lines.last());
    format!("the load failed with {ending}{}", why.map_or(String::new(), |why| format!(": {}", why.trim())))
}

/// Why a load was not waited for to its end.
enum Watched {
    TooLong(Duration),
    ServerDied(String, Vec<String>),
    Interrupted,
}

/// Waits for the load's end, with an eye on the server; its exit code, unless a signal ended it.
fn watch(
    load: &mut Group,
    running: &mut Running,
    limit: Duration,
    tick: &mut dyn FnMut(),
) -> Result<Option<i32>, Watched> {
    let began = Instant::now();
    loop {
        if let Some(ending) = load.ended() {
            // A server that died just now explains the load's end better.
            server_died(running).map_or(Ok(()), Err)?;
            return Ok(ending.code);
        }
        server_died(running).map_or(Ok(()), Err)?;
        if interruption::is_asked() {
            return Err(Watched::Interrupted);
        }
        if began.elapsed() > limit {
            return Err(Watched::TooLong(limit));
        }
        tick();
        let groups: Vec<&Group> = std::iter::once(&*load).chain(running.group.as_ref()).collect();
        wait_for(&groups, Duration::from_millis(200));
    }
}

fn server_died(running: &mut Running) -> Option<Watched> {
    let group = running.group.as_mut()?;
    let ending = group.ended()?;
    Some(Watched::ServerDied(format!("the server died during the run: {}", ending.text()), group.last_lines()))
}

fn since(before: Usage, now: Usage) -> Usage {
    Usage { cpu_s: (now.cpu_s - before.cpu_s).max(0.0), peak_bytes: now.peak_bytes }
}
