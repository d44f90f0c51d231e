//! `cargo xtask soak HOURS`: a run that goes on for hours. Does it grow, leak descriptors or threads, or fall behind?
//!
//! Requests at a rate over kept connections and over new ones, WebSockets that come and go, samples to two outputs, the
//! result saved; the target is a process of its own and is watched, too. Every few seconds `/proc` is read. After the
//! first quarter, which fills caches and tables, memory may grow by [`MOST_SLOPE`] an hour (least squares), descriptors
//! and threads stay as many (medians of the second quarter and of the last), and all starts of the plan were made.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::daemon::Daemon;
use crate::programs;

const USAGE: &str = "usage: cargo xtask soak HOURS, such as 2 or 0.1";
/// Resident memory may grow by so much an hour, in KiB.
const MOST_SLOPE: f64 = 1024.0;
/// Between two looks.
const PERIOD: Duration = Duration::from_secs(5);
/// How long a run may take to end when its time is over.
const GRACE: Duration = Duration::from_secs(60);
/// Descriptors and threads come and go with connections: the medians may differ by so many.
const MOST_DIFFERENCE: u64 = 2;
/// Starts a second of each scenario of [`SCRIPT`].
const RATES: [(&str, u64); 3] = [("kept", 100), ("anew", 20), ("messages", 5)];

const SCRIPT: &str = r#"
import http from 'k6/http';
import ws from 'k6/ws';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
const received = new Counter('received');
const at = (exec, rate) => ({
  executor: 'constant-arrival-rate', exec, rate, duration: __ENV.DURATION, preAllocatedVUs: 20, maxVUs: 20,
});
export const options = {
  scenarios: { kept: at('kept', 100), anew: at('anew', 20), messages: at('messages', 5) },
  thresholds: {
    http_req_failed: ['rate==0'], checks: ['rate==1'], 'http_req_duration{scenario:kept}': ['p(99)<10000'],
  },
};
export function kept() {
  group('kept', () => {
    const body = JSON.stringify({ list: [1, 2, 3], at: Date.now() });
    const answer = http.post(`${__ENV.TARGET}/post`, body, { headers: { 'Content-Type': 'application/json' } });
    check(answer, { 'status is 200': (r) => r.status === 200, 'has the list': (r) => r.json('json.list.2') === 3 });
  });
}
export function anew() {
  http.get(`${__ENV.TARGET}/get?at=${Math.floor(Date.now() / 1000) % 50}`, { headers: { Connection: 'close' } });
}
export function messages() {
  const url = __ENV.TARGET.replace('http', 'ws') + '/ws/echo';
  const answer = ws.connect(url, {}, (socket) => {
    let left = 5;
    socket.on('open', () => socket.send('a message'));
    socket.on('message', () => { received.add(1); if (--left) socket.send('another'); else socket.close(); });
  });
  check(answer, { 'status is 101': (r) => r && r.status === 101 });
}
"#;

/// What `/proc` says of a process at a moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    hours: f64,
    resident_kib: u64,
    descriptors: u64,
    threads: u64,
}

/// The argument is the number of hours; the error says what grew.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let hours = match words {
        [hours] => hours.parse::<f64>().ok().filter(|hours| *hours > 0.0 && *hours < 1000.0),
        _ => None,
    };
    let hours = hours.ok_or(USAGE)?;
    let (onrush, folder) = (programs::onrush()?, programs::folder("soak")?);
    let (target, url) = serve(&onrush, &folder)?;
    let script = folder.join("soak.js");
    std::fs::write(&script, SCRIPT).map_err(|error| format!("{}: {error}", script.display()))?;
    let seconds = (hours * 3600.0) as u64;
    let mut command = Command::new(&onrush);
    command.current_dir(&folder).args(["run", "--quiet", "--save", "result", "--summary-export", "summary.json"]);
    command.args(["--out", "json=/dev/null", "--out", "csv=/dev/null"]);
    command.args(["-e", &format!("DURATION={seconds}s"), "-e", &format!("TARGET={url}"), "soak.js"]);
    let mut generator = Daemon::start(command, &folder.join("run.log"))?;
    let began = Instant::now();
    let mut looks = [Vec::new(), Vec::new()];
    while generator.ended().is_none() {
        if began.elapsed() > Duration::from_secs(seconds) + GRACE {
            return Err(format!(
                "the run did not end {GRACE:?} after its time; see {}",
                folder.join("run.log").display()
            ));
        }
        std::thread::sleep(PERIOD);
        for (process, looks) in [&generator, &target].into_iter().zip(&mut looks) {
            looks.extend(look(process.id(), began));
        }
        if looks[0].len().is_multiple_of(120)
            && let Some(last) = looks[0].last()
        {
            println!("{:.2} h: {} KiB, {} descriptors", last.hours, last.resident_kib, last.descriptors);
        }
    }
    let mut problems = Vec::new();
    if let Some(status) = generator.ended().filter(|status| !status.success()) {
        problems.push(format!("the run ended with {status}; see {}", folder.join("run.log").display()));
    }
    for (name, looks) in ["generator", "target"].into_iter().zip(&looks) {
        judge(name, looks, &mut problems);
    }
    starts(&folder.join("summary.json"), seconds, &mut problems)?;
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems.join("\n")),
    }
}

/// A target of its own, and its address.
fn serve(onrush: &Path, folder: &Path) -> Result<(Daemon, String), String> {
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = port.map_err(|error| format!("cannot listen: {error}"))?.to_string();
    let mut command = Command::new(onrush);
    command.args(["serve", "--listen", &address]);
    let target = Daemon::start(command, &folder.join("serve.log"))?;
    let patience = Instant::now() + Duration::from_secs(10);
    while std::net::TcpStream::connect(&address).is_err() {
        if Instant::now() > patience {
            return Err(format!("'onrush serve' does not listen; see {}", folder.join("serve.log").display()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok((target, format!("http://{address}")))
}

/// None when the process has ended.
fn look(process: u32, began: Instant) -> Option<Reading> {
    let folder = PathBuf::from(format!("/proc/{process}"));
    let status = std::fs::read_to_string(folder.join("status")).ok()?;
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':').split_whitespace().next()?.parse::<u64>().ok()
    };
    let descriptors = std::fs::read_dir(folder.join("fd")).ok()?.count() as u64;
    let hours = began.elapsed().as_secs_f64() / 3600.0;
    Some(Reading { hours, resident_kib: number("VmRSS")?, descriptors, threads: number("Threads")? })
}

/// Prints what the process came to, and adds what is more than it may be.
fn judge(name: &str, looks: &[Reading], problems: &mut Vec<String>) {
    let (quarter, end) = (looks.len() / 4, looks.len());
    let Some((second, last)) = looks.get(quarter..quarter * 2).zip(looks.get(end - quarter..end)) else { return };
    if second.is_empty() {
        problems.push(format!("{name}: too few looks ({end}): let it run for longer"));
        return;
    }
    let slope = slope(&looks[quarter..]);
    let median = |looks: &[Reading], of: fn(&Reading) -> u64| {
        let mut values: Vec<u64> = looks.iter().map(of).collect();
        values.sort_unstable();
        values[values.len() / 2]
    };
    let memory = |look: &Reading| look.resident_kib;
    println!("{name}: {} KiB, then {} KiB; {slope:+.0} KiB an hour", median(second, memory), median(last, memory));
    if slope > MOST_SLOPE {
        problems.push(format!("{name}: memory grows by {slope:.0} KiB an hour, expected at most {MOST_SLOPE:.0}"));
    }
    for (what, of) in
        [("descriptors", (|look| look.descriptors) as fn(&Reading) -> u64), ("threads", |look| look.threads)]
    {
        let (before, after) = (median(second, of), median(last, of));
        println!("{name}: {before} {what}, then {after}");
        if after > before + MOST_DIFFERENCE {
            problems.push(format!("{name}: {before} {what} became {after}"));
        }
    }
}

/// KiB an hour, by least squares.
fn slope(looks: &[Reading]) -> f64 {
    let count = looks.len() as f64;
    let mean = |of: &dyn Fn(&Reading) -> f64| looks.iter().map(of).sum::<f64>() / count;
    let (time, memory) = (mean(&|look| look.hours), mean(&|look| look.resident_kib as f64));
    let both = looks.iter().map(|look| (look.hours - time) * (look.resident_kib as f64 - memory)).sum::<f64>();
    both / looks.iter().map(|look| (look.hours - time).powi(2)).sum::<f64>()
}

/// Whether all starts of the plan were made, none of them dropped.
fn starts(summary: &Path, seconds: u64, problems: &mut Vec<String>) -> Result<(), String> {
    let text = std::fs::read_to_string(summary).map_err(|error| format!("{}: {error}", summary.display()))?;
    let summary: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", summary.display()))?;
    let planned = RATES.iter().map(|(_, rate)| rate * seconds).sum::<u64>();
    let count = |metric: &str| summary["metrics"][metric]["count"].as_u64().unwrap_or(0);
    let (made, dropped) = (count("iterations"), count("dropped_iterations"));
    println!("starts: {planned} planned, {made} made, {dropped} dropped");
    if made + dropped + RATES.len() as u64 <= planned || made > planned + RATES.len() as u64 {
        problems.push(format!("starts: {planned} planned, {made} made and {dropped} dropped"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(of: impl Fn(u64) -> (u64, u64)) -> Vec<Reading> {
        let look = |second: u64| {
            let (resident_kib, descriptors) = of(second);
            Reading { hours: second as f64 / 3600.0, resident_kib, descriptors, threads: 4 }
        };
        (0..7200).step_by(5).map(look).collect()
    }

    #[test]
    fn growth_is_told_from_a_beginning() {
        let mut problems = Vec::new();
        judge("a", &looks(|second| (50_000 + second.min(1500) * 10, 20)), &mut problems);
        assert_eq!(problems, [""; 0]);
        judge("b", &looks(|second| (50_000 + second, 20 + second / 600)), &mut problems);
        assert_eq!(
            problems,
            ["b: memory grows by 3600 KiB an hour, expected at most 1024", "b: 24 descriptors became 30"]
        );
    }

    #[test]
    fn rates_are_those_of_the_script() {
        for (name, rate) in RATES {
            assert!(SCRIPT.contains(&format!("{name}: at('{name}', {rate})")), "{name}");
        }
    }
}
