//! What a route answers, as a value: the connection carries it out.
//!
//! Routes never touch the socket and never wait; delays and streams are data. So every route is a plain function from a request
//! to a reply, and the rule that a ready piece is never held back lives in one place (`connection.rs`).

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;

use crate::fault::Fault;

/// JSON as go-httpbin names it.
pub(crate) const JSON: &str = "application/json; charset=utf-8";
/// Plain text.
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
/// Anything.
pub(crate) const BINARY: &str = "application/octet-stream";

/// What a route wants to happen.
#[derive(Debug)]
pub(crate) enum Reply {
    Respond(Box<Response>),
    Fault(Fault),
}

/// A header or trailer line.
pub(crate) type Line = (Cow<'static, str>, Cow<'static, str>);

/// A correct response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<Line>,
    pub(crate) content_type: Option<Cow<'static, str>>,
    pub(crate) body: Body,
    /// Sent after a chunked body; makes the body chunked.
    pub(crate) trailers: Vec<Line>,
    /// Headers of a `103 Early Hints` that goes out first.
    pub(crate) early: Vec<Line>,
    /// Waits so long before the first byte.
    pub(crate) after: Duration,
}

/// The body of a response.
pub(crate) enum Body {
    Static(&'static [u8]),
    Bytes(Vec<u8>),
    Pieces(Pieces),
}

/// A body made while it is sent.
pub(crate) struct Pieces {
    /// Declared in advance; chunked coding without it.
    pub(crate) length: Option<u64>,
    pub(crate) pieces: Box<dyn Iterator<Item = Piece> + Send>,
}

/// One run of bytes, ready after a wait.
pub(crate) struct Piece {
    pub(crate) wait: Duration,
    pub(crate) bytes: Cow<'static, [u8]>,
}

impl Response {
    pub(crate) fn new(status: u16, content_type: &'static str, body: Body) -> Self {
        Response {
            status,
            headers: Vec::new(),
            content_type: Some(Cow::Borrowed(content_type)),
            body,
            trailers: Vec::new(),
            early: Vec::new(),
            after: Duration::ZERO,
        }
    }

    pub(crate) fn empty(status: u16) -> Self {
        Response { content_type: None, ..Response::new(status, TEXT, Body::Static(b"")) }
    }

    pub(crate) fn text(status: u16, text: &'static str) -> Self {
        Response::new(status, TEXT, Body::Static(text.as_bytes()))
    }

    pub(crate) fn json(status: u16, value: &Value) -> Self {
        Response::new(status, JSON, Body::Bytes(pretty(value)))
    }

    /// An error in the shape go-httpbin gives its own.
    pub(crate) fn error(status: u16, detail: &str) -> Self {
        let error = crate::h1::respond::reason(status);
        Response::json(status, &serde_json::json!({ "status_code": status, "error": error, "detail": detail }))
    }

    pub(crate) fn header(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn after(mut self, wait: Duration) -> Self {
        self.after = wait;
        self
    }
}

impl From<Response> for Reply {
    fn from(response: Response) -> Self {
        Reply::Respond(Box::new(response))
    }
}

/// Indented by two, with a line end: for people with curl.
pub(crate) fn pretty(value: &Value) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("a Value is always JSON");
    text.push(b'\n');
    text
}

impl Body {
    /// Bytes known before sending.
    pub(crate) fn length(&self) -> Option<u64> {
        match self {
            Body::Static(bytes) => Some(bytes.len() as u64),
            Body::Bytes(bytes) => Some(bytes.len() as u64),
            Body::Pieces(pieces) => pieces.length,
        }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({:?})", self.length())
    }
}
