//! A body that is made while it is sent, piece by piece, with waits between them.
//!
//! A piece is due so long after the one before it was due, not after that was sent: delays do not add up.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::outgoing::respond::PieceStream;
use wire::timer;

/// One run of bytes, ready so long after the one before it.
pub(crate) struct TimedPiece {
    pub(crate) wait: Duration,
    pub(crate) bytes: Bytes,
}

impl TimedPiece {
    /// Ready at once.
    pub(crate) fn ready(bytes: impl Into<Bytes>) -> Self {
        TimedPiece { wait: Duration::ZERO, bytes: bytes.into() }
    }
}

type Wait = Pin<Box<dyn Future<Output = ()>>>;

/// The pieces of an iterator, each after its wait.
pub(crate) struct TimedPieces<I> {
    pieces: I,
    due: Option<Instant>,
    held: Option<(Wait, Bytes)>,
}

impl<I: Iterator<Item = TimedPiece>> TimedPieces<I> {
    pub(crate) fn new(pieces: I) -> Self {
        TimedPieces { pieces, due: None, held: None }
    }
}

impl<I: Iterator<Item = TimedPiece>> PieceStream for TimedPieces<I>
where
    I: Unpin,
{
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        if self.held.is_none() {
            match self.pieces.next() {
                None => return Poll::Ready(None),
                Some(piece) if piece.wait.is_zero() => return Poll::Ready(Some(Ok(piece.bytes))),
                Some(piece) => {
                    let due = self.due.unwrap_or_else(Instant::now) + piece.wait;
                    self.due = Some(due);
                    self.held = Some((Box::pin(timer::sleep_until(due)), piece.bytes));
                }
            }
        }
        if let Some((until, _)) = &mut self.held {
            ready!(until.as_mut().poll(cx));
        }
        Poll::Ready(self.held.take().map(|(_, bytes)| Ok(bytes)))
    }
}
