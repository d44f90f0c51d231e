//! `cargo xtask timing`: are the timings true? Requests to a server that waits for known times, idle and beside a busy
//! user.
//!
//! Not part of `cargo test`, which asserts no time: this takes half a minute, and a machine that stands still spoils
//! it. The server measures its own pauses and tells them in the answer, so that a pause that came out longer than asked
//! for is no error of the client. What is printed is measured time minus the server's, in ms: a little above zero is
//! the network and the server's own wake-up. Fails when the median is off by more than a millisecond. Beside a user
//! that computes all the time, what ends by the kernel's stamps is judged alone: connecting has none, and of two pieces
//! that one read brought only the last has one, so that the middle of an answer may be lost there, but never its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The median may be off by so much.
const TOLERANCE_MS: f64 = 1.0;
/// The script ends the test itself when it is done, which gives k6's exit code for that.
const ABORTED: i32 = 108;

const SCRIPT: &str = r#"
import http from 'k6/http';
import exec from 'k6/execution';
import { sleep } from 'k6';
const busy = { executor: 'constant-vus', vus: 1, duration: '10m', gracefulStop: '0s', exec: 'compute' };
export const options = {
  noConnectionReuse: true,
  scenarios: {
    measure: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'measure', startTime: '100ms' },
    ...(__ENV.BUSY ? { busy } : {}),
  },
};
const wait = (us) => http.get(`http://${__ENV.SERVER}/wait/${us}`);
const body = (us) => http.get(`http://${__ENV.SERVER}/body/${us}`);
const steps = {
  waiting: [wait, (timings) => timings.waiting],
  receiving: [body, (timings) => timings.receiving],
  answer: [body, (timings) => timings.waiting + timings.receiving],
  connecting: [(us) => http.get(`http://d${us}.slow.test/`), (timings) => timings.connecting],
};
export function measure() {
  for (const [step, [ask, read]] of Object.entries(steps)) {
    for (const ms of [0, 1, 10, 50]) {
      const errors = [];
      for (let n = 0; n < 20; n++) {
        const response = ask(ms * 1000);
        if (response.status !== 200) throw new Error(`${step}: ${response.error}`);
        errors.push(read(response.timings) - Number(response.body) / 1000);
      }
      console.log(JSON.stringify({ step, ms, errors }));
    }
  }
  exec.test.abort('done');
}
export function compute() {
  const end = Date.now() + 20;
  while (Date.now() < end) {}
  sleep(0.001);
}
"#;

/// Runs the script idle and busy, and judges.
pub fn run(onrush: &Path) -> Result<(), String> {
    let (server, proxy) = (serve(answer)?, serve(answer_socks)?);
    let folder = std::env::temp_dir().join(format!("onrush-timing-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let script = folder.join("timing.js");
    std::fs::write(&script, SCRIPT).map_err(|error| format!("cannot write {}: {error}", script.display()))?;
    println!("measured time minus the server's own, in ms\n");
    println!("{:<8} {:<12} {:>6}  {:>8} {:>8} {:>8}", "", "step", "delay", "median", "p90", "max");
    let mut wrong = Vec::new();
    for busy in [false, true] {
        for row in measure(onrush, &script, server, proxy, busy)? {
            let what = if busy { "busy" } else { "idle" };
            let (p50, p90, max) = (row.percentile(50), row.percentile(90), row.percentile(100));
            println!("{what:<8} {:<12} {:>6}  {p50:>8.3} {p90:>8.3} {max:>8.3}", row.step, row.delay_ms);
            let is_judged = !busy || ["waiting", "answer"].contains(&row.step.as_str());
            if is_judged && p50.abs() > TOLERANCE_MS {
                wrong.push(format!("{what}: {} of {} ms is off by {p50:.3} ms", row.step, row.delay_ms));
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{}\nrun it again on a quiet machine before believing it", wrong.join("\n")))
}

/// One step with one delay.
struct Row {
    step: String,
    delay_ms: u64,
    /// Ascending.
    errors: Vec<f64>,
}

impl Row {
    fn read(line: &str) -> Option<Row> {
        let value: Value = serde_json::from_str(line).ok()?;
        let mut errors: Vec<f64> = value["errors"].as_array()?.iter().filter_map(Value::as_f64).collect();
        errors.sort_by(f64::total_cmp);
        Some(Row { step: value["step"].as_str()?.to_owned(), delay_ms: value["ms"].as_u64()?, errors })
    }

    fn percentile(&self, percent: usize) -> f64 {
        let at = (self.errors.len() * percent).div_ceil(100).saturating_sub(1);
        self.errors.get(at).copied().unwrap_or(f64::NAN)
    }
}

fn measure(
    onrush: &Path,
    script: &Path,
    server: SocketAddr,
    proxy: SocketAddr,
    busy: bool,
) -> Result<Vec<Row>, String> {
    let mut command = Command::new(onrush);
    command.args(["run", "--quiet", "--workers", "1", "--log-format", "raw", "--summary-mode", "disabled"]);
    command.args(["-e", &format!("SERVER={server}")]).arg(script).env("HTTP_PROXY", format!("socks5://{proxy}"));
    if busy {
        command.args(["-e", "BUSY=1"]);
    }
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("cannot start onrush: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(ABORTED) {
        return Err(format!("onrush ended with {}:\n{said}", output.status));
    }
    Ok(said.lines().filter_map(Row::read).collect())
}

type Handler = fn(TcpStream) -> std::io::Result<()>;

/// Answers one connection after the other, until this process ends.
fn serve(answer: Handler) -> Result<SocketAddr, String> {
    let told = |error: std::io::Error| format!("cannot listen: {error}");
    let listener = TcpListener::bind("127.0.0.1:0").map_err(told)?;
    let address = listener.local_addr().map_err(told)?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = stream.set_nodelay(true);
            std::thread::spawn(move || answer(stream));
        }
    });
    Ok(address)
}

/// Pauses, and says for how long it really was, in µs.
fn pause(us: u64) -> u128 {
    let begun = Instant::now();
    if us > 0 {
        std::thread::sleep(Duration::from_micros(us));
    }
    begun.elapsed().as_micros()
}

const HEAD: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 12\r\n\r\n";

/// `/wait/US` pauses before the answer, `/body/US` in the middle of it.
fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let target = read_head(&stream)?;
    let (path, us) = target.rsplit_once('/').unwrap_or_default();
    let us = us.parse().unwrap_or(0);
    if path == "/wait" {
        let took = pause(us);
        return stream.write_all(format!("{HEAD}{took:012}").as_bytes());
    }
    // The number is written with leading zeros: its first digit can go out before it is known.
    stream.write_all(format!("{HEAD}0").as_bytes())?;
    let took = pause(us);
    stream.write_all(format!("{took:011}").as_bytes())
}

/// A SOCKS5 proxy that opens the tunnel to `dUS.slow.test` after a pause, and answers in the place of that server.
fn answer_socks(mut stream: TcpStream) -> std::io::Result<()> {
    stream.read_exact(&mut [0; 3])?;
    stream.write_all(&[5, 0])?;
    let mut request = [0; 5];
    stream.read_exact(&mut request)?;
    let mut host = vec![0; usize::from(request[4]) + 2];
    stream.read_exact(&mut host)?;
    let host = String::from_utf8_lossy(&host);
    let took = pause(host.trim_start_matches('d').split('.').next().and_then(|us| us.parse().ok()).unwrap_or(0));
    stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
    read_head(&stream)?;
    stream.write_all(format!("{HEAD}{took:012}").as_bytes())
}

/// Reads a request's head; its target.
fn read_head(stream: &TcpStream) -> std::io::Result<String> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    Ok(first.split(' ').nth(1).unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ranks() {
        let row = Row::read(r#"{"step":"waiting","ms":10,"errors":[3,1,2,4]}"#).expect("a row");
        assert_eq!((row.step.as_str(), row.delay_ms), ("waiting", 10));
        assert_eq!([50, 90, 100].map(|percent| row.percentile(percent)), [2.0, 4.0, 4.0]);
        assert!(Row::read("level=info").is_none());
    }
}
