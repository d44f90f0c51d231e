//! A response as a value: what built-in routes and apps give, and what every protocol sends.
//!
//! Whoever makes a response never touches the socket and never waits; waits and streams are data. So a route is a plain
//! function from a request to a reply, and the rule that a ready piece is never held back lives in one place
//! (`send.rs`). Length, connection, transfer coding, date and server belong to the sender: lines of these names are
//! left out, but `Connection: close` closes, and the length an answer to `HEAD` claims is passed on.

use std::borrow::Cow;
use std::fs::File;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::fault::Fault;
use crate::ws::Opening;
use wire::timer;

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
    /// The connection becomes a websocket.
    Upgrade(Box<Opening>),
}

/// A header or trailer line.
pub type Line = (Cow<'static, str>, Cow<'static, str>);

/// A correct response of any protocol.
#[derive(Debug)]
pub struct Response {
    /// 200 to 599.
    pub status: u16,
    /// In the order they are sent; a name may come more than once.
    pub headers: Vec<Line>,
    /// Sent before `headers`; `None` when they have their own or there is none.
    pub content_type: Option<Cow<'static, str>>,
    /// Left out for `HEAD` and for statuses that have none.
    pub body: Body,
    /// Sent after the body, which is chunked then.
    pub trailers: Vec<Line>,
    /// Headers of a `103 Early Hints` that goes out first; none without them.
    pub early: Vec<Line>,
    /// Held so long before the first byte.
    pub after: Duration,
    /// Tells, inside the response, how long it was held.
    pub(crate) tell: Option<Tell>,
    /// Comes in place of this response.
    pub(crate) later: Option<Later>,
}

/// A response that is still to be made.
pub(crate) struct Later(Pin<Box<dyn Future<Output = Response>>>);

impl std::fmt::Debug for Later {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Later")
    }
}

/// Puts the time a response was really held into it.
pub(crate) struct Tell(Box<Telling>);

type Telling = dyn FnOnce(&mut Response, Duration);

impl std::fmt::Debug for Tell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tell")
    }
}

/// The body of a response.
pub enum Body {
    /// Bytes of the program.
    Static(&'static [u8]),
    /// Bytes made for this response.
    Bytes(Vec<u8>),
    /// Bytes that something else holds as well.
    Shared(Bytes),
    /// Pieces that are all there: their lengths add up to the body's.
    Array(Vec<Bytes>),
    /// Pieces that come while the response is sent.
    Stream {
        /// Bytes of all pieces, declared in advance; `None` is chunked. A stream that gives another number ends the
        /// connection.
        length: Option<u64>,
        /// Where they come from.
        pieces: Box<dyn PieceStream>,
    },
    /// A part of a file, sent by the kernel on plain sockets.
    File {
        /// Open for reading; its position is neither used nor changed.
        file: Arc<File>,
        /// Where the body begins.
        offset: u64,
        /// Bytes of the body. A file that turns out shorter ends the connection.
        length: u64,
    },
}

/// Pieces of a body, one after the other, whenever they are ready.
pub trait PieceStream {
    /// The next piece, `None` at the end. An error ends the connection, because the status has been sent by then.
    ///
    /// `Pending` leaves the waker of `cx`, as futures do; what was given before goes out first. Empty pieces are
    /// skipped.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>>;
}

impl Response {
    /// A response of that status, type and body, without further headers.
    pub fn new(status: u16, content_type: impl Into<Cow<'static, str>>, body: Body) -> Self {
        Response { content_type: Some(content_type.into()), ..Response::bare(status, body) }
    }

    /// A response without a content type.
    pub fn bare(status: u16, body: Body) -> Self {
        Response {
            status,
            headers: Vec::new(),
            content_type: None,
            body,
            trailers: Vec::new(),
            early: Vec::new(),
            after: Duration::ZERO,
            tell: None,
            later: None,
        }
    }

    /// The response that this will have made.
    pub(crate) fn later(make: impl Future<Output = Response> + 'static) -> Self {
        Response { later: Some(Later(Box::pin(make))), ..Response::empty(200) }
    }

    /// A response without type and bytes.
    pub fn empty(status: u16) -> Self {
        Response::bare(status, Body::Static(b""))
    }

    /// Plain text.
    pub fn text(status: u16, text: &'static str) -> Self {
        Response::new(status, TEXT, Body::Static(text.as_bytes()))
    }

    /// JSON, indented for people.
    pub fn json(status: u16, value: &Value) -> Self {
        Response::new(status, JSON, Body::Bytes(pretty(value)))
    }

    /// An error in the shape go-httpbin gives its own: `{ status_code, error, detail }`.
    pub fn error(status: u16, detail: &str) -> Self {
        let error = wire::h1::reason::reason(status);
        Response::json(status, &serde_json::json!({ "status_code": status, "error": error, "detail": detail }))
    }

    /// Adds a header line.
    #[must_use]
    pub fn header(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Holds the response for that long.
    #[must_use]
    pub fn after(mut self, wait: Duration) -> Self {
        self.after = wait;
        self
    }

    /// Has the time the response was really held told in it.
    pub(crate) fn telling(mut self, tell: impl FnOnce(&mut Response, Duration) + 'static) -> Self {
        self.tell = Some(Tell(Box::new(tell)));
        self
    }

    /// Whether to await `wait_out` before sending the head.
    pub(crate) fn is_held(&self) -> bool {
        !self.after.is_zero() || self.tell.is_some() || self.later.is_some()
    }

    /// The response once its time has come. Whoever sends it flushes first what is ready before it.
    pub(crate) async fn wait_out(mut self) -> Self {
        if let Some(Later(make)) = self.later.take() {
            return make.await;
        }
        let held = timer::sleep(std::mem::take(&mut self.after)).await;
        if let Some(Tell(tell)) = self.tell.take() {
            tell(&mut self, held);
        }
        self
    }
}

/// Names and values of lines.
pub(crate) fn lines(lines: &[Line]) -> impl Iterator<Item = (&str, &[u8])> {
    lines.iter().map(|(name, value)| (name.as_ref(), value.as_bytes()))
}

/// Lines that the sender writes itself, or must not write.
pub(crate) fn is_senders(name: &str) -> bool {
    const OWN: [&str; 6] = ["date", "server", "connection", "keep-alive", "content-length", "transfer-encoding"];
    matches!(name.len(), 4 | 6 | 10 | 14 | 17) && OWN.iter().any(|own| name.eq_ignore_ascii_case(own))
}

fn value<'a>(headers: &'a [Line], wanted: &str) -> Option<&'a str> {
    headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.as_ref())
}

pub(crate) fn closes(headers: &[Line]) -> bool {
    value(headers, "connection").is_some_and(|value| value.trim().eq_ignore_ascii_case("close"))
}

/// The length an answer to `HEAD` says the body would have.
pub(crate) fn claimed_length(headers: &[Line]) -> Option<u64> {
    value(headers, "content-length")?.trim().parse().ok()
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
    /// Bytes, when they are known before sending.
    pub fn length(&self) -> Option<u64> {
        match self {
            Body::Static(bytes) => Some(bytes.len() as u64),
            Body::Bytes(bytes) => Some(bytes.len() as u64),
            Body::Shared(bytes) => Some(bytes.len() as u64),
            Body::Array(pieces) => Some(pieces.iter().map(|p| p.len() as u64).sum()),
            Body::Stream { length, .. } => *length,
            Body::File { length, .. } => Some(*length),
        }
    }

    /// Another body of the same bytes; `None` for a stream, whose pieces come once.
    pub fn try_clone(&self) -> Option<Body> {
        Some(match self {
            Body::Static(bytes) => Body::Static(bytes),
            Body::Bytes(bytes) => Body::Bytes(bytes.clone()),
            Body::Shared(bytes) => Body::Shared(bytes.clone()),
            Body::Array(pieces) => Body::Array(pieces.clone()),
            Body::File { file, offset, length } => Body::File { file: file.clone(), offset: *offset, length: *length },
            Body::Stream { .. } => return None,
        })
    }

    /// Pieces that come as they are ready, chunked.
    pub fn stream(pieces: impl PieceStream + 'static) -> Self {
        Body::Stream { length: None, pieces: Box::new(pieces) }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({:?})", self.length())
    }
}
