//! Values that came with an answer and were sent by a later request: tokens, identifiers, what a form had hidden.
//!
//! They are proposed in a comment beside that request, never put into the script: whether a value changes from run to
//! run is known to people alone. Bounded in values and bytes.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::answer;
use super::exchange::{quoted, shortened};
use crate::model::{Body, Request};

/// Values that are remembered.
const VALUES: usize = 50_000;
/// Their bytes.
const BYTES: usize = 32 << 20;
/// Comments of one request.
const COMMENTS: usize = 8;

/// What answers have brought so far.
#[derive(Debug, Default)]
pub struct Correlation {
    came: HashMap<String, String>,
    bytes: usize,
    /// What requests had sent before an answer brought it is no news.
    sent: HashSet<String>,
}

impl Correlation {
    /// Comments on the values of a request that came with an earlier answer.
    pub fn found_in(&self, request: &Request) -> Vec<String> {
        let mut comments: Vec<String> = Vec::new();
        values_of(request, &mut |value| {
            if let Some(from) = self.came.get(value) {
                let comment = format!("{} came with {from}", quoted(&shortened(value, 24)));
                if comments.len() < COMMENTS && !comments.contains(&comment) {
                    comments.push(comment);
                }
            }
        });
        comments
    }

    /// Remembers what was sent.
    pub fn learn_request(&mut self, request: &Request) {
        let sent = &mut self.sent;
        values_of(request, &mut |value| {
            if sent.len() < VALUES && is_telling(value) && !sent.contains(value) {
                sent.insert(value.to_owned());
            }
        });
    }

    /// Remembers what an answer brought; `name` is that of its request.
    pub fn learn_answer(&mut self, name: &str, headers: &[(String, String)], text: Option<&str>) {
        let Correlation { came, bytes, sent } = self;
        answer::values(headers, text, &mut |value, how| {
            if !is_telling(value) || sent.contains(value) || came.contains_key(value) {
                return;
            }
            let from = format!("the answer to {name}: {how}");
            *bytes += value.len() + from.len();
            if came.len() < VALUES && *bytes <= BYTES {
                came.insert(value.to_owned(), from);
            }
        });
    }
}

/// Whether two places have this value by more than chance.
fn is_telling(value: &str) -> bool {
    let has_digit = value.bytes().any(|b| b.is_ascii_digit());
    let is_number = value.bytes().all(|b| b.is_ascii_digit());
    let is_long = value.len() >= if is_number { 5 } else { 8 };
    (is_long && has_digit || value.len() >= 20)
        && value.len() <= 4096
        && !value.contains([' ', '\n'])
        && !value.contains("://")
}

/// Calls `each` with the values in a request.
fn values_of(request: &Request, each: &mut impl FnMut(&str)) {
    const DULL: [&str; 7] = ["accept", "content-type", "referer", "origin", "user-agent", "cookie", "sec-"];
    let url = request.url.leading_text();
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    path.split('/').skip(3).for_each(|segment| {
        each(&percent_encoding::percent_decode_str(segment).decode_utf8_lossy());
    });
    form_urlencoded::parse(query.as_bytes()).for_each(|(_, value)| each(&value));
    for (name, value) in &request.headers {
        let name = name.to_ascii_lowercase();
        if DULL.iter().any(|dull| name.starts_with(dull)) {
            continue;
        }
        let value = value.leading_text();
        each(value);
        if let Some((_, last)) = value.rsplit_once(' ') {
            each(last);
        }
    }
    let Body::Text(text) = &request.body else { return };
    let Some(text) = text.as_text().filter(|text| text.len() <= 1 << 20) else { return };
    match serde_json::from_str::<Value>(text) {
        Ok(json) => leaves(&json, each),
        Err(_) if request.header("content-type").is_some_and(|kind| kind.contains("urlencoded")) => {
            form_urlencoded::parse(text.as_bytes()).for_each(|(_, value)| each(&value));
        }
        Err(_) => {}
    }
}

fn leaves(json: &Value, each: &mut impl FnMut(&str)) {
    match json {
        Value::String(text) => each(text),
        Value::Number(number) => each(&number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, each)),
        Value::Object(fields) => fields.values().for_each(|value| leaves(value, each)),
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Template;

    #[test]
    fn a_value_that_came_and_goes_is_told() {
        let mut known = Correlation::default();
        let mut login = Request::new("POST", Template::text("http://h/login?client=abcdef123"));
        login.body = Body::Text(Template::text(r#"{"device":"device-0001"}"#));
        known.learn_request(&login);
        let answer = r#"{"token":"t0k3n-t0k3n","device":"device-0001","id":98765,"n":"short1"}"#;
        known.learn_answer("POST /login (request 1)", &[], Some(answer));
        let mut next = Request::new("GET", Template::text("http://h/items/98765?n=short1"));
        next.headers.push(("Authorization".into(), Template::text("Bearer t0k3n-t0k3n")));
        next.body = Body::Text(Template::text(r#"{"device":"device-0001"}"#));
        assert_eq!(
            known.found_in(&next),
            [
                "'98765' came with the answer to POST /login (request 1): response.json('id')",
                "'t0k3n-t0k3n' came with the answer to POST /login (request 1): response.json('token')",
            ],
            "short values and echoes are not told"
        );
    }
}
