//! After the last iteration: teardown, the last judgement, the summary in every form asked for, the exit code.

use std::io::{IsTerminal, Write};
use std::rc::Rc;
use std::str::FromStr;
use std::time::Instant;

use engine::StopCause;
use metrics::results::{Results, Value as Measured};
use metrics::threshold::{Moment, Verdict};
use report::document::MessageLogs;
use report::{RunState, SummaryOptions, TimeUnit, TrendStat};
use script::ScriptError;
use script::log::Level;
use script::options::Options;
use serde_json::Value;

use super::drive::Ran;
use super::flags::Flags;
use super::load::Script;
use super::save::{Facts, Saving};
use super::timeline::Timeline;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;
use crate::messages::Messages;

/// What of the run is to be kept.
pub struct Kept<'a> {
    /// `--save`.
    pub saving: Option<&'a Saving>,
    /// `--save-messages`.
    pub messages: Option<&'a Messages>,
}

/// Ends the run that was, prints what there is to print, keeps what is to be kept, and says how it went.
pub fn finish(flags: &Flags, script: &Script, log: &Logger, mut ran: Ran, kept: Kept<'_>) -> Result<ExitCode, Failure> {
    let teardown_error = tear_down(script, &mut ran);
    let messages = kept.messages.map(Messages::finish);
    let verdict = ran.aggregate.judge(ran.duration, Moment::End);
    let results = ran.aggregate.results(ran.duration, flags.summary_mode == Some(report::SummaryMode::Full));
    let remark = script.program.timing_remark(requests(&results));
    let lost = messages.as_ref().and_then(|(logs, are_whole)| lost_messages(logs, *are_whole));
    let options = summary_options(flags, &ran, remark.iter().chain(&lost).cloned())?;
    let summary = Summary { flags, options, results: &results, ran: &ran, script, log };
    let summarised = summary.write();
    let refused = ran.aggregate.refused();
    if refused > 0 {
        log.write(Level::Warning, &format!("{refused} samples were not numbers and are left out"), &[]);
    }
    let errors = [ran.setup_error.as_ref(), teardown_error.as_ref()];
    let code = judge(log, &ran, errors, &verdict, script.program.marked_failed());
    let code = unless_empty(flags, log, &results, code);
    let (messages, are_whole) = messages.map_or((None, true), |(logs, are_whole)| (Some(logs), are_whole));
    let code = if code == ExitCode::Ok && !are_whole { ExitCode::ResultNotWritten } else { code };
    let code = match kept.saving {
        Some(saving) => {
            let facts = Facts {
                script: &flags.script,
                labels: &flags.labels,
                started_at: ran.started_at,
                options: ran.options.to_json(),
                results: &results,
                seconds: ran.timeline.map(Timeline::into_document).unwrap_or_default(),
                health: &ran.health,
                notes: remark.into_iter().collect(),
                messages,
                code,
            };
            save(saving, facts, log)
        }
        None => code,
    };
    summarised.map(|()| code)
}

/// A URL that never answered is no success, whatever the script that stands for it has to say.
fn unless_empty(flags: &Flags, log: &Logger, results: &Results, code: ExitCode) -> ExitCode {
    let quick = flags.quick.as_ref().filter(|_| code == ExitCode::Ok);
    match quick.and_then(|quick| quick.emptiness(results)) {
        Some(why) => {
            log.write(Level::Error, &why, &[]);
            ExitCode::Generic
        }
        None => code,
    }
}

/// One line when messages are missing in the logs.
fn lost_messages(logs: &MessageLogs, are_whole: bool) -> Option<String> {
    let MessageLogs { written, dropped, .. } = logs;
    let why = if are_whole { "writing could not keep up" } else { "they could not be written" };
    let all = written + dropped;
    (*dropped > 0).then(|| format!("{dropped} of {all} received messages are not in the logs: {why}"))
}

/// Writes the result document. A run that was fine but cannot be kept is not fine; a run that failed says why it did.
fn save(saving: &Saving, facts: Facts<'_>, log: &Logger) -> ExitCode {
    let code = facts.code;
    match saving.write(facts) {
        Ok(()) => code,
        Err(message) => {
            log.write(Level::Error, &message, &[]);
            if code == ExitCode::Ok { ExitCode::ResultNotWritten } else { code }
        }
    }
}

fn tear_down(script: &Script, ran: &mut Ran) -> Option<ScriptError> {
    if !ran.teardown_due || ran.options.no_teardown == Some(true) {
        return None;
    }
    // A test that was stopped still tears down; only a second signal ends that, and the process with it.
    let began = Instant::now();
    let result = script.runtime.block_on(script.program.run_teardown(&ran.recorder, std::future::pending()));
    let snapshot = ran.recorder.take();
    ran.timeline.iter_mut().for_each(|timeline| timeline.aside(began.elapsed(), &snapshot));
    ran.aggregate.merge(snapshot);
    result.err()
}

/// The one place where the ways a run can end become an exit code. What stopped the run counts before thresholds.
fn judge(
    log: &Logger,
    ran: &Ran,
    errors: [Option<&ScriptError>; 2],
    verdict: &Verdict,
    marked_failed: bool,
) -> ExitCode {
    if !verdict.crossed.is_empty() {
        let text = format!("thresholds on metrics '{}' have been crossed", verdict.crossed.join(", "));
        log.write(Level::Error, &text, &[]);
    }
    for error in errors.into_iter().flatten() {
        log.write(Level::Error, &error.with_stack(), &[("hint", "script exception"), ("source", "stacktrace")]);
    }
    if let Some(error) = errors.into_iter().flatten().next() {
        return ExitCode::of_script(error.exit_code);
    }
    match &ran.stopped {
        Some(StopCause::Script(message)) => {
            log.write(Level::Error, message, &[]);
            return ExitCode::ScriptAborted;
        }
        Some(StopCause::Signal(name)) => {
            log.write(Level::Error, &format!("the test was stopped by {name}"), &[]);
            return ExitCode::Signal;
        }
        Some(StopCause::Threshold(_)) => return ExitCode::ThresholdsFailed,
        Some(StopCause::Requested) | None => {}
    }
    if !verdict.crossed.is_empty() {
        return ExitCode::ThresholdsFailed;
    }
    if marked_failed { ExitCode::MarkedFailed } else { ExitCode::Ok }
}

/// All HTTP requests of the run.
fn requests(results: &Results) -> u64 {
    let counted = results.metrics.iter().find(|metric| metric.name == "http_reqs" && metric.filter.is_none());
    match counted.map(|metric| &metric.value) {
        Some(Measured::Counter { count, .. }) => *count as u64,
        _ => 0,
    }
}

fn summary_options(flags: &Flags, ran: &Ran, remarks: impl Iterator<Item = String>) -> Result<SummaryOptions, Failure> {
    let Options { summary_trend_stats, summary_time_unit, .. } = &*ran.options;
    Ok(SummaryOptions {
        mode: flags.summary_mode.unwrap_or_default(),
        color: flags.color(),
        health: ran.health.complaint().into_iter().chain(remarks).collect(),
        ..summary_columns(summary_trend_stats.as_deref(), summary_time_unit.as_deref())?
    })
}

/// Statistics and unit as the options name them. Also called before the test, to refuse what cannot be.
pub fn summary_columns(stats: Option<&[String]>, unit: Option<&str>) -> Result<SummaryOptions, Failure> {
    let refuse = |name: &str, error: &dyn std::fmt::Display| {
        Failure::new(ExitCode::InvalidConfig, format!("option '{name}': {error}"))
    };
    let trend_stats = match stats.filter(|stats| !stats.is_empty()) {
        Some(stats) => report::parse_trend_stats(stats).map_err(|error| refuse("summaryTrendStats", &error))?,
        None => TrendStat::defaults(),
    };
    let time_unit = unit.filter(|unit| !unit.is_empty()).map(TimeUnit::from_str).transpose();
    let time_unit = time_unit.map_err(|error| refuse("summaryTimeUnit", &error))?;
    Ok(SummaryOptions { trend_stats, time_unit, ..SummaryOptions::default() })
}

struct Summary<'a> {
    flags: &'a Flags,
    options: SummaryOptions,
    results: &'a Results,
    ran: &'a Ran,
    script: &'a Script,
    log: &'a Logger,
}

impl Summary<'_> {
    fn write(&self) -> Result<(), Failure> {
        if self.flags.summary_mode.is_some() && !self.handled_by_script() {
            if let Some(quick) = &self.flags.quick {
                print(quick.headline(self.results).as_bytes());
            }
            print(report::text(self.results, &self.options).as_bytes());
        }
        let Some(path) = &self.flags.summary_export else { return Ok(()) };
        let value = match self.flags.machine_readable {
            true => self.machine_readable(),
            false => report::export_json(self.results, &self.options, self.setup_data()),
        };
        std::fs::write(path, report::pretty(&value))
            .map_err(|e| Failure::new(ExitCode::Generic, format!("cannot write the summary export {path}: {e}")))
    }

    /// Whether the script's `handleSummary` took care of the summary. An error of it is logged, and the usual text printed.
    fn handled_by_script(&self) -> bool {
        let data = match self.flags.machine_readable {
            true => self.machine_readable(),
            false => report::handle_summary_data(self.results, &self.options, &self.state(), self.setup_data()),
        };
        let data = data.to_string();
        let program = &self.script.program;
        let recorder = Rc::clone(&self.ran.recorder);
        let call = program.run_handle_summary(&data, &recorder, std::future::pending());
        match self.script.runtime.block_on(call) {
            Ok(files) => {
                files.iter().for_each(|(name, bytes)| self.write_one(name, bytes));
                program.exports("handleSummary")
            }
            Err(error) => {
                let fields = [("hint", "script exception"), ("source", "stacktrace")];
                self.log.write(Level::Error, &error.with_stack(), &fields);
                false
            }
        }
    }

    fn write_one(&self, name: &str, bytes: &[u8]) {
        match name {
            "stdout" => print(bytes),
            "stderr" => {
                let _ = std::io::stderr().lock().write_all(bytes);
            }
            path => {
                if let Err(error) = std::fs::write(path, bytes) {
                    let text = format!("handleSummary: cannot write {path}: {error}");
                    self.log.write(Level::Error, &text, &[]);
                }
            }
        }
    }

    fn state(&self) -> RunState {
        RunState {
            is_stdout_tty: std::io::stdout().is_terminal(),
            is_stderr_tty: std::io::stderr().is_terminal(),
            duration: self.ran.duration,
        }
    }

    fn setup_data(&self) -> Option<Value> {
        serde_json::from_str(&self.script.program.setup_data()?).ok()
    }

    fn machine_readable(&self) -> Value {
        let run = report::RunConfig {
            duration: self.ran.duration,
            script: std::fs::read_to_string(&self.flags.script).unwrap_or_default(),
            generated_at: crate::log::rfc3339_now(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        report::machine_readable(self.results, &run)
    }
}

fn print(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}
