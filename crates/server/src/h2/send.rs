//! Sends a response on one stream.
//!
//! What is all there is handed to the connection at once, which sends it as the client's windows allow. Pieces that
//! come in time are asked for only while the stream has room, small ones that are ready leave in one frame, and none
//! waits for one that is not. A body that fails ends in RST_STREAM, so that the client cannot take it for whole.

use std::future::{Future, poll_fn};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::SendStream;

use crate::h2::head;
use crate::outgoing::http2_out::{Out, Respond};
use crate::outgoing::respond::{Body, Line, Response, claimed_length};

use crate::outgoing::sending::{CutShort, Rest};
use crate::worker::Worker;

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
    let mut out = Out::new(stream);
    let end = match response.body {
        Body::Static(bytes) => send_whole(&mut out, Bytes::from_static(bytes), &response.trailers),
        Body::Bytes(bytes) => send_whole(&mut out, bytes.into(), &response.trailers),
        Body::Shared(bytes) => send_whole(&mut out, bytes, &response.trailers),
        body => {
            let mut rest = Rest::new(body);
            poll_fn(|cx| poll_pieces(&mut out, &mut rest, &response.trailers, cx)).await
        }
    };
    if matches!(end, StreamEnd::CutShort) {
        worker.stats().cut_short.add(1);
        out.fail();
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

fn send_whole(out: &mut Out, bytes: Bytes, trailers: &[Line]) -> StreamEnd {
    end_of(out.send(bytes, trailers.is_empty()), out, trailers)
}

fn poll_pieces(out: &mut Out, rest: &mut Rest, trailers: &[Line], cx: &mut Context<'_>) -> Poll<StreamEnd> {
    loop {
        if ready!(out.poll_room(cx)).is_err() {
            return Poll::Ready(StreamEnd::Gone);
        }
        let sent = match rest.poll_piece(OF_FILE, cx) {
            Poll::Ready(Ok(Some(piece))) => out.gather(piece),
            Poll::Ready(Ok(None)) => {
                let flushed = out.flush(trailers.is_empty());
                return Poll::Ready(end_of(flushed, out, trailers));
            }
            Poll::Ready(Err(CutShort)) => {
                let _cut_anyway = out.flush(false);
                return Poll::Ready(StreamEnd::CutShort);
            }
            Poll::Pending => {
                let gone = out.flush(false).is_err() || out.poll_reset(cx).is_ready();
                return if gone { Poll::Ready(StreamEnd::Gone) } else { Poll::Pending };
            }
        };
        if sent.is_err() {
            return Poll::Ready(StreamEnd::Gone);
        }
    }
}

/// Ends what has been sent by trailers, if there are any.
fn end_of(sent: Result<(), h2::Error>, out: &mut Out, trailers: &[Line]) -> StreamEnd {
    let ended = sent.and_then(|()| if trailers.is_empty() { Ok(()) } else { out.end_with(head::map(trailers)) });
    ended.map_or(StreamEnd::Gone, |()| StreamEnd::Whole)
}
