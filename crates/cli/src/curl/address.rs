//! The URL of a quick run while it is put together, read as curl reads it.
//!
//! Without a scheme it is http; `h2c` is http over HTTP/2; the fragment is cut off; dot segments of the path are
//! removed; data of `-G` joins the query. Refuses other schemes, spaces, and what curl would expand into several URLs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use wire::Url;

/// A URL while it is put together.
#[derive(Debug)]
pub struct Address {
    /// With `://`.
    scheme: String,
    authority: String,
    path: String,
    query: Option<String>,
}

impl Address {
    /// Reads a URL; without a scheme it is http, as for curl.
    pub fn read(text: &str, literal: bool) -> Result<Address, String> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let scheme = scheme.to_ascii_lowercase();
        match scheme.as_str() {
            "http" | "https" | "h2c" => {}
            "ws" | "wss" => return Err(format!("{text}: WebSockets need a script, with k6/websockets")),
            _ => return Err(format!("{text}: found the scheme {scheme}, expected http, https or h2c")),
        }
        if rest.contains(char::is_whitespace) {
            return Err(format!("{text}: a URL has no spaces: write %20"));
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (target, None),
        };
        if !literal && (path.contains(['{', '[']) || query.as_deref().is_some_and(|query| query.contains(['{', '[']))) {
            return Err(format!(
                "{text}: curl would read braces and brackets as several URLs; add -g to send them as they are"
            ));
        }
        let path = if path.is_empty() { "/" } else { path };
        Ok(Address { scheme: format!("{scheme}://"), authority: authority.to_owned(), path: path.to_owned(), query })
    }

    /// RFC 3986 section 5.2.4, as curl does it unless told `--path-as-is`.
    pub fn squash_dots(&mut self) {
        if !self.path.contains("/.") {
            return;
        }
        let mut kept: Vec<&str> = Vec::new();
        let mut segments = self.path[1..].split('/').peekable();
        while let Some(segment) = segments.next() {
            match segment {
                "." | ".." => {
                    if segment == ".." {
                        kept.pop();
                    }
                    if segments.peek().is_none() {
                        kept.push("");
                    }
                }
                other => kept.push(other),
            }
        }
        self.path = format!("/{}", kept.join("/"));
    }

    /// Adds to the query; one that ends in `&` needs no other.
    pub fn add_query(&mut self, more: &str) {
        let query = self.query.get_or_insert_default();
        if !query.is_empty() && !query.ends_with('&') {
            query.push('&');
        }
        query.push_str(more);
    }

    /// Sets name and password.
    pub fn set_user(&mut self, name: &str, password: &str) {
        let host = self.authority.rsplit_once('@').map_or(self.authority.as_str(), |(_, host)| host);
        self.authority = format!("{}:{}@{host}", percent_encoded(name), percent_encoded(password));
    }

    /// An upload to a folder goes to the file's name in it.
    pub fn end_with_name_of(&mut self, file: &str) {
        if self.path.ends_with('/') {
            let name = std::path::Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
            self.path.extend(percent_encoded(&name.unwrap_or_default()));
        }
    }

    /// The URL as requests read it, or why it is not a URL.
    pub fn check(&self) -> Result<Url, String> {
        if self.query.as_ref().is_some_and(|query| query.contains(char::is_whitespace)) {
            return Err(format!("{}: a query has no spaces: write %20", self.text()));
        }
        Url::parse(&self.text()).map_err(|error| match error.message.as_str() {
            "http: no Host in request URL" => format!("{}: found no host, expected http://host/path", self.text()),
            message => message.to_owned(),
        })
    }

    /// The whole text.
    pub fn text(&self) -> String {
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{}{}{query}", self.scheme, self.authority, self.path)
    }
}

/// Everything but the unreserved characters of RFC 3986, as curl does.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn percent_encoded(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, RESERVED)
}
