//! Request heads as bytes, in the order Go writes them: Host, User-Agent, Content-Length, then the rest.
//!
//! Refuses what would break the message apart: names that are not tokens, values with line breaks or NUL, with k6's words.
//! Content-Length and Transfer-Encoding are the client's own business; a caller's are left out.

use crate::failure::{Failure, FailureKind, Step};
use crate::field::{is_token, is_value, push_decimal};
use crate::request::Method;

/// What a request head is made of.
pub(crate) struct RequestHead<'a> {
    /// Method.
    pub(crate) method: &'a Method,
    /// Request target: origin form, or absolute form for a plain proxy.
    pub(crate) target: &'a str,
    /// Host, unless the headers bring one.
    pub(crate) authority: &'a str,
    /// User-Agent, unless the headers bring one; empty: none is sent. `Worker::new` has checked it.
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
            out.extend_from_slice(b"Content-Length: ");
            push_decimal(out, length);
            out.extend_from_slice(b"\r\n");
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
        let mut added = head(&[]);
        added.added = &[("Cookie", "a=b\r\nX: y")];
        let failure = added.encode(&mut Vec::new()).unwrap_err();
        assert_eq!(failure.message, "net/http: invalid header field value for \"Cookie\"");
    }
}
