//! Which format a text is in, from how it begins.
//!
//! Reads at most the beginning that it is given. JSON is told by the names at its top, XML by its first element, the
//! rest by its first lines. What is like none of them is refused with the list of what is known.

use crate::notes::Problem;

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Command lines of curl.
    Curl,
    /// HAR 1.2.
    Har,
    /// OpenAPI 3.
    OpenApi,
    /// Collections of Postman, 2.0 and 2.1.
    Postman,
    /// Test plans of JMeter.
    Jmeter,
    /// A command line of wrk.
    Wrk,
    /// Targets of vegeta.
    Vegeta,
    /// Access logs.
    AccessLog,
}

/// Names on the command line.
const NAMES: [(Format, &str, &str); 8] = [
    (Format::Curl, "curl", "command lines of curl"),
    (Format::Har, "har", "a recording of a browser"),
    (Format::OpenApi, "openapi", "a description in OpenAPI"),
    (Format::Postman, "postman", "a collection of Postman"),
    (Format::Jmeter, "jmeter", "a test plan of JMeter"),
    (Format::Wrk, "wrk", "command lines of wrk"),
    (Format::Vegeta, "vegeta", "targets of vegeta"),
    (Format::AccessLog, "access-log", "an access log"),
];

impl Format {
    /// Every name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name, _)| *name)
    }

    /// The format of a name.
    pub fn by_name(name: &str) -> Option<Format> {
        NAMES.iter().find(|(_, known, _)| *known == name).map(|(format, ..)| *format)
    }

    /// What it is, for people.
    pub fn described(self) -> &'static str {
        NAMES.iter().find(|(format, ..)| *format == self).map_or("", |(.., described)| described)
    }
}

/// Tells the format from the beginning of a text.
///
/// # Errors
/// When it is like none, or a version that cannot be read.
pub fn detect(beginning: &[u8]) -> Result<Format, Problem> {
    let text = String::from_utf8_lossy(beginning);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.is_empty() {
        return Err(Problem::new("it is empty: there is nothing to convert"));
    }
    if text.starts_with('{') {
        return by_keys(text);
    }
    if text.starts_with('<') {
        return match text.contains("<jmeterTestPlan") {
            true => Ok(Format::Jmeter),
            false => Err(Problem::new("found XML, expected a test plan of JMeter, with <jmeterTestPlan")),
        };
    }
    if text.lines().any(|line| line.starts_with("openapi:") || line.starts_with("\"openapi\":")) {
        return Ok(Format::OpenApi);
    }
    if text.lines().any(|line| line.starts_with("swagger:")) {
        return Err(swagger());
    }
    by_lines(text)
}

fn swagger() -> Problem {
    Problem::new(
        "found Swagger 2.0, expected OpenAPI 3: convert it first, with swagger2openapi or an editor of Swagger",
    )
}

fn by_keys(text: &str) -> Result<Format, Problem> {
    let keys = top_keys(text);
    let has = |key: &str| keys.iter().any(|known| known == key);
    match () {
        () if has("log") => Ok(Format::Har),
        () if has("openapi") => Ok(Format::OpenApi),
        () if has("swagger") => Err(swagger()),
        () if has("item") || has("info") && text.contains("postman") => Ok(Format::Postman),
        () if has("method") && has("url") => Ok(Format::Vegeta),
        // The names may stand behind much else.
        () if has("paths") || has("components") => Ok(Format::OpenApi),
        () if has("info") => Ok(Format::Postman),
        () => Err(unknown(&format!("found JSON with {}", shown(&keys)))),
    }
}

fn shown(keys: &[String]) -> String {
    let first: Vec<String> = keys.iter().take(5).map(|key| format!("'{}'", key.escape_debug())).collect();
    if first.is_empty() { String::from("no names at its top") } else { format!("{} at its top", first.join(", ")) }
}

fn unknown(found: &str) -> Problem {
    let known: Vec<&str> = NAMES.iter().map(|(.., described)| *described).collect();
    Problem::new(format!("{found}, expected one of: {}; say which with --from", known.join(", ")))
}

fn by_lines(text: &str) -> Result<Format, Problem> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '/']));
    let is_command = |line: &str, name: &str| {
        let line = line.trim_start_matches("$ ");
        let first = line.split_whitespace().next().unwrap_or_default();
        first == name || first.ends_with(&format!("/{name}"))
    };
    for line in lines().take(50) {
        let mut words = line.split_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if is_command(line, "curl") {
            return Ok(Format::Curl);
        }
        if is_command(line, "wrk") || is_command(line, "wrk2") {
            return Ok(Format::Wrk);
        }
        if first.bytes().all(|b| b.is_ascii_uppercase()) && second.starts_with("http") {
            return Ok(Format::Vegeta);
        }
        if crate::access_log::is_line(line) {
            return Ok(Format::AccessLog);
        }
    }
    let is_curl = text.lines().any(|line| line.split([' ', '(', '|', '&', ';']).any(|word| word == "curl"));
    match is_curl {
        true => Ok(Format::Curl),
        false => {
            let first: String = lines().next().unwrap_or_default().chars().take(60).collect();
            Err(unknown(&format!("cannot tell the format of a text that begins '{}'", first.escape_debug())))
        }
    }
}

/// Names at the top of a JSON object, as far as the text goes.
fn top_keys(text: &str) -> Vec<String> {
    let (mut keys, mut depth, mut chars) = (Vec::new(), 0, text.chars());
    let mut last: Option<String> = None;
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                let mut word = String::new();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => word.extend(chars.next()),
                        c => word.push(c),
                    }
                }
                last = (depth == 1).then_some(word);
            }
            ':' => keys.extend(last.take()),
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 || keys.len() > 100 {
            break;
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_beginning() {
        for (text, format) in [
            ("\u{feff}{\"log\": {\"version\"", Format::Har),
            ("{\"$schema\": \"x\", \"info\": {\"log\": 1}, \"openapi\": \"3.0.0\"", Format::OpenApi),
            ("{\"info\": {\"_postman_id\": \"x\"", Format::Postman),
            ("{\"method\":\"GET\",\"url\":\"http://h/\"}\n{", Format::Vegeta),
            ("<?xml version=\"1.0\"?>\n<jmeterTestPlan version=\"1.2\">", Format::Jmeter),
            ("# a comment\nopenapi: 3.1.0\ninfo:", Format::OpenApi),
            ("#!/bin/sh\n# x\ncurl 'http://h/'", Format::Curl),
            ("$ curl http://h/", Format::Curl),
            ("TOKEN=$(curl -s http://h/)", Format::Curl),
            ("wrk -t2 -c10 http://h/", Format::Wrk),
            ("GET http://h/\nX: y\n", Format::Vegeta),
            ("1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 2326", Format::AccessLog),
        ] {
            assert_eq!(detect(text.as_bytes()), Ok(format), "{text}");
        }
    }

    #[test]
    fn what_is_unknown_is_said() {
        for (text, found) in [
            ("  \n", "it is empty"),
            ("{\"a\": 1, \"b\": {\"log\": 2}}", "found JSON with 'a', 'b' at its top, expected one of"),
            ("{}", "no names at its top"),
            ("{\"swagger\": \"2.0\"", "found Swagger 2.0, expected OpenAPI 3"),
            ("swagger: '2.0'", "found Swagger 2.0"),
            ("<html>", "expected a test plan of JMeter"),
            ("hello\nworld", "cannot tell the format of a text that begins 'hello'"),
        ] {
            let message = detect(text.as_bytes()).expect_err(text).message;
            assert!(message.contains(found), "{text}: {message}");
        }
    }

    #[test]
    fn every_format_has_a_name() {
        for name in Format::names() {
            assert!(Format::by_name(name).is_some_and(|format| !format.described().is_empty()));
        }
    }
}
