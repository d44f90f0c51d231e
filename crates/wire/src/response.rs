//! What came back. The head is kept as received, or written as HTTP/1.1 would have it where it came by HTTP/2; fields
//! are found in it when somebody asks.
//!
//! Invariant: `head` was accepted by the decoder, so every line but the first has a colon and the last is empty.

use bytes::Bytes;

/// A complete response; header fields are found in its head when asked for.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// `HTTP/1.1`, `HTTP/1.0` or `HTTP/2.0`.
    pub proto: &'static str,
    /// The head, status line included, up to and including the empty line.
    pub head: Bytes,
    /// The body.
    pub body: Body,
}

/// A response body.
#[derive(Clone, Debug)]
pub enum Body {
    /// Decoded bytes.
    Kept(Bytes),
    /// Read and not kept (dropped, or given to a sink); the response had this many bytes of body on the wire.
    Discarded(u64),
    /// The message has no body by definition: HEAD, 1xx, 204, 304.
    None,
}

/// The fields the client acts upon, noticed while the head was parsed anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// There is a Set-Cookie.
    pub(crate) sets_cookie: bool,
    /// There is a Content-Encoding.
    pub(crate) is_coded: bool,
}

impl Response {
    /// Header fields in order of arrival, names as sent, values trimmed. Trailers are not included.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let fields = lines(&self.head).skip(1);
        fields.filter_map(|line| {
            let colon = line.iter().position(|b| *b == b':')?;
            let name = std::str::from_utf8(&line[..colon]).ok()?;
            Some((name, line[colon + 1..].trim_ascii()))
        })
    }

    /// The first field of that name, compared without case.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v)
    }

    /// Reason phrase of the status line; empty when there was none.
    pub fn reason(&self) -> &str {
        let line = lines(&self.head).next().unwrap_or_default();
        let behind = |text: &[u8]| text.iter().position(|b| *b == b' ').map_or(text.len(), |space| space + 1);
        // Servers may put more than one space before the status.
        let status = line[behind(line)..].trim_ascii_start();
        let reason = &status[behind(status)..];
        std::str::from_utf8(reason).map_or("", str::trim)
    }
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_head(head: &'static str) -> Response {
        Response { status: 200, proto: "HTTP/1.1", head: Bytes::from_static(head.as_bytes()), body: Body::None }
    }

    #[test]
    fn fields_keep_order_and_case() {
        let response = with_head("HTTP/1.1 200 All fine\r\nX-A:  1 \r\nx-b:\r\nX-A: 2\n\r\n");
        let fields: Vec<_> = response.headers().collect();
        assert_eq!(fields, [("X-A", &b"1"[..]), ("x-b", b""), ("X-A", b"2")]);
        assert_eq!(response.header("x-a"), Some(&b"1"[..]));
        assert_eq!(response.header("x-c"), None);
        assert_eq!(response.reason(), "All fine");
    }

    #[test]
    fn a_missing_reason_is_empty() {
        assert_eq!(with_head("HTTP/1.1 200\r\n\r\n").reason(), "");
        assert_eq!(with_head("HTTP/1.1 200 \r\n\r\n").reason(), "");
        assert_eq!(with_head("HTTP/1.1  200 All fine\r\n\r\n").reason(), "All fine");
    }
}
