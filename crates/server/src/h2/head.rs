//! Between the header fields of HTTP/2 and the lines that routes and apps know.
//!
//! Incoming: `:authority` becomes `host`, crumbs of `cookie` one line (RFC 9113, 8.2.3). Outgoing: names in lower case,
//! lines that belong to an HTTP/1.1 connection left out, bytes that a value must not have replaced by spaces.

use std::cell::RefCell;
use std::iter;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, StatusCode};

use crate::outgoing::respond::{Line, Response, is_senders};
use wire::h1::framing::BodyFraming;
use wire::h1::request_head::{Framing, Head};

/// Headers of an HTTP/1.1 connection, which HTTP/2 forbids (RFC 9113, 8.2.2), besides those that are the sender's
/// anyway.
const OF_CONNECTION: [&str; 3] = ["proxy-connection", "te", "upgrade"];

/// Method and target of a request.
pub(crate) fn method_and_target(parts: &Parts) -> (&str, &str) {
    let target = parts.uri.path_and_query().map(http::uri::PathAndQuery::as_str);
    let target = if parts.method == Method::CONNECT { parts.uri.authority().map(|a| a.as_str()) } else { target };
    (parts.method.as_str(), target.unwrap_or("/"))
}

/// The value of a `cookie` line when it came in several.
pub(crate) fn joined_cookies(headers: &HeaderMap) -> Option<Vec<u8>> {
    let mut crumbs = headers.get_all(header::COOKIE).iter().map(HeaderValue::as_bytes);
    let first = crumbs.next()?;
    let second = crumbs.next()?;
    let mut all = [first, b"; ", second].concat();
    crumbs.for_each(|crumb| all.extend_from_slice(&[b"; ", crumb].concat()));
    Some(all)
}

/// The lines of a request: `host` first, then as sent. `cookies` is what `joined_cookies` gave.
pub(crate) fn lines<'p>(parts: &'p Parts, cookies: Option<&'p [u8]>) -> impl Iterator<Item = (&'p str, &'p [u8])> {
    let authority = parts.uri.authority().map(|a| ("host", a.as_str().as_bytes()));
    let has_authority = authority.is_some();
    let replaced = move |name: &HeaderName| match *name {
        header::HOST => has_authority,
        header::COOKIE => cookies.is_some(),
        _ => false,
    };
    let sent = parts.headers.iter().filter(move |(name, _)| !replaced(name));
    let sent = sent.map(|(name, value)| (name.as_str(), value.as_bytes()));
    iter::chain(authority, iter::chain(sent, cookies.map(|all| ("cookie", all))))
}

/// The head as routes see it.
pub(crate) fn head<'b, 'h>(parts: &'b Parts, lines: &'h [httparse::Header<'b>]) -> Head<'b, 'h> {
    let (method, target) = method_and_target(parts);
    let framing = Framing { body: BodyFraming::None, keep_alive: true, expect_continue: false };
    Head { method, target, authority: None, minor: 1, headers: lines, len: 0, framing }
}

/// The length a request declares; the `h2` crate has refused invalid lengths.
pub(crate) fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The client holds the body back until it hears 100 Continue.
pub(crate) fn expects_continue(headers: &HeaderMap) -> bool {
    headers.get(header::EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// The head of a response. `length` is left out where the status has none.
pub(crate) fn of_response(response: &Response, length: Option<u64>) -> http::Response<()> {
    let mut head = empty(response.status);
    let headers = head.headers_mut();
    headers.reserve(response.headers.len() + 4);
    headers.insert(header::SERVER, HeaderValue::from_static("onrush"));
    headers.insert(header::DATE, date());
    if let Some(length) = length {
        headers.insert(header::CONTENT_LENGTH, length.into());
    }
    if let Some(content_type) = &response.content_type {
        headers.append(header::CONTENT_TYPE, value(content_type.as_bytes()));
    }
    append(headers, &response.headers);
    head
}

/// An interim response.
pub(crate) fn interim(status: u16, lines: &[Line]) -> http::Response<()> {
    let mut head = empty(status);
    append(head.headers_mut(), lines);
    head
}

/// Trailers.
pub(crate) fn map(lines: &[Line]) -> HeaderMap {
    let mut map = HeaderMap::with_capacity(lines.len());
    append(&mut map, lines);
    map
}

fn empty(status: u16) -> http::Response<()> {
    let mut head = http::Response::new(());
    // What is no status of HTTP cannot be sent: a server's error it is.
    *head.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    head
}

fn append(headers: &mut HeaderMap, lines: &[Line]) {
    for (name, text) in lines {
        if let Ok(name) = HeaderName::from_bytes(name.as_bytes())
            && !OF_CONNECTION.contains(&name.as_str())
            && !is_senders(name.as_str())
        {
            headers.append(name, value(text.as_bytes()));
        }
    }
}

/// Control characters would break the message when a proxy passes it on: they become spaces.
fn value(bytes: &[u8]) -> HeaderValue {
    HeaderValue::from_bytes(bytes).unwrap_or_else(|_| {
        let clean: Vec<u8> = bytes.iter().map(|b| if b.is_ascii_control() { b' ' } else { *b }).collect();
        HeaderValue::from_bytes(&clean).expect("no control characters are left")
    })
}

/// The `Date` value, made once a second a thread.
fn date() -> HeaderValue {
    thread_local!(static LAST: RefCell<Option<([u8; 29], HeaderValue)>> = const { RefCell::new(None) });
    let now = crate::outgoing::date::date();
    LAST.with_borrow_mut(|last| match last {
        Some((text, value)) if *text == now => value.clone(),
        _ => {
            let value = HeaderValue::from_bytes(&now).expect("a date is ASCII");
            *last = Some((now, value.clone()));
            value
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(uri: &str, headers: &[(&'static str, &'static str)]) -> Parts {
        let mut request = http::Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn authority_and_cookies_become_lines() {
        let parts = parts("https://a:1/p?q", &[("host", "b"), ("cookie", "x=1"), ("x-a", "1"), ("cookie", "y=2")]);
        let cookies = joined_cookies(&parts.headers);
        let lines: Vec<_> = lines(&parts, cookies.as_deref()).collect();
        let want: [(&str, &[u8]); 3] = [("host", b"a:1"), ("x-a", b"1"), ("cookie", b"x=1; y=2")];
        assert_eq!(lines, want);
        assert_eq!(method_and_target(&parts), ("GET", "/p?q"));
    }

    #[test]
    fn one_cookie_line_stays_as_it_is() {
        let parts = parts("/", &[("cookie", "x=1"), ("host", "b")]);
        assert_eq!(joined_cookies(&parts.headers), None);
        let lines: Vec<_> = lines(&parts, None).collect();
        let want: [(&str, &[u8]); 2] = [("cookie", b"x=1"), ("host", b"b")];
        assert_eq!(lines, want);
    }

    #[test]
    fn lines_of_the_connection_are_left_out() {
        let response = Response::text(200, "x")
            .header("Connection", "close")
            .header("X-Forged", "a\r\nb: c")
            .header("Content-Length", "7")
            .header("not a name", "x");
        let head = of_response(&response, Some(1));
        let headers = head.headers();
        assert_eq!(headers["content-length"], "1");
        assert_eq!(headers["x-forged"], "a  b: c");
        let names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["server", "date", "content-length", "content-type", "x-forged"]);
    }
}
