//! Heads between the forms that a message has in HTTP/1.1 and in HTTP/2.
//!
//! A request's head is made once, as HTTP/1.1 writes it, and read here: Host becomes `:authority`, fields that belong
//! to a connection are left out, and those that would ask for more are refused in Go's words. A response's head is kept
//! as text, as one of HTTP/1.1 is.

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, COOKIE, HeaderName, HeaderValue, SET_COOKIE};
use http::uri::PathAndQuery;
use http::{HeaderMap, Request, Uri};

use crate::failure::{Failure, FailureKind, Step};
use crate::field::push_decimal;
use crate::h1::reason::reason;
use crate::response::Marks;

/// The head of a request, ready for a stream.
pub(crate) struct Http2Head(pub(crate) Request<()>);

/// Bytes that Go sends in a query as they are, and the `http` crate refuses.
const UNQUOTED: &[u8] = b"\"<>\\^`{|}";

impl Http2Head {
    /// From a head of HTTP/1.1 as `RequestHead` encodes it.
    pub(crate) fn read(head: &[u8], tls: bool) -> Result<Http2Head, Failure> {
        let mut lines = head.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let mut words = lines.next().unwrap_or_default().split(|b| *b == b' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut headers = HeaderMap::with_capacity(8);
        let mut authority: &[u8] = b"";
        for line in lines.take_while(|line| !line.is_empty()) {
            let colon = line.iter().position(|b| *b == b':').unwrap_or(line.len());
            let (name, value) = (&line[..colon], line.get(colon + 2..).unwrap_or_default());
            if name.eq_ignore_ascii_case(b"host") {
                authority = value;
            } else if !is_of_connection(name, value)? {
                add(&mut headers, name, value)?;
            }
        }
        let mut request = Request::new(());
        *request.method_mut() = http::Method::from_bytes(method).map_err(|_| refused("method", method))?;
        *request.uri_mut() = uri(authority, target, tls)?;
        *request.headers_mut() = headers;
        *request.version_mut() = http::Version::HTTP_2;
        Ok(Http2Head(request))
    }
}

fn uri(authority: &[u8], target: &[u8], tls: bool) -> Result<Uri, Failure> {
    let path = PathAndQuery::try_from(target).or_else(|_| PathAndQuery::try_from(&*quoted(target)));
    let path = path.map_err(|_| refused("request target", target))?;
    let parts = Uri::builder().scheme(if tls { "https" } else { "http" }).authority(authority).path_and_query(path);
    parts.build().map_err(|_| refused("Host", authority))
}

fn quoted(target: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(target.len() + 16);
    for b in target {
        match b {
            b if UNQUOTED.contains(b) => out.extend_from_slice(format!("%{b:02X}").as_bytes()),
            b => out.push(*b),
        }
    }
    out
}

fn refused(what: &str, value: &[u8]) -> Failure {
    let message = format!("http2: invalid {what} \"{}\"", value.escape_ascii());
    Failure { step: Step::Prepare, kind: FailureKind::Other, message }
}

/// Whether the field says something of the connection alone, which HTTP/2 says in frames (RFC 9113 8.2.2). Refuses what
/// asks for another protocol or another framing.
fn is_of_connection(name: &[u8], value: &[u8]) -> Result<bool, Failure> {
    let is = |expected: &str| name.eq_ignore_ascii_case(expected.as_bytes());
    let says = |allowed: &[&str]| value.is_empty() || allowed.iter().any(|a| value.eq_ignore_ascii_case(a.as_bytes()));
    let refuse = |name: &str| {
        let message = format!("http2: invalid {name} request header: [\"{}\"]", value.escape_ascii());
        Err(Failure { step: Step::Prepare, kind: FailureKind::Other, message })
    };
    match name.len() {
        2 if is("te") && !says(&["trailers"]) => refuse("TE"),
        7 if is("upgrade") && !says(&["chunked"]) => refuse("Upgrade"),
        10 if is("connection") && !says(&["close", "keep-alive"]) => refuse("Connection"),
        17 if is("transfer-encoding") && !says(&["chunked"]) => refuse("Transfer-Encoding"),
        7 => Ok(is("upgrade")),
        10 => Ok(is("connection") || is("keep-alive")),
        16 => Ok(is("proxy-connection")),
        17 => Ok(is("transfer-encoding")),
        _ => Ok(false),
    }
}

fn add(headers: &mut HeaderMap, name: &[u8], value: &[u8]) -> Result<(), Failure> {
    let name = HeaderName::from_bytes(name).map_err(|_| refused("header field name", name))?;
    let mut put = |value: &[u8]| {
        let field = HeaderValue::from_bytes(value).map_err(|_| refused("header field value", value))?;
        headers.append(name.clone(), field);
        Ok(())
    };
    if name != COOKIE {
        return put(value);
    }
    // One field a cookie, which HPACK then knows each for itself (RFC 9113 8.2.3).
    value.split(|b| *b == b';').map(<[u8]>::trim_ascii).filter(|crumb| !crumb.is_empty()).try_for_each(put)
}

/// The head of a response as text.
pub(crate) fn response_text(status: u16, headers: &HeaderMap) -> (Bytes, Marks) {
    let len = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>();
    let mut out = Vec::with_capacity(len + 48);
    out.extend_from_slice(b"HTTP/2.0 ");
    push_decimal(&mut out, u64::from(status));
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    out.extend_from_slice(b"\r\n");
    let mut marks = Marks::default();
    for (name, value) in headers {
        marks.sets_cookie |= *name == SET_COOKIE;
        marks.is_coded |= *name == CONTENT_ENCODING;
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            out.extend_from_slice(part);
        }
    }
    out.extend_from_slice(b"\r\n");
    (Bytes::from(out), marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &str) -> Result<Request<()>, String> {
        let head = format!("GET /a?b=<c> HTTP/1.1\r\nHost: h.test:8\r\n{fields}\r\n");
        Http2Head::read(head.as_bytes(), true).map(|head| head.0).map_err(|failure| failure.message)
    }

    #[test]
    fn the_host_is_the_authority_and_a_query_is_made_fit() {
        let request = read("User-Agent: t\r\nX-A: b\r\n").unwrap();
        assert_eq!(request.uri().to_string(), "https://h.test:8/a?b=%3Cc%3E");
        let fields: Vec<_> = request.headers().iter().map(|(n, v)| (n.as_str(), v.to_str().unwrap())).collect();
        assert_eq!(fields, [("user-agent", "t"), ("x-a", "b")]);
    }

    #[test]
    fn fields_of_the_connection_stay_out_and_cookies_are_split() {
        let request = read(
            "Connection: Close\r\nKeep-Alive: 1\r\nProxy-Connection: x\r\nTransfer-Encoding: chunked\r\n\
             Cookie: a=1; b=2;c=3\r\nTE: trailers\r\n",
        )
        .unwrap();
        let fields: Vec<_> = request.headers().iter().map(|(n, v)| (n.as_str(), v.to_str().unwrap())).collect();
        assert_eq!(fields, [("cookie", "a=1"), ("cookie", "b=2"), ("cookie", "c=3"), ("te", "trailers")]);
    }

    #[test]
    fn what_http2_has_no_form_for_is_refused_in_gos_words() {
        for (field, message) in [
            ("TE: gzip", "http2: invalid TE request header: [\"gzip\"]"),
            ("Upgrade: foo", "http2: invalid Upgrade request header: [\"foo\"]"),
            ("Connection: upgrade", "http2: invalid Connection request header: [\"upgrade\"]"),
            ("Transfer-Encoding: gzip", "http2: invalid Transfer-Encoding request header: [\"gzip\"]"),
        ] {
            assert_eq!(read(&format!("{field}\r\n")).unwrap_err(), message);
        }
    }
}
