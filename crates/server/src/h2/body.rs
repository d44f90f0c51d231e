//! The body of a request that came by HTTP/2.
//!
//! The windows of the stream and of the connection are given back as pieces are handed out and no earlier: a reader
//! that does not ask stops the client once a window's worth is under way. Pieces lie in the memory the frames were
//! received into. That holds frames of several streams, so they are copied for an app that gives memory of its own.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::app::{App, Piece};
use crate::h2::head;
use crate::incoming::body::{BodyError, BodySource};
use crate::incoming::pool::Buffer;
use crate::outgoing::http2_out::Respond;
use crate::worker::Worker;

/// Why a body did not come to its end, for the exchange to see what its app was refused.
pub(crate) type Failed = Rc<RefCell<Option<BodyError>>>;

/// Frames of one stream as they are asked for.
pub(crate) struct StreamBody {
    stream: RecvStream,
    worker: Rc<Worker>,
    /// When it gives memory.
    app: Option<Rc<dyn App>>,
    /// What did not fit into the app's memory.
    rest: Bytes,
    /// What the client declared.
    declared: Option<u64>,
    length_left: Option<u64>,
    length: u64,
    /// Where 100 Continue goes, as long as the client waits for it.
    awaited: Option<Respond>,
    failed: Failed,
    trailers: Vec<(String, Vec<u8>)>,
    data_ended: bool,
    silence: Option<Pin<Box<Sleep>>>,
    /// Zero never ends.
    silence_limit: Duration,
}

impl StreamBody {
    /// `length` is what the client declared. `awaited` is there when the client waits for 100 Continue.
    pub(crate) fn new(
        stream: RecvStream,
        worker: Rc<Worker>,
        length: Option<u64>,
        awaited: Option<Respond>,
        failed: Failed,
    ) -> Self {
        let app = worker.app().filter(|app| app.allocates()).cloned();
        let silence_limit = worker.limits().body_time;
        StreamBody {
            stream,
            worker,
            app,
            rest: Bytes::new(),
            declared: length,
            length_left: length,
            length: 0,
            awaited,
            failed,
            trailers: Vec::new(),
            data_ended: false,
            silence: None,
            silence_limit,
        }
    }

    /// Waits for as long as it takes: silence belongs to its protocol.
    pub(crate) fn patient(self) -> Self {
        StreamBody { silence_limit: Duration::ZERO, ..self }
    }

    fn try_poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        if !self.rest.is_empty() {
            return Poll::Ready(Some(Ok(std::mem::take(&mut self.rest))));
        }
        loop {
            if self.data_ended {
                return self.poll_trailers(cx).map(|result| result.err().map(Err));
            }
            let data = match self.stream.poll_data(cx) {
                Poll::Ready(data) => data,
                Poll::Pending => {
                    self.send_continue();
                    return self.poll_silence(cx).map(|error| Some(Err(error)));
                }
            };
            self.silence = None;
            match data {
                None => self.data_ended = true,
                Some(Err(e)) => return Poll::Ready(Some(Err(gone(&e)))),
                Some(Ok(bytes)) => {
                    // Fails when the stream was reset meanwhile, which the next poll finds out.
                    let _reset = self.stream.flow_control().release_capacity(bytes.len());
                    if let Some(result) = self.take(bytes) {
                        return Poll::Ready(Some(result));
                    }
                }
            }
        }
    }

    /// Counts what came; `None` for an empty frame.
    fn take(&mut self, bytes: Bytes) -> Option<Result<Bytes, BodyError>> {
        let n = bytes.len() as u64;
        if n == 0 {
            return None;
        }
        self.awaited = None;
        self.length += n;
        self.length_left = self.length_left.map(|left| left.saturating_sub(n));
        self.worker.stats().body_received.add(n);
        match self.worker.limits().body.filter(|limit| self.length > *limit) {
            Some(limit) => Some(Err(BodyError::TooLarge(limit))),
            None => Some(Ok(bytes)),
        }
    }

    /// As much of it as the app's memory takes, or all of it where it is.
    fn piece(&mut self, mut bytes: Bytes) -> Piece {
        let Some(app) = &self.app else { return Piece::from(bytes) };
        let pool = self.worker.pool();
        let given = app.allocate(bytes.len().min(pool.size())).filter(|buffer| !buffer.bytes().is_empty());
        let mut buffer = given.map_or_else(|| Buffer::Pooled(pool.take()), Buffer::App);
        let room = buffer.bytes_mut();
        let n = bytes.len().min(room.len());
        room[..n].copy_from_slice(&bytes.split_to(n));
        self.rest = bytes;
        Piece::new(buffer, 0..n)
    }

    fn poll_trailers(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BodyError>> {
        match self.stream.poll_trailers(cx) {
            Poll::Pending => self.poll_silence(cx).map(Err),
            Poll::Ready(Err(e)) => Poll::Ready(Err(gone(&e))),
            Poll::Ready(Ok(trailers)) => {
                let lines = trailers.iter().flat_map(http::HeaderMap::iter);
                self.trailers.extend(lines.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())));
                Poll::Ready(Ok(()))
            }
        }
    }

    /// The error once the client has been silent for too long.
    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<BodyError> {
        let limit = self.silence_limit;
        if limit.is_zero() {
            return Poll::Pending;
        }
        // Boxed, because tokio wants a timer not to move, and bodies do.
        let silence = self.silence.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + limit)));
        ready!(silence.as_mut().poll(cx));
        Poll::Ready(BodyError::TimedOut)
    }

    /// Sends what the client waits for, now that the body is wanted.
    fn send_continue(&mut self) {
        if let Some(respond) = self.awaited.take() {
            // Fails when the stream was reset or the response has begun: then nobody waits any more.
            let _too_late = respond.borrow_mut().send_informational(head::interim(100, &[]));
        }
    }
}

impl StreamBody {
    /// The next piece.
    pub(crate) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        if let Some(failed) = &*self.failed.borrow() {
            return Poll::Ready(Some(Err(failed.clone())));
        }
        let piece = ready!(self.try_poll(cx));
        if let Some(Err(e)) = &piece {
            *self.failed.borrow_mut() = Some(e.clone());
        }
        Poll::Ready(piece.map(|piece| piece.map(|bytes| self.piece(bytes))))
    }

    fn poll_wanted(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        if self.failed.borrow().is_some() {
            return Poll::Ready(0);
        }
        Poll::Ready(match ready!(self.try_poll(cx)) {
            Some(Ok(bytes)) => {
                self.rest = bytes;
                self.worker.pool().wanted(self.declared)
            }
            Some(Err(e)) => {
                *self.failed.borrow_mut() = Some(e);
                0
            }
            None => 0,
        })
    }
}

impl BodySource for RefCell<StreamBody> {
    fn poll_piece(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        self.borrow_mut().poll_piece(cx)
    }

    fn poll_wanted(&self, cx: &mut Context<'_>) -> Poll<usize> {
        self.borrow_mut().poll_wanted(cx)
    }

    fn length_hint(&self) -> Option<u64> {
        let body = self.borrow();
        if body.data_ended { Some(0) } else { body.length_left }
    }

    fn trailers(&self) -> Vec<(String, Vec<u8>)> {
        self.borrow().trailers.clone()
    }
}

fn gone(e: &h2::Error) -> BodyError {
    if e.is_library() && e.is_reset() {
        return BodyError::Malformed("it breaks the rules of its stream");
    }
    BodyError::Gone(e.to_string())
}
