//! The tools, and how each is run: eight connections as fast as they are answered, or a thousand requests a second.
//!
//! Every tool runs with what makes it print the most of its figures. What a tool prints goes to the file that is read
//! as its claims; where it writes a file by itself, to that.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Connections of closed loops.
const CONNECTIONS: &str = "8";
/// Requests per second of open loops.
const RATE: &str = "1000";

/// What k6 and Onrush run.
const CLOSED: &str = "import http from 'k6/http'
export const options = { vus: 8, duration: `${__ENV.SECONDS}s` }
export default function () { http.get(__ENV.URL) }
";
const OPEN: &str = "import http from 'k6/http'
export const options = { scenarios: { open: { executor: 'constant-arrival-rate', rate: 1000, timeUnit: '1s',
  duration: `${__ENV.SECONDS}s`, preAllocatedVUs: 100, maxVUs: 2000 } } }
export default function () { http.get(__ENV.URL) }
";

/// A load tool in one way to run it.
pub(super) struct Tool {
    /// Its name on the page.
    pub(super) name: &'static str,
    /// The program's name.
    pub(super) program: &'static str,
    /// How it is run, for the page.
    pub(super) line: &'static str,
    /// Whether its load has a rate.
    pub(super) is_open: bool,
}

const fn tool(name: &'static str, program: &'static str, is_open: bool, line: &'static str) -> Tool {
    Tool { name, program, line, is_open }
}

/// In the order of the page.
pub(super) const TOOLS: &[Tool] = &[
    tool("wrk", "wrk", false, "wrk -t1 -c8 -d5s --latency URL"),
    tool("wrk2", "wrk2", true, "wrk2 -t1 -c8 -R1000 -d5s --latency URL"),
    tool("k6", "k6", false, "k6 run --summary-export FILE closed.js (8 users)"),
    tool("k6 at a rate", "k6", true, "k6 run --summary-export FILE open.js (constant-arrival-rate, 1,000/s)"),
    tool("oha", "oha", false, "oha -c 8 -z 5s --no-tui --output-format json URL"),
    tool("vegeta", "vegeta", true, "vegeta attack -rate 1000 -duration 5s, vegeta report"),
    tool("hey", "hey", false, "hey -c 8 -z 5s URL"),
    tool("bombardier", "bombardier", false, "bombardier -c 8 -d 5s -l -p r URL"),
    tool("ab", "ab", false, "ab -k -c 8 -t 5 -n 10000000 URL"),
    tool("h2load", "h2load", false, "h2load --h1 -c 8 -D 5 URL"),
    tool("onrush", "onrush", false, "onrush run --summary-export FILE closed.js (8 users)"),
    tool(
        "onrush at a rate",
        "onrush",
        true,
        "onrush run --summary-export FILE open.js (constant-arrival-rate, 1,000/s)",
    ),
];

/// Where and how long a tool runs.
pub(super) struct Setting<'a> {
    pub(super) program: &'a Path,
    pub(super) url: &'a str,
    pub(super) seconds: u64,
    pub(super) folder: &'a Path,
    pub(super) output: &'a Path,
}

/// A program of `$PEERS/bin` or `PATH`; ours is given.
pub(super) fn find(program: &str, onrush: &Path) -> Option<PathBuf> {
    if program == "onrush" {
        return Some(onrush.to_owned());
    }
    let peers = std::env::var_os("PEERS").map(|peers| Path::new(&peers).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    peers.into_iter().chain(std::env::split_paths(&path)).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Starts the load.
pub(super) fn start(tool: &Tool, setting: &Setting<'_>) -> Result<Child, String> {
    let Setting { program, url, seconds, folder, output } = setting;
    let (seconds, timed) = (seconds.to_string(), format!("{seconds}s"));
    let out = output.display().to_string();
    let mut command = Command::new(program);
    match tool.program {
        "wrk" => command.args(["-t1", "-c", CONNECTIONS, "-d", &timed, "--latency", url]),
        "wrk2" => command.args(["-t1", "-c", CONNECTIONS, "-R", RATE, "-d", &timed, "--latency", url]),
        "k6" | "onrush" => {
            let (name, text) = if tool.is_open { ("open.js", OPEN) } else { ("closed.js", CLOSED) };
            let script = folder.join(name);
            std::fs::write(&script, text).map_err(|error| format!("{}: {error}", script.display()))?;
            command
                .args(["run", "-q", "--no-usage-report", "--summary-export", &out])
                .args(["--summary-trend-stats", "avg,min,med,max,p(90),p(95),p(99),p(99.9)"])
                .args(["-e", &format!("URL={url}"), "-e", &format!("SECONDS={seconds}")])
                .arg(script)
        }
        "oha" => command.args(["-c", CONNECTIONS, "-z", &timed, "--no-tui", "--output-format", "json", url]),
        "vegeta" => {
            let targets = folder.join("targets.txt");
            let text = format!("GET {url}\n");
            std::fs::write(&targets, text).map_err(|error| format!("{}: {error}", targets.display()))?;
            command.args(["attack", "-rate", RATE, "-duration", &timed, "-output", &format!("{out}.bin"), "-targets"]);
            command.arg(targets)
        }
        "hey" => command.args(["-c", CONNECTIONS, "-z", &timed, url]),
        "bombardier" => command.args(["-c", CONNECTIONS, "-d", &timed, "-l", "-p", "r", url]),
        "ab" => command.args(["-k", "-q", "-c", CONNECTIONS, "-t", &seconds, "-n", "10000000", url]),
        "h2load" => command.args(["--h1", "-c", CONNECTIONS, "-D", &seconds, url]),
        other => return Err(format!("{other} is not known here")),
    };
    // What writes its own file has nothing to say beside it.
    let printed = if matches!(tool.program, "k6" | "onrush") { format!("{out}.txt") } else { out };
    let file = File::create(&printed).map_err(|error| format!("{printed}: {error}"))?;
    let log = File::create(format!("{printed}.log")).map_err(|error| format!("{printed}.log: {error}"))?;
    let started = command.stdin(Stdio::null()).stdout(file).stderr(log).spawn();
    started.map_err(|error| format!("cannot run {}: {error}", program.display()))
}

/// What is left to do when the load has ended: vegeta reports by another command.
pub(super) fn finish(tool: &Tool, setting: &Setting<'_>) -> Result<(), String> {
    if tool.program != "vegeta" {
        return Ok(());
    }
    let file = File::create(setting.output).map_err(|error| format!("{}: {error}", setting.output.display()))?;
    let results = format!("{}.bin", setting.output.display());
    let ended = Command::new(setting.program).args(["report", &results]).stdout(file).status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("vegeta report: {status}")),
        Err(error) => Err(format!("vegeta report: {error}")),
    }
}
