//! What came back. The head is kept as received, or written as HTTP/1.1 would have it where it came by HTTP/2; fields
//! are found in it when somebody asks.
//!
//! Invariant: `head` was accepted by the decoder, so every line but the first has a colon and the last is empty.

use std::fmt;
use std::ops::Deref;

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
    Kept(Content),
    /// Read and not kept (dropped, or given to a sink); the response had this many bytes of body on the wire.
    Discarded(u64),
    /// The message has no body by definition: HEAD, 1xx, 204, 304.
    None,
}

/// The bytes of a body. Short ones lie in the response itself: most answers of an API need no memory of their own.
#[derive(Clone)]
pub struct Content(Stored);

#[derive(Clone)]
enum Stored {
    Short(u8, [u8; SHORT]),
    Long(Bytes),
}

/// Bytes that lie in the response at most.
const SHORT: usize = 94;

impl Content {
    /// A copy of these bytes.
    #[inline]
    pub fn copy_of(bytes: &[u8]) -> Content {
        if bytes.len() > SHORT {
            return Content(Stored::Long(Bytes::copy_from_slice(bytes)));
        }
        let mut short = [0; SHORT];
        short[..bytes.len()].copy_from_slice(bytes);
        Content(Stored::Short(bytes.len() as u8, short))
    }

    /// The bytes as others share them.
    pub fn to_bytes(&self) -> Bytes {
        match &self.0 {
            Stored::Short(..) => Bytes::copy_from_slice(self),
            Stored::Long(bytes) => bytes.clone(),
        }
    }
}

impl Default for Content {
    fn default() -> Content {
        Content::from(Bytes::new())
    }
}

impl Deref for Content {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Stored::Short(length, bytes) => &bytes[..usize::from(*length)],
            Stored::Long(bytes) => bytes,
        }
    }
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Content {
        Content(Stored::Long(bytes))
    }
}

impl From<Content> for Bytes {
    fn from(content: Content) -> Bytes {
        match content.0 {
            Stored::Short(..) => content.to_bytes(),
            Stored::Long(bytes) => bytes,
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Bytes::copy_from_slice(self).fmt(f)
    }
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
    fn bytes_are_the_same_wherever_they_lie() {
        let bytes: Vec<u8> = (0..=u8::MAX).collect();
        for length in [0, 1, SHORT - 1, SHORT, SHORT + 1, 256] {
            let content = Content::copy_of(&bytes[..length]);
            assert_eq!((&*content, matches!(content.0, Stored::Short(..))), (&bytes[..length], length <= SHORT));
            assert_eq!((&content.to_bytes()[..], &Bytes::from(content)[..]), (&bytes[..length], &bytes[..length]));
        }
        assert_eq!(format!("{:?}", Content::copy_of(b"a\0")), "b\"a\\0\"");
        assert!(Content::default().is_empty());
    }

    #[test]
    fn a_missing_reason_is_empty() {
        assert_eq!(with_head("HTTP/1.1 200\r\n\r\n").reason(), "");
        assert_eq!(with_head("HTTP/1.1 200 \r\n\r\n").reason(), "");
        assert_eq!(with_head("HTTP/1.1  200 All fine\r\n\r\n").reason(), "All fine");
    }
}
