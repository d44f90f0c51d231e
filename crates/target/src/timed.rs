//! A body that is made while it is sent, piece by piece, with waits between them.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Sleep, sleep};

use crate::respond::PieceStream;

/// One run of bytes, ready so long after the one before it left.
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

/// The pieces of an iterator, each after its wait.
pub(crate) struct TimedPieces<I> {
    pieces: I,
    held: Option<(Pin<Box<Sleep>>, Bytes)>,
}

impl<I: Iterator<Item = TimedPiece>> TimedPieces<I> {
    pub(crate) fn new(pieces: I) -> Self {
        TimedPieces { pieces, held: None }
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
                Some(piece) => self.held = Some((Box::pin(sleep(piece.wait)), piece.bytes)),
            }
        }
        if let Some((sleep, _)) = &mut self.held {
            ready!(sleep.as_mut().poll(cx));
        }
        Poll::Ready(self.held.take().map(|(_, bytes)| Ok(bytes)))
    }
}
