//! One exchange on a stream: the request out, the response in, the steps stamped.
//!
//! An answer that is complete before the upload is through ends the upload. Trailers are waited for, because the
//! response ends with them, and dropped. Refuses to decide about another try. Dropping it resets the stream.

use std::task::{Context, Poll};

use bytes::Bytes;

use crate::client::http1::transaction::{Outcome, Work, due, step};
use crate::client::http2::connection::{Drive, Slot};
use crate::client::http2::upload::StreamUpload;
use crate::client::worker::cancelled::Cancelled;
use crate::client::worker::context::IoContext;
use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::h2::error_code::{NO_ERROR, REFUSED_STREAM};
use crate::h2::{AnswerHead, Asked, Http2Head, Http2Session, Keep, OpenStream, StreamEnd};
use crate::io::arrival::Moment;
use crate::io::stamps::Tick;
use crate::request::BodyUse;
use crate::response::{Body, Content, Response};

/// As k6 names it.
const PROTO: &str = "HTTP/2.0";

/// An exchange under way.
pub(crate) struct Stream<'a> {
    io: &'a IoContext,
    deadline: Option<Tick>,
    write_by: Option<Tick>,
    is_bodiless: bool,
    body_use: BodyUse,
    upload: StreamUpload<'a>,
    id: u32,
    response: Option<AnswerHead>,
    sent_at: Option<Tick>,
    /// Nothing was polled for it yet.
    is_new: bool,
    /// Its outcome was taken; else it is cancelled when it is dropped.
    is_over: bool,
    slot: Slot,
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
    /// Opens a stream for the request; `None` when the server has said goodbye meanwhile.
    pub(crate) fn begin(slot: Slot, io: &'a IoContext, head: &Http2Head, work: &Work<'a>) -> Option<Stream<'a>> {
        let upload = StreamUpload::new(work.body);
        let keep = match work.handling.body_use {
            BodyUse::Keep => Keep::Whole,
            BodyUse::Discard => Keep::Count,
            BodyUse::Stream(_) => Keep::Pieces,
        };
        let mut session = slot.shared.session();
        if !session.is_open() {
            return None;
        }
        let asked = Asked { keep, is_bodiless: work.handling.is_bodiless, room: work.handling.room };
        let id = session.open(head, upload.is_done(), asked, slot.at);
        drop(session);
        Some(Stream {
            io,
            deadline: work.deadline,
            write_by: io.limits.write.and_then(|limit| Tick::now().after(limit)),
            is_bodiless: work.handling.is_bodiless,
            body_use: work.handling.body_use.clone(),
            upload,
            id,
            response: None,
            sent_at: None,
            is_new: true,
            is_over: false,
            slot,
        })
    }

    /// Runs until the exchange is over.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Ended> {
        loop {
            if let Some(ended) = self.advance(cx) {
                return Poll::Ready(ended);
            }
            if self.waits_for_sink(cx) {
                break;
            }
            if std::mem::take(&mut self.is_new) && self.upload.has_ended() && self.slot.shared.holds_back() {
                break;
            }
            let drive = self.slot.shared.drive(cx, self.slot.at);
            self.sent_at = self.slot.shared.session().stream(self.id).sending.sent_at;
            match drive {
                Drive::Again => {}
                Drive::Waits if self.upload.has_ended() || !self.slot.shared.session().may_send(self.id) => break,
                Drive::Waits => {}
                Drive::Ended => return Poll::Ready(self.advance(cx).unwrap_or_else(|| self.lost())),
            }
        }
        if let Some(end) = due(self.io, self.deadline, self.write_by, self.sent_at)
            && self.slot.timer.poll(cx, &self.io.stamps, end).is_ready()
        {
            return Poll::Ready(Ended::Failed(failure_map::timeout(self.step())));
        }
        self.slot.wait(cx);
        Poll::Pending
    }

    /// The sink has no room: nothing more is read for this stream.
    fn waits_for_sink(&self, cx: &mut Context<'_>) -> bool {
        match (&self.body_use, &self.response) {
            (BodyUse::Stream(sink), Some(_)) => sink.poll_ready(cx).is_pending(),
            _ => false,
        }
    }

    /// Sends what may be sent and takes what there is for this stream; how it ended, if it did.
    fn advance(&mut self, cx: &mut Context<'_>) -> Option<Ended> {
        let session = &mut *self.slot.shared.session();
        if !self.upload.has_ended()
            && let Err(error) = self.upload.send(session, self.id)
        {
            return Some(Ended::Failed(failure_map::payload(error, Step::Send)));
        }
        let stream = session.stream(self.id);
        self.sent_at = stream.sending.sent_at;
        if let Some(head) = stream.head.take() {
            if let BodyUse::Stream(sink) = &self.body_use {
                let answer = || Response {
                    status: head.status,
                    proto: PROTO,
                    head: head.text.clone(),
                    body: Body::Discarded(0),
                };
                if !((200..300).contains(&head.status) && sink.begin(&answer())) {
                    self.body_use = BodyUse::Keep;
                    stream.content.keep_whole();
                }
            }
            self.response = Some(head);
        }
        if let BodyUse::Stream(_) = &self.body_use
            && let Some(ended) = self.feed_sink(cx, session)
        {
            return ended;
        }
        let stream = session.stream(self.id);
        let end = stream.end?;
        Some(ended(end, stream, step(stream.first, self.sent_at)))
    }

    /// Gives the sink what it takes; what the exchange comes to, when the sink is not done with what came.
    fn feed_sink(&self, cx: &mut Context<'_>, session: &mut Http2Session) -> Option<Option<Ended>> {
        let BodyUse::Stream(sink) = &self.body_use else { return None };
        loop {
            if self.response.is_some() && sink.has_enough() {
                return Some(Some(Ended::Complete));
            }
            let stream = session.stream(self.id);
            if stream.content.pieces.is_empty() {
                return None;
            }
            match sink.poll_ready(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(message)) => {
                    let failure = Failure { step: Step::Receive, kind: FailureKind::Other, message };
                    return Some(Some(Ended::Failed(failure)));
                }
                Poll::Pending => return Some(None),
            }
            let moment = stream.last.or(stream.first);
            if let Some(piece) = stream.content.take_piece() {
                sink.take(&piece);
            }
            let earliest = self.sent_at.or(moment.map(|moment| moment.seen));
            if let (Some(at), _) = Moment::place(moment, &self.io.stamps, earliest.unwrap_or_else(Tick::now)) {
                sink.arrived(self.io.stamps.instant(at));
            }
        }
    }

    fn step(&self) -> Step {
        step(self.slot.shared.session().stream(self.id).first, self.sent_at)
    }

    /// The connection ended and the stream knows nothing of it.
    fn lost(&self) -> Ended {
        let step = self.step();
        Ended::Failed(self.slot.shared.failure(step).unwrap_or_else(|| failure_map::closed(step)))
    }

    /// How it went, of an exchange that started at `start`; the response goes to `place`.
    pub(crate) fn outcome(mut self, ended: Ended, start: Tick, place: &mut Result<Response, Failure>) -> Outcome {
        self.is_over = true;
        let mut session = self.slot.shared.session();
        let stream = session.stream(self.id);
        let (first, first_stamped) = Moment::place(stream.first, &self.io.stamps, start);
        let (last, last_stamped) = match stream.last {
            Some(_) => Moment::place(stream.last, &self.io.stamps, first.unwrap_or(start)),
            None => (first, first_stamped),
        };
        let (length, content) = (stream.content.length, stream.content.take_whole());
        drop(session);
        let (marks, moment) = match (ended, self.response.take()) {
            (Ended::Complete, Some(head)) => {
                let body = self.body(head.status, length, content);
                *place = Ok(Response { status: head.status, proto: PROTO, head: head.text, body });
                (head.marks, last)
            }
            (Ended::Failed(failure) | Ended::Unprocessed(failure), _) => {
                *place = Err(failure);
                Default::default()
            }
            (Ended::Complete, None) => unreachable!("a complete exchange has a head"),
        };
        Outcome {
            marks,
            keep: true,
            nothing_sent: false,
            sent_at: self.sent_at,
            first,
            last,
            stamped: first_stamped && last_stamped,
            ended: moment.unwrap_or_else(Tick::now),
        }
    }

    fn body(&self, status: u16, length: u64, content: Vec<u8>) -> Body {
        debug_assert!(
            !matches!(self.body_use, BodyUse::Keep) || content.len() as u64 == length,
            "what came is kept: {} of {length} bytes",
            content.len()
        );
        match self.body_use {
            _ if self.is_bodiless || status == 204 || status == 304 => Body::None,
            BodyUse::Keep => Body::Kept(Content::from(Bytes::from(content))),
            BodyUse::Discard | BodyUse::Stream(_) => Body::Discarded(length),
        }
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.io.cancelled.add(Cancelled { requests: 1, ..Cancelled::default() });
        }
        // Before the slot goes, whose drop tells the peer.
        self.slot.shared.session().cancel(self.id);
    }
}

/// Why a stream was reset that had no room.
pub(crate) fn too_large(stream: &OpenStream) -> Failure {
    failure_map::body_too_large(stream.content.no_room.as_ref().expect("the stream says why it has no room"))
}

/// What a stream's end means for the exchange, which is at this step.
fn ended(end: StreamEnd, stream: &OpenStream, step: Step) -> Ended {
    match end {
        StreamEnd::Complete => Ended::Complete,
        // The answer is complete; the server does not want the rest of the request (RFC 9113 8.1).
        StreamEnd::Reset(NO_ERROR)
            if stream.content.declared.is_some_and(|declared| declared == stream.content.length) =>
        {
            Ended::Complete
        }
        StreamEnd::Reset(REFUSED_STREAM) => Ended::Unprocessed(failure_map::http2_stream(REFUSED_STREAM, step)),
        StreamEnd::Reset(code) | StreamEnd::Broken(code) => Ended::Failed(failure_map::http2_stream(code, step)),
        StreamEnd::TooLarge => Ended::Failed(too_large(stream)),
        StreamEnd::Excluded(NO_ERROR) => Ended::Unprocessed(failure_map::http2_excluded(NO_ERROR, step)),
        StreamEnd::Excluded(code) => Ended::Failed(failure_map::http2_excluded(code, step)),
    }
}
