//! What Onrush promises whatever fails: it ends, with words and a documented exit code; what it says is true; what it
//! has saved can be read.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::trial::{Bench, End, Trial};
use crate::workload::{Kind, Workload};

/// A run that broke promises.
pub(crate) struct Broken {
    workload: &'static str,
    /// What failed, in the words of `--only`.
    point: String,
    promises: Vec<String>,
    /// The last lines of standard error.
    said: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "--workload {} --only '{}'", self.workload, self.point)?;
        self.promises.iter().try_for_each(|promise| writeln!(f, "    {promise}"))?;
        self.said.lines().try_for_each(|line| writeln!(f, "    | {line}"))
    }
}

/// The codes that a run of ours may end with when something fails (docs/reference/exit-codes.md): not 109, a bug.
const CODES: [i32; 9] = [0, 99, 100, 101, 107, 111, 113, AGENTS_LOST, 255];
/// Agents were lost: what they did is not in the result.
const AGENTS_LOST: i32 = 117;
/// Codes of `compare`.
const CODES_OF_COMPARE: [i32; 5] = [0, 1, 2, 3, 255];
/// What Rust's runtime says when it aborts because it has no memory for the main thread's signal stack, before `main`.
const BEFORE_MAIN: [&str; 2] = ["failed to allocate an alternative stack", "failed to set up alternative stack"];
/// What `report` says of a journal that was begun and has no second yet.
const NOTHING_YET: [&str; 2] = ["it is empty", "it has no interval"];
/// A failed export changes no exit code, as in k6.
const NOT_EXPORTED: [&str; 1] = ["cannot write the summary export"];
/// Lines of standard error that are shown.
const LINES: usize = 6;

/// What the run broke; none: it kept all promises.
pub(crate) fn judge(bench: &Bench<'_>, workload: &Workload, point: &str, trial: &Trial) -> Option<Broken> {
    let mut promises = Vec::new();
    judge_end(workload, trial, &mut promises);
    match workload.kind {
        Kind::Run { is_own, .. } => judge_run(bench, trial, is_own, &mut promises),
        Kind::Fleet { .. } => judge_run(bench, trial, false, &mut promises),
        Kind::Report => judge_report(trial, &mut promises),
        Kind::Compare => {}
    }
    let lines: Vec<&str> = trial.error.lines().collect();
    let said = lines[lines.len().saturating_sub(LINES)..].join("\n");
    (!promises.is_empty()).then(|| Broken { workload: workload.name, point: point.to_owned(), promises, said })
}

fn judge_end(workload: &Workload, trial: &Trial, promises: &mut Vec<String>) {
    let codes: &[i32] = if workload.kind == Kind::Compare { &CODES_OF_COMPARE } else { &CODES };
    match trial.end {
        End::Never => promises.push(String::from("it did not end")),
        End::Signal(_) if says_one_of(trial, &BEFORE_MAIN) => {}
        End::Signal(number) => promises.push(format!("it ended by signal {number}")),
        End::Code(code) if !codes.contains(&code) => promises.push(format!("it ended with code {code}")),
        End::Code(code) if code != 0 && trial.error.is_empty() && trial.output.is_empty() => {
            promises.push(format!("it ended with code {code} and without a word"));
        }
        End::Code(_) => {}
    }
}

fn judge_run(bench: &Bench<'_>, trial: &Trial, is_own: bool, promises: &mut Vec<String>) {
    let is_whole = matches!(trial.end, End::Code(0 | 99));
    let result = trial.folder.join("result");
    let has_written = std::fs::read_dir(&result).is_ok_and(|mut files| files.next().is_some());
    if is_whole && !result.join("result.json").exists() {
        promises.push(String::from("it ended well and saved no result"));
    } else if has_written
        && let Err(error) = read_again(bench, &result)
        && (is_whole || !NOTHING_YET.iter().any(|words| error.contains(words)))
    {
        promises.push(format!("what it saved cannot be read: {error}"));
    }
    let summary = std::fs::read(trial.folder.join("summary.json")).ok();
    let summary = summary.map(|bytes| serde_json::from_slice::<Value>(&bytes));
    match summary {
        None | Some(Err(_)) if says_one_of(trial, &NOT_EXPORTED) => {}
        None if is_whole => promises.push(String::from("it ended well and exported no summary")),
        Some(Err(error)) if is_whole => promises.push(format!("the exported summary is no JSON: {error}")),
        Some(Ok(summary)) if !is_own => {
            let number = |metric: &str, field: &str| summary["metrics"][metric][field].as_u64().unwrap_or(0);
            let (sent, failed) = (number("http_reqs", "count"), number("http_req_failed", "passes"));
            let most = if trial.end == End::Code(AGENTS_LOST) { u64::MAX } else { sent };
            if !(sent.saturating_sub(failed)..=most).contains(&trial.requests) {
                let counted = trial.requests;
                promises.push(format!("{sent} requests, {failed} of them failed; the target counted {counted}"));
            }
        }
        _ => {}
    }
}

fn says_one_of(trial: &Trial, texts: &[&str]) -> bool {
    texts.iter().any(|text| trial.error.contains(text))
}

/// Reads a saved result by a process without a fault.
fn read_again(bench: &Bench<'_>, result: &Path) -> Result<(), String> {
    let mut command = Command::new(bench.onrush);
    command.arg("report").arg("--json").arg(result).stdin(Stdio::null()).env_remove("ONRUSH_FAIL_ALLOCATION");
    let output = command.output().map_err(|error| error.to_string())?;
    let error = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{}: {}", output.status, error.lines().next().unwrap_or_default())),
    }
}

fn judge_report(trial: &Trial, promises: &mut Vec<String>) {
    let report = std::fs::read_to_string(trial.folder.join("report.html")).ok();
    let is_whole = report.as_ref().map(|text| text.trim_end().ends_with("</html>"));
    match (trial.end, is_whole) {
        (End::Code(0), None) => promises.push(String::from("it ended well and wrote no report")),
        (_, Some(false)) => promises.push(String::from("half of a report lies there")),
        _ => {}
    }
}
