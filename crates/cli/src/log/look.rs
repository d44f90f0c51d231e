//! How log lines look: logrus's text, with colours on a terminal, the message alone, or JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;

use report::visible::{push_visible, visible_colored_lines, visible_lines};
use script::log::Level;
use unicode_width::UnicodeWidthStr;

use super::{OF_CONSOLE, rfc3339_now, rfc3339_ns_now};

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
pub(super) struct Look {
    pub(super) format: Format,
    /// Times have nanoseconds.
    pub(super) has_nanoseconds: bool,
    /// Since when seconds count, on a terminal with colours.
    pub(super) colors_since: Option<Instant>,
    /// What is written is obeyed by a terminal.
    pub(super) is_terminal: bool,
    /// A file of `--console-output`.
    pub(super) is_console: bool,
}

impl Look {
    /// In a file of `--console-output`: the log's format, without what a terminal wants.
    pub(super) fn of_console_file(self) -> Look {
        Look { colors_since: None, is_terminal: false, is_console: true, ..self }
    }

    /// A line with its end, for a stream of this width.
    pub(super) fn line(self, columns: usize, level: Level, message: &str, fields: &[(&str, &str)]) -> String {
        // What the script prints is its data, as in k6, but may be a server's text: on a terminal it may have colours
        // and nothing else that steers. What we say has no escapes anywhere.
        let shown = match (fields.contains(&OF_CONSOLE), self.is_terminal) {
            (true, false) => Cow::Borrowed(message),
            (true, true) => visible_colored_lines(message),
            (false, _) => visible_lines(message),
        };
        let mut line = match (self.format, self.colors_since) {
            (Format::Text, Some(start)) => terminal_line(start.elapsed().as_secs(), columns, level, &shown, fields),
            (Format::Text, None) => text_line(&self.time(), level, message, fields),
            (Format::Raw, _) => shown.into_owned(),
            (Format::Json, _) => json_line(&self.time(), level, message, fields),
        };
        line.push('\n');
        line
    }

    fn time(self) -> String {
        if self.has_nanoseconds { rfc3339_ns_now() } else { rfc3339_now() }
    }
}

/// `time`: as it is shown.
pub(super) fn text_line(time: &str, level: Level, message: &str, fields: &[(&str, &str)]) -> String {
    let mut line = format!("time=\"{time}\" level={} msg={}", level.as_str(), quoted(message));
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

pub(super) fn json_line(time: &str, level: Level, message: &str, fields: &[(&str, &str)]) -> String {
    // logrus puts the names in order.
    let mut object = BTreeMap::new();
    for (name, value) in fields {
        let number = value.parse::<u64>().ok().filter(|_| NUMBERS.contains(name));
        object.insert((*name).to_owned(), number.map_or_else(|| (*value).into(), serde_json::Value::from));
    }
    object.insert(String::from("level"), level.as_str().into());
    object.insert(String::from("msg"), message.into());
    object.insert(String::from("time"), time.into());
    serde_json::Value::from_iter(object).to_string()
}

/// logrus leaves a value bare when it has only these characters, and quotes it as Go's %q does otherwise.
pub(super) fn quoted(value: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "-._/@^+".contains(c);
    if value.chars().all(bare) {
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

    const EPOCH: &str = "1970-01-01T00:00:00Z";

    #[test]
    fn text_lines_quote_what_logrus_quotes() {
        let line = text_line(EPOCH, Level::Info, "hello \"you\"\n", &[("source", "console")]);
        assert_eq!(line, r#"time="1970-01-01T00:00:00Z" level=info msg="hello \"you\"\n" source=console"#);
        let line = text_line(EPOCH, Level::Info, "", &[("group", "")]);
        assert_eq!(line, r#"time="1970-01-01T00:00:00Z" level=info msg= group="#);
        assert_eq!(text_line(EPOCH, Level::Error, "x", &[]), r#"time="1970-01-01T00:00:00Z" level=error msg=x"#);
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
        let line = json_line(EPOCH, Level::Warning, "a", &[("source", "console")]);
        assert_eq!(line, r#"{"level":"warning","msg":"a","source":"console","time":"1970-01-01T00:00:00Z"}"#);
    }
}
