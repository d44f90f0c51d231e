//! `cargo xtask fleet crowd [AGENTS [SECONDS]]`: what a coordinator of a thousand agents costs: its CPU, its memory,
//! and how old what it shows is.
//!
//! A thousand processes do not start on a small machine, so this process plays the agents: each has a connection, a
//! clock that is sighted and a seat of its own. What they send is what a real agent with twenty metrics has measured
//! second by second, taken from its journal. The coordinator is the binary, on CPU 0; the agents are on the others.
//! Two minutes of a whole machine: too long for `cargo test`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use fleet::drive::{AgentThread, Local};
use fleet::embedded::TcpLine;
use fleet::{Agent, AgentEvent, Frames, Identity, Invitation, clock};
use journal::{AgentFrame, AgentSecond, JournalReader, PartCounts, Record};
use serde_json::Value;

use super::outages::{free, until};
use crate::daemon::Daemon;
use crate::programs;

const AGENTS: u64 = 1000;
const SECONDS: u64 = 30;
/// What the issue of a fleet allows: CPU in cores, memory in MiB, age of the view in seconds.
const ALLOWED: (f64, f64, f64) = (1.0, 512.0, 2.0);
/// Whatever an agent waits for.
const PATIENCE: Duration = Duration::from_secs(600);

/// RATE iterations a second, each with 900 values of nine trends and five counters.
const SCRIPT: &str = "import { Trend, Counter } from 'k6/metrics'
const trends = Array.from({ length: 9 }, (_, n) => new Trend('own_trend_' + n, true))
const counters = Array.from({ length: 5 }, (_, n) => new Counter('own_counter_' + n))
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: RATE, duration: 'SECONDSs',
  preAllocatedVUs: RATE } } }
export default function () {
  trends.forEach((trend, n) => { for (let i = 0; i < 100; i++) trend.add((n + 1) * i * Math.random()) })
  counters.forEach((counter) => counter.add(1))
}
";

/// What one agent has measured.
struct Recorded {
    seconds: Vec<Vec<u8>>,
    end: Vec<u8>,
    /// What an agent and its coordinator have to agree on.
    version: String,
}

/// The binary, and where it runs.
struct Crowd {
    onrush: PathBuf,
    folder: PathBuf,
    agents: u64,
    seconds: u64,
}

/// Tries AGENTS agents for SECONDS seconds.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let number = |at: usize, standard| arguments.get(at).map_or(Some(standard), |text| text.parse().ok());
    let (Some(agents), Some(seconds)) = (number(0, AGENTS), number(1, SECONDS)) else {
        return Err(String::from("fleet crowd: expected two whole numbers, AGENTS and SECONDS"));
    };
    let crowd = Crowd { onrush: programs::onrush()?, folder: programs::folder("fleet-crowd")?, agents, seconds };
    let recorded = crowd.record()?;
    let bytes = recorded.seconds.iter().map(Vec::len).max().unwrap_or_default();
    println!("one agent has measured {} seconds of up to {bytes} bytes", recorded.seconds.len());
    crowd.play(recorded)
}

impl Crowd {
    /// A coordinator of so many agents, with more flags.
    fn coordinator(&self, agents: u64, name: &str, more: &[&str]) -> Result<(Daemon, Invitation), String> {
        let script = self.folder.join(format!("{name}.js"));
        let text = SCRIPT.replace("RATE", &agents.to_string()).replace("SECONDS", &self.seconds.to_string());
        std::fs::write(&script, text).map_err(|error| error.to_string())?;
        let log = self.folder.join(format!("{name}.log"));
        let mut command = Command::new("taskset");
        command.args(["-c", "0"]).arg(&self.onrush).args(["run", "-q", "--fleet-listen", "127.0.0.1:0"]);
        command.args(["--agents", &agents.to_string(), "--save", name]).args(more).arg(script);
        command.current_dir(&self.folder);
        let daemon = Daemon::start(command, &log)?;
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        until("the invitation", || said().contains(" onrush agent"))?;
        let text = said();
        let found = text.split("ONRUSH_JOIN=").nth(1).and_then(|rest| rest.split(' ').next());
        let found = found.ok_or_else(|| format!("no invitation in {text}"))?;
        Ok((daemon, Invitation::parse(found)?))
    }

    /// Runs the test with one real agent, which keeps its journal.
    fn record(&self) -> Result<Recorded, String> {
        let (mut coordinator, invitation) = self.coordinator(1, "recorded", &[])?;
        let version = asked_version(&invitation)?;
        let mut command = Command::new(&self.onrush);
        command.args(["agent", "--keep", "kept"]).env("ONRUSH_JOIN", invitation.to_string());
        command.current_dir(&self.folder);
        let _agent = Daemon::start(command, &self.folder.join("agent.log"))?;
        until("the end", || coordinator.ended().is_some())?;
        let kept = self.folder.join("kept");
        let (_, mut journal) = JournalReader::open(&kept)?.ok_or_else(|| format!("{}: no journal", kept.display()))?;
        // No users and iterations but those in its samples.
        let live = PartCounts { initialised: 1, ..PartCounts::default() };
        let (mut seconds, mut end) = (Vec::new(), None);
        while let Some(frame) = journal.next_frame()? {
            match Record::read(&frame)? {
                Record::End(outcome) => end = Some(outcome),
                Record::Change(_) => {}
                Record::Interval(_) => {
                    let second = AgentSecond { live: live.clone(), interval: frame };
                    seconds.push(AgentFrame::Second(second).to_bytes());
                }
            }
        }
        let end = end.ok_or_else(|| journal.problem(String::from("the agent's part has no end")))?;
        Ok(Recorded { seconds, end, version })
    }

    fn play(&self, recorded: Recorded) -> Result<(), String> {
        let api = free()?.to_string();
        let (mut coordinator, invitation) = self.coordinator(self.agents, "crowd", &["--address", &api])?;
        let recorded = Arc::new(recorded);
        let join = |index: u64| Player::join(&invitation, index as u32, &recorded);
        let mut players: Vec<Player> = (0..self.agents).map(join).collect::<Result<_, _>>()?;
        let mut seen = Sightings::new(self, &api, coordinator.id());
        let began = Instant::now();
        while coordinator.ended().is_none() {
            players.iter_mut().try_for_each(Player::go_on)?;
            seen.look(players[0].start);
            std::thread::sleep(Duration::from_millis(5));
            if began.elapsed() > PATIENCE {
                return Err(String::from("the test has no end; the coordinator's log is beside its result"));
            }
        }
        players.into_iter().for_each(|player| player.thread.finish());
        let came = result_count(&self.folder.join("crowd"))?;
        let planned = self.agents * recorded.seconds.len() as u64;
        seen.judge(self.agents, came, planned)
    }
}

/// The version that a coordinator wants, as it says when it refuses another one.
fn asked_version(invitation: &Invitation) -> Result<String, String> {
    let (thread, events) = joined(invitation, None, "?", Box::new(|_| None))?;
    let refused = events.recv_timeout(PATIENCE).map_err(|error| error.to_string())?;
    thread.finish();
    let AgentEvent::Refused(why) = refused else { return Err(format!("found {refused:?}, expected a refusal")) };
    let version = why.split("expected ").nth(1).and_then(|rest| rest.split(':').next());
    version.map(str::to_owned).ok_or_else(|| format!("no version in: {why}"))
}

fn joined(
    invitation: &Invitation,
    index: Option<u32>,
    version: &str,
    frames: Frames,
) -> Result<(AgentThread, Receiver<AgentEvent>), String> {
    let identity = Identity {
        version: version.to_owned(),
        secret: invitation.token.secret.clone(),
        name: format!("player-{}", index.unwrap_or_default()),
        index,
        incarnation: fleet::token::random_number()?,
    };
    AgentThread::start(Agent::new(identity), TcpLine::new(invitation)?, frames, (PATIENCE, PATIENCE))
}

/// An agent whose test was run before.
struct Player {
    thread: AgentThread,
    events: Receiver<AgentEvent>,
    recorded: Arc<Recorded>,
    /// When the test began, by the monotonic clock in ns.
    start: Option<u64>,
    closed: u64,
}

impl Player {
    fn join(invitation: &Invitation, index: u32, recorded: &Arc<Recorded>) -> Result<Player, String> {
        let sent = Arc::clone(recorded);
        let frames = move |number: u64| sent.seconds.get(usize::try_from(number).ok()?.checked_sub(1)?).cloned();
        let (thread, events) = joined(invitation, Some(index), &recorded.version, Box::new(frames))?;
        Ok(Player { thread, events, recorded: Arc::clone(recorded), start: None, closed: 0 })
    }

    /// Does what is due.
    fn go_on(&mut self) -> Result<(), String> {
        while let Ok(event) = self.events.try_recv() {
            match event {
                AgentEvent::ArchiveEnds => self.thread.tell(Local::Prepared(1)),
                AgentEvent::Start { at, .. } => {
                    self.start = Some(at);
                    self.thread.tell(Local::Started(0));
                }
                AgentEvent::Refused(why) => return Err(format!("an agent was refused: {why}")),
                _ => {}
            }
        }
        let Some(start) = self.start else { return Ok(()) };
        let all = self.recorded.seconds.len() as u64;
        while self.closed < all && clock::now() >= start + (self.closed + 1) * 1_000_000_000 {
            self.closed += 1;
            self.thread.tell(Local::Closed);
            if self.closed == all {
                self.thread.tell(Local::Ended(self.recorded.end.clone()));
            }
        }
        Ok(())
    }
}

/// What the coordinator has shown, and what it took.
struct Sightings {
    api: String,
    process: PathBuf,
    agents: f64,
    until: f64,
    looked: Instant,
    /// CPU seconds at the first second that was shown, and when.
    from: Option<(Instant, f64)>,
    /// The same at the last.
    to: Option<(Instant, f64)>,
    most_mib: f64,
    count: f64,
    ages: Vec<f64>,
}

impl Sightings {
    fn new(crowd: &Crowd, api: &str, pid: u32) -> Sightings {
        Sightings {
            api: api.to_owned(),
            process: PathBuf::from(format!("/proc/{pid}")),
            agents: crowd.agents as f64,
            until: (crowd.agents * crowd.seconds) as f64 * 0.95,
            looked: Instant::now(),
            from: None,
            to: None,
            most_mib: 0.0,
            count: 0.0,
            ages: Vec::new(),
        }
    }

    /// Ten times a second: how many iterations it has heard of.
    fn look(&mut self, start: Option<u64>) {
        let Some(start) = start.filter(|_| self.looked.elapsed() >= Duration::from_millis(100)) else { return };
        self.looked = Instant::now();
        let Some(count) = iterations(&self.api).filter(|count| *count > 0.0 && *count < self.until) else { return };
        if count > self.count {
            // The newest second that is shown had ended when all agents together had come to this count.
            self.ages.push((clock::now().saturating_sub(start)) as f64 / 1e9 - count / self.agents);
            self.count = count;
        }
        let cpu = cpu_seconds(&self.process);
        self.from.get_or_insert((Instant::now(), cpu));
        self.to = Some((Instant::now(), cpu));
        self.most_mib = self.most_mib.max(peak_mib(&self.process));
    }

    fn judge(mut self, agents: u64, came: f64, planned: u64) -> Result<(), String> {
        let ((from, before), (to, after)) =
            self.from.zip(self.to).ok_or_else(|| String::from("the coordinator has shown nothing"))?;
        let cores = (after - before) / (to - from).as_secs_f64();
        self.ages.sort_by(f64::total_cmp);
        let (median, oldest) = (self.ages[self.ages.len() / 2], self.ages[self.ages.len() - 1]);
        println!(
            "{agents} agents, 20 metrics: {cores:.2} of a core, {:.0} MiB at most; what it shows is {median:.2} s old \
             (median), {oldest:.2} s at worst; {came} of {planned} iterations",
            self.most_mib
        );
        let is_allowed = cores <= ALLOWED.0 && self.most_mib <= ALLOWED.1 && oldest <= ALLOWED.2;
        match is_allowed && came == planned as f64 {
            true => Ok(()),
            false => Err(format!("allowed are {ALLOWED:?} (cores, MiB, seconds), and every iteration has to be there")),
        }
    }
}

fn iterations(api: &str) -> Option<f64> {
    let mut stream = TcpStream::connect(api).ok()?;
    let request = format!("GET /v1/metrics/iterations HTTP/1.1\r\nHost: {api}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    let shown: Value = serde_json::from_str(body).ok()?;
    shown["data"]["attributes"]["sample"]["count"].as_f64()
}

/// User and system time, in ticks of a hundredth.
fn cpu_seconds(process: &Path) -> f64 {
    let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    [11, 12].iter().filter_map(|at| fields.get(*at)?.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn peak_mib(process: &Path) -> f64 {
    let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

fn result_count(folder: &Path) -> Result<f64, String> {
    let path = folder.join("result.json");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let document: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let metrics = document["metrics"].as_array().cloned().unwrap_or_default();
    let found = metrics.iter().find(|metric| metric["name"] == "iterations");
    found
        .and_then(|metric| metric["value"]["count"].as_f64())
        .ok_or_else(|| String::from("no iterations in the result"))
}
