//! Absolute http(s) URLs, parsed as k6's users expect: nothing is normalised away that Go would send.
//!
//! Dot segments, double slashes, letter case and existing percent escapes go out as written. What cannot stand on a
//! request line is percent-encoded: Go does so in paths; we do so in queries too, where Go would write a raw space and
//! break the request line. Refused: control characters, bad escapes in the path, schemes other than http and https. The
//! texts of the errors are those that k6 scripts and logs know. An own parser, because every kept crate either
//! normalises (url) or refuses what k6 accepts (http::Uri, fluent-uri).
//!
//! Invariant: `target` and `authority` are ASCII without spaces and controls, so they can be written to a socket as
//! they are.

mod host;

use std::borrow::Cow;
use std::rc::Rc;

use crate::failure::FailureKind;
use crate::mask::Mask;
use crate::percent::{PATH, QUERY, hex_byte, percent_decode, percent_encode, quote};
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
    /// `InvalidUrl` (1020) for what cannot be parsed; `Other` (1000) for another scheme or no host; `Dial` (1210) for a
    /// port out of range: k6's error codes differ, so ours do.
    pub kind: FailureKind,
}

impl std::fmt::Display for UrlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UrlError {}

impl Url {
    /// Parses an absolute http or https URL.
    pub fn parse(text: &str) -> Result<Url, UrlError> {
        if text.bytes().any(|b| b < 0x20 || b == 0x7f) {
            return Err(invalid(text, "net/url: invalid control character in URL"));
        }
        let raw = RawUrl::split(text)?;
        let tls = match raw.scheme {
            s if s.eq_ignore_ascii_case("http") => false,
            s if s.eq_ignore_ascii_case("https") => true,
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
        let scheme = if tls { "https" } else { "http" };
        let masked = userinfo.as_ref().map(|(_, password)| if password.is_some() { "****:****" } else { "****" });
        let clear_text = userinfo_raw.map(|u| tail.text(scheme, Some(&u.replace('@', "%40")), &host.shown));
        Ok(Url(Rc::new(UrlParts {
            text: tail.text(scheme, masked, &host.shown),
            tls,
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

    /// `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        if self.0.tls { "https" } else { "http" }
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
        self.0.tls == other.0.tls && self.0.port == other.0.port && self.0.host == other.0.host
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
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn error(text: &str) -> (String, u16) {
        let e = Url::parse(text).unwrap_err();
        (e.message, e.kind.code())
    }

    #[test]
    fn targets_go_out_as_written() {
        let cases = [
            ("http://h", "/"),
            ("http://h?a=b", "/?a=b"),
            ("http://h?", "/?"),
            ("http://h/a/../b/./c", "/a/../b/./c"),
            ("http://h/%7Efoo%2fbar/%41", "/%7Efoo%2fbar/%41"),
            ("http://h/a b?c d", "/a%20b?c%20d"),
            ("http://h/é?é=ü", "/%C3%A9?%C3%A9=%C3%BC"),
            ("http://h/a\"b<c>d\\e^f`g{h|i}", "/a%22b%3Cc%3Ed%5Ce%5Ef%60g%7Bh%7Ci%7D"),
            ("http://h/?q=\"<>\\^`{|}'[]", "/?q=\"<>\\^`{|}'[]"),
            ("http://h/[a]'()*!$&+,;=:@", "/[a]'()*!$&+,;=:@"),
            ("http://h/?%zz", "/?%zz"),
            ("http://h/a?b?c#d#e", "/a?b?c"),
            ("http://h//double//x", "//double//x"),
        ];
        for (text, target) in cases {
            assert_eq!(url(text).target, target, "{text}");
        }
    }

    #[test]
    fn texts_are_those_of_k6() {
        let cases = [
            ("http://h?a", "http://h?a"),
            ("HTTP://Foo.test/CaSe", "http://Foo.test/CaSe"),
            ("http://h/a b?c d", "http://h/a%20b?c d"),
            ("http://h/x#é", "http://h/x#%C3%A9"),
            ("http://h/a?b?c#d#e", "http://h/a?b?c#d%23e"),
            ("http://bücher.test/x", "http://b%C3%BCcher.test/x"),
            ("http://user:pw@h/u?a#b", "http://****:****@h/u?a#b"),
            ("http://user@h/u", "http://****@h/u"),
            ("http://:pw@h/u", "http://****:****@h/u"),
        ];
        for (text, shown) in cases {
            assert_eq!(url(text).text, shown, "{text}");
        }
        assert_eq!(url("http://u@ser:p@h/at").full_text(), "http://u%40ser:p@h/at");
    }

    #[test]
    fn hosts_ports_and_authorities() {
        let cases = [
            ("http://FOO.test:80/", "foo.test", 80, "FOO.test:80"),
            ("https://foo.test", "foo.test", 443, "foo.test"),
            ("https://foo.test:/", "foo.test", 443, "foo.test"),
            ("http://[::1]:18091/v6", "::1", 18091, "[::1]:18091"),
            ("http://[FE80::1%25lo]/", "fe80::1", 80, "[FE80::1]"),
            ("http://bücher.test:8/x", "xn--bcher-kva.test", 8, "xn--bcher-kva.test:8"),
            ("http://b%C3%BCcher.test/x", "xn--bcher-kva.test", 80, "xn--bcher-kva.test"),
            ("http://a<b/", "a<b", 80, "a<b"),
        ];
        for (text, host, port, authority) in cases {
            let u = url(text);
            assert_eq!((u.host.as_str(), u.port, u.authority.as_str()), (host, port, authority), "{text}");
        }
    }

    #[test]
    fn characters_that_stand_for_a_space_are_no_host() {
        for text in ["http://1.2.3.4\u{202f}/", "http://1.\u{203e}2.3.4/", "http://a\u{a0}b/", "http://\u{3000}x.test/"]
        {
            let error = Url::parse(text).unwrap_err();
            assert_eq!(
                (error.kind, error.message.as_str()),
                (FailureKind::NoSuchHost, "lookup: no such host"),
                "{text:?}"
            );
        }
    }

    #[test]
    fn userinfo_is_decoded() {
        assert_eq!(url("http://us%20er:p%40s%73@h/").userinfo, Some(("us er".into(), Some("p@ss".into()))));
        assert_eq!(url("http://user@h/").userinfo, Some(("user".into(), None)));
        assert_eq!(url("http://u@ser:p@h/").userinfo, Some(("u@ser".into(), Some("p".into()))));
        assert_eq!(url("http://h/a@b").userinfo, None);
    }

    #[test]
    fn errors_are_those_of_k6() {
        let parse = |url: &str, why: &str| (format!("invalid URL: parse {}: {why}", quote(url)), 1020);
        let cases = [
            ("http://h/%zz", parse("http://h/%zz", "invalid URL escape \"%zz\"")),
            ("http://h/%", parse("http://h/%", "invalid URL escape \"%\"")),
            ("http://[::1", parse("http://[::1", "missing ']' in host")),
            ("http://[::1]x:18091", parse("http://[::1]x:18091", "invalid port \"x:18091\" after host")),
            ("http://h:abc/", parse("http://h:abc/", "invalid port \":abc\" after host")),
            ("http://h:-1/", parse("http://h:-1/", "invalid port \":-1\" after host")),
            ("ht!tp://x", parse("ht!tp://x", "first path segment in URL cannot contain colon")),
            ("1http://x", parse("1http://x", "first path segment in URL cannot contain colon")),
            ("://x", parse("://x", "missing protocol scheme")),
            ("http://h/a\nb", parse("http://h/a\nb", "net/url: invalid control character in URL")),
            ("http://a b/", parse("http://a b/", "invalid character \" \" in host name")),
            ("http://a%20b/", parse("http://a%20b/", "invalid URL escape \"%20\"")),
            ("http://u ser@h/", parse("http://u ser@h/", "net/url: invalid userinfo")),
            ("http://h:99999/", (String::from("dial tcp: address 99999: invalid port"), 1210)),
            ("ftp://x/", (String::from("unsupported protocol scheme \"ftp\""), 1000)),
            ("//foo/bar", (String::from("unsupported protocol scheme \"\""), 1000)),
            ("", (String::from("unsupported protocol scheme \"\""), 1000)),
            ("http:", (String::from("http: no Host in request URL"), 1000)),
            ("http:///x", (String::from("http: no Host in request URL"), 1000)),
            ("http:x", (String::from("http: no Host in request URL"), 1000)),
        ];
        for (text, expected) in cases {
            assert_eq!(error(text), expected, "{text}");
        }
        assert_eq!(
            error("http://h/\x7f").0,
            "invalid URL: parse \"http://h/\\x7f\": net/url: invalid control character in URL"
        );
    }

    #[test]
    fn references_resolve_as_in_rfc_3986_section_5_4() {
        let base = url("http://a/b/c/d;p?q");
        let cases = [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("g..", "http://a/b/c/g.."),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("http://x/a/../b", "http://x/b"),
            ("https://y", "https://y"),
        ];
        for (reference, expected) in cases {
            assert_eq!(base.join(reference).unwrap().text, expected, "{reference}");
        }
        assert_eq!(url("http://h").join("x").unwrap().text, "http://h/x");
        assert_eq!(url("http://u:p@h/a").join("/b").unwrap().full_text(), "http://u:p@h/b");
        assert_eq!(url("http://u:p@h/a").join("http://h/b").unwrap().userinfo, None);
        assert_eq!(base.join("ftp://x").unwrap_err().kind, FailureKind::Other);
    }

    #[test]
    fn random_texts_never_panic_and_keep_the_wire_clean() {
        let pieces = [
            "http://",
            "https:",
            "h",
            ":",
            "/",
            "..",
            "?",
            "#",
            "@",
            "[",
            "]",
            "::1",
            "%",
            "%41",
            "é",
            "\u{10ffff}",
            " ",
            "\\",
            "99",
            "\t",
            "xn--",
            ".",
        ];
        let mut rng = fastrand::Rng::with_seed(7);
        let base = url("http://u:p@h:1/a/b?c#d");
        let mut parsed = 0;
        for round in 0..40_000 {
            let mut text: String = if round % 2 == 0 { "http://".into() } else { String::new() };
            (0..rng.usize(0..9)).for_each(|_| text.push_str(pieces[rng.usize(0..pieces.len())]));
            for found in [Url::parse(&text), base.join(&text)].into_iter().flatten() {
                parsed += 1;
                assert!(found.target.starts_with('/'), "{text:?} gave {:?}", found.target);
                assert!(found.target.bytes().chain(found.authority.bytes()).all(|b| b > b' ' && b < 0x7f), "{text:?}");
                let again = url(found.full_text());
                assert_eq!(
                    (&again.target, &again.host, again.port),
                    (&found.target, &found.host, found.port),
                    "{text:?}"
                );
            }
        }
        assert!(parsed > 1000, "only {parsed} texts parsed: the generator tests nothing");
    }
}
