//! The body of a request as an app reads it: piece by piece, straight from the socket.
//!
//! `next` is what reads: the bytes go from recv(2) into the piece's memory (`receive.rs`), and as long as nobody asks nothing is read.
//! A body is bound to its connection: once the response is complete the rest is out of reach.

use std::cell::RefCell;
use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::pool::Piece;
use crate::receive::Reading;

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

/// Where pieces of a body come from, in protocols other than HTTP/1.1.
pub trait BodySource {
    /// The next piece, `None` at the end.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>>;
    /// As `RequestBody::poll_wanted`.
    fn poll_wanted(&mut self, cx: &mut Context<'_>) -> Poll<usize>;
    /// Bytes that are still to come, if known.
    fn length_hint(&self) -> Option<u64>;
    /// Trailers, known after the end.
    fn trailers(&self) -> Vec<(String, Vec<u8>)>;
}

/// A request body, pulled piece by piece.
pub struct RequestBody(Source);

enum Source {
    Empty,
    Http1(Rc<Incoming>),
    Other(Box<dyn BodySource>),
}

impl RequestBody {
    /// No body.
    pub fn empty() -> Self {
        RequestBody(Source::Empty)
    }

    /// A body of another protocol.
    pub fn from_source(source: Box<dyn BodySource>) -> Self {
        RequestBody(Source::Other(source))
    }

    /// The next piece, never empty; `None` at the end. After an error there is nothing more.
    pub async fn next(&mut self) -> Option<Result<Piece, BodyError>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As `next`.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        match &mut self.0 {
            Source::Empty => Poll::Ready(None),
            Source::Other(source) => source.poll_piece(cx),
            Source::Http1(incoming) => incoming.poll_for_reader(cx),
        }
    }

    /// Bytes of memory that the next piece will ask the app for, ready when there is something to put into it; 0: none. An app
    /// that gives memory can so find it before `poll_next` asks: at most the receive size, no more than the body's declared length.
    pub fn poll_wanted(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        match &mut self.0 {
            Source::Empty => Poll::Ready(0),
            Source::Other(source) => source.poll_wanted(cx),
            Source::Http1(incoming) => match &mut *incoming.0.borrow_mut() {
                Some(reading) => reading.poll_wanted(cx),
                None => Poll::Ready(0),
            },
        }
    }

    /// Bytes that are still to come, if known: not with chunked coding.
    pub fn length_hint(&self) -> Option<u64> {
        match &self.0 {
            Source::Empty => Some(0),
            Source::Other(source) => source.length_hint(),
            Source::Http1(incoming) => incoming.0.borrow().as_ref().map_or(Some(0), |r| r.decoder.length_left()),
        }
    }

    /// Name and value of each trailer line; empty before the end was read.
    pub fn trailers(&self) -> Vec<(String, Vec<u8>)> {
        match &self.0 {
            Source::Empty => Vec::new(),
            Source::Other(source) => source.trailers(),
            Source::Http1(incoming) => incoming.0.borrow().as_ref().map_or_else(Vec::new, |r| r.decoder.trailers()),
        }
    }
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestBody({:?} bytes left)", self.length_hint())
    }
}

/// A body that is being received, shared by its connection and its reader; empty once the connection took it back.
pub(crate) struct Incoming(RefCell<Option<Reading>>, RefCell<Option<Waker>>);

impl Incoming {
    pub(crate) fn new(reading: Reading) -> Rc<Self> {
        Rc::new(Incoming(RefCell::new(Some(reading)), RefCell::default()))
    }

    fn poll_piece(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        match &mut *self.0.borrow_mut() {
            Some(reading) => reading.poll_piece(cx),
            None => Poll::Ready(Some(Err(BodyError::Over))),
        }
    }

    /// As `RequestBody::poll_next`. Whoever waits for a piece is woken when the body is taken back.
    fn poll_for_reader(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        let piece = self.poll_piece(cx);
        let mut waiting = self.1.borrow_mut();
        if piece.is_pending() && !waiting.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            *waiting = Some(cx.waker().clone());
        }
        piece
    }

    /// For the reader.
    pub(crate) fn body(self: &Rc<Self>) -> RequestBody {
        RequestBody(Source::Http1(self.clone()))
    }

    /// From now on nothing but the response is sent. True when the client still waits for 100 Continue: whether it sends the
    /// body then is not known.
    pub(crate) fn response_begins(&self) -> bool {
        self.0.borrow_mut().as_mut().is_some_and(|reading| std::mem::take(&mut reading.continue_awaited))
    }

    /// What is left of it is no more than `most` as far as known, or there is still somebody who may read it.
    pub(crate) fn can_be_drained(self: &Rc<Self>, most: u64) -> bool {
        let reading = self.0.borrow();
        let short = |r: &Reading| r.failed.is_none() && r.decoder.length_left().is_none_or(|left| left <= most);
        Rc::strong_count(self) > 1 || reading.as_ref().is_some_and(short)
    }

    /// Reads up to `most` bytes and drops them; whether that was all.
    pub(crate) async fn drain(self: &Rc<Self>, most: u64) -> bool {
        let mut drained = 0;
        while let Some(piece) = poll_fn(|cx| self.poll_piece(cx)).await {
            drained += piece.as_ref().map_or(0, |piece| piece.len() as u64);
            if piece.is_err() || drained > most {
                return false;
            }
        }
        true
    }

    /// Status and text of what was wrong with it.
    pub(crate) fn refusal(&self) -> Option<(u16, String)> {
        let reading = self.0.borrow();
        let failed = reading.as_ref()?.failed.as_ref()?;
        Some((failed.status()?, failed.to_string()))
    }

    /// Takes it from the reader.
    pub(crate) fn take_back(&self) -> Option<Reading> {
        let reading = self.0.borrow_mut().take();
        if let Some(waiting) = self.1.take() {
            waiting.wake();
        }
        reading
    }

    /// All of it was read.
    pub(crate) fn is_done(&self) -> bool {
        self.0.borrow().as_ref().is_none_or(|reading| reading.decoder.is_done())
    }
}
