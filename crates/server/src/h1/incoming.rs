//! A request body of HTTP/1.1 between its two owners: the connection, which needs it off the socket, and its reader.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::h1::receive::Reading;
use crate::incoming::body::{BodyError, BodySource};
use crate::incoming::pool::Piece;

/// A body that is being received, shared by its connection and its reader; empty once the connection took it back.
pub(crate) struct Incoming(RefCell<Option<Reading>>, RefCell<Option<Waker>>);

impl Incoming {
    pub(crate) fn new(reading: Reading) -> Rc<Self> {
        Rc::new(Incoming(RefCell::new(Some(reading)), RefCell::default()))
    }

    fn poll_received(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        match &mut *self.0.borrow_mut() {
            Some(reading) => reading.poll_piece(cx),
            None => Poll::Ready(Some(Err(BodyError::Over))),
        }
    }

    /// From now on nothing but the response is sent. True when the client still waits for 100 Continue: whether it
    /// sends the body then is not known.
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
        while let Some(piece) = poll_fn(|cx| self.poll_received(cx)).await {
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

impl BodySource for Incoming {
    /// Whoever waits for a piece is woken when the body is taken back.
    fn poll_piece(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        let piece = self.poll_received(cx);
        let mut waiting = self.1.borrow_mut();
        if piece.is_pending() && !waiting.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            *waiting = Some(cx.waker().clone());
        }
        piece
    }

    fn poll_wanted(&self, cx: &mut Context<'_>) -> Poll<usize> {
        self.0.borrow_mut().as_mut().map_or(Poll::Ready(0), |reading| reading.poll_wanted(cx))
    }

    fn length_hint(&self) -> Option<u64> {
        self.0.borrow().as_ref().map_or(Some(0), |reading| reading.decoder.length_left())
    }

    fn trailers(&self) -> Vec<(String, Vec<u8>)> {
        self.0.borrow().as_ref().map_or_else(Vec::new, |reading| reading.decoder.trailers())
    }
}
