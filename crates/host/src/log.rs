//! Where `console` lines, warnings and uncaught exceptions go. This crate never prints: the command line implements
//! `LogSink` in k6's formats (raw, json, text).

/// How grave a line is; k6's names are `error`, `warning`, `info`, `debug`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `console.error`, exceptions.
    Error,
    /// `console.warn`, failed requests.
    Warning,
    /// `console.log`, `console.info`.
    Info,
    /// `console.debug`; shown with `--verbose`.
    Debug,
}

impl Level {
    /// The word in a log line.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }
}

/// One line.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// How grave.
    pub level: Level,
    /// The text.
    pub message: &'a str,
    /// Further fields in order, as logrus prints them: `source=console`, `error=…`.
    pub fields: &'a [(&'a str, &'a str)],
}

/// Takes log lines from all threads of a run.
pub trait LogSink: Send + Sync {
    /// Writes one line.
    fn log(&self, record: &Record<'_>);

    /// Writes a warning.
    fn warn(&self, message: &str, fields: &[(&str, &str)]) {
        self.log(&Record { level: Level::Warning, message, fields });
    }
}

/// Drops every line.
pub struct Silent;

impl LogSink for Silent {
    fn log(&self, _record: &Record<'_>) {}
}
