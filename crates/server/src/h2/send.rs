//! Sends a response on one stream.
//!
//! What is all there is handed to the connection at once, which sends it as the client's windows allow. Pieces that
//! come in time are asked for only while the stream has room, small ones that are ready leave in one frame, and none
//! waits for one that is not. A body that fails ends in RST_STREAM, so that the client cannot take it for whole.

use std::future::{Future, poll_fn};
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use h2::{Reason, SendStream};

use crate::h2::body::Respond;
use crate::h2::head;
use crate::respond::{Body, Line, Response, claimed_length};

use crate::sending::{CutShort, Rest};
use crate::worker::Worker;

/// Small pieces are copied together up to this: the frame that every client accepts.
const FRAME: usize = 16 * 1024;

/// Bytes of a file read at once.
const OF_FILE: u64 = 64 * 1024;

/// The outcome of the stream.
enum StreamEnd {
    Whole,
    /// The body failed.
    CutShort,
    /// The client does not want it any more.
    Gone,
}

/// Sends all of it, or as much as the client wants.
pub(crate) async fn respond(worker: &Worker, respond: &Respond, mut response: Response, is_head: bool) {
    if response.is_held() {
        match wanted(respond, response.wait_out()).await {
            Some(held) => response = held,
            None => return,
        }
    }
    let Some(stream) = send_head(respond, &response, is_head) else { return };
    let mut out = Out { stream, gathered: BytesMut::new() };
    let end = match response.body {
        Body::Static(bytes) => out.send_whole(Bytes::from_static(bytes), &response.trailers),
        Body::Bytes(bytes) => out.send_whole(bytes.into(), &response.trailers),
        Body::Shared(bytes) => out.send_whole(bytes, &response.trailers),
        body => {
            let mut rest = Rest::new(body);
            poll_fn(|cx| out.poll_pieces(&mut rest, &response.trailers, cx)).await
        }
    };
    if matches!(end, StreamEnd::CutShort) {
        worker.stats().cut_short.add(1);
        out.stream.send_reset(Reason::INTERNAL_ERROR);
    }
}

/// Sends the head; what the body goes to, unless there is none or the client has gone.
fn send_head(respond: &Respond, response: &Response, is_head: bool) -> Option<SendStream<Bytes>> {
    let mut respond = respond.borrow_mut();
    if !response.early.is_empty() {
        respond.send_informational(head::interim(103, &response.early)).ok()?;
    }
    let bodiless = matches!(response.status, 100..=199 | 204 | 304);
    let length = match response.body.length() {
        _ if bodiless => None,
        Some(0) if is_head => Some(claimed_length(&response.headers).unwrap_or(0)),
        length => length,
    };
    let ends = is_head || bodiless || (length == Some(0) && response.trailers.is_empty());
    let stream = respond.send_response(head::of_response(response, length), ends).ok()?;
    (!ends).then_some(stream)
}

/// What a wait before the response gives; `None` once the client has reset the stream.
pub(crate) async fn wanted<F: Future>(respond: &Respond, wait: F) -> Option<F::Output> {
    tokio::select! {
        output = wait => Some(output),
        _ = poll_fn(|cx| respond.borrow_mut().poll_reset(cx)) => None,
    }
}

/// The sending half of a stream whose head has been sent.
struct Out {
    stream: SendStream<Bytes>,
    gathered: BytesMut,
}

impl Out {
    fn send_whole(&mut self, bytes: Bytes, trailers: &[Line]) -> StreamEnd {
        if self.stream.send_data(bytes, trailers.is_empty()).is_err() {
            return StreamEnd::Gone;
        }
        if trailers.is_empty() { StreamEnd::Whole } else { self.send_trailers(trailers) }
    }

    fn send_trailers(&mut self, trailers: &[Line]) -> StreamEnd {
        self.stream.send_trailers(head::map(trailers)).map_or(StreamEnd::Gone, |()| StreamEnd::Whole)
    }

    fn poll_pieces(&mut self, rest: &mut Rest, trailers: &[Line], cx: &mut Context<'_>) -> Poll<StreamEnd> {
        loop {
            if ready!(self.poll_room(cx)).is_err() {
                return Poll::Ready(StreamEnd::Gone);
            }
            let sent = match rest.poll_piece(OF_FILE, cx) {
                Poll::Ready(Ok(Some(piece))) => self.gather(piece),
                Poll::Ready(Ok(None)) => return Poll::Ready(self.end(trailers)),
                Poll::Ready(Err(CutShort)) => {
                    let _cut_anyway = self.flush(false);
                    return Poll::Ready(StreamEnd::CutShort);
                }
                Poll::Pending => {
                    let gone = self.flush(false).is_err() || self.stream.poll_reset(cx).is_ready();
                    return if gone { Poll::Ready(StreamEnd::Gone) } else { Poll::Pending };
                }
            };
            if sent.is_err() {
                return Poll::Ready(StreamEnd::Gone);
            }
        }
    }

    /// Ready when at least a byte may be sent now. What is gathered has been counted on already.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), h2::Error>> {
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

    fn gather(&mut self, piece: Bytes) -> Result<(), h2::Error> {
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
        Ok(())
    }

    fn flush(&mut self, ends: bool) -> Result<(), h2::Error> {
        if self.gathered.is_empty() && !ends {
            return Ok(());
        }
        self.stream.send_data(self.gathered.split().freeze(), ends)
    }

    fn end(&mut self, trailers: &[Line]) -> StreamEnd {
        if self.flush(trailers.is_empty()).is_err() {
            return StreamEnd::Gone;
        }
        if trailers.is_empty() { StreamEnd::Whole } else { self.send_trailers(trailers) }
    }
}
