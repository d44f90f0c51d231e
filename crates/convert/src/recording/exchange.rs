//! A request as it was recorded, with its answer, and the parts of its URL.
//!
//! Plain data: nothing is judged here. URLs are taken apart as text, because a recording may hold any text.

use crate::model::Part;
use crate::source;

/// A request with its answer.
#[derive(Debug, Default)]
pub struct Exchange {
    /// What happened as part of one page is in a group.
    pub page: Option<String>,
    /// Nanoseconds since the epoch.
    pub started_ns: Option<i128>,
    /// Until the end of the answer.
    pub took_ms: f64,
    /// The method.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// As they were sent.
    pub headers: Vec<(String, String)>,
    /// What was sent.
    pub body: Payload,
    /// 0: there was no answer, or one whose status is not known.
    pub status: u64,
    /// Of the answer.
    pub answer_headers: Vec<(String, String)>,
    /// Content-Type of the answer.
    pub answer_kind: String,
    /// The answer, when it is text.
    pub answer: Option<String>,
    /// What a browser says of its kind: `image`, `font`, …
    pub resource: Option<String>,
    /// It never left the browser.
    pub is_from_cache: bool,
}

/// What a recorded request sent.
#[derive(Debug, Default)]
pub enum Payload {
    /// Nothing.
    #[default]
    None,
    /// Text as it was sent.
    Text(String),
    /// Bytes as they were sent.
    Bytes(Vec<u8>),
    /// Parts of a multipart form.
    Parts(Vec<Part>),
}

pub fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

pub fn authority_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Without user and port.
pub fn host_of(url: &str) -> &str {
    let authority = authority_of(url);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => name,
        _ => host,
    }
}

pub fn path_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |at| &rest[at..]).split(['?', '#']).next().unwrap_or_default();
    shortened(path, 60)
}

/// The beginning of a text, for people.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The value of a header.
pub fn value_of<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// A selector as an argument.
pub fn quoted(text: &str) -> String {
    source::text(text)
}
