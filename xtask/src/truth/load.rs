//! One run of Onrush against a referee: its JSON summary, its samples, its exit code.

use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::Bench;
use super::referee::{Account, Referee, freeze};

/// What to run.
#[derive(Default)]
pub struct Load {
    /// The script; `__ENV.SERVER` is the referee.
    pub script: String,
    /// Further flags.
    pub flags: Vec<String>,
    /// Who is stopped, when, and for how long.
    pub freeze: Option<(Frozen, Duration, Duration)>,
    /// Whether the samples of each request are wanted.
    pub samples: bool,
}

/// Who is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frozen {
    /// The server.
    Server,
    /// Onrush.
    Generator,
}

/// What came of it.
pub struct Trial {
    /// What the server had.
    pub account: Account,
    /// `--summary-export`.
    pub summary: Value,
    /// `http_req_duration` in ms, by the request's number.
    pub durations: HashMap<u64, f64>,
    /// `http_req_duration_from_plan`.
    pub planned: HashMap<u64, f64>,
}

impl Load {
    /// Runs it.
    pub fn run(&self, bench: &Bench<'_>) -> Result<Trial, String> {
        let referee = Referee::start(&bench.referee, &bench.folder)?;
        let [script, summary, samples] =
            ["load.js", "summary.json", "samples.json"].map(|name| bench.folder.join(name));
        let written = std::fs::write(&script, &self.script);
        written.map_err(|error| format!("cannot write {}: {error}", script.display()))?;
        let mut command = Command::new(bench.onrush);
        command.args(["run", "--quiet", "-e", &format!("SERVER=http://{}", referee.address)]).args(&self.flags);
        command.arg("--summary-export").arg(&summary);
        if self.samples {
            command.arg("--out").arg(format!("json={}", samples.display()));
        }
        command.arg(&script).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| format!("cannot start onrush: {error}"))?;
        if let Some((who, after, time)) = self.freeze {
            std::thread::sleep(after);
            freeze(if who == Frozen::Server { referee.id() } else { child.id() }, time)?;
        }
        let output = child.wait_with_output().map_err(|error| format!("onrush is lost: {error}"))?;
        let account = referee.account()?;
        let text = std::fs::read_to_string(&summary).map_err(|_| {
            format!("onrush ended with {} and no summary:\n{}", output.status, String::from_utf8_lossy(&output.stderr))
        })?;
        let summary = serde_json::from_str(&text).map_err(|error| format!("the summary is no JSON: {error}"))?;
        let of = |metric| if self.samples { read_samples(&samples, metric) } else { Ok(HashMap::new()) };
        let (durations, planned) = (of("http_req_duration")?, of("http_req_duration_from_plan")?);
        Ok(Trial { account, summary, durations, planned })
    }
}

fn read_samples(path: &std::path::Path, metric: &str) -> Result<HashMap<u64, f64>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let sample = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        let is = value["type"] == "Point" && value["metric"] == metric;
        let data = is.then_some(&value["data"])?;
        Some((data["tags"]["n"].as_str()?.parse().ok()?, data["value"].as_f64()?))
    };
    Ok(text.lines().filter_map(sample).collect())
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
        let mut times: Vec<f64> = self.account.records.iter().filter_map(super::referee::Record::ms).collect();
        times.sort_by(f64::total_cmp);
        times
    }

    /// By how much the starts that `http_req_duration_from_plan` stands for are off a plan of so many a second, in ms,
    /// ascending: the referee's answer minus the time from plan is the planned start, and each start of the plan must
    /// be there once. None where a start is missing.
    pub fn plan_errors_ms(&self, rate: f64) -> Option<Vec<f64>> {
        let start =
            |record: &super::referee::Record| Some(record.written_ns as f64 / 1e6 - self.planned.get(&record.number)?);
        let mut starts: Vec<f64> = self.account.records.iter().map(start).collect::<Option<_>>()?;
        starts.sort_by(f64::total_cmp);
        let mut off: Vec<f64> = starts.iter().enumerate().map(|(at, start)| start - at as f64 * 1e3 / rate).collect();
        off.sort_by(f64::total_cmp);
        let begin = super::quantile(&off, 0.5);
        let mut errors: Vec<f64> = off.iter().map(|off| (off - begin).abs()).collect();
        errors.sort_by(f64::total_cmp);
        Some(errors)
    }
}
