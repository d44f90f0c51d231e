//! Log lines as k6 writes them, so that jobs which grep for `msg="…"` keep working: `text` (logrus), `raw` and `json`.
//!
//! Lines go to standard error, standard output, a file or nowhere; `console` lines of the script may go to a file of
//! their own. A write that fails is dropped: logging never ends a test.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use script::log::{Level, LogSink, Record};

use crate::exit_code::ExitCode;
use crate::failure::Failure;

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

enum Output {
    Stderr,
    Stdout,
    File(Mutex<File>),
    Nowhere,
}

/// Where log lines go and how they look.
pub struct Logger {
    format: Format,
    /// The least grave level that is shown.
    least: Level,
    output: Output,
    console: Option<Mutex<File>>,
    terminal: bool,
    started: Instant,
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
        let output = match flags.output.as_deref() {
            None | Some("" | "stderr") => Output::Stderr,
            Some("stdout") => Output::Stdout,
            Some("none") => Output::Nowhere,
            Some(other) => match other.strip_prefix("file=") {
                Some(path) => Output::File(Mutex::new(create(path)?)),
                None => return Err(bad_flag("--log-output", other, "stderr, stdout, none or file=PATH")),
            },
        };
        let terminal = match output {
            Output::Stderr => std::io::stderr().is_terminal(),
            Output::Stdout => std::io::stdout().is_terminal(),
            _ => false,
        };
        let console =
            flags.console_output.as_deref().filter(|p| !p.is_empty()).map(create).transpose()?.map(Mutex::new);
        let least = if flags.verbose { Level::Debug } else { Level::Info };
        Ok(Logger { format, least, output, console, terminal: terminal && !flags.no_color, started: Instant::now() })
    }

    /// Writes one line. `fields` follow the message in this order.
    pub fn write(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        if level > self.least {
            return;
        }
        let from_console = fields.contains(&("source", "console"));
        if let Some(file) = self.console.as_ref().filter(|_| from_console) {
            let line = text_line(now(), level, message, fields);
            return write_line(&mut *file.lock().unwrap_or_else(|e| e.into_inner()), &line);
        }
        let line = match self.format {
            Format::Text if self.terminal => terminal_line(self.started.elapsed().as_secs(), level, message, fields),
            Format::Text => text_line(now(), level, message, fields),
            Format::Raw => message.to_owned(),
            Format::Json => json_line(now(), level, message, fields),
        };
        match &self.output {
            Output::Stderr => write_line(&mut std::io::stderr().lock(), &line),
            Output::Stdout => write_line(&mut std::io::stdout().lock(), &line),
            Output::File(file) => write_line(&mut *file.lock().unwrap_or_else(|e| e.into_inner()), &line),
            Output::Nowhere => {}
        }
    }
}

impl LogSink for Logger {
    fn log(&self, record: &Record<'_>) {
        self.write(record.level, record.message, record.fields);
    }
}

/// Now, as RFC 3339 in UTC.
pub fn rfc3339_now() -> String {
    rfc3339_seconds(now())
}

/// Now, as RFC 3339 in UTC with milliseconds.
pub fn rfc3339_ms_now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = rfc3339_seconds(now.as_secs());
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), now.subsec_millis())
}

/// `2026-11-20T15:31:35Z` from seconds since the epoch (the calendar of days since 1970-01-01, era by era).
fn rfc3339_seconds(epoch_s: u64) -> String {
    let (days, second) = (epoch_s / 86_400, epoch_s % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

fn create(path: &str) -> Result<File, Failure> {
    File::create(Path::new(path))
        .map_err(|e| Failure::new(ExitCode::Generic, format!("cannot write the log file {path}: {e}")))
}

fn bad_flag(flag: &str, found: &str, expected: &str) -> Failure {
    Failure::new(ExitCode::Generic, format!("{flag}: found '{found}', expected {expected}"))
}

fn write_line(out: &mut dyn Write, line: &str) {
    let _ = out.write_all(format!("{line}\n").as_bytes());
}

fn text_line(epoch_s: u64, level: Level, message: &str, fields: &[(&str, &str)]) -> String {
    let mut line = format!("time=\"{}\" level={} msg={}", rfc3339_seconds(epoch_s), level.as_str(), quoted(message));
    for (name, value) in fields {
        let _ = write!(line, " {name}={}", quoted(value));
    }
    line
}

fn terminal_line(elapsed_s: u64, level: Level, message: &str, fields: &[(&str, &str)]) -> String {
    let (short, color) = short(level);
    let mut line = format!("\x1b[{color}m{short}\x1b[0m[{elapsed_s:04}] {message:<44}");
    for (name, value) in fields {
        let _ = write!(line, " \x1b[{color}m{name}\x1b[0m={}", quoted(value));
    }
    line.truncate(line.trim_end().len());
    line
}

/// Fields that are numbers in JSON lines.
const NUMBERS: [&str; 2] = ["iter", "vu"];

fn json_line(epoch_s: u64, level: Level, message: &str, fields: &[(&str, &str)]) -> String {
    let mut object = serde_json::Map::new();
    for (name, value) in fields {
        let number = value.parse::<u64>().ok().filter(|_| NUMBERS.contains(name));
        object.insert((*name).to_owned(), number.map_or_else(|| (*value).into(), serde_json::Value::from));
    }
    object.insert(String::from("level"), level.as_str().into());
    object.insert(String::from("msg"), message.into());
    object.insert(String::from("time"), rfc3339_seconds(epoch_s).into());
    serde_json::Value::Object(object).to_string()
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
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(text, "\\x{:02x}", c as u32);
            }
            c => text.push(c),
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
    fn dates_are_right() {
        assert_eq!(rfc3339_seconds(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(rfc3339_seconds(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339_seconds(1_795_219_895), "2026-11-21T00:11:35Z");
    }

    #[test]
    fn json_lines_are_json() {
        let line = json_line(0, Level::Warning, "a", &[("source", "console")]);
        assert_eq!(line, r#"{"source":"console","level":"warning","msg":"a","time":"1970-01-01T00:00:00Z"}"#);
    }
}
