//! `cargo xtask fleet objects` and `cargo xtask fleet nats`: the binary over a real S3 gateway and over a real cluster
//! of NATS, while these stand still, are killed, or are raced for. Each run is held against one in which nothing
//! happens: as many iterations, the same sum, the same exit code, and nobody lost.
//!
//! They need versitygw, or nats-server, in `$ENGINES/bin`, and take two minutes each: too long for `cargo test`.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::daemon::Daemon;
use crate::programs;

/// How long whatever carries the messages is away.
const AWAY: Duration = Duration::from_secs(10);
/// Whatever is waited for comes in time, or the suite fails.
const PATIENCE: Duration = Duration::from_secs(60);
/// 50 starts a second for 20 s, divided among two agents; the sum of squares notices an iteration that is another.
const SCRIPT: &str = "import exec from 'k6/execution'; import { Counter } from 'k6/metrics'
const sum = new Counter('sum')
export const options = { scenarios: { a: {
  executor: 'constant-arrival-rate', rate: 50, duration: '20s', preAllocatedVUs: 4 } } }
export default function () { const n = exec.scenario.iterationInTest; sum.add(n * n) }
";
const AGENTS: usize = 2;

/// What carries the messages, as the suite treats it.
struct MessageCarrier {
    url: String,
    variables: Vec<(&'static str, String)>,
    servers: Vec<EngineServer>,
}

/// One program of it.
struct EngineServer {
    program: PathBuf,
    arguments: Vec<String>,
    at: SocketAddr,
    log: PathBuf,
    running: Option<Daemon>,
}

impl EngineServer {
    fn start(&mut self) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        self.running = Some(Daemon::start(command, &self.log)?);
        until(&format!("{} at {}", self.program.display(), self.at), || TcpStream::connect(self.at).is_ok())
    }
}

/// A way to spoil a run, and what is said of it.
type Mishap = (&'static str, fn(&mut MessageCarrier) -> Result<(), String>);

const OF_STORES: [Mishap; 3] = [
    ("the gateway stands still for 10 s", |carrier| stand_still(carrier, &["STOP", "CONT"])),
    ("the gateway is killed, and there again after 10 s", |carrier| kill(carrier, 1)),
    ("nothing happens, a second time", |_| Ok(())),
];
const OF_BROKERS: [Mishap; 3] = [
    ("one of three servers is killed for good", |carrier| {
        carrier.servers[0].running = None;
        Ok(())
    }),
    ("all three servers are killed, and there again after 10 s", |carrier| kill(carrier, 3)),
    ("all three servers stand still for 10 s", |carrier| stand_still(carrier, &["STOP", "CONT"])),
];

/// Over an S3 gateway.
pub(crate) fn objects() -> Result<(), String> {
    let bin = programs::engines(&["versitygw"])?;
    let folder = programs::folder("fleet-objects")?;
    let at = free()?;
    let buckets = folder.join("buckets");
    std::fs::create_dir_all(buckets.join("fleet")).map_err(|error| error.to_string())?;
    let mut arguments = words(&["--quiet", "--access", "onrush", "--secret", "onrush-secret", "--port"]);
    arguments.extend([at.to_string(), String::from("posix"), buckets.display().to_string()]);
    let program = bin.join("versitygw");
    let server = EngineServer { program, arguments, at, log: folder.join("gateway.log"), running: None };
    let variables = [
        ("AWS_ENDPOINT", format!("http://{at}")),
        ("AWS_ACCESS_KEY_ID", String::from("onrush")),
        ("AWS_SECRET_ACCESS_KEY", String::from("onrush-secret")),
        ("AWS_REGION", String::from("us-east-1")),
    ];
    let url = String::from("s3://fleet/tests");
    let mut carrier = MessageCarrier { url, variables: variables.to_vec(), servers: vec![server] };
    carrier.servers[0].start()?;
    let trial = OutageTrial::new(folder)?;
    race(&trial, &carrier, &buckets)?;
    trial.compare(&mut carrier, &OF_STORES)
}

/// Over a cluster of three NATS servers.
pub(crate) fn nats() -> Result<(), String> {
    let bin = programs::engines(&["nats-server"])?;
    let folder = programs::folder("fleet-nats")?;
    let at: Vec<(SocketAddr, SocketAddr)> = (0..3).map(|_| Ok((free()?, free()?))).collect::<Result<_, String>>()?;
    let routes: Vec<String> = at.iter().map(|(_, route)| format!("nats://{route}")).collect();
    let server = |(number, (client, route)): (usize, &(SocketAddr, SocketAddr))| {
        let mut arguments = words(&["--addr", "127.0.0.1", "--cluster_name", "fleet", "--routes"]);
        arguments.extend([routes.join(","), String::from("--cluster"), format!("nats://{route}")]);
        arguments.extend([String::from("--port"), client.port().to_string()]);
        let log = folder.join(format!("nats-{number}.log"));
        EngineServer { program: bin.join("nats-server"), arguments, at: *client, log, running: None }
    };
    let servers: Vec<EngineServer> = at.iter().enumerate().map(server).collect();
    let url = format!("nats://{}", at.iter().map(|(client, _)| client.to_string()).collect::<Vec<_>>().join(","));
    let mut carrier = MessageCarrier { url, variables: Vec::new(), servers };
    carrier.servers.iter_mut().try_for_each(EngineServer::start)?;
    OutageTrial::new(folder)?.compare(&mut carrier, &OF_BROKERS)
}

fn stand_still(carrier: &mut MessageCarrier, [stop, go]: &[&str; 2]) -> Result<(), String> {
    let signal = |name: &str| carrier.servers.iter().flat_map(|server| &server.running).for_each(|it| it.signal(name));
    signal(stop);
    std::thread::sleep(AWAY);
    signal(go);
    Ok(())
}

fn kill(carrier: &mut MessageCarrier, servers: usize) -> Result<(), String> {
    carrier.servers.iter_mut().take(servers).for_each(|server| server.running = None);
    std::thread::sleep(AWAY);
    carrier.servers.iter_mut().take(servers).try_for_each(EngineServer::start)
}

/// The binary, and where it is run.
struct OutageTrial {
    onrush: PathBuf,
    folder: PathBuf,
}

/// What a run came to.
#[derive(Debug, PartialEq)]
struct OutageResult {
    code: Option<i32>,
    iterations: f64,
    sum: f64,
    lost: usize,
}

impl OutageTrial {
    fn new(folder: PathBuf) -> Result<OutageTrial, String> {
        std::fs::write(folder.join("script.js"), SCRIPT).map_err(|error| error.to_string())?;
        Ok(OutageTrial { onrush: programs::onrush()?, folder })
    }

    fn compare(&self, carrier: &mut MessageCarrier, mishaps: &[Mishap]) -> Result<(), String> {
        let control = self.run(carrier, "control", |_| Ok(()))?;
        println!("nothing happens: {control:?}");
        let mut failed = Vec::new();
        for (number, (what, mishap)) in mishaps.iter().enumerate() {
            let result = self.run(carrier, &format!("mishap-{number}"), mishap)?;
            let is_equal = result == control;
            println!("{what}: {}", if is_equal { "the same result" } else { "FAILED" });
            if !is_equal {
                println!("  {result:?}");
                failed.push(*what);
            }
            let down = carrier.servers.iter_mut().filter(|server| server.running.is_none());
            down.collect::<Vec<_>>().into_iter().try_for_each(EngineServer::start)?;
        }
        match failed.is_empty() && control.code == Some(0) && control.iterations > 0.0 {
            true => Ok(()),
            false => Err(format!("failed: {}; logs are in {}", failed.join("; "), self.folder.display())),
        }
    }

    /// A coordinator; its log tells the invitation.
    fn coordinator(&self, carrier: &MessageCarrier, name: &str, more: &[&str]) -> Result<Daemon, String> {
        let mut command = self.command(carrier);
        let agents = AGENTS.to_string();
        command.args(["run", "--agents", &agents, "--fleet", &carrier.url, "--save", name]).args(more).arg("script.js");
        if carrier.url.starts_with("nats") {
            command.args(["--fleet-listen", "127.0.0.1:0"]);
        }
        Daemon::start(command, &self.log(name))
    }

    fn agent(&self, carrier: &MessageCarrier, invitation: &str, name: &str) -> Result<Daemon, String> {
        let mut command = self.command(carrier);
        command.arg("agent").env("ONRUSH_JOIN", invitation);
        Daemon::start(command, &self.log(name))
    }

    fn command(&self, carrier: &MessageCarrier) -> Command {
        let mut command = Command::new(&self.onrush);
        command.current_dir(&self.folder).envs(carrier.variables.iter().cloned());
        command
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    fn said(&self, name: &str) -> String {
        std::fs::read_to_string(self.log(name)).unwrap_or_default()
    }

    fn invitation(&self, name: &str) -> Result<String, String> {
        until("the invitation", || self.said(name).contains(" onrush agent"))?;
        let text = self.said(name);
        let found = text.split("ONRUSH_JOIN=").nth(1).and_then(|rest| rest.split(' ').next());
        found.map(str::to_owned).ok_or_else(|| format!("no invitation in {text}"))
    }

    fn run(
        &self,
        carrier: &mut MessageCarrier,
        name: &str,
        mishap: impl FnOnce(&mut MessageCarrier) -> Result<(), String>,
    ) -> Result<OutageResult, String> {
        let mut coordinator = self.coordinator(carrier, name, &[])?;
        let invitation = self.invitation(name)?;
        let agent = |number: usize| self.agent(carrier, &invitation, &format!("{name}-agent-{number}"));
        let agents: Vec<Daemon> = (0..AGENTS).map(agent).collect::<Result<_, _>>()?;
        let state = self.folder.join(name).join("fleet.state");
        until("the start", || state.exists())?;
        std::thread::sleep(Duration::from_secs(3));
        mishap(carrier)?;
        until("the end", || coordinator.ended().is_some())?;
        let code = coordinator.ended().and_then(|status| status.code());
        for mut agent in agents {
            until("an agent's end", || agent.ended().is_some())?;
        }
        self.result(name, code)
    }

    fn result(&self, name: &str, code: Option<i32>) -> Result<OutageResult, String> {
        let path = self.folder.join(name).join("result.json");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let document: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let metrics = document["metrics"].as_array().cloned().unwrap_or_default();
        let count = |name: &str| {
            let found = metrics.iter().find(|metric| metric["name"] == name);
            found.and_then(|metric| metric["value"]["count"].as_f64()).unwrap_or(-1.0)
        };
        let lost = self.said(name).matches("is lost").count();
        Ok(OutageResult { code, iterations: count("iterations"), sum: count("sum"), lost })
    }
}

/// Six coordinators announce themselves to one place at one moment. Each has to get a number of its own: the store
/// decides who was first.
fn race(trial: &OutageTrial, carrier: &MessageCarrier, buckets: &Path) -> Result<(), String> {
    let credentials = trial.folder.join("credentials");
    let flag = credentials.display().to_string();
    let first = trial.coordinator(carrier, "race-0", &["--fleet-credentials", &flag])?;
    until("credentials", || credentials.exists() && trial.said("race-0").contains("waiting for"))?;
    let start = |number: usize| trial.coordinator(carrier, &format!("race-{number}"), &["--fleet-credentials", &flag]);
    let others: Vec<Daemon> = (1..6).map(start).collect::<Result<_, _>>()?;
    let all_wait = || (0..6).all(|number| trial.said(&format!("race-{number}")).contains("waiting for"));
    until("six coordinators", all_wait)?;
    let mut announced: Vec<String> = Vec::new();
    for room in std::fs::read_dir(buckets.join("fleet/tests")).map_err(|error| error.to_string())?.flatten() {
        let hubs = std::fs::read_dir(room.path().join("hubs")).map_err(|error| error.to_string())?.flatten();
        announced.extend(hubs.map(|hub| hub.file_name().to_string_lossy().into_owned()));
    }
    announced.sort();
    let expected: Vec<String> = (1..=6).map(|number| format!("{number:010}")).collect();
    for mut coordinator in others.into_iter().chain([first]) {
        coordinator.end(Duration::from_secs(5));
    }
    match announced == expected {
        true => println!("six coordinators race for a number: each has its own"),
        false => return Err(format!("six coordinators race for a number: found {announced:?}")),
    }
    Ok(())
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// An address that nobody listens at.
pub(super) fn free() -> Result<SocketAddr, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| error.to_string())?;
    listener.local_addr().map_err(|error| error.to_string())
}

pub(super) fn until(what: &str, mut holds: impl FnMut() -> bool) -> Result<(), String> {
    let began = Instant::now();
    while !holds() {
        if began.elapsed() > PATIENCE {
            return Err(format!("{what} did not come within {} s", PATIENCE.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
