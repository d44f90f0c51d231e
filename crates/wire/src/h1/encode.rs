//! Message heads as bytes. Content-Length, Transfer-Encoding and Connection are the sender's own business.
//!
//! Requests go out in the order Go writes them: Host, User-Agent, Content-Length, then the rest. Names that are not
//! tokens and values with line breaks or NUL would break the message apart: in a request they are refused, since a
//! script gave them; in a response line breaks become spaces, since a query parameter may have brought them
//! (`/response-headers`).

use super::framing::BodyFraming;
use super::reason::reason;
use crate::failure::{Failure, FailureKind, Step};
use crate::request::Method;
use crate::syntax::field::{is_token, is_value, push_decimal};

/// What a request head is made of.
pub(crate) struct RequestHead<'a> {
    /// Method.
    pub(crate) method: &'a Method,
    /// Request target: origin form, or absolute form for a plain proxy.
    pub(crate) target: &'a str,
    /// Host, unless the headers bring one.
    pub(crate) authority: &'a str,
    /// User-Agent, unless the headers bring one; empty: none is sent. `ClientContext::new` has checked it.
    pub(crate) user_agent: &'a str,
    /// The caller's headers.
    pub(crate) headers: &'a [(String, String)],
    /// What the client adds: Cookie, Authorization, Referer …
    pub(crate) added: &'a [(&'a str, &'a str)],
    /// Content-Length, where there is a body to announce.
    pub(crate) body_len: Option<u64>,
    /// Announce that the connection will not be kept.
    pub(crate) close: bool,
}

impl RequestHead<'_> {
    /// Appends the head, empty line included.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> Result<(), Failure> {
        let (mut host, mut agent) = (self.authority, self.user_agent);
        for (name, value) in self.headers {
            check_field(name, value)?;
            if name.eq_ignore_ascii_case("host") {
                host = value;
            } else if name.eq_ignore_ascii_case("user-agent") {
                agent = value;
            }
        }
        self.added.iter().try_for_each(|(name, value)| check_field(name, value))?;
        if !is_token(self.method.as_str().as_bytes()) {
            let message = format!("net/http: invalid method \"{}\"", self.method.as_str().escape_debug());
            return Err(Failure { step: Step::Prepare, kind: FailureKind::Other, message });
        }
        out.extend_from_slice(self.method.as_str().as_bytes());
        out.push(b' ');
        out.extend_from_slice(self.target.as_bytes());
        out.extend_from_slice(b" HTTP/1.1\r\n");
        field(out, "Host", host);
        if !agent.is_empty() {
            field(out, "User-Agent", agent);
        }
        if let Some(length) = self.body_len {
            content_length(out, length);
        }
        for (name, value) in self.headers.iter().filter(|(name, _)| !is_ours(name)) {
            field(out, name, value);
        }
        for (name, value) in self.added {
            field(out, name, value);
        }
        if self.close && !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("connection")) {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        out.extend_from_slice(b"\r\n");
        Ok(())
    }
}

fn field(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.trim_matches([' ', '\t']).as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Written from elsewhere than the caller's list.
fn is_ours(name: &str) -> bool {
    ["host", "user-agent", "content-length", "transfer-encoding", "trailer"]
        .iter()
        .any(|n| n.eq_ignore_ascii_case(name))
}

fn check_field(name: &str, value: &str) -> Result<(), Failure> {
    let refuse = |message| Err(Failure { step: Step::Prepare, kind: FailureKind::Other, message });
    if !is_token(name.as_bytes()) {
        return refuse(format!("net/http: invalid header field name \"{}\"", name.escape_debug()));
    }
    if !is_value(value) {
        return refuse(format!("net/http: invalid header field value for \"{}\"", name.escape_debug()));
    }
    Ok(())
}

/// What the connection line of a response says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// Nothing: an HTTP/1.1 connection stays open.
    Default,
    /// `keep-alive`, which an HTTP/1.0 client waits for.
    KeepAlive,
    /// `close`.
    Close,
}

/// Appends a response head: the status line, `own` (whole lines that each response of the server has), the framing,
/// `fields`.
pub fn response_head<'a>(
    out: &mut Vec<u8>,
    status: u16,
    own: &[u8],
    framing: BodyFraming,
    persistence: Persistence,
    fields: impl Iterator<Item = (&'a str, &'a [u8])>,
) {
    status_line(out, status);
    out.extend_from_slice(own);
    match framing {
        BodyFraming::None | BodyFraming::UntilClose => {}
        BodyFraming::Length(length) => content_length(out, length),
        BodyFraming::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
    }
    match persistence {
        Persistence::Default => {}
        Persistence::KeepAlive => out.extend_from_slice(b"Connection: keep-alive\r\n"),
        Persistence::Close => out.extend_from_slice(b"Connection: close\r\n"),
    }
    fields.for_each(|(name, value)| response_field(out, name, value));
    out.extend_from_slice(b"\r\n");
}

/// Appends an interim response (1xx) with its fields.
pub fn interim<'a>(out: &mut Vec<u8>, status: u16, fields: impl Iterator<Item = (&'a str, &'a [u8])>) {
    status_line(out, status);
    fields.for_each(|(name, value)| response_field(out, name, value));
    out.extend_from_slice(b"\r\n");
}

fn status_line(out: &mut Vec<u8>, status: u16) {
    if status == 200 {
        out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
        return;
    }
    out.extend_from_slice(b"HTTP/1.1 ");
    push_decimal(out, u64::from(status));
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Line breaks in a value would forge fields: they become spaces.
pub(super) fn response_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    let breaks = |b: &u8| matches!(b, b'\r' | b'\n' | 0);
    if value.iter().fold(false, |found, b| found | breaks(b)) {
        out.extend(value.iter().map(|b| if breaks(b) { b' ' } else { *b }));
    } else {
        out.extend_from_slice(value);
    }
    out.extend_from_slice(b"\r\n");
}

fn content_length(out: &mut Vec<u8>, length: u64) {
    out.extend_from_slice(b"Content-Length: ");
    push_decimal(out, length);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head<'a>(headers: &'a [(String, String)]) -> RequestHead<'a> {
        RequestHead {
            method: &Method::Get,
            target: "/a?b",
            authority: "h:1",
            user_agent: "agent",
            headers,
            added: &[],
            body_len: None,
            close: false,
        }
    }

    fn text(head: &RequestHead<'_>) -> String {
        let mut out = Vec::new();
        head.encode(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.into(), value.into())
    }

    #[test]
    fn the_plain_head() {
        assert_eq!(text(&head(&[])), "GET /a?b HTTP/1.1\r\nHost: h:1\r\nUser-Agent: agent\r\n\r\n");
    }

    #[test]
    fn headers_replace_host_and_agent_but_never_the_length() {
        let headers = [pair("HOST", "other"), pair("user-agent", ""), pair("Content-Length", "9"), pair("X-A", " v ")];
        let mut head = head(&headers);
        head.body_len = Some(120);
        assert_eq!(text(&head), "GET /a?b HTTP/1.1\r\nHost: other\r\nContent-Length: 120\r\nX-A: v\r\n\r\n");
    }

    #[test]
    fn added_fields_and_close_come_last() {
        let headers = [pair("a", "b")];
        let mut head = head(&headers);
        head.added = &[("Cookie", "x=1")];
        head.close = true;
        let expected =
            "GET /a?b HTTP/1.1\r\nHost: h:1\r\nUser-Agent: agent\r\na: b\r\nCookie: x=1\r\nConnection: close\r\n\r\n";
        assert_eq!(text(&head), expected);
    }

    #[test]
    fn a_connection_line_of_the_caller_is_the_only_one_and_framing_is_not_its_business() {
        let headers = [pair("CONNECTION", "upgrade"), pair("Transfer-Encoding", "chunked"), pair("trailer", "T")];
        let mut head = head(&headers);
        head.close = true;
        let expected = "GET /a?b HTTP/1.1\r\nHost: h:1\r\nUser-Agent: agent\r\nCONNECTION: upgrade\r\n\r\n";
        assert_eq!(text(&head), expected);
    }

    #[test]
    fn fields_that_would_split_the_message_are_refused() {
        let cases = [
            (pair("X\r\nY", "v"), "net/http: invalid header field name \"X\\r\\nY\""),
            (pair("", "v"), "net/http: invalid header field name \"\""),
            (pair("X", "a\r\nB: c"), "net/http: invalid header field value for \"X\""),
            (pair("X", "a\0"), "net/http: invalid header field value for \"X\""),
        ];
        for (bad, message) in cases {
            let headers = [bad];
            let failure = head(&headers).encode(&mut Vec::new()).unwrap_err();
            assert_eq!((failure.message.as_str(), failure.step), (message, Step::Prepare));
        }
        let method = Method::Other("GET /x".into());
        let failure = RequestHead { method: &method, ..head(&[]) }.encode(&mut Vec::new()).unwrap_err();
        assert_eq!(failure.message, "net/http: invalid method \"GET /x\"");
        let mut added = head(&[]);
        added.added = &[("Cookie", "a=b\r\nX: y")];
        let failure = added.encode(&mut Vec::new()).unwrap_err();
        assert_eq!(failure.message, "net/http: invalid header field value for \"Cookie\"");
    }

    #[test]
    fn a_response_head_says_how_it_is_framed_and_whether_the_connection_goes_on() {
        let head = |status, framing, persistence| {
            let mut out = Vec::new();
            let fields = [("A", &b"b\r\nC: d"[..])];
            response_head(&mut out, status, b"Server: s\r\n", framing, persistence, fields.into_iter());
            String::from_utf8(out).unwrap()
        };
        let table = [
            (BodyFraming::None, Persistence::Default, ""),
            (BodyFraming::UntilClose, Persistence::Close, "Connection: close\r\n"),
            (BodyFraming::Length(0), Persistence::KeepAlive, "Content-Length: 0\r\nConnection: keep-alive\r\n"),
            (BodyFraming::Chunked, Persistence::Default, "Transfer-Encoding: chunked\r\n"),
        ];
        for (framing, persistence, lines) in table {
            // A value cannot forge a field.
            let expected = format!("HTTP/1.1 200 OK\r\nServer: s\r\n{lines}A: b  C: d\r\n\r\n");
            assert_eq!(head(200, framing, persistence), expected);
        }
        assert!(head(418, BodyFraming::None, Persistence::Default).starts_with("HTTP/1.1 418 I'm a teapot\r\n"));
        let mut out = Vec::new();
        interim(&mut out, 103, [("Link", &b"<a>"[..])].into_iter());
        assert_eq!(out, b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n");
    }
}
