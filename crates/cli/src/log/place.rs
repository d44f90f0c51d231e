//! `--log-output`: where log lines go.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;

use outputs::Loki;
use script::log::Level;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::{self, Stream};

/// Where they go.
pub(super) enum Place {
    /// Nowhere.
    Nowhere,
    /// To a file or a standard stream.
    Stream(Stream),
    /// To Grafana Loki.
    Loki(Arc<Loki>),
}

impl Place {
    /// Opens what the flag names; the least grave level that it wants, where it says one.
    pub(super) fn open(wanted: Option<&str>) -> Result<(Place, Option<Level>), Failure> {
        let wanted = wanted.unwrap_or("stderr");
        let (kind, argument) = wanted.split_once('=').unwrap_or((wanted, ""));
        match (kind, argument) {
            ("" | "stderr", "") => Ok((Place::Stream(output::stderr().clone()), None)),
            ("stdout", "") => Ok((Place::Stream(output::stdout().clone()), None)),
            ("none", "") => Ok((Place::Nowhere, None)),
            ("loki", argument) => loki(argument).map(|loki| (Place::Loki(Arc::new(loki)), None)),
            ("file", argument) if !argument.is_empty() => file(argument),
            _ => {
                let expected = "stderr, stdout, none, file=PATH[,level=LEVEL] or loki[=URL,key=value,…]";
                Err(bad_flag("--log-output", wanted, expected))
            }
        }
    }

    /// The stream, if it is one.
    pub(super) fn stream(&self) -> Option<&Stream> {
        match self {
            Place::Stream(stream) => Some(stream),
            _ => None,
        }
    }
}

fn file(argument: &str) -> Result<(Place, Option<Level>), Failure> {
    let (path, level) = argument.split_once(",level=").map_or((argument, None), |(path, level)| (path, Some(level)));
    let level = level.map(level_of).transpose()?;
    Ok((Place::Stream(create(path)?), level))
}

fn loki(argument: &str) -> Result<Loki, Failure> {
    let tell = |text: &str| output::stderr().print(format!("warning: {text}\n").as_bytes());
    Loki::start(argument, Arc::new(tell)).map_err(|error| Failure::new(ExitCode::Generic, error.to_string()))
}

pub(super) fn create(path: &str) -> Result<Stream, Failure> {
    // As k6 does: the lines of earlier runs stay.
    let opened = OpenOptions::new().append(true).create(true).open(Path::new(path));
    opened
        .map(|file| Stream::new(path, file, false))
        .map_err(|e| Failure::new(ExitCode::Generic, format!("cannot write the log file {path}: {e}")))
}

/// logrus's names. What is graver than an error does not happen here.
fn level_of(name: &str) -> Result<Level, Failure> {
    match name {
        "panic" | "fatal" | "error" => Ok(Level::Error),
        "warn" | "warning" => Ok(Level::Warning),
        "info" => Ok(Level::Info),
        "debug" | "trace" => Ok(Level::Debug),
        other => Err(bad_flag("--log-output", &format!("level={other}"), "level=error, warning, info or debug")),
    }
}

pub(super) fn bad_flag(flag: &str, found: &str, expected: &str) -> Failure {
    Failure::new(ExitCode::Generic, format!("{flag}: found '{found}', expected {expected}"))
}
