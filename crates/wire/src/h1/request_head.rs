//! Reads one request head out of a buffer: the server's side of a message's head.
//!
//! The head borrows from the buffer and from a header array on the caller's stack: nothing is allocated. A head is
//! either complete, not complete yet, or refused with the status the client gets before the connection closes. Refused
//! is what another reader of the same bytes could take differently: bare line feeds, two lengths or a repeated one, a
//! length beside chunked coding, a transfer coding that is not chunked alone, an invalid host.

use std::mem::MaybeUninit;

use super::framing::{BodyFraming, FramingError, FramingFields};
use crate::Role;
use crate::syntax::field::is_token;

/// Headers accepted in one request.
pub const MAX_HEADERS: usize = 128;

/// Room for the headers of one request; lives on the caller's stack.
pub type HeaderRoom<'b> = [MaybeUninit<httparse::Header<'b>>; MAX_HEADERS];

/// An empty room.
pub fn header_room<'b>() -> HeaderRoom<'b> {
    [const { MaybeUninit::uninit() }; MAX_HEADERS]
}

/// A complete request head.
#[derive(Debug)]
pub struct Head<'b, 'h> {
    /// As sent.
    pub method: &'b str,
    /// Path with query, always starting with `/` or being `*`; scheme and authority of the absolute form are cut off.
    pub target: &'b str,
    /// The authority of the absolute form, which is above the host header (RFC 9112 section 3.2.2).
    pub authority: Option<&'b str>,
    /// 0 or 1: the minor version of HTTP/1.x.
    pub minor: u8,
    /// In order.
    pub headers: &'h [httparse::Header<'b>],
    /// Bytes up to and including the empty line.
    pub len: usize,
    /// How the body and the connection go on.
    pub framing: Framing,
}

/// What follows a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// The body that follows.
    pub body: BodyFraming,
    /// The client wants to send another request on this connection.
    pub keep_alive: bool,
    /// The client waits for `100 Continue` before it sends the body.
    pub expect_continue: bool,
}

/// A head that is refused: the status of the answer and the reason in its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// 400, 417, 431, 501 or 505.
    pub status: u16,
    /// For a person.
    pub why: &'static str,
}

const fn refused(status: u16, why: &'static str) -> Refused {
    Refused { status, why }
}

impl Head<'_, '_> {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name)).map(|h| h.value)
    }
}

/// Parses a head that was accepted before.
pub fn parse<'b, 'h>(buffer: &'b [u8], room: &'h mut HeaderRoom<'b>) -> Result<Option<Head<'b, 'h>>, Refused> {
    parse_within(buffer, room, usize::MAX)
}

/// Parses the head at the start of `buffer`, of at most `limit` bytes; `None` when it is not complete yet.
pub fn parse_within<'b, 'h>(
    buffer: &'b [u8],
    room: &'h mut HeaderRoom<'b>,
    limit: usize,
) -> Result<Option<Head<'b, 'h>>, Refused> {
    let mut request = httparse::Request::new(&mut []);
    let len = match request.parse_with_uninit_headers(buffer, room) {
        Ok(httparse::Status::Complete(len)) if len <= limit => len,
        Ok(httparse::Status::Partial) if buffer.len() <= limit => return Ok(None),
        Ok(_) => return Err(refused(431, "the request head is longer than the limit")),
        Err(httparse::Error::TooManyHeaders) => return Err(refused(431, "the request has more than 128 headers")),
        // The rest of the line tells what kind of version it is.
        Err(httparse::Error::Version) if !has_line(buffer) && buffer.len() <= limit => return Ok(None),
        Err(httparse::Error::Version) => return Err(version(buffer)),
        Err(_) => return Err(refused(400, "the request head is malformed")),
    };
    let (Some(method), Some(target), Some(minor)) = (request.method, request.path, request.version) else {
        return Err(refused(400, "the request line is incomplete"));
    };
    let headers: &'h [httparse::Header<'b>] = request.headers;
    check_line_ends(&buffer[..len], method, headers)?;
    let (authority, target) = origin_form(method, target)?;
    let framing = framing(headers, minor)?;
    Ok(Some(Head { method, target, authority, minor, headers, len, framing }))
}

/// The request line is complete.
fn has_line(buffer: &[u8]) -> bool {
    buffer.trim_ascii_start().contains(&b'\n')
}

/// An invalid version is malformed; an unsupported one has its own status.
fn version(buffer: &[u8]) -> Refused {
    let line = buffer.trim_ascii_start().split(|b| *b == b'\n').next().unwrap_or_default();
    let word = line.trim_ascii_end().rsplit(|b| *b == b' ').next().unwrap_or_default();
    match word {
        b"HTTP/1.1" | b"HTTP/1.0" => refused(400, "the request line is malformed"),
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor] if major.is_ascii_digit() && minor.is_ascii_digit() => {
            refused(505, "the request is not HTTP/1.0 or HTTP/1.1")
        }
        _ => refused(400, "the request line does not end with a version"),
    }
}

/// The parser takes a bare line feed for a line end; others do not, and would see another request.
fn check_line_ends(head: &[u8], method: &str, headers: &[httparse::Header<'_>]) -> Result<(), Refused> {
    let at = |text: &str| text.as_ptr() as usize - head.as_ptr() as usize;
    let (empty_lines, rest) = head.split_at(at(method));
    let lines_end = headers.iter().all(|h| head[..at(h.name)].ends_with(b"\r\n"));
    let all_end = lines_end && rest.ends_with(b"\r\n\r\n") && empty_lines.chunks(2).all(|pair| pair == b"\r\n");
    if all_end { Ok(()) } else { Err(refused(400, "a line of the request head ends without a carriage return")) }
}

/// `http://host/path` as a proxy's client sends it: the authority, and `/path`.
fn origin_form<'t>(method: &str, target: &'t str) -> Result<(Option<&'t str>, &'t str), Refused> {
    if !target.bytes().all(|b| b.is_ascii_graphic() && b != b'#') {
        return Err(refused(400, "the request target has a byte that no url has"));
    }
    if target.starts_with('/') || (target == "*" && method == "OPTIONS") {
        return Ok((None, target));
    }
    let Some((scheme, rest)) = target.split_once("://") else {
        return Err(refused(400, "the request target is neither a path nor an absolute url"));
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Err(refused(400, "the scheme of the request target is not http"));
    }
    if authority.is_empty() || !is_host(authority.as_bytes()) {
        return Err(refused(400, "the request target has no proper host"));
    }
    match path {
        "" => Ok((Some(authority), "/")),
        path if path.starts_with('/') => Ok((Some(authority), path)),
        _ => Err(refused(400, "the request target has a query without a path")),
    }
}

/// Bytes of a host's name (RFC 3986 section 3.2.2).
const HOST_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let others = b"-._~%!$&'()*+;=";
    let mut at = 0;
    while at < others.len() {
        table[others[at] as usize] = true;
        at += 1;
    }
    table
};

/// A name or an address, with or without a port (RFC 3986 section 3.2, without user information).
fn is_host(host: &[u8]) -> bool {
    let port = match host {
        [b'[', ..] => {
            let Some(end) = host.iter().position(|b| *b == b']') else { return false };
            let inside = &host[1..end];
            if inside.is_empty() || !inside.iter().all(|b| b.is_ascii_hexdigit() || b":.%".contains(b)) {
                return false;
            }
            &host[end + 1..]
        }
        _ => &host[host.iter().position(|b| !HOST_BYTES[*b as usize]).unwrap_or(host.len())..],
    };
    match port {
        [] => true,
        [b':', digits @ ..] => digits.len() <= 5 && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

fn framing(headers: &[httparse::Header<'_>], minor: u8) -> Result<Framing, Refused> {
    let mut fields = FramingFields::default();
    let (mut hosts, mut expect_continue) = (0, false);
    for h in headers {
        // Two names beside those that frame; their lengths tell others apart without a comparison.
        match h.name.len() {
            4 if h.name.eq_ignore_ascii_case("host") => {
                hosts += 1;
                if !is_host(h.value) {
                    return Err(refused(400, "the host header is not a host"));
                }
            }
            6 if h.name.eq_ignore_ascii_case("expect") => {
                if !h.value.eq_ignore_ascii_case(b"100-continue") {
                    return Err(refused(417, "the only expectation known is 100-continue"));
                }
                expect_continue = minor == 1;
            }
            _ => {
                fields.read(Role::Server, h.name.as_bytes(), h.value).map_err(|error| refusal(error, h.value))?;
            }
        }
    }
    if hosts > 1 || (minor == 1 && hosts == 0) {
        return Err(refused(400, "an HTTP/1.1 request needs exactly one host header"));
    }
    let body = match (fields.chunked, fields.length) {
        (true, Some(_)) => return Err(refused(400, "the request has both transfer-encoding and content-length")),
        (true, None) if minor == 0 => return Err(refused(400, "HTTP/1.0 has no transfer-encoding")),
        (true, None) => BodyFraming::Chunked,
        (false, Some(length)) if length > 0 => BodyFraming::Length(length),
        (false, _) => BodyFraming::None,
    };
    Ok(Framing { body, keep_alive: fields.keeps_alive(minor == 0), expect_continue })
}

// Cold: it makes a text for a client that did something wrong.
#[cold]
fn refusal(error: FramingError, value: &[u8]) -> Refused {
    match error {
        FramingError::Length => refused(400, "content-length is not a number"),
        FramingError::SecondLength(_) => refused(400, "the request has two content-length headers"),
        FramingError::Coding => coding(value),
    }
}

/// Transfer codings that are not chunked alone: 501 when chunked is at the end, once, behind codings that Onrush
/// does not know.
fn coding(value: &[u8]) -> Refused {
    let mut codings = value.split(|b| *b == b',').map(<[u8]>::trim_ascii);
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    let last = codings.next_back().is_some_and(is_chunked);
    let mut before = codings.peekable();
    if last && before.peek().is_some() && before.all(|c| is_token(c) && !is_chunked(c)) {
        return refused(501, "the only transfer coding known is chunked");
    }
    refused(400, "the transfer-encoding is not chunked once and at the end")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_HEAD: usize = 64 * 1024;

    fn framing_of(head: &str) -> Result<Option<Framing>, u16> {
        let mut room = header_room();
        parse_within(head.as_bytes(), &mut room, MAX_HEAD).map(|h| h.map(|h| h.framing)).map_err(|r| r.status)
    }

    #[test]
    fn reads_framing() {
        let table = [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", BodyFraming::None, true, false),
            ("GET / HTTP/1.0\r\n\r\n", BodyFraming::None, false, false),
            ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", BodyFraming::None, true, false),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", BodyFraming::None, false, false),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n", BodyFraming::Length(3), true, false),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", BodyFraming::None, true, false),
            (
                "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
                BodyFraming::Chunked,
                true,
                true,
            ),
        ];
        for (head, body, keep_alive, expect_continue) in table {
            assert_eq!(framing_of(head), Ok(Some(Framing { body, keep_alive, expect_continue })), "{head}");
        }
    }

    #[test]
    fn refuses_what_is_ambiguous() {
        let table = [
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
            ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
            ("PUT / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", 417),
            ("GET path HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ];
        for (head, status) in table {
            assert_eq!(framing_of(head), Err(status), "{head}");
        }
    }

    #[test]
    fn waits_for_the_empty_line_within_the_limit() {
        assert_eq!(framing_of("GET / HTTP/1.1\r\nHost: a\r\n"), Ok(None));
        let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}", "x".repeat(MAX_HEAD));
        assert_eq!(framing_of(&long), Err(431));
        assert_eq!(framing_of(&format!("{long}\r\n\r\n")), Err(431));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(MAX_HEADERS + 1));
        assert_eq!(framing_of(&many), Err(431));
    }

    #[test]
    fn cuts_the_absolute_form() {
        for (target, authority, path) in [
            ("http://a:1/b?c", Some("a:1"), "/b?c"),
            ("HTTPS://a", Some("a"), "/"),
            ("/x", None, "/x"),
            ("//a/b", None, "//a/b"),
        ] {
            assert_eq!(origin_form("GET", target), Ok((authority, path)));
        }
        assert_eq!(origin_form("OPTIONS", "*"), Ok((None, "*")));
        for target in
            ["*", "a", "a:80", "http:/a", "http:///a", "ftp://a/", "http://a@b/", "http://a?b", "/a#b", "/a\u{e9}"]
        {
            assert_eq!(origin_form("GET", target).map_err(|r| r.status), Err(400), "{target}");
        }
    }

    #[test]
    fn hosts() {
        for host in ["", "a", "a.b-c_d:80", "127.0.0.1:", "[::1]", "[fe80::1]:8080", "%41"] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in
            ["a b", "a,b", "a/b", "a@b", "a:b", "a:123456", "[::1", "[::1]x", "[]", "[g]", "a:1:2", "a\"", "<a>"]
        {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
    }
    #[test]
    fn a_head_is_complete_at_its_last_byte() {
        let head = "\r\nOPTIONS HTTP://b:1/c?d HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nx-a: 2\r\nE:\r\n\r\n";
        for cut in 0..head.len() {
            let mut room = header_room();
            assert!(parse(&head.as_bytes()[..cut], &mut room).unwrap().is_none(), "cut at {cut}");
        }
        let (bytes, mut room) = (format!("{head}GET"), header_room());
        let found = parse(bytes.as_bytes(), &mut room).unwrap().unwrap();
        assert_eq!((found.method, found.authority, found.target), ("OPTIONS", Some("b:1"), "/c?d"));
        assert_eq!((found.minor, found.len, found.headers.len()), (1, head.len(), 4));
        let values = ["host", "X-a", "e", "b"].map(|name| found.header(name));
        assert_eq!(values, [Some(&b"a"[..]), Some(b"1"), Some(b""), None]);
    }

    #[test]
    fn the_limit_is_the_last_byte_of_a_head() {
        let of = |bytes: &str, limit| {
            let mut room = header_room();
            parse_within(bytes.as_bytes(), &mut room, limit).map(|head| head.map(|head| head.len))
        };
        let too_long = Err(Refused { status: 431, why: "the request head is longer than the limit" });
        let head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        assert_eq!(of(head, head.len()), Ok(Some(head.len())));
        assert_eq!(of(&format!("{head}body"), head.len()), Ok(Some(head.len())));
        assert_eq!(of(head, head.len() - 1), too_long);
        assert_eq!((of("GET / HTTP/1.1\r\n", 16), of("GET / HTTP/1.1\r\n", 15)), (Ok(None), too_long));
        let fields = |n| format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "A: b\r\n".repeat(n));
        assert!(of(&fields(127), MAX_HEAD).unwrap().is_some());
        let many = Err(Refused { status: 431, why: "the request has more than 128 headers" });
        assert_eq!(of(&fields(128), MAX_HEAD), many);
    }

    #[test]
    fn a_version_is_judged_when_its_line_is_whole() {
        let of = |bytes: &str, limit| {
            let mut room = header_room();
            parse_within(bytes.as_bytes(), &mut room, limit).map(|head| head.is_some())
        };
        for (line, status, why) in [
            ("GET / HTTP/2.0", 505, "the request is not HTTP/1.0 or HTTP/1.1"),
            ("\r\nGET / HTTP/0.9", 505, "the request is not HTTP/1.0 or HTTP/1.1"),
            ("GET / HTTP/1.x", 400, "the request line does not end with a version"),
            ("GET / HTTP/x.1", 400, "the request line does not end with a version"),
            ("GET / http/1.1", 400, "the request line does not end with a version"),
            ("GET /a b HTTP/1.1", 400, "the request line is malformed"),
            ("GET /a b HTTP/1.0", 400, "the request line is malformed"),
        ] {
            for cut in 0..=line.len() {
                assert_eq!(of(&line[..cut], MAX_HEAD), Ok(false), "{line:?} cut at {cut}");
            }
            let refused = Err(Refused { status, why });
            assert_eq!(of(&format!("{line}\r\n"), MAX_HEAD), refused, "{line:?}");
            assert_eq!(of(&format!("{line}\nHost: a\r\n\r\n"), MAX_HEAD), refused, "{line:?}");
        }
        // A client that sends no line end waits no longer than the limit lets it.
        assert_eq!(of("GET / HTTP/2.0", 14), Ok(false));
        assert!(of("GET / HTTP/2.0", 13).is_err());
    }

    /// RFC 9112 2.2 lets a reader take a bare line feed for a line end; one that does sees another request than one
    /// that does not.
    #[test]
    fn lines_end_with_both_bytes() {
        let refused = Refused { status: 400, why: "a line of the request head ends without a carriage return" };
        for head in [
            "GET / HTTP/1.1\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\n",
            "GET / HTTP/1.0\n\n",
            "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "\r\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        ] {
            let mut room = header_room();
            assert_eq!(parse(head.as_bytes(), &mut room).unwrap_err(), refused, "{head:?}");
        }
        let mut room = header_room();
        assert!(parse(b"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &mut room).unwrap().is_some());
    }

    #[test]
    fn what_is_refused_is_named() {
        let why = |head: &str| {
            let mut room = header_room();
            parse(head.as_bytes(), &mut room).map(|head| head.is_some()).map_err(|refused| refused.why)
        };
        let one_host = Err("an HTTP/1.1 request needs exactly one host header");
        assert_eq!(why("GET / HTTP/1.1\r\n\r\n"), one_host);
        assert_eq!(why("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), one_host);
        assert_eq!(why("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"), one_host);
        assert_eq!(why("GET / HTTP/1.0\r\nHost: a\r\n\r\n"), Ok(true));
        for (line, refused) in [
            ("Host: a b", "the host header is not a host"),
            ("Expect: tea", "the only expectation known is 100-continue"),
            ("Content-Length: 1x", "content-length is not a number"),
            ("Content-Length: 1\r\nContent-Length: 1", "the request has two content-length headers"),
            (
                "Content-Length: 1\r\nTransfer-Encoding: chunked",
                "the request has both transfer-encoding and \
                content-length",
            ),
            ("Transfer-Encoding: gzip, chunked", "the only transfer coding known is chunked"),
            ("Transfer-Encoding: chunked, chunked", "the transfer-encoding is not chunked once and at the end"),
            ("Transfer-Encoding: chunked, gzip", "the transfer-encoding is not chunked once and at the end"),
            ("Transfer-Encoding: a b, chunked", "the transfer-encoding is not chunked once and at the end"),
            ("Transfer-Encoding: , chunked", "the transfer-encoding is not chunked once and at the end"),
            ("Transfer-Encoding:", "the transfer-encoding is not chunked once and at the end"),
        ] {
            assert_eq!(why(&format!("PUT / HTTP/1.1\r\n{line}\r\nHost: a\r\n\r\n")), Err(refused), "{line}");
        }
        let chunked = "PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(why(chunked), Err("HTTP/1.0 has no transfer-encoding"));
        let expects = "PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n";
        assert!(
            !framing_of(expects).unwrap().unwrap().expect_continue,
            "an HTTP/1.0 client knows no 100 (RFC 9110 10.1.1)"
        );
    }
}
