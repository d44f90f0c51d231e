//! What leaves on one stream of HTTP/2: the head, then pieces as the client's windows have room, then the end.
//!
//! Small pieces that follow each other at once leave in one frame. Whoever sends flushes before it waits.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::HeaderMap;

/// Small pieces are copied together up to this: the frame that every client accepts.
const FRAME: usize = 16 * 1024;

/// The sending side, which body and exchange share until the response begins.
pub(crate) type Respond = Rc<RefCell<SendResponse<Bytes>>>;

/// The sending half of a stream whose head has been sent.
pub(crate) struct Out {
    stream: SendStream<Bytes>,
    gathered: BytesMut,
}

impl Out {
    pub(crate) fn new(stream: SendStream<Bytes>) -> Self {
        Out { stream, gathered: BytesMut::new() }
    }

    /// Ready when at least a byte may be sent now. What is gathered has been counted on already.
    pub(crate) fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), h2::Error>> {
        self.stream.reserve_capacity(FRAME);
        while self.stream.capacity() == 0 {
            self.flush(false)?;
            match ready!(self.stream.poll_capacity(cx)) {
                Some(Ok(_)) => {}
                Some(Err(e)) => return Poll::Ready(Err(e)),
                None => return Poll::Ready(Err(Reason::CANCEL.into())),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Takes a piece, to leave with those that follow at once.
    pub(crate) fn gather(&mut self, piece: Bytes) -> Result<(), h2::Error> {
        if self.gathered.len() + piece.len() > FRAME {
            self.flush(false)?;
        }
        if piece.len() >= FRAME / 2 {
            self.flush(false)?;
            return self.stream.send_data(piece, false);
        }
        if self.gathered.is_empty() {
            self.gathered.reserve(FRAME);
        }
        self.gathered.extend_from_slice(&piece);
        debug_assert!(self.gathered.len() <= FRAME, "{} bytes of one frame", self.gathered.len());
        Ok(())
    }

    /// Sends what is gathered.
    pub(crate) fn flush(&mut self, ends: bool) -> Result<(), h2::Error> {
        if self.gathered.is_empty() && !ends {
            return Ok(());
        }
        self.stream.send_data(self.gathered.split().freeze(), ends)
    }

    /// Ready once the client has reset the stream, or its connection has ended.
    pub(crate) fn poll_reset(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.stream.poll_reset(cx).map(drop)
    }

    /// Ends by trailers what has been flushed.
    pub(crate) fn end_with(&mut self, trailers: HeaderMap) -> Result<(), h2::Error> {
        self.stream.send_trailers(trailers)
    }

    /// Sends a piece, the last one when it `ends`, whatever the windows allow.
    pub(crate) fn send(&mut self, piece: Bytes, ends: bool) -> Result<(), h2::Error> {
        self.stream.send_data(piece, ends)
    }

    /// Ends the stream as one that failed.
    pub(crate) fn fail(&mut self) {
        self.stream.send_reset(Reason::INTERNAL_ERROR);
    }
}
