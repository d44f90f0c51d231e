//! `--save DIR`: the result document of a run, and until it is there the journal (the crate `journal`).
//!
//! Whether the directory can be written is found out and said before the test, which runs in any case. The result is
//! written before the summary is made, because `handleSummary()` may never come back. When writing fails, the summary
//! is printed all the same, and the exit code tells. An older result stays until the new one is complete.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use journal::{Journal, JournalHead, JournalReader, OverTime};
use metrics::results::{MetricResult, Results};
use metrics::{Registry, Snapshot};
use report::ci::{Digest, digest, of_run};
use report::document::{
    Check, Document, Environment, Exit, FILE_NAME, Generator, Group, KIND, LoadChange, MessageLogs, Metric, Requests,
    SCHEMA, SampledTrace, Scenario,
};
use report::{Errors, TrendStat};
use script::log::Level;
use script::options::Options;
use script::secrets::Redactor;
use serde_json::Value;
use wire::mask::Mask;

use crate::commands::run::start::flags::Flags;
use crate::commands::run::start::fleet_flags::FleetFlags;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;
use crate::process::machine;
use crate::secrets::{hiding, masked};

/// A directory that waits for its result.
pub struct Saving {
    dir: PathBuf,
    is_writable: bool,
}

/// What a result document is made of.
pub struct Facts<'a> {
    /// What was run, its secrets masked, and the machine meanwhile.
    pub head: JournalHead,
    /// The statistics of Trends that the summary shows.
    pub stats: &'a [TrendStat],
    /// How long it ran.
    pub duration: Duration,
    /// What was measured.
    pub figures: Figures<'a>,
    /// How the generator fared, judged.
    pub generator: Generator,
    /// What clients changed of the load.
    pub load_changes: Vec<LoadChange>,
    /// Logs of messages.
    pub messages: Option<MessageLogs>,
    /// Sampled requests that are worth a look.
    pub traces: Vec<SampledTrace>,
    /// How it ended.
    pub code: ExitCode,
    /// Why it failed, where the code alone does not tell.
    pub reason: Option<String>,
}

/// Of a test, what its samples came to.
pub struct Figures<'a> {
    /// Of the whole test.
    pub results: &'a Results,
    /// Parts of metrics that only reports show.
    pub details: Vec<MetricResult>,
    /// Over time, and whether that was steady.
    pub over_time: OverTime,
}

impl Saving {
    /// Makes the directory and tries whether files can be made in it. Called before the test, so that the user
    /// can end it; nobody may watch, and then a test without a result is worth more than none.
    pub fn prepare(dir: &Path, log: &Logger) -> Result<Saving, Failure> {
        let refuse = |found: &str, expected: &str| {
            let text = format!("--save {}: {found}, expected {expected}", dir.display());
            Err(Failure::new(ExitCode::ResultNotWritten, text))
        };
        if dir.exists() && !dir.is_dir() {
            return refuse("found a file", "a directory or a name for a new one");
        }
        if dir.join(FILE_NAME).is_dir() {
            return refuse(&format!("{FILE_NAME} in it is a directory"), "a file or none");
        }
        let problem = probe(dir).err();
        if let Some(problem) = &problem {
            let text = format!(
                "--save {}: {problem}; the test runs without a result: give a directory that can be written",
                dir.display()
            );
            log.write(Level::Error, &text, &[]);
        }
        Ok(Saving { dir: dir.to_owned(), is_writable: problem.is_none() })
    }

    /// Whether files could be made before the test.
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// What `setup()` measured in a process that was killed, whose result would have been here, and how long it took.
    pub fn setup_before(&self, registry: &Arc<Registry>) -> Result<Option<(Duration, Snapshot)>, String> {
        journal::setup_of(&self.dir, registry)
    }

    /// What a coordinator measured that was killed after the load: the first so many bytes of its journal.
    pub fn load_before(&self, length: u64) -> Result<(JournalHead, JournalReader), String> {
        let found = JournalReader::open_ended(&self.dir, length)?;
        found.ok_or_else(|| {
            let dir = self.dir.display();
            format!("the test is over, and its result is in {dir}; remove fleet.state there to begin another")
        })
    }

    /// Begins the journal of a run with these options, whose clock has started.
    pub fn journal(
        &self,
        flags: &Flags,
        options: &Options,
        started_at: &str,
        registry: Arc<Registry>,
    ) -> Option<Journal> {
        let head = journal_head(flags, options, started_at);
        self.is_writable.then(|| Journal::begin(&self.dir, &head, registry, hiding(&flags.test.secrets)))
    }

    /// What a result holds and what it does not, for somebody who hands it on.
    fn stored(&self) -> String {
        format!(
            "{} has the options, figures, names of checks and groups, and facts about this machine; passwords, \
             parameters that look like credentials and the keys of tlsAuth are masked or left out; bodies, headers and \
             cookies are not kept",
            self.dir.join(FILE_NAME).display()
        )
    }

    /// Writes the result, also where that looked hopeless before; the message when it fails.
    fn write(&self, document: &Document) -> Result<(), String> {
        let written = std::fs::create_dir_all(&self.dir).and_then(|()| document.write(&self.dir));
        written.map_err(|error| {
            let dir = self.dir.display();
            format!(
                "cannot write the result into {dir}: {error}; an older result there, if any, is unchanged, and \
                 `onrush report` reads the journal of this run, if there is room for one"
            )
        })
    }
}

/// A result in its directory, as far as it could be written.
pub struct Kept<'a> {
    flags: &'a Flags,
    /// None where the result is only for a CI.
    saving: Option<&'a Saving>,
    document: Document,
    written: Result<(), String>,
}

/// The result that these facts make, without the secrets that the script was given.
pub fn redacted_document(facts: Facts<'_>, redactor: &Redactor) -> Document {
    redacted(document(facts), redactor)
}

fn redacted(document: Document, redactor: &Redactor) -> Document {
    if !redactor.is_needed() {
        return document;
    }
    let shown = serde_json::to_value(&document).map(|value| redactor.json(value));
    shown.and_then(serde_json::from_value).expect("a document is one with other texts, too")
}

impl<'a> Kept<'a> {
    /// Writes the result. What fails is said by `close`, below the summary.
    pub fn new(saving: Option<&'a Saving>, document: Document, flags: &'a Flags) -> Self {
        let written = saving.map_or(Ok(()), |saving| saving.write(&document));
        if let Some(saving) = saving.filter(|_| written.is_ok()) {
            // The coordinator of a fleet removes it when it is done.
            match flags.load.fleet.as_ref().is_some_and(FleetFlags::waits) {
                true => journal::set_aside(&saving.dir),
                false => journal::remove(&saving.dir),
            }
        }
        Kept { flags, saving, document, written }
    }

    /// Writes it again when the run has ended in another way since. A run that was fine but cannot be kept is not fine;
    /// a run that failed says why it did. Unless `--quiet`, what is kept is said. Then a CI is told of it.
    pub fn close(&mut self, code: ExitCode, log: &Logger) -> ExitCode {
        if self.document.exit.code != code as u8 {
            self.document.exit = exit(code, None);
            if let Some(saving) = self.saving.filter(|_| self.written.is_ok()) {
                self.written = saving.write(&self.document);
            }
        }
        if let Some(saving) = self.saving.filter(|_| self.written.is_ok() && !self.flags.shown.quiet) {
            log.write(Level::Info, &saving.stored(), &[]);
        }
        let told = if self.flags.kept.ci.is_wanted() { self.tell() } else { Ok(()) };
        let problems = [self.written.clone(), told];
        problems.iter().filter_map(|problem| problem.as_ref().err()).fold(code, |code, message| {
            log.write(Level::Error, message, &[]);
            if code == ExitCode::Ok { ExitCode::ResultNotWritten } else { code }
        })
    }

    /// What decides, of a run that ends with this code.
    pub fn digest(&self, code: ExitCode) -> Digest {
        let mut digest = digest(&self.document);
        if digest.exit.code != code as u8 {
            digest.exit = exit(code, None);
        }
        digest
    }

    fn tell(&self) -> Result<(), String> {
        let ci = &self.flags.kept.ci;
        let script = ci.script(&self.flags.test.script);
        ci.write(&of_run(&self.document, &script), &self.flags.test.script).map_err(|failure| failure.message)
    }
}

/// The report of a run whose document this is, in a file of its own; packed where its name says so.
pub fn export(document: &Document, code: ExitCode, path: &Path) -> Result<(), String> {
    let ended = if document.exit.code == code as u8 { document.exit.clone() } else { exit(code, None) };
    let page = report::html::run::page(&Document { exit: ended, ..document.clone() });
    let is_packed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    let bytes = if is_packed { packed(page.as_bytes()) } else { Ok(page.into_bytes()) };
    let written = bytes.and_then(|bytes| std::fs::write(path, bytes));
    written.map_err(|error| format!("--web-export {}: cannot write the report: {error}", path.display()))
}

fn packed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn exit(code: ExitCode, why: Option<String>) -> Exit {
    // A signal says more than what the run had come to by then.
    let why = why.filter(|_| matches!(code, ExitCode::ThresholdsFailed | ExitCode::NothingSucceeded));
    Exit { code: code as u8, reason: why.or_else(|| code.reason().map(str::to_owned)) }
}

/// What a journal begins with: the machine is as it is now.
pub fn journal_head(flags: &Flags, options: &Options, started_at: &str) -> JournalHead {
    let now = machine::Moment::now();
    head(flags, options, started_at, machine::environment(&now, &machine::Moment::now()))
}

/// What was run, its secrets masked.
pub fn head(flags: &Flags, options: &Options, started_at: &str, environment: Environment) -> JournalHead {
    let head = JournalHead {
        kind: journal::KIND.to_owned(),
        schema: journal::SCHEMA,
        started_at: started_at.to_owned(),
        script: flags.test.script.clone(),
        labels: flags.kept.labels.clone(),
        options: options.to_json(),
        environment,
        part: None,
    };
    masked_head(head, &options.url_mask())
}

/// The same without what this mask hides, and without options that have no value.
pub fn masked_head(head: JournalHead, mask: &Mask) -> JournalHead {
    let label = |(name, value): (String, String)| (name, mask.text(&value).into_owned());
    JournalHead {
        script: mask.url(&head.script).into_owned(),
        labels: head.labels.into_iter().map(label).collect(),
        options: set_options(without_secrets(head.options, mask)),
        ..head
    }
}

/// Makes the directory and, for a moment, a file in it.
fn probe(dir: &Path) -> Result<(), String> {
    std::fs::create_dir_all(dir).map_err(|error| format!("cannot make the directory: {error}"))?;
    let file = dir.join(format!(".onrush-{}", std::process::id()));
    std::fs::write(&file, b"").map_err(|error| format!("cannot make a file in the directory: {error}"))?;
    std::fs::remove_file(&file).map_err(|error| format!("cannot remove a file in the directory: {error}"))
}

/// The result that these facts make.
pub fn document(facts: Facts<'_>) -> Document {
    let Facts { head, figures: Figures { results, details, over_time }, .. } = facts;
    let percents = TrendStat::percents(facts.stats);
    Document {
        kind: KIND.to_owned(),
        schema: SCHEMA,
        onrush: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: head.started_at,
        duration_s: facts.duration.as_secs_f64(),
        load_s: Some(results.duration.as_secs_f64()),
        script: head.script,
        labels: head.labels,
        options: head.options,
        environment: head.environment,
        generator: facts.generator,
        exit: exit(facts.code, facts.reason),
        errors: Errors::of(results, |kind| over_time.times_of_error(kind)),
        requests: Requests {
            traces: facts.traces,
            ..Requests::new(&results.requests, over_time.requests.as_ref(), over_time.began)
        },
        metrics: metrics(results, &details, &percents),
        checks: results.checks.iter().map(Check::from).collect(),
        groups: Group::from(&results.root),
        scenarios: results.scenarios.iter().map(|scenario| Scenario::of(scenario, &percents)).collect(),
        seconds: over_time.seconds,
        generator_seconds: over_time.generator,
        steadiness: over_time.steadiness,
        load_changes: facts.load_changes,
        messages: facts.messages,
    }
}

/// All metrics, each with its parts behind it.
fn metrics(results: &Results, details: &[MetricResult], percents: &[f64]) -> Vec<Metric> {
    let all = results.metrics.iter().chain(details);
    let mut metrics: Vec<Metric> = all.map(|metric| Metric::of(metric, percents)).collect();
    metrics.sort_by(|a, b| (&a.name, &a.filter).cmp(&(&b.name, &b.filter)));
    metrics
}

/// A result is shown to others: keys of client certificates and their passwords stay at home, so do values whose names
/// say that they are secret (the `env` of a scenario, say), and the secrets of URLs anywhere.
fn without_secrets(options: Value, mask: &Mask) -> Value {
    let mut options = masked(options, mask);
    let certificates = options.get_mut("tlsAuth").and_then(Value::as_array_mut);
    for certificate in certificates.into_iter().flatten().filter_map(Value::as_object_mut) {
        for secret in ["key", "password"] {
            if certificate.get(secret).is_some_and(|value| !value.is_null()) {
                certificate.insert(secret.to_owned(), Value::from("left out"));
            }
        }
    }
    options
}

/// The options that have a value. A script could set fifty; most set three.
fn set_options(mut options: Value) -> Value {
    if let Some(options) = options.as_object_mut() {
        options.retain(|_, value| !value.is_null());
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_at_home() {
        let options = serde_json::json!({ "tlsAuth": [{ "cert": "c", "key": "k", "password": null }], "vus": 1 });
        let expected =
            serde_json::json!({ "tlsAuth": [{ "cert": "c", "key": "left out", "password": null }], "vus": 1 });
        assert_eq!(without_secrets(options, &Mask::standard()), expected);
    }

    #[test]
    fn options_without_a_value_are_left_out() {
        let options = serde_json::json!({ "vus": 1, "rps": null, "scenarios": { "a": { "options": null } } });
        let expected = serde_json::json!({ "vus": 1, "scenarios": { "a": { "options": null } } });
        assert_eq!(set_options(options), expected);
    }
}
