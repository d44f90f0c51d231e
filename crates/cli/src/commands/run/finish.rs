//! After the last iteration: teardown, the last judgement, the summary in every form asked for, the exit code.

use std::cell::Cell;
use std::io::IsTerminal;
use std::rc::Rc;
use std::str::FromStr;
use std::time::Instant;

use engine::{StopCause, Stopper};
use metrics::results::Results;
use metrics::threshold::{Moment, Verdict};
use report::document::MessageLogs;
use report::{RunState, SummaryOptions, TimeUnit, TrendStat};
use script::ScriptError;
use script::log::Level;
use script::options::Options;
use serde_json::Value;

use super::drive::Ran;
use super::flags::Flags;
use super::generator::Judged;
use super::load::Script;
use super::phases::Phases;
use super::save::{Facts, Kept, Saving};
use super::timeline::Timeline;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;
use crate::machine;
use crate::messages::Messages;
use crate::output;

/// What the end of a run needs.
pub struct Ending<'a> {
    /// What was asked for.
    pub flags: &'a Flags,
    /// The script, for its teardown and summary.
    pub script: &'a Script,
    /// For what there is to say.
    pub log: &'a Logger,
    /// Knows why the run ended early; a signal may still come.
    pub stopper: &'a Stopper,
    /// What a signal does.
    pub phases: &'a Phases,
    /// `--save`.
    pub saving: Option<&'a Saving>,
    /// `--save-messages`.
    pub messages: Option<&'a Messages>,
    /// The machine before the test.
    pub before: machine::Moment,
}

/// What the exit code is made of.
struct Findings<'a> {
    errors: [Option<&'a ScriptError>; 2],
    verdict: &'a Verdict,
    /// Whether a virtual user could not be stopped.
    is_somebody_stuck: bool,
    /// Limits of `--fail-on` that there was more than.
    over: Vec<String>,
    /// Why a quick run is no success.
    nothing: Option<String>,
    /// Whether all messages are in the result that could be.
    are_messages_whole: bool,
}

impl Findings<'_> {
    /// Why the run failed, where its exit code alone does not tell.
    fn reason(&self) -> Option<String> {
        let own: Vec<&str> = self.over.iter().chain(&self.nothing).map(String::as_str).collect();
        (self.verdict.crossed.is_empty() && !own.is_empty()).then(|| own.join("; "))
    }
}

impl Ending<'_> {
    /// Ends the run that was, keeps what is to be kept, prints what there is to print, and says how it went. The result
    /// is kept before `handleSummary()` runs, which may never come back.
    pub fn finish(&self, mut ran: Ran) -> Result<ExitCode, Failure> {
        let Ending { flags, script, log, .. } = self;
        self.phases.wind_up();
        let teardown_error = self.tear_down(&mut ran);
        let messages = self.messages.map(Messages::finish);
        let verdict = ran.aggregate.judge(ran.duration, Moment::End);
        let results = ran.aggregate.results(ran.duration, flags.summary_mode == Some(report::SummaryMode::Full));
        let remark = script.program.timing_remark(results.count("http_reqs"));
        let lost = messages.as_ref().and_then(|(logs, are_whole)| lost_messages(logs, *are_whole));
        let (messages, are_messages_whole) = messages.map_or((None, true), |(logs, whole)| (Some(logs), whole));
        let missing = log.settle();
        let environment = machine::environment(&self.before, &machine::Moment::now());
        let judged = Judged::new(&ran.health, &results, script.program.unstamped(), &environment, flags.accept_late);
        let notes = remark.into_iter().chain(missing);
        let lines = judged.lines().into_iter().chain(notes.clone()).chain(lost);
        let options = summary_options(flags, &ran, lines)?;
        let findings = Findings {
            errors: [ran.setup_error.as_ref(), teardown_error.as_ref()],
            verdict: &verdict,
            is_somebody_stuck: ran.is_somebody_stuck,
            over: flags.fail_on.iter().filter_map(|limit| limit.judge(&results)).collect(),
            nothing: flags.quick.as_ref().and_then(|quick| quick.failure(&results)),
            are_messages_whole,
        };
        let mask = ran.options.url_mask();
        let mut kept = self.saving.map(|saving| {
            let facts = Facts {
                script: &flags.script,
                labels: &flags.labels,
                started_at: ran.started_at.clone(),
                options: ran.options.to_json(),
                results: &results,
                details: ran.aggregate.details(ran.duration),
                seconds: ran.timeline.take().map(Timeline::into_document).unwrap_or_default(),
                generator: judged.document(&ran.health, notes),
                environment,
                messages,
                code: self.judge(&findings),
                reason: findings.reason(),
                mask: &mask,
            };
            Kept::new(saving, facts)
        });
        let summary = Summary { ending: self, options, results: &results, ran: &ran, is_on_stdout: Cell::new(false) };
        let exported = summary.write();
        let refused = ran.aggregate.refused();
        if refused > 0 {
            log.write(Level::Warning, &format!("{refused} samples were not numbers and are left out"), &[]);
        }
        self.explain(&findings);
        let is_read = self.is_read(&summary);
        let code = match self.judge(&findings) {
            ExitCode::Ok if !is_read => ExitCode::ResultNotWritten,
            code => code,
        };
        let code = kept.as_mut().map_or(code, |kept| kept.close(code, log, flags.quiet));
        exported.map(|()| code)
    }

    /// Whether standard output has taken the summary; says so when it has not. From here on a signal ends the process
    /// at once.
    fn is_read(&self, summary: &Summary<'_>) -> bool {
        self.phases.end();
        match output::stdout().drain() {
            Err(why) if summary.is_on_stdout.get() => {
                let text = format!(
                    "cannot write the summary to standard output: {why}; \
                     --summary-export FILE or --save DIR keeps it in a file"
                );
                self.log.write(Level::Error, &text, &[]);
                false
            }
            _ => true,
        }
    }

    fn tear_down(&self, ran: &mut Ran) -> Option<ScriptError> {
        if !ran.teardown_due || ran.options.no_teardown == Some(true) {
            return None;
        }
        // A test that was stopped still tears down; a signal that comes from now on ends that.
        let began = Instant::now();
        let Script { program, runtime } = self.script;
        let result = runtime.block_on(program.run_teardown(&ran.recorder, self.phases.another()));
        let snapshot = ran.recorder.take();
        ran.timeline.iter_mut().for_each(|timeline| timeline.aside(began.elapsed(), &snapshot));
        ran.aggregate.merge(snapshot);
        result.err()
    }

    /// The one place where the ways a run can end become an exit code. What stopped the run counts before thresholds.
    /// Asked again after `handleSummary()`: a signal may have ended it.
    fn judge(&self, findings: &Findings<'_>) -> ExitCode {
        if let Some(error) = findings.errors.into_iter().flatten().next() {
            return ExitCode::of_script(error.exit_code);
        }
        match self.stopper.cause() {
            Some(StopCause::Script(_)) => return ExitCode::ScriptAborted,
            Some(StopCause::Signal(_)) => return ExitCode::Signal,
            Some(StopCause::Threshold(_)) => return ExitCode::ThresholdsFailed,
            Some(StopCause::Requested) | None => {}
        }
        match findings {
            Findings { verdict, over, .. } if !verdict.crossed.is_empty() || !over.is_empty() => {
                ExitCode::ThresholdsFailed
            }
            _ if self.script.program.marked_failed() => ExitCode::MarkedFailed,
            Findings { is_somebody_stuck: true, .. } => ExitCode::UserStuck,
            // A URL of which no request succeeded is no success, whatever the script that stands for it has to say.
            Findings { nothing: Some(_), .. } => ExitCode::NothingSucceeded,
            Findings { are_messages_whole: false, .. } => ExitCode::ResultNotWritten,
            _ => ExitCode::Ok,
        }
    }

    /// Says what the exit code is made of.
    fn explain(&self, findings: &Findings<'_>) {
        let log = self.log;
        if !findings.verdict.crossed.is_empty() {
            let names = findings.verdict.crossed.join(", ");
            log.write(Level::Error, &format!("thresholds on metrics '{names}' have been crossed"), &[]);
        }
        for error in findings.errors.into_iter().flatten() {
            log.write(Level::Error, &error.with_stack(), &EXCEPTION);
        }
        match self.stopper.cause() {
            Some(StopCause::Script(message)) => log.write(Level::Error, message, &[]),
            Some(StopCause::Signal(name)) => {
                log.write(Level::Error, &format!("the test was stopped by {name}"), &[]);
            }
            _ => {}
        }
        findings.over.iter().chain(&findings.nothing).for_each(|why| log.write(Level::Error, why, &[]));
    }
}

/// What an exception of the script is logged with.
const EXCEPTION: [(&str, &str); 2] = [("hint", "script exception"), ("source", "stacktrace")];

/// One line when messages are missing in the logs.
fn lost_messages(logs: &MessageLogs, are_whole: bool) -> Option<String> {
    let MessageLogs { written, dropped, .. } = logs;
    let why = if are_whole { "writing could not keep up" } else { "they could not be written" };
    let all = written + dropped;
    (*dropped > 0).then(|| format!("{dropped} of {all} received messages are not in the logs: {why}"))
}

fn summary_options(flags: &Flags, ran: &Ran, remarks: impl Iterator<Item = String>) -> Result<SummaryOptions, Failure> {
    let Options { summary_trend_stats, summary_time_unit, .. } = &*ran.options;
    Ok(SummaryOptions {
        mode: flags.summary_mode.unwrap_or_default(),
        color: flags.color(),
        // Lines stay as k6 has them where they go elsewhere than to a terminal.
        width: output::stdout().size().map(|size| size.columns),
        errors: flags.quick.is_none(),
        health: remarks.collect(),
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
    ending: &'a Ending<'a>,
    options: SummaryOptions,
    results: &'a Results,
    ran: &'a Ran,
    /// Something of it went there.
    is_on_stdout: Cell<bool>,
}

impl Summary<'_> {
    fn write(&self) -> Result<(), Failure> {
        let flags = self.ending.flags;
        if flags.summary_mode.is_some() && !self.handled_by_script() {
            if let Some(quick) = &flags.quick {
                self.print(report::visible_lines(&quick.headline(self.results)).as_bytes());
            }
            self.print(report::text(self.results, &self.options).as_bytes());
        }
        let Some(path) = &flags.summary_export else { return Ok(()) };
        let value = match flags.machine_readable {
            true => self.machine_readable(),
            false => report::export_json(self.results, &self.options, self.setup_data()),
        };
        std::fs::write(path, report::pretty(&value))
            .map_err(|e| Failure::new(ExitCode::Generic, format!("cannot write the summary export {path}: {e}")))
    }

    /// Whether the script's `handleSummary` took care of the summary. An error of it is logged, and the usual text
    /// printed.
    fn handled_by_script(&self) -> bool {
        let Ending { script, phases, log, flags, .. } = self.ending;
        if phases.is_leaving() {
            return false;
        }
        let data = match flags.machine_readable {
            true => self.machine_readable(),
            false => report::handle_summary_data(self.results, &self.options, &self.state(), self.setup_data()),
        };
        let data = data.to_string();
        let Script { program, runtime } = script;
        let recorder = Rc::clone(&self.ran.recorder);
        match runtime.block_on(program.run_handle_summary(&data, &recorder, phases.another())) {
            Ok(files) => {
                files.iter().for_each(|(name, bytes)| self.write_one(name, bytes));
                program.exports("handleSummary")
            }
            Err(error) => {
                log.write(Level::Error, &error.with_stack(), &EXCEPTION);
                false
            }
        }
    }

    fn write_one(&self, name: &str, bytes: &[u8]) {
        match name {
            "stdout" => self.print(bytes),
            "stderr" => output::stderr().print(bytes),
            path => {
                if let Err(error) = std::fs::write(path, bytes) {
                    let text = format!("handleSummary: cannot write {path}: {error}");
                    self.ending.log.write(Level::Error, &text, &[]);
                }
            }
        }
    }

    fn print(&self, bytes: &[u8]) {
        self.is_on_stdout.set(true);
        output::stdout().print(bytes);
    }

    fn state(&self) -> RunState {
        RunState {
            is_stdout_tty: std::io::stdout().is_terminal(),
            is_stderr_tty: std::io::stderr().is_terminal(),
            duration: self.ran.duration,
        }
    }

    fn setup_data(&self) -> Option<Value> {
        serde_json::from_str(&self.ending.script.program.setup_data()?).ok()
    }

    fn machine_readable(&self) -> Value {
        let run = report::RunConfig {
            duration: self.ran.duration,
            script: std::fs::read_to_string(&self.ending.flags.script).unwrap_or_default(),
            generated_at: crate::log::rfc3339_now(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        report::machine_readable(self.results, &run)
    }
}
