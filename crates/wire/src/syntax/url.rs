//! Absolute http, https and h2c URLs, parsed as k6's users expect: nothing is normalised away that Go would send.
//!
//! Dot segments, double slashes, letter case and existing percent escapes go out as written. What cannot stand on a
//! request line is percent-encoded: Go does so in paths; we do so in queries too, where Go would write a raw space and
//! break the request line. Refused: control characters, bad escapes in the path, other schemes. `h2c://host` is
//! `http://host` over HTTP/2 from the first byte on, which k6 does not know. The texts of the errors are those that k6
//! scripts and logs know. An own parser, because every kept crate either
//! normalises (url) or refuses what k6 accepts (http::Uri, fluent-uri).
//!
//! Invariant: `target` and `authority` are ASCII without spaces and controls, so they can be written to a socket as
//! they are.

mod host;
mod written;

use std::borrow::Cow;
use std::rc::Rc;

use crate::failure::FailureKind;
use crate::syntax::mask::Mask;
use crate::syntax::percent::{PATH, QUERY, hex_byte, percent_decode, percent_encode, quote};
use host::Host;

/// A parsed absolute URL. Cheap to clone; parse once, send often.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Url(Rc<UrlParts>);

/// The parts of a `Url`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UrlParts {
    /// As it goes into the `url` tag: userinfo masked (`****:****@`), fragment kept, as k6 does.
    pub text: String,
    /// `https`.
    pub tls: bool,
    /// `h2c`: HTTP/2 in cleartext, by prior knowledge (RFC 9113, section 3.3).
    pub h2c: bool,
    /// Host without port, brackets or zone; IDNA-encoded, lower case.
    pub host: String,
    /// Port, also when it is the scheme's default.
    pub port: u16,
    /// Value of the Host header: host with letter case and port as written (an empty port is left out), IDNA-encoded.
    pub authority: String,
    /// Path and query as they go on the request line, never empty.
    pub target: String,
    /// Name and password, percent-decoded.
    pub userinfo: Option<(String, Option<String>)>,
    /// The text with the userinfo in clear, where there is one.
    clear_text: Option<String>,
}

/// Why a text is not a URL that can be requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlError {
    /// Text for people.
    pub message: String,
    /// `InvalidUrl` for what cannot be parsed; `Other` for another scheme or no host; `Dial` for a port out of range.
    pub kind: FailureKind,
}

impl std::fmt::Display for UrlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UrlError {}

impl Url {
    /// Whether it is the very same, and not only equal to it: a copy, and not parsed from the same text again.
    #[inline]
    pub fn is(&self, other: &Url) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Parses an absolute http, https or h2c URL.
    pub fn parse(text: &str) -> Result<Url, UrlError> {
        if text.bytes().any(|b| b < 0x20 || b == 0x7f) {
            return Err(invalid(text, "net/url: invalid control character in URL"));
        }
        let raw = RawUrl::split(text)?;
        let (tls, h2c) = match raw.scheme {
            s if s.eq_ignore_ascii_case("http") => (false, false),
            s if s.eq_ignore_ascii_case("https") => (true, false),
            s if s.eq_ignore_ascii_case("h2c") => (false, true),
            other => {
                let message = format!("unsupported protocol scheme {}", quote(&other.to_ascii_lowercase()));
                return Err(UrlError { message, kind: FailureKind::Other });
            }
        };
        let authority = raw.authority.unwrap_or("");
        let (userinfo_raw, host_port) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let userinfo = userinfo_raw.map(|u| parse_userinfo(text, u)).transpose()?;
        let host = Host::parse(text, host_port, tls)?;
        if host.name.is_empty() {
            let message = String::from("http: no Host in request URL");
            return Err(UrlError { message, kind: FailureKind::Other });
        }
        let path = percent_encode(raw.path, PATH);
        check_escapes(text, raw.path)?;
        let fragment =
            raw.fragment.filter(|f| !f.is_empty()).map(|f| check_escapes(text, f).map(|()| percent_encode(f, PATH)));
        let fragment = fragment.transpose()?;
        let tail = Tail { path: &path, query: raw.query, fragment: fragment.as_deref() };
        let scheme = scheme_name(tls, h2c);
        let masked = userinfo.as_ref().map(|(_, password)| if password.is_some() { "****:****" } else { "****" });
        let clear_text = userinfo_raw.map(|u| tail.text(scheme, Some(&u.replace('@', "%40")), &host.shown));
        Ok(Url(Rc::new(UrlParts {
            text: tail.text(scheme, masked, &host.shown),
            tls,
            h2c,
            target: tail.target(),
            host: host.name,
            port: host.port,
            authority: host.header,
            userinfo,
            clear_text,
        })))
    }

    /// Resolves a reference (a Location header) against this URL, RFC 3986 section 5. Dot segments of the result are
    /// removed, also when the reference is absolute. Userinfo stays when the host is not named again.
    pub fn join(&self, reference: &str) -> Result<Url, UrlError> {
        if reference.bytes().any(|b| b < 0x20 || b == 0x7f) {
            return Err(invalid(reference, "net/url: invalid control character in URL"));
        }
        let base_text = self.full_text();
        let base = RawUrl::split(base_text)?;
        let mut to = RawUrl::split(reference)?;
        let mut path = Cow::Borrowed(to.path);
        let names_host = !to.scheme.is_empty() || to.authority.is_some();
        if to.scheme.is_empty() {
            to.scheme = base.scheme;
        }
        if !names_host {
            to.authority = base.authority;
            if to.path.is_empty() {
                path = Cow::Borrowed(base.path);
                if to.query.is_none() {
                    to.query = base.query;
                    to.fragment = to.fragment.or(base.fragment);
                }
            } else if !to.path.starts_with('/') {
                let folder = base.path.rfind('/').map_or("/", |i| &base.path[..=i]);
                path = Cow::Owned(format!("{folder}{}", to.path));
            }
        }
        let path = remove_dot_segments(&path);
        let tail = Tail { path: &path, query: to.query, fragment: to.fragment };
        let mut text = String::with_capacity(base_text.len() + reference.len());
        text.push_str(to.scheme);
        match to.authority {
            Some(authority) => text.extend(["://", authority]),
            None => text.push(':'),
        }
        tail.push(&mut text);
        Url::parse(&text)
    }

    /// The whole URL with its userinfo in clear, as k6 shows it in `response.url`.
    pub fn full_text(&self) -> &str {
        self.0.clear_text.as_deref().unwrap_or(&self.0.text)
    }

    /// `http`, `https` or `h2c`.
    pub fn scheme(&self) -> &'static str {
        scheme_name(self.0.tls, self.0.h2c)
    }

    /// The path as it goes on the request line, without the query; never empty.
    pub fn path(&self) -> &str {
        self.0.target.split('?').next().unwrap_or("/")
    }

    /// Whether both are copies of one parsed URL; equal texts parsed twice are not told.
    pub(crate) fn is_copy_of(&self, other: &Url) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Whether both go to the same scheme, host and port.
    pub fn same_origin(&self, other: &Url) -> bool {
        self.scheme() == other.scheme() && self.0.port == other.0.port && self.0.host == other.0.host
    }
}

impl std::ops::Deref for Url {
    type Target = UrlParts;
    fn deref(&self) -> &UrlParts {
        &self.0
    }
}

impl std::fmt::Display for Url {
    /// The masked text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.text)
    }
}

/// A URL cut at its delimiters, nothing decoded.
struct RawUrl<'a> {
    scheme: &'a str,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

impl<'a> RawUrl<'a> {
    fn split(text: &'a str) -> Result<RawUrl<'a>, UrlError> {
        let (rest, fragment) = cut(text, '#');
        let (scheme, rest) = cut_scheme(text, rest)?;
        let (rest, query) = cut(rest, '?');
        if scheme.is_empty() && !rest.starts_with('/') && rest.split('/').next().is_some_and(|s| s.contains(':')) {
            return Err(invalid(text, "first path segment in URL cannot contain colon"));
        }
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                (Some(&rest[..end]), &rest[end..])
            }
            None => (None, rest),
        };
        Ok(RawUrl { scheme, authority, path, query, fragment })
    }
}

fn scheme_name(tls: bool, h2c: bool) -> &'static str {
    match (tls, h2c) {
        (true, _) => "https",
        (false, true) => "h2c",
        (false, false) => "http",
    }
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn cut_scheme<'a>(whole: &str, text: &'a str) -> Result<(&'a str, &'a str), UrlError> {
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if i > 0 => {}
            b':' if i == 0 => return Err(invalid(whole, "missing protocol scheme")),
            b':' => return Ok((&text[..i], &text[i + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

/// Path, query and fragment in their written forms.
struct Tail<'a> {
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

impl Tail<'_> {
    fn push(&self, out: &mut String) {
        out.push_str(self.path);
        if let Some(query) = self.query {
            out.extend(["?", query]);
        }
        if let Some(fragment) = self.fragment {
            out.extend(["#", fragment]);
        }
    }

    fn text(&self, scheme: &str, userinfo: Option<&str>, host: &str) -> String {
        let tail = self.path.len() + self.query.map_or(0, str::len) + self.fragment.map_or(0, str::len);
        let mut out = String::with_capacity(scheme.len() + host.len() + tail + userinfo.map_or(0, str::len) + 6);
        out.extend([scheme, "://"]);
        if let Some(userinfo) = userinfo {
            out.extend([userinfo, "@"]);
        }
        out.push_str(host);
        self.push(&mut out);
        out
    }

    fn target(&self) -> String {
        let mut out = String::with_capacity(self.path.len() + self.query.map_or(0, |q| q.len() + 1) + 1);
        if !self.path.starts_with('/') {
            out.push('/');
        }
        out.push_str(self.path);
        if let Some(query) = self.query {
            out.push('?');
            out.push_str(&percent_encode(query, QUERY));
        }
        out
    }
}

fn parse_userinfo(whole: &str, text: &str) -> Result<(String, Option<String>), UrlError> {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b);
    if !text.bytes().all(fine) {
        return Err(invalid(whole, "net/url: invalid userinfo"));
    }
    check_escapes(whole, text)?;
    let (name, password) = cut(text, ':');
    Ok((percent_decode(name).into_owned(), password.map(|p| percent_decode(p).into_owned())))
}

fn check_escapes(whole: &str, text: &str) -> Result<(), UrlError> {
    for (i, _) in text.match_indices('%') {
        if text.get(i + 1..i + 3).and_then(hex_byte).is_none() {
            return Err(bad_escape(whole, &text[i..]));
        }
    }
    Ok(())
}

fn bad_escape(whole: &str, at: &str) -> UrlError {
    let escape: String = at.chars().take(3).collect();
    invalid(whole, &format!("invalid URL escape {}", quote(&escape)))
}

/// RFC 3986, section 5.2.4, on a path that starts with a slash or is empty.
fn remove_dot_segments(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    if path.is_empty() { String::new() } else { format!("/{}", kept.join("/")) }
}

fn invalid(whole: &str, why: &str) -> UrlError {
    let shown = Mask::of([]).text(whole).into_owned();
    UrlError { message: format!("invalid URL: parse {}: {why}", quote(&shown)), kind: FailureKind::InvalidUrl }
}

#[cfg(test)]
mod tests;
