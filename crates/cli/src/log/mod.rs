//! Log lines as k6 writes them, so that jobs which grep for `msg="…"` keep working: `text` (logrus), `raw` and `json`.
//!
//! Lines go to standard error, standard output, a file, Loki or nowhere; `console` lines of the script may go to a file
//! of their own. Each is written by a thread of its own: a write that hangs or fails never holds up a test. What is
//! missing is counted. Lines of a script's errors that are equal are folded; those of its `console` are data, and never
//! are.

mod look;
mod place;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use outputs::{LogLine, Loki};
use script::log::{Level, LogSink, Record};
use script::secrets::Secrets;
use units::date::rfc3339;

use crate::called_as;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::Stream;
use crate::terminal::fold::{Entry, Folds};
use look::{Format, Look, quoted};
use place::{Place, bad_flag, create};

/// Where log lines go and how they look.
pub struct Logger {
    look: Look,
    /// The least grave level that is shown.
    least: Level,
    place: Place,
    console: Option<Stream>,
    folds: Option<Mutex<Folds>>,
    /// Hides those that the script was given.
    secrets: Option<Arc<Secrets>>,
}

/// What the flags say about logging.
#[derive(Clone, Debug, Default)]
pub struct LogFlags {
    /// `--log-format`.
    pub format: Option<String>,
    /// `--log-output`.
    pub output: Option<String>,
    /// Whether times have nanoseconds: `--log-ns-timestamps`.
    pub has_nanoseconds: bool,
    /// `--console-output`.
    pub console_output: Option<String>,
    /// `--verbose`.
    pub verbose: bool,
    /// `--no-color`.
    pub no_color: bool,
}

/// Whether whoever reads standard error expects JSON lines there.
static IS_JSON_EXPECTED: AtomicBool = AtomicBool::new(false);

/// What a command says when it cannot go on, as a line of the log where that is JSON, or where a program expects k6;
/// else `None`.
pub fn failure_line(message: &str, code: ExitCode) -> Option<String> {
    let of_script = [("hint", "script exception"), ("source", "stacktrace")];
    let fields = if code == ExitCode::ScriptException { &of_script[..] } else { &[] };
    if IS_JSON_EXPECTED.load(Ordering::Relaxed) {
        return Some(look::json_line(&rfc3339_now(), Level::Error, message, fields) + "\n");
    }
    called_as::is_read_by_a_program().then(|| look::text_line(&rfc3339_now(), Level::Error, message, fields) + "\n")
}

impl Logger {
    /// Opens what the flags name.
    pub fn new(flags: &LogFlags) -> Result<Self, Failure> {
        let format = match flags.format.as_deref() {
            None | Some("" | "text" | "logfmt") => Format::Text,
            Some("raw") => Format::Raw,
            Some("json") => Format::Json,
            Some(other) => return Err(bad_flag("--log-format", other, "text, raw or json")),
        };
        let (place, level) = Place::open(flags.output.as_deref())?;
        let is_on_stderr = matches!(flags.output.as_deref(), None | Some("" | "stderr"));
        IS_JSON_EXPECTED.store(is_on_stderr && format == Format::Json, Ordering::Relaxed);
        let least = level.unwrap_or(if flags.verbose { Level::Debug } else { Level::Info });
        let output = place.stream();
        let has_colors = output.is_some_and(Stream::is_terminal) && !flags.no_color;
        let is_terminal = output.is_some_and(Stream::is_terminal);
        let look = Look {
            format,
            has_nanoseconds: flags.has_nanoseconds,
            colors_since: has_colors.then(Instant::now),
            is_terminal,
            is_console: false,
        };
        let console = flags.console_output.as_deref().filter(|p| !p.is_empty()).map(create).transpose()?;
        output.into_iter().for_each(|stream| tell_of_missing(stream, look));
        console.iter().for_each(|stream| tell_of_missing(stream, look.of_console_file()));
        Ok(Logger { look, least, place, console, folds: None, secrets: None })
    }

    /// The same, with equal errors of the script folded. Needs `look` once a second and `settle` at the end.
    #[must_use]
    pub fn folding(self) -> Self {
        Logger { folds: Some(Mutex::default()), ..self }
    }

    /// The same, without the secrets that these sources have given.
    #[must_use]
    pub fn hiding(self, secrets: Arc<Secrets>) -> Self {
        Logger { secrets: Some(secrets), ..self }
    }

    /// Writes a line of Onrush's own: it is never dropped. `fields` follow the message in this order.
    pub fn write(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        if level > self.least {
            return;
        }
        match &self.place {
            Place::Nowhere => {}
            Place::Stream(stream) => self.shown(message, fields, |message, fields| {
                stream.print(self.look.line(columns(stream), level, message, fields).as_bytes());
            }),
            Place::Loki(loki) => self.push(loki, level, message, fields),
        }
    }

    /// Tells how many errors were folded, when it is time to.
    pub fn look(&self) {
        self.with_folds(|folds, tell| folds.look(Instant::now(), tell));
    }

    /// Tells what was folded and waits for readers as long as they read. One line for each place where lines are
    /// missing.
    pub fn settle(&self) -> Vec<String> {
        self.with_folds(Folds::close);
        let streams = self.place.stream().into_iter().chain(&self.console);
        let told = streams.map(|stream| {
            if stream.drain().is_err() {
                stream.discard();
            }
            missing(stream)
        });
        let pushed = if let Place::Loki(loki) = &self.place { loki.flush() } else { Vec::new() };
        told.flatten().chain(pushed).collect()
    }

    /// Pushes what came after `settle`; one line each for what was lost.
    pub fn close(&self) -> Vec<String> {
        if let Place::Loki(loki) = &self.place { loki.flush() } else { Vec::new() }
    }

    fn with_folds<T: Default>(&self, work: impl FnOnce(&mut Folds, &mut dyn FnMut(&Entry)) -> T) -> T {
        let Some(folds) = &self.folds else { return T::default() };
        let mut folds = folds.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut folds, &mut |entry| {
            let fields: Vec<_> = entry.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            self.put(&Record { level: entry.level, message: &entry.message, fields: &fields });
        })
    }

    /// Message and fields as everybody may see them.
    fn shown(&self, message: &str, fields: &[(&str, &str)], write: impl FnOnce(&str, &[(&str, &str)])) {
        let Some(secrets) = self.secrets.as_ref().filter(|secrets| secrets.redactor().is_needed()) else {
            return write(message, fields);
        };
        let redactor = secrets.redactor();
        let values: Vec<_> = fields.iter().map(|(name, value)| (*name, redactor.text(value))).collect();
        let fields: Vec<_> = values.iter().map(|(name, value)| (*name, &**value)).collect();
        write(&redactor.text(message), &fields);
    }

    fn push(&self, loki: &Loki, level: Level, message: &str, fields: &[(&str, &str)]) {
        let level = level.as_str();
        if loki.takes(level) {
            let shown = |name: &str, value: &str| format!("{name}={}", quoted(value));
            self.shown(message, fields, |message, fields| loki.put(&LogLine { level, message, fields, shown }));
        }
    }

    /// Writes a line of the script.
    fn put(&self, record: &Record<'_>) {
        let Record { level, message, fields } = *record;
        let (stream, look) = match (&self.console, &self.place) {
            (Some(console), _) if is_of_console(record) => (Some(console), self.look.of_console_file()),
            (_, Place::Loki(loki)) => return self.push(loki, level, message, fields),
            (_, place) => (place.stream(), self.look),
        };
        if let Some(stream) = stream {
            // In a file of their own they need not say what they are.
            let own: Vec<_> = fields.iter().filter(|field| **field != OF_CONSOLE).copied().collect();
            let fields = if look.is_console { &own } else { fields };
            self.shown(message, fields, |message, fields| {
                stream.line(look.line(columns(stream), level, message, fields).as_bytes());
            });
        }
    }
}

impl LogSink for Logger {
    fn log(&self, record: &Record<'_>) {
        if record.level > self.least {
            return;
        }
        let is_folded = record.level <= Level::Warning && !is_of_console(record);
        if is_folded && self.folds.is_some() {
            if self.with_folds(|folds, tell| folds.note(record, Instant::now(), tell)) {
                self.put(record);
            }
        } else {
            self.put(record);
        }
    }
}

/// The field of what a script writes by `console`, which is data.
const OF_CONSOLE: (&str, &str) = ("source", "console");

fn is_of_console(record: &Record<'_>) -> bool {
    record.fields.contains(&OF_CONSOLE)
}

/// One line when lines are missing there.
fn missing(stream: &Stream) -> Option<String> {
    let lines = Some(stream.dropped()).filter(|lines| *lines > 0)?;
    let (lines, name) = (units::show::grouped(lines), stream.name());
    Some(match stream.failure() {
        Some(why) => format!("log lines that could not be written to {name}: {lines} ({why})"),
        None => format!("log lines dropped because {name} was not read fast enough: {lines}"),
    })
}

fn tell_of_missing(stream: &Stream, look: Look) {
    let name = stream.name().to_owned();
    stream.set_notice(Box::new(move |lines| {
        let lines = units::show::grouped(lines);
        look.line(
            usize::MAX,
            Level::Warning,
            &format!("log lines dropped here because {name} was not read fast enough: {lines}"),
            &[],
        )
    }));
}

fn columns(stream: &Stream) -> usize {
    stream.size().map_or(usize::MAX, |size| size.columns)
}

/// Now, as RFC 3339 in UTC.
pub fn rfc3339_now() -> String {
    rfc3339(now().as_secs())
}

/// Now, as RFC 3339 in UTC with milliseconds.
pub fn rfc3339_ms_now() -> String {
    let now = now();
    let seconds = rfc3339(now.as_secs());
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), now.subsec_millis())
}

/// The same with nanoseconds.
fn rfc3339_ns_now() -> String {
    let now = now();
    let seconds = rfc3339(now.as_secs());
    format!("{}.{:09}Z", seconds.trim_end_matches('Z'), now.subsec_nanos())
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
