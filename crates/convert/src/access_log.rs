//! Access logs in the common and combined forms, which Apache, nginx and others write, as a replay at the recorded
//! times.
//!
//! A log has no bodies and no headers but two; methods and targets are all that is asked for again. Times have whole
//! seconds: the requests of one second are spread evenly over it. Lines that are no requests are named, not guessed at.

use std::collections::HashMap;

use serde_json::{Value, json};
use units::date;

use crate::conversion::{Converted, Settings};
use crate::model::{File, Function, Request, Step, Test};
use crate::notes::{Notes, Problem};
use crate::recording::has_static_ending;
use crate::template::Template;

/// A line of a log.
#[derive(Debug, PartialEq, Eq)]
struct LogLine {
    epoch_s: i64,
    method: String,
    target: String,
    agent: Option<String>,
}

/// Whether a line is one of a log.
pub fn is_line(line: &str) -> bool {
    entry(line).is_ok()
}

/// Reads a log.
pub fn read(text: &str, settings: &Settings) -> Result<Converted, Problem> {
    let stem = settings.style.files.as_deref().ok_or_else(|| {
        Problem::new("an access log becomes a script and a file of its requests: say where, with -O script.js")
    })?;
    let mut notes = Notes::default();
    let mut entries = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match entry(line) {
            Ok(entry) if settings.skips_static && has_static_ending(&entry.target) => {
                notes.add("", "images, styles, fonts and scripts are left out (--skip-static)");
            }
            Ok(entry) => {
                if matches!(entry.method.as_str(), "POST" | "PUT" | "PATCH") {
                    notes.add("", format!("a log has no bodies: {} is sent without one", entry.method));
                }
                entries.push(entry);
            }
            Err(why) => notes.add(format!("line {}", at + 1), why),
        }
    }
    // A log is written when requests end.
    entries.sort_by_key(|entry| entry.epoch_s);
    let count = entries.len();
    let file = File { name: format!("{stem}-requests.tsv"), bytes: table(&entries).into_bytes() };
    let test = if count == 0 { Test::default() } else { replay(file, &entries, settings) };
    Ok(Converted { test, notes })
}

fn replay(file: File, entries: &[LogLine], settings: &Settings) -> Test {
    let path = format!("./{}", file.name);
    let mut test = Test { files: vec![file], ..Test::default() };
    test.about.push(format!("{} requests of an access log. Each iteration makes the next one.", entries.len()));
    let base = settings.style.base_url.as_deref().unwrap_or("http://localhost:8080").trim_end_matches('/');
    test.init.push(format!("const BASE_URL = __ENV.BASE_URL || {};", crate::source::text(base)));
    let opened = crate::source::text(&path);
    test.init.push(format!("const lines = new SharedArray('requests', () => open({opened}).trim().split('\\n'));"));
    test.imports.insert(String::from("import { SharedArray } from 'k6/data';"));
    test.imports.insert(String::from("import exec from 'k6/execution';"));
    test.option("scenarios", &json!({ "replay": scenario(&path, entries, settings.keeps_timing) }));
    test.option("discardResponseBodies", &json!(true));
    let next = "const [, method, target, agent] = lines[exec.scenario.iterationInTest % lines.length].split('\\t');";
    let mut url = Template::code("BASE_URL");
    url.push_code("target");
    let mut request = Request::new(String::new(), url);
    request.method_code = Some(String::from("method"));
    request.headers.push((String::from("User-Agent"), Template::code("agent")));
    request.params.push((String::from("redirects"), String::from("0")));
    request.params.push((String::from("tags"), String::from("{ name: `${method} ${target.split('?')[0]}` }")));
    let steps = vec![Step::Code(vec![next.to_owned()]), Step::Request(Box::new(request))];
    test.functions.push(Function { name: None, steps });
    test
}

/// Users enough for the fullest second.
fn scenario(path: &str, entries: &[LogLine], keeps_timing: bool) -> Value {
    if !keeps_timing {
        let (users, count) = (entries.len().min(10), entries.len());
        return json!({ "executor": "shared-iterations", "vus": users, "iterations": count, "maxDuration": "24h" });
    }
    let mut seconds: HashMap<i64, usize> = HashMap::new();
    entries.iter().for_each(|entry| *seconds.entry(entry.epoch_s).or_default() += 1);
    let most = seconds.into_values().max().unwrap_or(1).clamp(10, 1000);
    json!({ "executor": "trace", "file": path, "preAllocatedVUs": most.min(100), "maxVUs": most })
}

/// Seconds from the first request, method, target, agent.
fn table(entries: &[LogLine]) -> String {
    let first = entries.first().map_or(0, |entry| entry.epoch_s);
    let mut text = String::new();
    for same in entries.chunk_by(|one, other| one.epoch_s == other.epoch_s) {
        for (at, entry) in same.iter().enumerate() {
            let micros = at as u64 * 1_000_000 / same.len() as u64;
            // Times of a trace have ten digits at most before the point.
            let second = entry.epoch_s.saturating_sub(first).min(9_999_999_999);
            let agent = entry.agent.as_deref().unwrap_or_default();
            text.push_str(&format!("{second}.{micros:06}\t{}\t{}\t{agent}\n", entry.method, entry.target));
        }
    }
    text
}

/// `host ident user [time] "METHOD target HTTP/1.1" status bytes "referer" "agent"`.
fn entry(line: &str) -> Result<LogLine, &'static str> {
    const EXPECTED: &str = "this is no line of a log in the common or combined form; left out";
    let (_, rest) = line.split_once('[').ok_or(EXPECTED)?;
    let (time, rest) = rest.split_once(']').ok_or(EXPECTED)?;
    let epoch_s = epoch_s(time).ok_or(EXPECTED)?;
    let (request, rest) = quoted(rest).ok_or(EXPECTED)?;
    let status = rest.split_whitespace().next().ok_or(EXPECTED)?;
    if status.parse::<u16>().is_err() {
        return Err(EXPECTED);
    }
    let agent = quoted(rest).and_then(|(_, rest)| quoted(rest)).map(|(agent, _)| agent);
    let (method, target) = request.trim().split_once(' ').unwrap_or((request.as_str(), ""));
    // A target that a client sent with spaces in it is one target: it ends where the version begins.
    let target = target.rsplit_once(' ').filter(|(_, last)| is_version(last)).map_or(target, |(target, _)| target);
    let target = target.trim().replace(' ', "%20");
    let is_method = !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase());
    let is_clean = |text: &str| !text.chars().any(char::is_control);
    let path = target
        .find("://")
        .filter(|_| !target.starts_with('/'))
        .map_or(Some(&target[..]), |at| target[at + 3..].find('/').map(|slash| &target[at + 3 + slash..]));
    match path.filter(|path| path.starts_with('/') && is_clean(path)) {
        Some(path) if is_method && method != "CONNECT" => Ok(LogLine {
            epoch_s,
            method: method.to_owned(),
            target: path.to_owned(),
            agent: agent.filter(|agent| agent != "-" && is_clean(agent)),
        }),
        _ => Err("this request has no method and path that could be sent; left out"),
    }
}

/// `HTTP/1.1`.
fn is_version(word: &str) -> bool {
    word.strip_prefix("HTTP/").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The text in the next quotes, and what stands behind them; `\"` and `\xHH` are read.
fn quoted(text: &str) -> Option<(String, &str)> {
    let begin = text.find('"')? + 1;
    let mut bytes = Vec::new();
    let mut chars = text[begin..].char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((String::from_utf8_lossy(&bytes).into_owned(), &text[begin + at + 1..])),
            '\\' => match chars.next()? {
                (at, 'x') => {
                    let hex = text[begin..].get(at + 1..at + 3)?;
                    bytes.push(u8::from_str_radix(hex, 16).ok()?);
                    chars.nth(1);
                }
                (_, c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            },
            c => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    None
}

/// `10/Oct/2000:13:55:36 -0700`.
fn epoch_s(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (moment, zone) = text.split_once(' ').unwrap_or((text, "+0000"));
    let mut parts = moment.split(['/', ':']);
    let day = parts.next()?.parse().ok()?;
    let month = parts.next()?;
    let month = MONTHS.iter().position(|known| known.eq_ignore_ascii_case(month))? as u8 + 1;
    let midnight = date::epoch_s(parts.next()?.parse().ok()?, month, day)?;
    let mut number = |most: i64| parts.next()?.parse::<i64>().ok().filter(|number| (0..=most).contains(number));
    let (hours, minutes, seconds) = (number(23)?, number(59)?, number(60)?);
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits = zone.get(1..)?;
    let zone = digits.get(..2)?.parse::<i64>().ok()? * 3600 + digits.get(2..4)?.parse::<i64>().ok()? * 60;
    Some(midnight + hours * 3600 + minutes * 60 + seconds - sign * zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let common = "127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /a.gif?x=%20 HTTP/1.0\" 200 2326";
        let expected =
            LogLine { epoch_s: 971_211_336, method: "GET".into(), target: "/a.gif?x=%20".into(), agent: None };
        assert_eq!(entry(common), Ok(expected));
        let combined = format!("{common} \"http://r/\" \"Mozilla \\\"x\\\" \\xc3\\xa9\"");
        assert_eq!(entry(&combined).map(|entry| entry.agent), Ok(Some("Mozilla \"x\" é".into())));
        for (request, target) in [
            ("GET /sp ace HTTP/1.1", "/sp%20ace"),
            ("GET /a  b?c=d e HTTP/2.0", "/a%20%20b?c=d%20e"),
            ("GET /a HTTP/1.1 b HTTP/1.1", "/a%20HTTP/1.1%20b"),
            ("GET /old", "/old"),
            ("GET /old one", "/old%20one"),
            ("GET http://h/a b HTTP/1.1", "/a%20b"),
            ("GET /go?to=http://h/ HTTP/1.1", "/go?to=http://h/"),
        ] {
            let line = format!("- - - [10/Oct/2000:13:55:36 +0000] \"{request}\" 200 0");
            assert_eq!(entry(&line).map(|entry| entry.target), Ok(target.to_owned()), "{request}");
        }
        for wrong in ["", "a", "[x] \"GET / HTTP/1.0\" 200 1", "- - - [10/Oct/2000:13:55:36 -0700] \"GET /\" - 1"] {
            assert!(entry(wrong).is_err(), "{wrong}");
        }
        for odd in ["\\x16\\x03", "-", "GET", "CONNECT h:443 HTTP/1.1", "GET * HTTP/1.1"] {
            let line = format!("- - - [10/Oct/2000:13:55:36 +0000] \"{odd}\" 400 0");
            assert!(entry(&line).expect_err(odd).contains("no method and path"), "{odd}");
        }
    }

    #[test]
    fn requests_of_a_second_are_spread() {
        let entry =
            |epoch_s, target: &str| LogLine { epoch_s, method: "GET".into(), target: target.into(), agent: None };
        let text = table(&[entry(5, "/a"), entry(5, "/b"), entry(7, "/c")]);
        assert_eq!(text, "0.000000\tGET\t/a\t\n0.500000\tGET\t/b\t\n2.000000\tGET\t/c\t\n");
    }
}
