//! What an answer is (a static file, or something that was asked for), and which of its values a later request may
//! repeat.
//!
//! JSON is read whole; of HTML fields of forms and `meta` elements; of headers those that are not of the protocol.
//! Bounded in depth, in values and in bytes: what is beyond is not looked at.

use serde_json::Value;

use super::exchange::{Exchange, quoted, value_of};

/// Answers beyond this are not looked into.
const LARGE: usize = 4 << 20;
/// Values of one answer.
const VALUES: usize = 2000;

/// Headers of answers that no request repeats.
const DULL: [&str; 12] = [
    "age",
    "alt-svc",
    "cache-control",
    "date",
    "etag",
    "expires",
    "last-modified",
    "nel",
    "report-to",
    "server",
    "set-cookie",
    "vary",
];

/// Whether it is what a page is made of rather than what it asks for.
pub fn is_static(exchange: &Exchange) -> bool {
    const RESOURCES: [&str; 6] = ["image", "stylesheet", "font", "script", "media", "manifest"];
    if exchange.resource.as_deref().is_some_and(|kind| RESOURCES.contains(&kind)) {
        return true;
    }
    let kind = value_of(&exchange.answer_headers, "content-type").unwrap_or(&exchange.answer_kind).to_ascii_lowercase();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_kind = ["image/", "font/", "audio/", "video/", "text/css"].iter().any(|start| kind.starts_with(start));
    is_kind || kind.ends_with("javascript") || has_static_ending(&exchange.url)
}

/// Whether a path ends as those of images, styles, fonts and scripts do.
pub fn has_static_ending(url: &str) -> bool {
    const ENDINGS: [&str; 16] = [
        ".css", ".js", ".mjs", ".map", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".ico", ".woff",
        ".woff2", ".ttf", ".mp4",
    ];
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    ENDINGS.iter().any(|ending| path.ends_with(ending))
}

/// Values of an answer, each with the expression that reads it from `response`.
pub fn values(headers: &[(String, String)], text: Option<&str>, each: &mut impl FnMut(&str, &str)) {
    for (name, value) in headers {
        let lower = name.to_ascii_lowercase();
        if !DULL.contains(&lower.as_str()) && !lower.starts_with("content-") {
            each(value, &format!("response.headers[{}]", quoted(&canonical(name))));
        }
    }
    let Some(text) = text.filter(|text| text.len() <= LARGE) else { return };
    let mut left = VALUES;
    match text.trim_start().as_bytes().first() {
        Some(b'{' | b'[') => {
            if let Ok(json) = serde_json::from_str(text) {
                walk(&json, &mut Vec::new(), &mut left, each);
            }
        }
        Some(b'<') => fields_of_html(text, &mut left, each),
        _ => {}
    }
}

/// A name as Go writes it, by which k6 keeps headers of answers.
fn canonical(name: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(chars.map(|c| c.to_ascii_lowercase())).collect::<String>()
    };
    name.split('-').map(word).collect::<Vec<_>>().join("-")
}

fn walk(json: &Value, path: &mut Vec<String>, left: &mut usize, each: &mut impl FnMut(&str, &str)) {
    if *left == 0 {
        return;
    }
    let mut leaf = |value: &str, path: &[String]| {
        *left -= 1;
        each(value, &format!("response.json({})", quoted(&path.join("."))));
    };
    match json {
        Value::String(text) => leaf(text, path),
        Value::Number(number) if number.is_i64() => leaf(&number.to_string(), path),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                path.push(at.to_string());
                walk(item, path, left, each);
                path.pop();
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                path.push(escaped(name));
                walk(value, path, left, each);
                path.pop();
            }
        }
        _ => {}
    }
}

/// A name within a selector of `response.json`.
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if ".*?|#@\\".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn fields_of_html(text: &str, left: &mut usize, each: &mut impl FnMut(&str, &str)) {
    for (tag, of, value) in [("input", "name", "value"), ("meta", "name", "content")] {
        let mut rest = text;
        let open = format!("<{tag}");
        while let Some(at) = rest.find(&open).filter(|_| *left > 0) {
            rest = &rest[at + open.len()..];
            let inside = &rest[..rest.find('>').unwrap_or(rest.len())];
            if let (Some(name), Some(found)) = (attribute(inside, of), attribute(inside, value)) {
                *left -= 1;
                let selector = format!("{tag}[name=\"{name}\"]");
                each(found, &format!("response.html().find({}).attr('{value}')", quoted(&selector)));
            }
        }
    }
}

/// The value of an attribute in quotes.
fn attribute<'t>(inside: &'t str, name: &str) -> Option<&'t str> {
    ['"', '\''].iter().find_map(|quote| {
        let start = format!("{name}={quote}");
        let at = inside.match_indices(&start).map(|(at, _)| at);
        let at = at.into_iter().find(|at| inside[..*at].ends_with(char::is_whitespace))? + start.len();
        inside[at..].split(*quote).next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_way_to_them() {
        let mut found = Vec::new();
        let headers = [("x-token".to_owned(), "abc".to_owned()), ("Date".to_owned(), "now".to_owned())];
        let mut each = |value: &str, how: &str| found.push(format!("{value} {how}"));
        values(&headers, Some(r#"{"a":{"b.c":["x",12345]},"n":null}"#), &mut each);
        values(&[], Some("<form><input type=hidden name=\"csrf\" value='t0'><meta name='m' content=\"c\">"), &mut each);
        values(&[], Some("{broken"), &mut each);
        assert_eq!(
            found,
            [
                "abc response.headers['X-Token']",
                "x response.json(\"a.b\\\\.c.0\")",
                "12345 response.json(\"a.b\\\\.c.1\")",
                "t0 response.html().find('input[name=\"csrf\"]').attr('value')",
                "c response.html().find('meta[name=\"m\"]').attr('content')",
            ]
        );
    }
}
