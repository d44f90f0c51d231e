//! Command lines of wrk and wrk2: connections become users, a rate becomes a schedule, a Lua script is read as far as
//! it sets the request.
//!
//! Lua that computes is kept as a comment, whole: no line of it is lost, and none is run.

use serde_json::{Value, json};

use crate::commands::{self, Command, with_variables};
use crate::conversion::{Converted, Settings};
use crate::model::{Body, Function, Request, Step, Test};
use crate::notes::{Notes, Problem};
use crate::template::Template;

/// What a line asks for.
#[derive(Default)]
struct Line {
    url: Option<String>,
    connections: Option<u64>,
    duration: Option<String>,
    threads: Option<String>,
    rate: Option<u64>,
    timeout: Option<String>,
    script: Option<String>,
    headers: Vec<(String, String)>,
}

/// Reads the first command; a test has one load.
pub fn read(text: &str, settings: &Settings) -> Result<Converted, Problem> {
    let commands = commands::find(text, &["wrk", "wrk2"]);
    let mut notes = Notes::default();
    let first = commands.first().ok_or_else(|| Problem::new("found no command of wrk, expected wrk [options] URL"))?;
    for other in &commands[1..] {
        notes.add(format!("line {}", other.line), "a script has one load: the first command is converted alone");
    }
    let line = line(first, &mut notes)?;
    let place = format!("line {}", first.line);
    if let Some(threads) = &line.threads {
        notes.add(
            place.as_str(),
            format!("-t {threads}: threads are a flag of the run: onrush run --workers {threads}"),
        );
    }
    let url = line
        .url
        .as_deref()
        .ok_or_else(|| Problem::at(first.line, "there is no URL, expected one, as in http://host/"))?;
    let mut request = Request::new("GET", with_variables(url, |_| {}));
    request.headers = line.headers.iter().map(|(name, value)| (name.clone(), with_variables(value, |_| {}))).collect();
    request.params.push((String::from("redirects"), String::from("0")));
    request
        .params
        .extend(line.timeout.iter().map(|time| (String::from("timeout"), with_variables(time, |_| {}).expression())));
    let mut steps = Vec::new();
    if let Some(script) = &line.script {
        steps.extend(lua(script, &mut request, settings, &place, &mut notes));
    }
    steps.push(Step::Request(Box::new(request)));
    let mut test = Test { functions: vec![Function { name: None, steps }], ..Test::default() };
    load(&line).iter().for_each(|(name, value)| test.option(name, value));
    test.option("discardResponseBodies", &json!(true));
    Ok(Converted { test, notes })
}

/// wrk's own values: ten connections, ten seconds.
fn load(line: &Line) -> Vec<(&'static str, Value)> {
    let (vus, duration) = (line.connections.unwrap_or(10), line.duration.as_deref().unwrap_or("10s"));
    match line.rate {
        None => vec![("vus", json!(vus)), ("duration", json!(duration))],
        Some(rate) => {
            let scenario = json!({
                "executor": "constant-arrival-rate", "rate": rate, "timeUnit": "1s", "duration": duration,
                "preAllocatedVUs": vus, "maxVUs": vus,
            });
            vec![("scenarios", json!({ "default": scenario }))]
        }
    }
}

fn line(command: &Command, notes: &mut Notes) -> Result<Line, Problem> {
    let refuse = |message: String| Problem::at(command.line, message);
    let words = command.words.as_ref().map_err(|why| refuse(why.clone()))?;
    let (mut line, mut words) = (Line::default(), words.iter().skip(1));
    while let Some(word) = words.next() {
        let (name, attached) = split(word);
        if matches!(name, "--latency" | "-L" | "--u_latency" | "-U" | "-v" | "--version") {
            continue;
        }
        if !name.starts_with('-') {
            line.url = Some(word.clone());
            continue;
        }
        let value = attached.map(str::to_owned).or_else(|| words.next().cloned());
        let value = value.ok_or_else(|| refuse(format!("{name}: expected a value behind it")))?;
        match name {
            "-c" | "--connections" => {
                line.connections = Some(number(&value).ok_or_else(|| bad(command, name, &value))?)
            }
            "-R" | "--rate" => line.rate = Some(number(&value).ok_or_else(|| bad(command, name, &value))?),
            "-d" | "--duration" => line.duration = Some(time(&value)),
            "-t" | "--threads" => line.threads = Some(value),
            "-s" | "--script" => line.script = Some(value),
            "--timeout" => line.timeout = Some(time(&value)),
            "-H" | "--header" => match value.split_once(':') {
                Some((name, value)) => line.headers.push((name.trim().to_owned(), value.trim().to_owned())),
                None => return Err(refuse(format!("-H '{value}': found no colon, expected 'Name: value'"))),
            },
            other => {
                notes.add(format!("line {}", command.line), format!("{other} {value} is no flag of wrk; left out"))
            }
        }
    }
    Ok(line)
}

fn bad(command: &Command, name: &str, value: &str) -> Problem {
    Problem::at(command.line, format!("{name} {value}: expected a whole number, as in 100 or 10k"))
}

/// `-c100`, `--connections=100`, `-c`.
fn split(word: &str) -> (&str, Option<&str>) {
    match word.strip_prefix("--") {
        Some(_) => word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value))),
        None if word.starts_with('-') && word.len() > 2 && word.is_char_boundary(2) => (&word[..2], Some(&word[2..])),
        None => (word, None),
    }
}

/// With wrk's units.
fn number(text: &str) -> Option<u64> {
    let (digits, factor) = match text.chars().last()? {
        'k' | 'K' => (&text[..text.len() - 1], 1_000),
        'M' => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|number| *number > 0)
}

/// A number alone is seconds.
fn time(text: &str) -> String {
    if text.bytes().all(|b| b.is_ascii_digit()) { format!("{text}s") } else { text.to_owned() }
}

/// What a Lua script sets of the request; the lines that do more become a comment.
fn lua(path: &str, request: &mut Request, settings: &Settings, place: &str, notes: &mut Notes) -> Option<Step> {
    let Some(text) = (settings.read)(path) else {
        notes.add(place, format!("the script {path} cannot be read; what it does is left out"));
        return None;
    };
    let mut left = Vec::new();
    for line in text.lines() {
        let code = line.trim().trim_end_matches(';');
        if !(code.is_empty() || code.starts_with("--") || is_set(code, request)) {
            left.push(format!("  {line}"));
        }
    }
    if left.is_empty() {
        return None;
    }
    notes.add(
        place,
        format!("{} lines of the Lua script {path} are kept as a comment: write them in JavaScript", left.len()),
    );
    Some(Step::Comment(std::iter::once(format!("of {path}:")).chain(left).collect()))
}

/// `wrk.method = "POST"`, `wrk.body = "…"`, `wrk.headers["Name"] = "value"`.
fn is_set(code: &str, request: &mut Request) -> bool {
    let Some((name, value)) = code.split_once('=').map(|(name, value)| (name.trim(), value.trim())) else {
        return false;
    };
    let Some(value) = lua_text(value) else { return false };
    match name {
        "wrk.method" => request.method = value,
        "wrk.body" => request.body = Body::Text(Template::text(value)),
        _ => {
            let header = name.strip_prefix("wrk.headers[").and_then(|rest| rest.strip_suffix(']'));
            let Some(header) = header.and_then(lua_text) else { return false };
            request.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&header));
            request.headers.push((header, Template::text(value)));
        }
    }
    true
}

/// A literal of Lua, with the escapes that requests have.
fn lua_text(literal: &str) -> Option<String> {
    let quote = literal.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let mut text = String::new();
    let mut chars = literal[1..].chars();
    loop {
        match chars.next()? {
            c if c == quote => return chars.as_str().trim().is_empty().then_some(text),
            '\\' => text.push(match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                c @ ('\\' | '"' | '\'') => c,
                _ => return None,
            }),
            c => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{from_text, write_script};

    const LUA: &str = "-- a\nwrk.method = \"POST\"\nwrk.body = 'a=\"b\"'\nwrk.headers[\"X-A\"] = \"b\"\n\
        function delay()\n  return 1\nend\n";

    fn settings() -> Settings {
        Settings { read: |path| (path == "post.lua").then(|| LUA.to_owned()), ..Settings::plain() }
    }

    #[test]
    fn a_line_becomes_a_load() {
        let text = "wrk -t2 -c 1k -d30 --latency -s post.lua -H 'Accept: */*' http://h:1/x";
        let converted = from_text(crate::Format::Wrk, text, &settings()).expect("good");
        let notes = converted.notes.lines();
        let script = write_script(converted.test, &settings().style).0;
        for part in [
            "vus: 1000, duration: '30s', discardResponseBodies: true",
            "// of post.lua:\n  //   function delay()",
            "http.post(`${BASE_URL}/x`, 'a=\"b\"', {",
            "'X-A': 'b'",
        ] {
            assert!(script.contains(part), "{part} in\n{script}");
        }
        assert!(
            notes[0].contains("--workers 2") && notes[1].contains("3 lines of the Lua script post.lua"),
            "{notes:?}"
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in [
            ("wrk -c x http://h/", "-c x: expected a whole number"),
            ("wrk -c", "-c: expected a value"),
            ("wrk -d 1s", "there is no URL"),
            ("wrk -H a http://h/", "found no colon"),
        ] {
            let problem = read(text, &settings()).expect_err(text);
            assert!(problem.message.contains(said) && problem.line == Some(1), "{problem:?}");
        }
        let timeout = read("wrk --timeout=\"2'$T\" http://h/", &settings()).expect("good");
        let script = write_script(timeout.test, &settings().style).0;
        assert!(script.contains("timeout: `2'${__ENV.T}`"), "{script}");
        let rate = read("wrk2 -R 2k -c 5 http://h/", &settings()).expect("good");
        assert!(rate.test.options[0].1.contains("rate: 2000"), "{:?}", rate.test.options);
    }
}
