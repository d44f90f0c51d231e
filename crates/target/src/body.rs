//! The body of a request as an app reads it: piece by piece, straight from the socket.
//!
//! `next` is what reads: the bytes go from recv(2) into the piece's memory, and as long as nobody asks nothing is read. Only what
//! came along with the head, or behind a chunk's size, is copied (once), and chunks smaller than a quarter of a buffer are moved
//! together within it. A body is bound to its connection: once the response is complete the rest is out of reach.

use std::cell::RefCell;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::app::App;
use crate::h1::body::{BadChunk, BodyDecoder};
use crate::h1::head::Framing;
use crate::pool::{Buffer, Piece};
use crate::stream::Stream;
use crate::vitals::{Phase, Vitals};
use crate::worker::Worker;

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
/// Read when the next chunk's size is awaited and chunks are large: little of its data is copied.
const SIZE_LINE: usize = 32;

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
            Source::Http1(incoming) => match &mut *incoming.0.borrow_mut() {
                Some(reading) => reading.poll_piece(cx),
                None => Poll::Ready(Some(Err(BodyError::Over))),
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
pub(crate) struct Incoming(RefCell<Option<Reading>>);

impl Incoming {
    pub(crate) fn new(reading: Reading) -> Rc<Self> {
        Rc::new(Incoming(RefCell::new(Some(reading))))
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
        let mut body = self.body();
        let mut drained = 0;
        while let Some(piece) = body.next().await {
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
        self.0.borrow_mut().take()
    }

    /// All of it was read.
    pub(crate) fn is_done(&self) -> bool {
        self.0.borrow().as_ref().is_none_or(|reading| reading.decoder.is_done())
    }
}

/// The receiving side of one body.
pub(crate) struct Reading {
    stream: Stream,
    worker: Rc<Worker>,
    app: Option<Rc<dyn App>>,
    vitals: Rc<Vitals>,
    decoder: BodyDecoder,
    /// Bytes that were received before anybody asked, with how many of them are used up.
    ahead: Vec<u8>,
    used: usize,
    /// The client waits for 100 Continue and did not get it.
    continue_awaited: bool,
    continue_sent: usize,
    /// Memory that a read found nothing for.
    buffer: Option<Buffer>,
    length: u64,
    failed: Option<BodyError>,
}

impl Reading {
    /// `ahead` is what came behind the head.
    pub(crate) fn new(
        stream: Stream,
        worker: Rc<Worker>,
        vitals: Rc<Vitals>,
        app: Option<Rc<dyn App>>,
        framing: Framing,
        ahead: Vec<u8>,
    ) -> Self {
        let continue_awaited = framing.expect_continue && ahead.is_empty();
        Reading {
            stream,
            worker,
            app,
            vitals,
            decoder: BodyDecoder::new(framing.body),
            ahead,
            used: 0,
            continue_awaited,
            continue_sent: 0,
            buffer: None,
            length: 0,
            failed: None,
        }
    }

    /// What was received behind the body.
    pub(crate) fn into_rest(mut self) -> Vec<u8> {
        self.ahead.drain(..self.used);
        self.ahead
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        if let Some(failed) = &self.failed {
            return Poll::Ready(Some(Err(failed.clone())));
        }
        let piece = match self.try_poll_piece(cx) {
            Poll::Ready(piece) => piece,
            Poll::Pending => {
                if self.vitals.phase() != Phase::Body {
                    self.vitals.enter(Phase::Body, self.worker.now());
                }
                if !self.vitals.wait(cx) {
                    return Poll::Pending;
                }
                self.worker.stats().timed_out.add(1);
                Some(Err(BodyError::TimedOut))
            }
        };
        self.vitals.enter(Phase::Busy, self.worker.now());
        if let Some(Err(e)) = &piece {
            self.failed = Some(e.clone());
        }
        Poll::Ready(piece)
    }

    fn try_poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        loop {
            if self.used == self.ahead.len() {
                self.ahead.clear();
                self.used = 0;
            }
            let piece = if self.decoder.is_done() {
                self.buffer = None;
                return Poll::Ready(None);
            } else if self.used < self.ahead.len() {
                self.copy_ahead()
            } else if self.decoder.run_left().is_none() && self.decoder.last_chunk() >= self.large() {
                ready!(self.poll_size_line(cx)).map(|()| None).map_err(|e| gone(&e))
            } else {
                match ready!(self.poll_receive(cx)) {
                    Ok(received) => self.decode(received),
                    Err(e) => Err(gone(&e)),
                }
            };
            match piece {
                Ok(Some(piece)) => {
                    self.length += piece.len() as u64;
                    self.worker.stats().body_received.add(piece.len() as u64);
                    return Poll::Ready(Some(self.within_limit().map(|()| piece)));
                }
                Ok(None) => {
                    if let Err(e) = self.within_limit() {
                        return Poll::Ready(Some(Err(e)));
                    }
                }
                Err(e) => return Poll::Ready(Some(Err(e))),
            }
        }
    }

    /// Counts a chunk that was announced as if it was there.
    fn within_limit(&self) -> Result<(), BodyError> {
        let length = self.length.saturating_add(self.decoder.run_left().unwrap_or(0));
        self.worker
            .limits()
            .body
            .filter(|limit| length > *limit)
            .map_or(Ok(()), |limit| Err(BodyError::TooLarge(limit)))
    }

    /// The next run of data among the bytes that are there already.
    fn copy_ahead(&mut self) -> Result<Option<Piece>, BodyError> {
        // No memory is asked for when no data follows.
        while self.decoder.run_left().is_none() && !self.decoder.is_done() && self.used < self.ahead.len() {
            let framing = &self.ahead[self.used..=self.used];
            self.used += self.decoder.take(framing).map_err(malformed)?.consumed;
        }
        if self.decoder.is_done() || self.used == self.ahead.len() {
            return Ok(None);
        }
        let mut buffer = self.buffer_for(self.ahead.len() - self.used);
        let room = buffer.bytes_mut();
        let mut filled = 0;
        while filled < room.len() && self.used < self.ahead.len() && !self.decoder.is_done() {
            let end = self.ahead.len().min(self.used + room.len() - filled);
            let input = &self.ahead[self.used..end];
            let taken = self.decoder.take(input).map_err(malformed)?;
            let data = &input[taken.data];
            room[filled..filled + data.len()].copy_from_slice(data);
            filled += data.len();
            self.used += taken.consumed;
        }
        Ok(self.piece(buffer, filled))
    }

    fn piece(&mut self, buffer: Buffer, filled: usize) -> Option<Piece> {
        if filled == 0 {
            self.buffer = Some(buffer);
            return None;
        }
        Some(Piece::new(buffer, 0..filled))
    }

    /// Memory for about `size` bytes.
    fn buffer_for(&mut self, size: usize) -> Buffer {
        if let Some(buffer) = self.buffer.take() {
            return buffer;
        }
        let pool = self.worker.pool();
        let of_app = self.app.as_ref().and_then(|app| app.allocate(size.min(pool.size())));
        of_app.filter(|b| !b.bytes().is_empty()).map_or_else(|| Buffer::Pooled(pool.take()), Buffer::App)
    }

    /// Chunks of so many bytes are received each on its own; smaller ones together.
    fn large(&self) -> u64 {
        self.worker.pool().size() as u64 / 4
    }

    /// Receives what may be the next chunk's size, and little more, since that is copied.
    fn poll_size_line(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut line = [MaybeUninit::uninit(); SIZE_LINE];
        let mut room = ReadBuf::uninit(&mut line);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut room))?;
        self.received(room.filled().len())?;
        self.ahead.extend_from_slice(room.filled());
        Poll::Ready(Ok(()))
    }

    fn received(&self, n: usize) -> io::Result<()> {
        self.worker.stats().received.add(n as u64);
        if n == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Receives once; at least a byte.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(Buffer, usize)>> {
        ready!(self.poll_continue(cx))?;
        ready!(self.stream.poll_readable(cx))?;
        let left = self.decoder.run_left();
        let pool_size = self.worker.pool().size();
        let wanted = left.map_or(pool_size, |left| usize::try_from(left).unwrap_or(usize::MAX));
        let mut buffer = self.buffer_for(wanted);
        let all = buffer.bytes_mut();
        let size = match left {
            // To the end of the data and no further: what follows belongs into other memory.
            Some(left) if self.decoder.is_plain() || left >= self.worker.pool().size() as u64 / 4 => {
                wanted.min(all.len())
            }
            _ => all.len(),
        };
        let mut room = ReadBuf::new(&mut all[..size]);
        let polled = Pin::new(&mut self.stream).poll_read(cx, &mut room);
        let n = room.filled().len();
        if polled.is_pending() {
            // A pool's buffer is of use to others meanwhile; an app's is kept, for the app was told of it.
            self.buffer = Some(buffer).filter(|b| matches!(b, Buffer::App(_)));
            return Poll::Pending;
        }
        ready!(polled)?;
        self.received(n)?;
        Poll::Ready(Ok((buffer, n)))
    }

    /// Finds the data among what was received, moved together where small chunks lie apart.
    fn decode(&mut self, (mut buffer, received): (Buffer, usize)) -> Result<Option<Piece>, BodyError> {
        let bytes = buffer.bytes_mut();
        let (mut at, mut filled) = (0, 0);
        while at < received && !self.decoder.is_done() {
            let taken = self.decoder.take(&bytes[at..received]).map_err(malformed)?;
            let data = at + taken.data.start..at + taken.data.end;
            if data.start > filled {
                bytes.copy_within(data.clone(), filled);
            }
            filled += data.len();
            at += taken.consumed;
        }
        self.ahead.extend_from_slice(&bytes[at..received]);
        Ok(self.piece(buffer, filled))
    }

    /// Sends what the client waits for, now that the body is wanted.
    fn poll_continue(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.continue_awaited {
            let rest = &CONTINUE[self.continue_sent..];
            let n = ready!(Pin::new(&mut self.stream).poll_write(cx, rest))?;
            self.worker.stats().sent.add(n as u64);
            self.continue_sent += n;
            if self.continue_sent == CONTINUE.len() {
                self.continue_awaited = false;
                ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
            }
        }
        Poll::Ready(Ok(()))
    }
}

fn malformed(BadChunk: BadChunk) -> BodyError {
    BodyError::Malformed("a chunk breaks the chunked coding")
}

fn gone(e: &io::Error) -> BodyError {
    let why = if e.kind() == io::ErrorKind::UnexpectedEof { "the client closed it".to_owned() } else { e.to_string() };
    BodyError::Gone(why)
}
