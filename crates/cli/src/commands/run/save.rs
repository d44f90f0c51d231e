//! `--save DIR`: the result document of a run.
//!
//! That the directory can be written is found out before the test, where it can be. If writing fails at the end all the
//! same, the summary has been printed by then, and the exit code tells. An older result stays until the new one is complete.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::Health;
use metrics::results::Results;
use report::document::{
    Check, Document, Environment, Exit, FILE_NAME, Generator, Group, KIND, MessageLogs, Metric, SCHEMA, Scenario,
    Seconds, WorkerFigures,
};
use serde_json::Value;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::machine::{self, Moment};

/// A directory that waits for its result.
pub struct Saving {
    dir: PathBuf,
    before: Moment,
}

/// What a result document is made of.
pub struct Facts<'a> {
    /// As given on the command line.
    pub script: &'a str,
    /// `--label`.
    pub labels: &'a BTreeMap<String, String>,
    /// When the run's clock started.
    pub started_at: String,
    /// What was in effect.
    pub options: Value,
    /// What was measured.
    pub results: &'a Results,
    /// Over time.
    pub seconds: Seconds,
    /// How the generator fared.
    pub health: &'a Health,
    /// Further lines about the generator.
    pub notes: Vec<String>,
    /// Logs of messages.
    pub messages: Option<MessageLogs>,
    /// How it ended.
    pub code: ExitCode,
}

impl Saving {
    /// Makes the directory and tries whether files can be made in it. Called before the test.
    pub fn prepare(dir: &Path) -> Result<Saving, Failure> {
        let refuse = |what: &str, error: &std::io::Error| {
            let text = format!("--save {}: {what}: {error}; give a directory that can be written", dir.display());
            Failure::new(ExitCode::ResultNotWritten, text)
        };
        if dir.exists() && !dir.is_dir() {
            let text = format!("--save {}: found a file, expected a directory or a name for a new one", dir.display());
            return Err(Failure::new(ExitCode::ResultNotWritten, text));
        }
        std::fs::create_dir_all(dir).map_err(|error| refuse("cannot make the directory", &error))?;
        if dir.join(FILE_NAME).is_dir() {
            let text = format!("--save {}: {FILE_NAME} in it is a directory, expected a file or none", dir.display());
            return Err(Failure::new(ExitCode::ResultNotWritten, text));
        }
        let probe = dir.join(format!(".onrush-{}", std::process::id()));
        std::fs::write(&probe, b"").map_err(|error| refuse("cannot make a file in the directory", &error))?;
        std::fs::remove_file(&probe).map_err(|error| refuse("cannot remove a file in the directory", &error))?;
        Ok(Saving { dir: dir.to_owned(), before: Moment::now() })
    }

    /// Writes the result; the message when that fails.
    pub fn write(&self, facts: Facts<'_>) -> Result<(), String> {
        let environment = machine::environment(&self.before, &Moment::now());
        document(facts, environment).write(&self.dir).map_err(|error| {
            let dir = self.dir.display();
            format!("cannot write the result into {dir}: {error}; an older result there, if any, is unchanged")
        })
    }
}

fn document(facts: Facts<'_>, environment: Environment) -> Document {
    let Facts { results, health, code, .. } = facts;
    Document {
        kind: KIND.to_owned(),
        schema: SCHEMA,
        onrush: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: facts.started_at,
        duration_s: results.duration.as_secs_f64(),
        script: without_password(facts.script),
        labels: facts.labels.clone(),
        options: without_secrets(facts.options),
        environment,
        generator: generator(health, facts.notes),
        exit: Exit { code: code as u8, reason: code.reason().map(str::to_owned) },
        metrics: results.metrics.iter().map(Metric::from).collect(),
        checks: results.checks.iter().map(Check::from).collect(),
        groups: Group::from(&results.root),
        scenarios: results.scenarios.iter().map(Scenario::from).collect(),
        seconds: facts.seconds,
        messages: facts.messages,
    }
}

fn generator(health: &Health, notes: Vec<String>) -> Generator {
    let worker = |worker: &engine::health::WorkerHealth| WorkerFigures {
        cpu_share: worker.cpu_share,
        lag_p50_ms: worker.lag_p50_ms,
        lag_p99_ms: worker.lag_p99_ms,
        lag_max_ms: worker.lag_max_ms,
    };
    let complaint = health.complaint();
    Generator {
        process_cores: health.process_cores,
        workers: health.workers.iter().map(worker).collect(),
        dropped_iterations: health.dropped,
        saturated: complaint.is_some(),
        complaint,
        notes,
    }
}

/// The address of a run without script may hold a password: `http://user:password@host/`.
fn without_password(script: &str) -> String {
    let masked = || {
        let (scheme, rest) = script.split_once("://")?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (user, host) = authority.rsplit_once('@')?;
        let (name, _) = user.split_once(':')?;
        Some(format!("{scheme}://{name}:****@{host}{path}"))
    };
    masked().unwrap_or_else(|| script.to_owned())
}

/// A result is shown to others: keys of client certificates and their passwords stay at home.
fn without_secrets(mut options: Value) -> Value {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_at_home() {
        let options = serde_json::json!({ "tlsAuth": [{ "cert": "c", "key": "k", "password": null }], "vus": 1 });
        let expected =
            serde_json::json!({ "tlsAuth": [{ "cert": "c", "key": "left out", "password": null }], "vus": 1 });
        assert_eq!(without_secrets(options), expected);
        assert_eq!(without_password("http://me:se@cret@host:80/a@b:c"), "http://me:****@host:80/a@b:c");
        for harmless in ["http://host/a:b@c", "http://me@host", "file:a@b.js", "a://b:c"] {
            assert_eq!(without_password(harmless), harmless);
        }
    }
}
