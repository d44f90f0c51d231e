//! One exchange on a stream: the request out, the response in, the steps stamped.
//!
//! An answer that is complete before the upload is through ends the upload. Trailers are waited for, because the
//! response ends with them, and dropped. Refuses to decide about another try. Dropping it resets the stream.

use std::task::{Context, Poll};

use ::h2::client::ResponseFuture;
use ::h2::{Reason, RecvStream, SendStream};
use bytes::Bytes;

use crate::client::context::IoContext;
use crate::client::http2_connection::{Drive, Slot};
use crate::client::http2_head::{Http2Head, response_text};
use crate::client::http2_upload::StreamUpload;
use crate::client::transaction::{Outcome, Work, due, step};
use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::io::arrival::Moment;
use crate::io::stamps::Tick;
use crate::request::BodyUse;
use crate::response::{Body, Marks, Response};

/// A body vector is reserved up to this size ahead; beyond, it grows with what really arrives.
const MAX_RESERVE: u64 = 1 << 20;

/// As k6 names it.
const PROTO: &str = "HTTP/2.0";

/// An exchange under way.
pub(crate) struct Stream<'a> {
    io: &'a IoContext,
    deadline: Option<Tick>,
    write_by: Option<Tick>,
    to_head_request: bool,
    body_use: BodyUse,
    upload: StreamUpload<'a>,
    sending: SendStream<Bytes>,
    state: Receiving,
    response: Option<Answered>,
    content: Vec<u8>,
    /// Bytes of the body that arrived.
    length: u64,
    sent_at: Option<Tick>,
    first: Option<Moment>,
    last: Option<Moment>,
    /// Reads of the connection when this stream was looked at last, and whether each of its moments is that of the read
    /// which brought it.
    reads: u64,
    is_exact: bool,
    /// The stream knows whom to wake.
    was_asked: bool,
    /// The last, because it tells the peer what the others ended with.
    slot: Slot,
}

enum Receiving {
    Head(ResponseFuture),
    Body(RecvStream),
    Trailers(RecvStream),
    Done,
}

struct Answered {
    status: u16,
    text: Bytes,
    marks: Marks,
    declared: Option<u64>,
}

/// How a stream ended.
pub(crate) enum Ended {
    Complete,
    /// With what the peer or the network did.
    Failed(Failure),
    /// The peer has not processed it (RFC 9113 8.7): a GOAWAY that excludes it, REFUSED_STREAM.
    Unprocessed(Failure),
}

impl<'a> Stream<'a> {
    /// Opens a stream for the request.
    pub(crate) fn begin(
        slot: Slot,
        io: &'a IoContext,
        head: &Http2Head,
        work: &Work<'a>,
    ) -> Result<Stream<'a>, Failure> {
        let upload = StreamUpload::new(work.body);
        let opened = slot.shared.requests.clone().send_request(head.0.clone(), upload.is_done());
        let (response, sending) = opened.map_err(|error| failure_map::http2(&error, Step::Send))?;
        let reads = slot.shared.pipe.reads();
        Ok(Stream {
            io,
            deadline: work.deadline,
            write_by: io.limits.write.and_then(|limit| Tick::now().after(limit)),
            to_head_request: work.to_head_request,
            body_use: work.body_use.clone(),
            upload,
            sending,
            state: Receiving::Head(response),
            response: None,
            content: Vec::new(),
            length: 0,
            sent_at: None,
            first: None,
            last: None,
            reads,
            is_exact: true,
            was_asked: false,
            slot,
        })
    }

    /// Runs until the exchange is over.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Ended> {
        loop {
            let reads = self.slot.shared.pipe.reads();
            // Only a read brings something for the stream.
            if reads != self.reads || !self.upload.has_ended() || self.must_be_asked() {
                if let Some(ended) = self.advance(cx) {
                    return Poll::Ready(ended);
                }
                self.reads = reads;
            }
            if self.waits_for_sink(cx) {
                break;
            }
            let drive = self.slot.shared.drive(cx, self.slot.at);
            if self.sent_at.is_none() && self.upload.has_ended() && !self.slot.shared.pipe.has_unsent() {
                self.sent_at = Some(Tick::now());
            }
            match drive {
                Drive::Again => {}
                Drive::Waits if self.slot.shared.pipe.reads() == self.reads => break,
                Drive::Waits => {}
                Drive::Ended => return Poll::Ready(self.advance(cx).unwrap_or_else(|| self.lost())),
            }
        }
        if let Some(end) = due(self.io, self.deadline, self.write_by, self.sent_at)
            && self.slot.timer.poll(cx, &self.io.stamps, end).is_ready()
        {
            return Poll::Ready(Ended::Failed(failure_map::timeout(self.step())));
        }
        // Another request may take over the polling: then the stream has to wake this one.
        if !(self.slot.wait(cx) && self.was_asked)
            && let Some(ended) = self.advance(cx)
        {
            return Poll::Ready(ended);
        }
        Poll::Pending
    }

    /// Content may wait that was not taken because its sink had no room.
    fn must_be_asked(&self) -> bool {
        matches!((&self.body_use, &self.state), (BodyUse::Stream(_), Receiving::Body(_)))
    }

    /// The sink has no room: nothing more is read for this stream.
    fn waits_for_sink(&self, cx: &mut Context<'_>) -> bool {
        match (&self.body_use, &self.state) {
            (BodyUse::Stream(sink), Receiving::Body(_)) => sink.poll_ready(cx).is_pending(),
            _ => false,
        }
    }

    /// Takes what there is for this stream; how it ended, if it did.
    fn advance(&mut self, cx: &mut Context<'_>) -> Option<Ended> {
        self.was_asked = true;
        if !self.upload.has_ended()
            && let Err(error) = self.upload.poll(cx, &mut self.sending)
        {
            return Some(Ended::Failed(failure_map::payload(error, Step::Send)));
        }
        loop {
            match &mut self.state {
                Receiving::Head(response) => {
                    let Poll::Ready(answer) = std::pin::Pin::new(response).poll(cx) else { return None };
                    match answer {
                        Ok(answer) => self.take_head(answer),
                        Err(error) => return Some(self.failed(&error)),
                    }
                }
                Receiving::Body(body) => {
                    if let BodyUse::Stream(sink) = &self.body_use {
                        if sink.has_enough() {
                            return Some(Ended::Complete);
                        }
                        match sink.poll_ready(cx) {
                            Poll::Ready(Ok(())) => {}
                            Poll::Ready(Err(message)) => {
                                let failure = Failure { step: Step::Receive, kind: FailureKind::Other, message };
                                return Some(Ended::Failed(failure));
                            }
                            Poll::Pending => return None,
                        }
                    }
                    let Poll::Ready(data) = body.poll_data(cx) else { return None };
                    match data {
                        Some(Ok(bytes)) => {
                            // Fails when the stream was reset meanwhile, which the next poll finds out.
                            let _reset = body.flow_control().release_capacity(bytes.len());
                            self.take_data(bytes);
                        }
                        Some(Err(error)) => return Some(self.failed(&error)),
                        None => {
                            let Receiving::Body(body) = std::mem::replace(&mut self.state, Receiving::Done) else {
                                return None;
                            };
                            self.state = if body.is_end_stream() { Receiving::Done } else { Receiving::Trailers(body) };
                        }
                    }
                }
                Receiving::Trailers(body) => {
                    let Poll::Ready(trailers) = body.poll_trailers(cx) else { return None };
                    if let Err(error) = trailers {
                        return Some(self.failed(&error));
                    }
                    self.note();
                    self.state = Receiving::Done;
                }
                Receiving::Done => return Some(Ended::Complete),
            }
        }
    }

    fn take_head(&mut self, answer: http::Response<RecvStream>) {
        self.note();
        let (parts, body) = answer.into_parts();
        let status = parts.status.as_u16();
        let (text, marks) = response_text(status, &parts.headers);
        let declared = parts.headers.get(http::header::CONTENT_LENGTH);
        let declared = declared.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if let BodyUse::Stream(sink) = &self.body_use {
            let answer = || Response { status, proto: PROTO, head: text.clone(), body: Body::Discarded(0) };
            if !((200..300).contains(&status) && sink.begin(&answer())) {
                self.body_use = BodyUse::Keep;
            }
        }
        self.response = Some(Answered { status, text, marks, declared });
        self.state = if body.is_end_stream() { Receiving::Done } else { Receiving::Body(body) };
    }

    fn take_data(&mut self, bytes: Bytes) {
        self.note();
        self.length += bytes.len() as u64;
        match &self.body_use {
            BodyUse::Keep => {
                if self.content.is_empty() {
                    let declared = self.response.as_ref().and_then(|head| head.declared).unwrap_or(0);
                    self.content.reserve_exact((declared.min(MAX_RESERVE) as usize).max(bytes.len()));
                }
                self.content.extend_from_slice(&bytes);
            }
            BodyUse::Discard => {}
            BodyUse::Stream(sink) => {
                sink.take(&bytes);
                let moment = self.last.or(self.first);
                let earliest = self.sent_at.or(moment.map(|moment| moment.seen));
                if let (Some(at), _) = Moment::place(moment, &self.io.stamps, earliest.unwrap_or_else(Tick::now)) {
                    sink.arrived(self.io.stamps.instant(at));
                }
            }
        }
    }

    /// Something arrived for this stream with the last read.
    fn note(&mut self) {
        let pipe = &self.slot.shared.pipe;
        self.is_exact &= pipe.reads() <= self.reads + 1;
        let moment = pipe.last();
        match self.first {
            None => self.first = moment,
            Some(_) => self.last = moment,
        }
    }

    fn step(&self) -> Step {
        step(self.first, self.sent_at)
    }

    fn failed(&mut self, error: &::h2::Error) -> Ended {
        let is_whole = || self.response.as_ref().is_some_and(|head| head.declared == Some(self.length));
        if error.is_remote() && error.is_reset() && error.reason() == Some(Reason::NO_ERROR) && is_whole() {
            // The answer is complete; the server does not want the rest of the request (RFC 9113 8.1).
            return Ended::Complete;
        }
        if error.is_remote() && error.is_reset() && error.reason() == Some(Reason::REFUSED_STREAM) {
            return Ended::Unprocessed(failure_map::http2(error, self.step()));
        }
        // Streams that the GOAWAY includes go on until the server closes.
        if error.is_remote() && error.is_go_away() {
            let failure = failure_map::http2_excluded(error, self.step());
            let is_orderly = error.reason() == Some(Reason::NO_ERROR);
            return if is_orderly { Ended::Unprocessed(failure) } else { Ended::Failed(failure) };
        }
        match self.slot.shared.failure(self.step()).filter(|_| error.is_io()) {
            Some(failure) => Ended::Failed(failure),
            None => Ended::Failed(failure_map::http2(error, self.step())),
        }
    }

    /// The connection ended and the stream knows nothing of it.
    fn lost(&self) -> Ended {
        let step = self.step();
        Ended::Failed(self.slot.shared.failure(step).unwrap_or_else(|| failure_map::closed(step)))
    }

    /// How it went, of an exchange that started at `start`; the response goes to `place`.
    pub(crate) fn outcome(mut self, ended: Ended, start: Tick, place: &mut Result<Response, Failure>) -> Outcome {
        let (first, first_stamped) = Moment::place(self.first, &self.io.stamps, start);
        let (last, last_stamped) = match self.last {
            Some(_) => Moment::place(self.last, &self.io.stamps, first.unwrap_or(start)),
            None => (first, first_stamped),
        };
        let complete = match (&ended, self.response.take()) {
            (Ended::Complete, head) => head,
            _ => None,
        };
        let (marks, moment) = match (complete, ended) {
            (Some(head), _) => {
                let marks = head.marks;
                let body = self.body(head.status);
                *place = Ok(Response { status: head.status, proto: PROTO, head: head.text, body });
                (marks, last)
            }
            (None, Ended::Failed(failure) | Ended::Unprocessed(failure)) => {
                *place = Err(failure);
                (Marks::default(), None)
            }
            (None, Ended::Complete) => unreachable!("a complete exchange has a head"),
        };
        if matches!(self.state, Receiving::Done) && self.upload.is_done() {
            self.slot.is_settled = true;
        } else {
            self.sending.send_reset(Reason::CANCEL);
        }
        Outcome {
            marks,
            keep: true,
            nothing_sent: false,
            sent_at: self.sent_at,
            first,
            last,
            stamped: first_stamped && last_stamped && self.is_exact,
            ended: moment.unwrap_or_else(Tick::now),
        }
    }

    fn body(&mut self, status: u16) -> Body {
        match self.body_use {
            _ if self.to_head_request || status == 204 || status == 304 => Body::None,
            BodyUse::Keep => Body::Kept(Bytes::from(std::mem::take(&mut self.content))),
            BodyUse::Discard | BodyUse::Stream(_) => Body::Discarded(self.length),
        }
    }
}
