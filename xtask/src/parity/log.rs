//! The log of a run in JSON lines, as facts.
//!
//! Console lines stand for themselves, in order. What the script threw is a kind (`TypeError`) and the line of the
//! script: the words of an error of the language are the engine's own. Failed requests show their error. What else the
//! tools say is compared on demand. A line that comes often is one fact, because Onrush folds equal ones.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

type Line = Map<String, Value>;

/// Console lines by their place.
pub fn console(log: &str) -> BTreeMap<String, String> {
    let lines = lines(log).filter(|line| line.get("source").is_some_and(|source| source == "console"));
    lines
        .enumerate()
        .map(|(index, line)| (format!("console line {index:03}"), format!("{} {}", line["level"], line["msg"])))
        .collect()
}

/// What went wrong. `all`: also what the tools say by themselves.
pub fn errors(log: &str, all: bool) -> BTreeSet<String> {
    lines(log).filter_map(|line| error(&line, all)).collect()
}

fn error(line: &Line, all: bool) -> Option<String> {
    let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default();
    let (level, message) = (text("level"), text("msg"));
    if text("source") == "console" || !["warning", "error"].contains(&level) || is_count(message) {
        return None;
    }
    // What Onrush thinks of its own figures.
    if ["INVALID: ", "SUSPECT: "].iter().any(|verdict| message.starts_with(verdict)) {
        return None;
    }
    let is_thrown = text("source") == "stacktrace" && message.contains("\n\tat ");
    if is_thrown || message.starts_with("Uncaught") {
        return Some(format!("thrown {}", thrown(message)));
    }
    if message == "Request Failed" {
        return Some(format!("failed request: {}", text("error")));
    }
    let fields: Vec<String> = line
        .iter()
        .filter(|(name, _)| !["level", "msg", "time", "source"].contains(&name.as_str()))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    all.then(|| format!("{level} {} {}", without_offsets(&without_engine_words(message)), fields.join(" ")))
}

/// Kind and line: `TypeError at script.js:12`.
fn thrown(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    // Onrush begins with the place where init code failed.
    let first =
        if first.starts_with("file://") { first.split_once(": ").map_or(first, |(_, rest)| rest) } else { first };
    let kind = first.split_once(':').map_or(first, |(kind, _)| kind);
    let kind = if kind.ends_with("Error") || kind.starts_with("Uncaught") { kind } else { first };
    format!("{kind} at {}", place(message).unwrap_or_default())
}

/// The first place of a script in a trace: file and line.
fn place(message: &str) -> Option<String> {
    let end = message.find(".js:").or_else(|| message.find(".ts:"))?;
    let file = message[..end].rsplit(['/', '(', ' ']).next().unwrap_or_default();
    let line: String = message[end + 4..].chars().take_while(char::is_ascii_digit).collect();
    Some(format!("{file}:{line}"))
}

/// ` × 12` at the end: the line stands for others that are there.
fn is_count(message: &str) -> bool {
    let count = message.rsplit_once(" × ").map(|(_, count)| count);
    count.is_some_and(|count| count.bytes().all(|byte| byte.is_ascii_digit() || byte == b','))
}

/// The kind alone, where the message is an error of the language with its trace.
fn without_engine_words(message: &str) -> String {
    match message.contains("\n\tat ") {
        true => thrown(message),
        false => message.to_owned(),
    }
}

/// Without the offset of the instruction that k6 has behind a place: `x.js:8:18(6)`.
fn without_offsets(message: &str) -> String {
    let mut out = String::new();
    let mut rest = message;
    while let Some(at) = rest.find('(') {
        let (front, behind) = rest.split_at(at);
        out.push_str(front);
        let digits = behind[1..].bytes().take_while(u8::is_ascii_digit).count();
        let is_offset =
            digits > 0 && front.ends_with(|c: char| c.is_ascii_digit()) && behind[1 + digits..].starts_with(')');
        let end = if is_offset { digits + 2 } else { 1 };
        out.push_str(if is_offset { "" } else { "(" });
        rest = &behind[end..];
    }
    out + rest
}

fn lines(log: &str) -> impl Iterator<Item = Line> {
    log.lines().filter_map(|line| match serde_json::from_str(line) {
        Ok(Value::Object(line)) => Some(line),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"noise
{"level":"info","msg":"hello","source":"console"}
{"level":"error","msg":"TypeError: x\n\tat run (file:///a/b.js:12:3)\n","source":"stacktrace"}
{"level":"error","msg":"TypeError: x at run (file:///a/b.js:12:3) × 1,200","source":"stacktrace"}
{"level":"warning","msg":"Request Failed","error":"dial: refused"}
{"level":"warning","msg":"odd","executor":"x"}
"#;

    #[test]
    fn errors_are_kinds_and_lines() {
        let expected = ["failed request: dial: refused", "thrown TypeError at b:12"];
        assert_eq!(errors(LOG, false).iter().collect::<Vec<_>>(), expected);
        assert!(errors(LOG, true).contains("warning odd executor=\"x\""));
    }

    #[test]
    fn offsets_of_instructions_are_left_out() {
        assert_eq!(without_offsets("at f (a.js:8:18(6)) (x) (1)"), "at f (a.js:8:18) (x) (1)");
    }

    #[test]
    fn console_lines_keep_their_place() {
        assert_eq!(console(LOG)["console line 000"], "\"info\" \"hello\"");
    }
}
