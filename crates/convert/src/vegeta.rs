//! Targets of vegeta, in both of its forms: lines of text, and one JSON object a line.
//!
//! Bodies of text targets are files, which the script opens; those of JSON targets are in them. vegeta takes targets in
//! turn at a rate that stands on its command line, so the script has them in order and no load.

use crate::Format;
use crate::conversion::{Converted, Settings};
use crate::model::{Body, Function, Request, Step, Test};
use crate::node::Node;
use crate::notes::{Notes, Problem};
use crate::template::Template;

/// Reads the targets.
pub fn read(text: &str, _settings: &Settings) -> Result<Converted, Problem> {
    let mut notes = Notes::default();
    let requests = if text.trim_start().starts_with('{') { objects(text, &mut notes)? } else { lines(text)? };
    let steps = requests.into_iter().map(|request| Step::Request(Box::new(request))).collect();
    let functions = vec![Function { name: None, steps }];
    Ok(Converted { test: Test { functions, ..Test::default() }, notes })
}

fn objects(text: &str, notes: &mut Notes) -> Result<Vec<Request>, Problem> {
    let mut requests = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let refuse = |problem: Problem| Problem { line: Some(at + 1), ..problem };
        let target: Node = serde_json::from_str(line).map_err(|error| refuse(Problem::from(error)))?;
        let url = target.get("url").and_then(Node::text);
        let url =
            url.ok_or_else(|| Problem::at(at + 1, "this target has no 'url', expected {\"url\": \"http://…\"}"))?;
        let method = target.text_of("method");
        let mut request = Request::new(if method.is_empty() { "GET" } else { method }, Template::text(url));
        for (name, values) in target.fields_of("header") {
            let values = values.items().iter().filter_map(Node::text);
            request.headers.extend(values.map(|value| (name.to_owned(), Template::text(value))));
        }
        let body = target.get("body").and_then(Node::text).filter(|body| !body.is_empty());
        request.body = body.map_or(Body::None, |body| match base64_simd::STANDARD.decode_to_vec(body.as_bytes()) {
            Ok(bytes) => String::from_utf8(bytes)
                .map_or_else(|error| Body::Bytes(error.into_bytes()), |text| Body::Text(Template::text(text))),
            Err(_) => {
                notes.add(format!("line {}", at + 1), "the body is not base64; it is sent as it is");
                Body::Text(Template::text(body))
            }
        });
        requests.push(request);
        target.unread(Format::Vegeta, &mut |unread| {
            notes.add(format!("line {}", at + 1), format!("{} is left out", unread.path.join(".").escape_debug()));
        });
    }
    Ok(requests)
}

fn lines(text: &str) -> Result<Vec<Request>, Problem> {
    let mut requests: Vec<Request> = Vec::new();
    let mut is_open = false;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let refuse = |expected: &str| {
            let shown: String = line.chars().take(60).collect();
            Err(Problem::at(at + 1, format!("found '{}', expected {expected}", shown.escape_debug())))
        };
        if line.is_empty() {
            is_open = false;
        } else if line.starts_with('#') {
            continue;
        } else if let Some((method, url)) = target(line) {
            requests.push(Request::new(method, Template::text(url)));
            is_open = true;
        } else if let Some(request) = requests.last_mut().filter(|_| is_open) {
            match (line.strip_prefix('@'), line.split_once(':')) {
                (Some(path), _) => request.body = Body::File(path.to_owned()),
                (None, Some((name, value))) if !name.trim().is_empty() => {
                    request.headers.push((name.trim().to_owned(), Template::text(value.trim())));
                }
                _ => return refuse("'Name: value', '@file' or the next target"),
            }
        } else {
            return refuse("a target, as in GET http://host/path");
        }
    }
    Ok(requests)
}

/// `METHOD URL`.
fn target(line: &str) -> Option<(&str, &str)> {
    let (method, url) = line.split_once(char::is_whitespace)?;
    let is_method = method.bytes().all(|b| b.is_ascii_uppercase());
    let url = url.trim();
    (is_method && (url.starts_with("http://") || url.starts_with("https://"))).then_some((method, url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_target_is_named() {
        let read = |text: &str| read(text, &Settings::plain()).expect_err(text).shown("t");
        assert_eq!(read("GET http://h/\n\nX: y\n"), "t:3: found 'X: y', expected a target, as in GET http://host/path");
        assert_eq!(
            read("GET http://h/\nnothing"),
            "t:2: found 'nothing', expected 'Name: value', '@file' or the next target"
        );
        assert!(read("{\"url\": \"http://h/\"}\n{\"url\"").starts_with("t:2:6: the JSON ends here"));
    }
}
