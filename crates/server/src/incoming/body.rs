//! The body of a request as an app reads it: piece by piece, straight from the socket.
//!
//! `next` is what reads: the bytes go from recv(2) into the piece's memory (`h1/receive.rs`), and as long as nobody
//! asks nothing is read. A body is bound to its connection: once the response is complete the rest is out of reach.

use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::incoming::pool::Piece;

/// Why a body did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyError {
    /// It breaks the rules of its framing; what is wrong.
    Malformed(&'static str),
    /// It is longer than the server's limit, in bytes.
    TooLarge(u64),
    /// The client stopped sending for longer than the server's limit.
    TimedOut,
    /// The connection ended first; why.
    Gone(String),
    /// It was read after the response was complete.
    Over,
}

impl BodyError {
    /// The status of the answer to a client that is still there.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            BodyError::Malformed(_) => Some(400),
            BodyError::TooLarge(_) => Some(413),
            BodyError::TimedOut => Some(408),
            BodyError::Gone(_) | BodyError::Over => None,
        }
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyError::Malformed(what) => write!(f, "the request body is malformed: {what}"),
            BodyError::TooLarge(limit) => write!(f, "the request body is longer than the limit of {limit} bytes"),
            BodyError::TimedOut => f.write_str("the client stopped sending the request body"),
            BodyError::Gone(why) => write!(f, "the connection ended within the request body: {why}"),
            BodyError::Over => f.write_str("the request body was read after the response was complete"),
        }
    }
}

impl std::error::Error for BodyError {}

/// Where the pieces of a body come from. Whoever receives it keeps it too, so it is shared.
pub trait BodySource {
    /// The next piece, `None` at the end.
    fn poll_piece(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>>;
    /// As `RequestBody::poll_wanted`.
    fn poll_wanted(&self, cx: &mut Context<'_>) -> Poll<usize>;
    /// Bytes that are still to come, if known.
    fn length_hint(&self) -> Option<u64>;
    /// Trailers, known after the end.
    fn trailers(&self) -> Vec<(String, Vec<u8>)>;
}

/// A request body, pulled piece by piece.
pub struct RequestBody(Option<Rc<dyn BodySource>>);

impl RequestBody {
    /// No body.
    pub fn empty() -> Self {
        RequestBody(None)
    }

    /// The body that comes from there.
    pub fn from_source(source: Rc<dyn BodySource>) -> Self {
        RequestBody(Some(source))
    }

    /// The next piece, never empty; `None` at the end. After an error there is nothing more.
    pub async fn next(&mut self) -> Option<Result<Piece, BodyError>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As `next`.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        self.0.as_ref().map_or(Poll::Ready(None), |source| source.poll_piece(cx))
    }

    /// Bytes of memory that the next piece will ask the app for, ready when there is something to put into it; 0: none.
    /// An app that gives memory can so find it before `poll_next` asks: at most the receive size, no more than the
    /// body's declared length.
    pub fn poll_wanted(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        self.0.as_ref().map_or(Poll::Ready(0), |source| source.poll_wanted(cx))
    }

    /// Bytes that are still to come, if known: not with chunked coding.
    pub fn length_hint(&self) -> Option<u64> {
        self.0.as_ref().map_or(Some(0), |source| source.length_hint())
    }

    /// Name and value of each trailer line; empty before the end was read.
    pub fn trailers(&self) -> Vec<(String, Vec<u8>)> {
        self.0.as_ref().map_or_else(Vec::new, |source| source.trailers())
    }
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestBody({:?} bytes left)", self.length_hint())
    }
}
