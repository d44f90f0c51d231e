//! A variant's server: started for one run, seen to be ready, watched, stopped.
//!
//! Exactly one server of the plan is alive at a time: idle ones would still hold memory and run timers beside the
//! measurement, and a new process for each run keeps the luck of one (addresses, hash seeds, heap) out of the
//! difference between variants. A port that somebody else holds is refused before the start, else the load would
//! measure that one.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use report::matrix::cells::Cell;
use report::matrix::parts::{Names, Part, ServerKind, ServerSpec};
use report::matrix::plan::{self, Serve, Stats};

use super::port::must_be_free;
use crate::commands::groups::guard::Guard;
use crate::commands::groups::interruption;
use crate::commands::groups::process::{Group, wait_for};

/// How long a server may take to be ready unless the plan says.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long one look at a server may take.
const LOOK: Duration = Duration::from_secs(2);

/// A server that is ready.
pub struct Running {
    /// Its process; none of one that runs already, or of none.
    pub group: Option<Group>,
    /// Names for templates: port, base, …
    pub names: Names,
    /// Where its own statistics come from.
    pub stats: Option<Stats>,
}

/// Why there is no server: for the record of the run.
#[derive(Debug)]
pub struct Dead {
    /// What happened.
    pub reason: String,
    /// The last lines it printed.
    pub output: Vec<String>,
}

impl Dead {
    fn new(reason: impl Into<String>) -> Self {
        Dead { reason: reason.into(), output: Vec::new() }
    }
}

/// Where everything of a matrix lies.
pub struct Places {
    /// The plan's folder: relative paths start here.
    pub folder: PathBuf,
    /// A folder of ours that goes away.
    pub scratch: PathBuf,
    /// This binary.
    pub onrush: PathBuf,
}

impl Places {
    /// Their names in templates.
    pub fn names(&self) -> Names {
        let path = |path: &Path| path.display().to_string();
        Names::from([("folder", path(&self.folder)), ("scratch", path(&self.scratch)), ("onrush", path(&self.onrush))])
    }
}

/// Starts the server of a variant in a cell and waits until it is ready. `run` is the number of the run.
pub fn start(
    part: &Part,
    cell: &Cell,
    run: usize,
    round: u32,
    cores: &[usize],
    places: &Places,
    guard: &Guard,
) -> Result<Running, Dead> {
    let names = names(part, run, round, places)?;
    let spec = part.server(cell, &names).map_err(|error| Dead::new(error.message))?;
    let base = base(part, cell, &names)?;
    let Some(command) = command(&spec, &names, places) else {
        if let ServerKind::Address(address) = &spec.kind {
            answers(address)?;
        }
        return Ok(Running { group: None, names, stats: spec.stats });
    };
    for port in PORTS.iter().filter_map(|name| names.get(name)) {
        must_be_free(port).map_err(Dead::new)?;
    }
    let output = places.scratch.join(format!("server-{run}.log"));
    let mut group = Group::spawn(&command, cores, output, guard)
        .map_err(|error| Dead::new(format!("the server cannot be started: {error}")))?;
    wait_until_ready(&mut group, &spec, base.as_deref())?;
    Ok(Running { group: Some(group), names, stats: spec.stats })
}

/// Names of the ports that a server may listen on.
const PORTS: [&str; 3] = ["port", "tls_port", "stats_port"];

/// Names that a server's texts may use.
fn names(part: &Part, run: usize, round: u32, places: &Places) -> Result<Names, Dead> {
    let mut names = places.names();
    names.insert("round", round.to_string());
    if part.base().is_some() {
        let failed = |error: std::io::Error| Dead::new(format!("no free port: {error}"));
        let free = free_ports().map_err(failed)?;
        names.extend(PORTS.into_iter().zip(free.map(|port| port.to_string())));
        if let Some(port) = part.port() {
            names.insert("port", port.to_string());
        }
        names.insert("unix", places.scratch.join(format!("{run}.sock")).display().to_string());
        names.insert("aunix", format!("@onrush-matrix-{}-{run}", std::process::id()));
    }
    Ok(names)
}

/// All held at once, so that they differ.
fn free_ports() -> std::io::Result<[u16; PORTS.len()]> {
    let [one, two, three] = PORTS.map(|_| TcpListener::bind("127.0.0.1:0"));
    let (one, two, three) = (one?, two?, three?);
    Ok([one.local_addr()?.port(), two.local_addr()?.port(), three.local_addr()?.port()])
}

/// What `{base}` is here.
fn base(part: &Part, cell: &Cell, names: &Names) -> Result<Option<String>, Dead> {
    let Some(base) = part.base() else { return Ok(None) };
    let value_of = |name: &str| names.get(name).cloned().or_else(|| cell.value_of(name));
    report::matrix::template::expand(&base, &value_of).map(Some).map_err(|error| Dead::new(error.to_string()))
}

/// The command that starts it, if Onrush starts it.
fn command(spec: &ServerSpec, names: &Names, places: &Places) -> Option<Command> {
    let mut command = match &spec.kind {
        ServerKind::Serve(serve) => serve_command(serve, names, places),
        ServerKind::Command(command) => plan_command(command),
        ServerKind::Address(_) | ServerKind::None => return None,
    };
    let folder = spec.directory.as_ref().map_or_else(|| places.folder.clone(), |folder| places.folder.join(folder));
    command.current_dir(folder).envs(&spec.env);
    Some(command)
}

/// `onrush serve` on a port, with TLS on another, and on unix sockets with and without a file.
fn serve_command(serve: &Serve, names: &Names, places: &Places) -> Command {
    let mut command = Command::new(serve.binary.as_ref().map_or_else(|| places.onrush.clone(), PathBuf::from));
    command.arg("serve");
    if let Some(app) = &serve.app {
        command.arg(places.folder.join(app));
    }
    let sockets =
        [("tcp://127.0.0.1:", "port"), ("tls://127.0.0.1:", "tls_port"), ("unix:", "unix"), ("unix:", "aunix")];
    for (kind, name) in sockets {
        if let Some(value) = names.get(name) {
            command.arg("--listen").arg(format!("{kind}{value}"));
        }
    }
    command.args(&serve.flags);
    command
}

/// A command of the plan.
pub fn plan_command(command: &plan::Command) -> Command {
    match command {
        plan::Command::Line(line) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", line]);
            shell
        }
        plan::Command::Words(words) => {
            let mut program = Command::new(words.first().map_or("", String::as_str));
            program.args(words.iter().skip(1));
            program
        }
    }
}

/// A server that is up already has to answer.
fn answers(address: &str) -> Result<(), Dead> {
    let failed =
        |problem: String| Dead::new(format!("nothing answers at {address}: {problem}; start the server first"));
    let place = host_and_port(address).ok_or_else(|| failed(String::from("found no host")))?;
    connect(&place).map(drop).map_err(failed)
}

/// `127.0.0.1:80` of `http://127.0.0.1/x`.
fn host_and_port(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty())?;
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Some(if has_port { host.to_owned() } else { format!("{host}:{}", if scheme == "https" { 443 } else { 80 }) })
}

fn connect(place: &str) -> Result<TcpStream, String> {
    let addresses: Vec<SocketAddr> = place.to_socket_addrs().map_err(|error| error.to_string())?.collect();
    let mut problem = String::from("no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, LOOK) {
            Ok(stream) => return Ok(stream),
            Err(error) => problem = error.to_string(),
        }
    }
    Err(problem)
}

fn wait_until_ready(group: &mut Group, spec: &ServerSpec, base: Option<&str>) -> Result<(), Dead> {
    let patience = spec.ready.timeout.map_or(PATIENCE, |time| time.0);
    let (began, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        if let Some(ending) = group.ended() {
            let reason = format!("the server ended before it was ready: {}", ending.text());
            return Err(Dead { reason, output: group.last_lines() });
        }
        let Some(missing) = not_ready(group, spec, base) else { return Ok(()) };
        if interruption::is_asked() {
            return Err(Dead::new("interrupted"));
        }
        if began.elapsed() > patience {
            let reason = format!("the server was not ready after {} s: {missing}", patience.as_secs_f64());
            return Err(Dead { reason, output: group.last_lines() });
        }
        wait_for(&[group], pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// What is still missing.
fn not_ready(group: &Group, spec: &ServerSpec, base: Option<&str>) -> Option<String> {
    if let Some(line) = &spec.ready.line {
        return (!group.output().lines().any(|printed| printed.contains(line)))
            .then(|| format!("it printed no line with '{line}'"));
    }
    if let Some(url) = &spec.ready.url {
        return look_at(url).err();
    }
    // The target prints where it listens once it does, on all its sockets.
    if let ServerKind::Serve(_) = spec.kind {
        return (!group.output().contains("listening on unix:")).then(|| String::from("it does not listen"));
    }
    let place = base.and_then(host_and_port)?;
    connect(&place).err().map(|problem| format!("{place}: {problem}"))
}

/// One GET; anything below 500 is an answer.
fn look_at(url: &str) -> Result<(), String> {
    let (_, status) = ask(url, "1.1")?;
    if status < 500 { Ok(()) } else { Err(format!("{url}: it answered with status {status}")) }
}

/// Sends a GET in this version of HTTP and reads the status; what follows it is left to be read.
pub fn ask(url: &str, version: &str) -> Result<(TcpStream, u16), String> {
    let failed = |problem: String| format!("{url}: {problem}");
    let place = host_and_port(url).ok_or_else(|| failed(String::from("found no host")))?;
    let path = url.split_once("://").and_then(|(_, rest)| Some(&rest[rest.find('/')?..])).unwrap_or("/");
    let mut stream = connect(&place).map_err(failed)?;
    let asked = stream
        .set_read_timeout(Some(LOOK))
        .and_then(|()| write!(stream, "GET {path} HTTP/{version}\r\nHost: {place}\r\nConnection: close\r\n\r\n"));
    asked.map_err(|error| failed(error.to_string()))?;
    let mut head = [0_u8; 12];
    stream.read_exact(&mut head).map_err(|error| failed(error.to_string()))?;
    let status = std::str::from_utf8(&head).ok().and_then(|head| head.get(9..12)?.parse::<u16>().ok());
    status.map(|status| (stream, status)).ok_or_else(|| failed(String::from("the answer is not HTTP")))
}

/// The environment that tells a script or a command about its server.
pub fn told(part: &Part, cell: &Cell, names: &Names) -> BTreeMap<String, String> {
    let mut env = BTreeMap::from([(String::from("VARIANT"), part.name.clone())]);
    if let Ok(Some(base)) = base(part, cell, names) {
        env.insert(String::from("BASE"), base);
    }
    env.extend(axes(cell));
    env
}

/// The cell's values by the names of its axes in capitals.
pub fn axes(cell: &Cell) -> BTreeMap<String, String> {
    let name = |axis: &str| axis.to_uppercase().replace('-', "_");
    cell.axes.iter().map(|(axis, value)| (name(axis), value.name.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_places() {
        assert_eq!(host_and_port("http://h:8080/x"), Some(String::from("h:8080")));
        assert_eq!(host_and_port("https://h"), Some(String::from("h:443")));
        assert_eq!(host_and_port("http://[::1]/x"), Some(String::from("[::1]:80")));
        assert_eq!(host_and_port("http:///x"), None);
    }
}
