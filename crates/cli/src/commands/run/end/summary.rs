//! The end-of-test summary of a run: the script's own by `handleSummary()`, else the usual text, and its export.

use std::cell::Cell;
use std::io::IsTerminal;
use std::rc::Rc;

use metrics::results::Results;
use report::document::{Judgement, Steadiness, Trust};
use report::{RunState, SummaryOptions};
use script::log::Level;
use serde_json::Value;

use crate::commands::run::drive::phases::Phases;
use crate::commands::run::drive::progress::Ran;
use crate::commands::run::end::findings::EXCEPTION;
use crate::commands::run::saved::load_changes::kept_changes;
use crate::commands::run::start::flags::Flags;
use crate::commands::run::start::load::Script;
use crate::log::Logger;
use crate::output;
use crate::process::whole_file;

/// The summary of a run, in every form asked for.
pub struct Summary<'a> {
    /// What was asked for.
    pub flags: &'a Flags,
    /// For its `handleSummary()`.
    pub script: &'a Script,
    /// A signal may end `handleSummary()`.
    pub phases: &'a Phases,
    /// For its errors.
    pub log: &'a Logger,
    /// How the text looks.
    pub options: SummaryOptions,
    /// What was measured.
    pub results: &'a Results,
    /// The run.
    pub ran: &'a Ran,
    /// Something of it went there.
    pub is_on_stdout: Cell<bool>,
    /// A file that the script named could not be written.
    pub is_incomplete: Cell<bool>,
}

/// How the text looks. `remarks` are lines about the generator.
pub fn options(
    flags: &Flags,
    ran: &Ran,
    remarks: impl Iterator<Item = String>,
    judgement: Judgement,
    steady: Option<&Steadiness>,
) -> SummaryOptions {
    SummaryOptions {
        mode: flags.shown.summary_mode.unwrap_or_default(),
        trend_stats: ran.planned.columns.trend_stats.clone(),
        time_unit: ran.planned.columns.time_unit,
        color: flags.color(),
        // Lines stay as k6 has them where they go elsewhere than to a terminal.
        width: output::stdout().size().map(|size| size.columns),
        errors: flags.test.quick.is_none(),
        steadiness: steady
            .map_or_else(Vec::new, |found| report::steadiness::lines(found, ran.planned.columns.time_unit)),
        health: remarks.collect(),
        load: report::document::change_lines(&kept_changes(&ran.changes)),
        late_accepted: flags.verdict.accept_late && judgement.verdict > Trust::Trusted,
        judgement: Some(judgement),
    }
}

impl Summary<'_> {
    /// Prints and writes it.
    pub fn write(&self) {
        let flags = self.flags;
        if flags.shown.summary_mode.is_none() || self.handled_by_script() {
            self.warn_of_doubts();
        } else if !flags.shown.answers_json {
            self.print(report::verdict(&self.options).as_bytes());
            if let Some(quick) = &flags.test.quick {
                self.print(report::visible_lines(&quick.headline(self.results)).as_bytes());
            }
            let text = report::text(self.results, &self.options);
            self.print(flags.test.secrets.redactor().report(&text).as_bytes());
        }
        let Some(path) = &flags.shown.summary_export else { return };
        let value = match flags.shown.machine_readable {
            true => self.machine_readable(),
            false => report::export_json(self.results, &self.options, self.setup_data()),
        };
        let value = flags.test.secrets.redactor().json(value);
        if let Err(error) = whole_file::write(path, report::pretty(&value)) {
            // As in k6 the exit code is that of the test, unless doubts decide it.
            let text = format!("cannot write the summary export {path}: {error}");
            self.log.write(Level::Error, &text, &[]);
            self.is_incomplete.set(self.is_incomplete.get() || self.flags.verdict.strict);
        }
    }

    /// Whether the script's `handleSummary` took care of the summary. An error of it is logged, and the usual text
    /// printed.
    fn handled_by_script(&self) -> bool {
        let Summary { script, phases, log, flags, .. } = self;
        if phases.is_leaving() {
            return false;
        }
        let data = match flags.shown.machine_readable {
            true => self.machine_readable(),
            false => report::handle_summary_data(self.results, &self.options, &self.state(), self.setup_data()),
        };
        let data = flags.test.secrets.redactor().json(data).to_string();
        let Script { program, runtime, .. } = script;
        let recorder = Rc::clone(&self.ran.samples.recorder);
        match runtime.block_on(program.run_handle_summary(&data, &recorder, phases.another())) {
            Ok(Some(files)) => {
                files.iter().for_each(|(name, bytes)| self.write_one(name, bytes));
                true
            }
            Ok(None) => false,
            Err(error) => {
                log.write(Level::Error, &error.with_stack(), &EXCEPTION);
                false
            }
        }
    }

    fn write_one(&self, name: &str, bytes: &[u8]) {
        match name {
            // A program reads the digest, and nothing else.
            "stdout" if !self.flags.shown.answers_json => self.print(bytes),
            "stdout" | "stderr" => output::stderr().print(bytes),
            path => {
                if let Err(error) = whole_file::write(path, bytes) {
                    let text = format!("handleSummary: cannot write {path}: {error}");
                    self.log.write(Level::Error, &text, &[]);
                    self.is_incomplete.set(true);
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
        serde_json::from_str(&self.script.program.setup_data()?).ok()
    }

    fn machine_readable(&self) -> Value {
        let run = report::RunConfig {
            duration: self.ran.duration,
            script: self.script.program.source(),
            generated_at: crate::log::rfc3339_now(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        report::machine_readable(self.results, &run, &self.options)
    }

    /// Whoever prints a summary of their own, or none, still learns when its figures are in doubt.
    fn warn_of_doubts(&self) {
        let judgement = self.options.judgement.as_ref().filter(|judgement| judgement.verdict > Trust::Trusted);
        if let Some(line) = judgement.and_then(|judgement| judgement.line(self.options.late_accepted)) {
            self.log.write(Level::Warning, &line, &[]);
        }
    }
}
