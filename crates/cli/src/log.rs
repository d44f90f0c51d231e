//! Log lines as k6 writes them, so that jobs which grep for `msg="…"` keep working: `text` (logrus), `raw` and `json`.
//!
//! Lines go to standard error, standard output, a file or nowhere; `console` lines of the script may go to a file of
//! their own. Each is written by a thread of its own: a write that hangs or fails never holds up a test. What is
//! missing is counted. Lines of a script's errors that are equal are folded; those of its `console` are data, and never
//! are.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use report::visible::{push_visible, visible_lines};
use script::log::{Level, LogSink, Record};
use script::secrets::Secrets;
use unicode_width::UnicodeWidthStr;
use units::date::rfc3339;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::fold::{Entry, Folds};
use crate::output::{self, Stream};

/// logrus's four letters and colour of a level.
fn short(level: Level) -> (&'static str, u8) {
    match level {
        Level::Debug => ("DEBU", 37),
        Level::Info => ("INFO", 36),
        Level::Warning => ("WARN", 33),
        Level::Error => ("ERRO", 31),
    }
}

/// How lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `time="…" level=info msg="…"`, or with colours on a terminal.
    Text,
    /// The message alone.
    Raw,
    /// One JSON object a line.
    Json,
}

/// How lines look in one place.
#[derive(Clone, Copy)]
struct Look {
    format: Format,
    /// Since when seconds count, on a terminal with colours.
    colors_since: Option<Instant>,
    /// A file of `--console-output`.
    is_console: bool,
}

/// Where log lines go and how they look.
pub struct Logger {
    look: Look,
    /// The least grave level that is shown.
    least: Level,
    /// None: nowhere.
    output: Option<Stream>,
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
    /// `--console-output`.
    pub console_output: Option<String>,
    /// `--verbose`.
    pub verbose: bool,
    /// `--no-color`.
    pub no_color: bool,
}

impl Logger {
    /// Opens what the flags name.
    pub fn new(flags: &LogFlags) -> Result<Self, Failure> {
        let format = match flags.format.as_deref() {
            None | Some("" | "text") => Format::Text,
            Some("raw") => Format::Raw,
            Some("json") => Format::Json,
            Some(other) => return Err(bad_flag("--log-format", other, "text, raw or json")),
        };
        let mut least = if flags.verbose { Level::Debug } else { Level::Info };
        let output = match flags.output.as_deref() {
            None | Some("" | "stderr") => Some(output::stderr().clone()),
            Some("stdout") => Some(output::stdout().clone()),
            Some("none") => None,
            Some(other) => {
                let expected = "stderr, stdout, none or file=PATH[,level=LEVEL]";
                let file = other.strip_prefix("file=").ok_or_else(|| bad_flag("--log-output", other, expected))?;
                let (path, level) =
                    file.split_once(",level=").map_or((file, None), |(path, level)| (path, Some(level)));
                least = level.map_or(Ok(least), level_of)?;
                Some(create(path)?)
            }
        };
        let has_colors = output.as_ref().is_some_and(Stream::is_terminal) && !flags.no_color;
        let look = Look { format, colors_since: has_colors.then(Instant::now), is_console: false };
        let console = flags.console_output.as_deref().filter(|p| !p.is_empty()).map(create).transpose()?;
        output.iter().for_each(|stream| tell_of_missing(stream, look));
        console.iter().for_each(|stream| tell_of_missing(stream, OF_CONSOLE_FILE));
        Ok(Logger { look, least, output, console, folds: None, secrets: None })
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
        if let Some(stream) = self.output.as_ref().filter(|_| level <= self.least) {
            self.shown(message, fields, |message, fields| {
                stream.print(self.look.line(columns(stream), level, message, fields).as_bytes());
            });
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
        let streams = self.output.iter().chain(&self.console);
        let told = streams.map(|stream| {
            if stream.drain().is_err() {
                stream.discard();
            }
            missing(stream)
        });
        told.flatten().collect()
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

    /// Writes a line of the script.
    fn put(&self, record: &Record<'_>) {
        let Record { level, message, fields } = *record;
        let (stream, look) = match &self.console {
            Some(console) if is_of_console(record) => (Some(console), OF_CONSOLE_FILE),
            _ => (self.output.as_ref(), self.look),
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

/// A file of `--console-output` is text, whatever the format of the log.
const OF_CONSOLE_FILE: Look = Look { format: Format::Text, colors_since: None, is_console: true };

impl Look {
    /// A line with its end, for a stream of this width.
    fn line(self, columns: usize, level: Level, message: &str, fields: &[(&str, &str)]) -> String {
        // What the script prints is its data and its own affair, as in k6; what we say must not steer a terminal.
        let is_data = fields.contains(&OF_CONSOLE);
        let shown = if is_data { Cow::Borrowed(message) } else { visible_lines(message) };
        let mut line = match (self.format, self.colors_since) {
            (Format::Text, Some(start)) => terminal_line(start.elapsed().as_secs(), columns, level, &shown, fields),
            (Format::Text, None) => text_line(now(), level, message, fields),
            (Format::Raw, _) => shown.into_owned(),
            (Format::Json, _) => json_line(now(), level, message, fields),
        };
        line.push('\n');
        line
    }
}

/// Now, as RFC 3339 in UTC.
pub fn rfc3339_now() -> String {
    rfc3339(now())
}

/// Now, as RFC 3339 in UTC with milliseconds.
pub fn rfc3339_ms_now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = rfc3339(now.as_secs());
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), now.subsec_millis())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

fn create(path: &str) -> Result<Stream, Failure> {
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

fn bad_flag(flag: &str, found: &str, expected: &str) -> Failure {
    Failure::new(ExitCode::Generic, format!("{flag}: found '{found}', expected {expected}"))
}

fn text_line(epoch_s: u64, level: Level, message: &str, fields: &[(&str, &str)]) -> String {
    let mut line = format!("time=\"{}\" level={} msg={}", rfc3339(epoch_s), level.as_str(), quoted(message));
    for (name, value) in fields {
        let _ = write!(line, " {name}={}", quoted(value));
    }
    line
}

/// The message is filled up to logrus's 44 columns, so that fields stand below each other, unless that would make the
/// line wrap.
fn terminal_line(elapsed_s: u64, columns: usize, level: Level, message: &str, fields: &[(&str, &str)]) -> String {
    let (short, color) = short(level);
    let (mut shown, mut width) = (String::new(), 0);
    for (name, value) in fields {
        let value = quoted(value);
        let _ = write!(shown, " \x1b[{color}m{name}\x1b[0m={value}");
        width += name.width() + value.width() + 2;
    }
    let fill = columns.saturating_sub("INFO[0000] ".len() + width + 1).min(44);
    let mut line = format!("\x1b[{color}m{short}\x1b[0m[{elapsed_s:04}] {message:<fill$}{shown}");
    line.truncate(line.trim_end().len());
    line
}

/// Fields that are numbers in JSON lines.
const NUMBERS: [&str; 2] = ["iter", "vu"];

fn json_line(epoch_s: u64, level: Level, message: &str, fields: &[(&str, &str)]) -> String {
    // logrus puts the names in order.
    let mut object = BTreeMap::new();
    for (name, value) in fields {
        let number = value.parse::<u64>().ok().filter(|_| NUMBERS.contains(name));
        object.insert((*name).to_owned(), number.map_or_else(|| (*value).into(), serde_json::Value::from));
    }
    object.insert(String::from("level"), level.as_str().into());
    object.insert(String::from("msg"), message.into());
    object.insert(String::from("time"), rfc3339(epoch_s).into());
    serde_json::Value::from_iter(object).to_string()
}

/// logrus leaves a value bare when it has only these characters, and quotes it as Go's %q does otherwise.
fn quoted(value: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "-._/@^+".contains(c);
    if !value.is_empty() && value.chars().all(bare) {
        return value.to_owned();
    }
    let mut text = String::with_capacity(value.len() + 2);
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            c => push_visible(&mut text, c),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_lines_quote_what_logrus_quotes() {
        let line = text_line(0, Level::Info, "hello \"you\"\n", &[("source", "console")]);
        assert_eq!(line, r#"time="1970-01-01T00:00:00Z" level=info msg="hello \"you\"\n" source=console"#);
        assert_eq!(text_line(0, Level::Error, "x", &[]), r#"time="1970-01-01T00:00:00Z" level=error msg=x"#);
    }

    #[test]
    fn a_narrow_terminal_takes_the_filling_away() {
        let line = |columns| terminal_line(7, columns, Level::Info, "hello", &[("source", "console")]);
        assert_eq!(line(80), format!("\x1b[36mINFO\x1b[0m[0007] {:<44} \x1b[36msource\x1b[0m=console", "hello"));
        assert_eq!(line(40), format!("\x1b[36mINFO\x1b[0m[0007] {:<13} \x1b[36msource\x1b[0m=console", "hello"));
        assert_eq!(line(9), "\x1b[36mINFO\x1b[0m[0007] hello \x1b[36msource\x1b[0m=console");
    }

    #[test]
    fn json_lines_are_json() {
        let line = json_line(0, Level::Warning, "a", &[("source", "console")]);
        assert_eq!(line, r#"{"level":"warning","msg":"a","source":"console","time":"1970-01-01T00:00:00Z"}"#);
    }
}
