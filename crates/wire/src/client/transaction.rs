//! One HTTP/1.1 exchange on a connection: the request out, the response in, the steps stamped.
//!
//! Reads while it writes, so that an early answer is seen. An error answer (400 and up) or a finished response ends the
//! upload at once and the connection is closed after it (RFC 9112 9.3); any other early head leaves the upload running,
//! because the body may depend on it. The deadline is one timer per connection, re-armed only when it fires early.
//! Refuses pipelining. Invariant: `keep` is true only when request and response both went through completely.

use std::rc::Rc;
use std::task::{Context, Poll};

use crate::client::connection::Connection;
use crate::client::context::IoContext;
use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::h1::decode::{Fed, Finished, Place, ResponseReader};
use crate::io::arrival::{Arrival, Moment, TransportError};
use crate::io::stamps::Tick;
use crate::io::upload::Upload;
use crate::payload::Segment;
use crate::request::BodyUse;
use crate::response::{Body, Marks, Response};
use crate::room::Room;

/// The rest of a discarded body is dropped without being copied, where its length is known and the kernel can do that.
/// Where the last one on a connection was large, the read that brings the head is made this short, so that little of
/// the body is copied along with it.
const SHORT_READ: usize = 4 << 10;
/// From this size on the second read that this takes costs less than the copy.
const LARGE_BODY: u64 = 48 << 10;

/// What to put on the wire and how to read the answer.
pub(crate) struct Work<'a> {
    pub(crate) head: &'a [u8],
    pub(crate) body: &'a [Segment],
    pub(crate) to_head_request: bool,
    pub(crate) body_use: &'a BodyUse,
    pub(crate) deadline: Option<Tick>,
    /// Where bodies that are kept find room.
    pub(crate) room: &'a Rc<Room>,
}

/// How it went, beside the response itself.
pub(crate) struct Outcome {
    pub(crate) marks: Marks,
    /// The connection may carry another exchange.
    pub(crate) keep: bool,
    /// Nothing of the request was taken by the kernel.
    pub(crate) nothing_sent: bool,
    /// When the last byte of the request was with the kernel.
    pub(crate) sent_at: Option<Tick>,
    /// When the first and the last byte of the response reached this machine.
    pub(crate) first: Option<Tick>,
    pub(crate) last: Option<Tick>,
    /// Both by kernel stamps.
    pub(crate) stamped: bool,
    /// The last reading of the clock.
    pub(crate) ended: Tick,
}

/// An exchange under way. The response is put where its owner keeps it: it is large, and a value handed up through
/// futures is copied by each.
pub(crate) struct Transaction<'a> {
    connection: &'a mut Connection,
    io: &'a IoContext,
    place: &'a mut Place,
    deadline: Option<Tick>,
    /// By when the whole request must be out.
    write_by: Option<Tick>,
    upload: Upload<'a>,
    reader: ResponseReader<'a>,
    /// Bytes of a read before the head is complete.
    most_with_head: usize,
    /// The kernel stamps when the request leaves.
    is_checked: bool,
    write_error: Option<TransportError>,
    /// The server refused before the upload was through: the rest stays unsent and the connection is closed.
    refused_early: bool,
    sent_at: Option<Tick>,
    first: Option<Moment>,
    /// Where more than one read brought content.
    last: Option<Moment>,
}

/// By when something has to be over: the request as a whole, or the step it is at.
#[inline]
pub(crate) fn due(
    io: &IoContext,
    deadline: Option<Tick>,
    write_by: Option<Tick>,
    sent_at: Option<Tick>,
) -> Option<Tick> {
    let step = match sent_at {
        None => write_by,
        Some(sent) => io.limits.read.and_then(|limit| sent.after(limit)),
    };
    match (deadline, step) {
        (Some(deadline), Some(step)) => Some(deadline.min(step)),
        (deadline, step) => deadline.or(step),
    }
}

/// Where an exchange is, of which this is the first arrival and the end of sending.
pub(crate) fn step(first: Option<Moment>, sent_at: Option<Tick>) -> Step {
    match (first, sent_at) {
        (Some(_), _) => Step::Receive,
        (None, Some(_)) => Step::Wait,
        (None, None) => Step::Send,
    }
}

/// What ended the waiting.
pub(crate) enum End {
    Complete { clean: bool },
    Failed(Failure),
}

impl<'a> Transaction<'a> {
    /// An exchange on this connection; `place` receives the response, or why there is none.
    // Inlined, to be built where it stays.
    #[inline(always)]
    pub(crate) fn new(
        connection: &'a mut Connection,
        io: &'a IoContext,
        work: &Work<'a>,
        place: &'a mut Place,
    ) -> Transaction<'a> {
        let is_dropped = matches!(work.body_use, BodyUse::Discard) && connection.drops_much;
        let most_with_head = if is_dropped { SHORT_READ } else { usize::MAX };
        let is_checked = io.checker.as_ref().is_some_and(|checker| {
            let socket = || connection.transport.socket.direct();
            checker.is_due() && work.body.is_empty() && socket().is_some_and(|socket| socket.stamp_departures(true))
        });
        Transaction {
            connection,
            io,
            place,
            deadline: work.deadline,
            write_by: io.limits.write.and_then(|limit| Tick::now().after(limit)),
            upload: Upload::new(work.head, work.body),
            reader: ResponseReader::new(work.to_head_request, work.body_use.clone(), work.room),
            most_with_head,
            is_checked,
            write_error: None,
            refused_early: false,
            sent_at: None,
            first: None,
            last: None,
        }
    }
}

impl Transaction<'_> {
    /// Runs until the exchange is over; `outcome` then says how it went.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        self.write(cx);
        while let Poll::Ready(read) = self.read(cx) {
            if let Some(end) = read {
                return Poll::Ready(end);
            }
        }
        if let Some(error) = self.write_error.take_if(|e| !e.is_hangup()) {
            return Poll::Ready(End::Failed(failure_map::transport(error, Step::Send)));
        }
        if let Some(deadline) = due(self.io, self.deadline, self.write_by, self.sent_at)
            && self.connection.timer.poll(cx, &self.io.stamps, deadline).is_ready()
        {
            return Poll::Ready(End::Failed(failure_map::timeout(self.step())));
        }
        Poll::Pending
    }

    fn write(&mut self, cx: &mut Context<'_>) {
        if self.sent_at.is_some() || self.write_error.is_some() || self.refused_early {
            return;
        }
        match self.connection.transport.poll_send(cx, &self.io.buffers, &mut self.upload) {
            Poll::Ready(Ok(())) => self.sent_at = Some(Tick::now()),
            // The server may have answered before it closed: what it said is read first. After a hang-up the socket is
            // certain to become readable.
            Poll::Ready(Err(error)) => self.write_error = Some(error),
            Poll::Pending => {}
        }
    }

    /// One read; an end when the exchange is over.
    fn read(&mut self, cx: &mut Context<'_>) -> Poll<Option<End>> {
        if let Some(sink) = self.reader.sink() {
            if sink.has_enough() {
                self.reader.cut(self.place);
                return Poll::Ready(Some(End::Complete { clean: false }));
            }
            match sink.poll_ready(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(message)) => {
                    let failure = Failure { step: Step::Receive, kind: FailureKind::Other, message };
                    return Poll::Ready(Some(End::Failed(failure)));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
        let mut fed = Ok(Fed::More);
        let most = if self.reader.status().is_none() { self.most_with_head } else { usize::MAX };
        let (reader, place, heads) = (&mut self.reader, &mut *self.place, &self.io.heads);
        let transport = &mut self.connection.transport;
        let arrival = match reader.unwanted().filter(|_| transport.tls.is_none()) {
            Some(left) => transport.poll_drop(cx, &self.io.buffers, left).map_ok(|arrival| {
                fed = Ok(reader.skip(arrival.content as u64, place));
                arrival
            }),
            None => transport.poll_receive_some(cx, &self.io.buffers, most, |bytes| match &mut fed {
                Ok(Fed::More) => fed = reader.feed(bytes, heads, place),
                Ok(Fed::Complete { surplus }) => *surplus += bytes.len(),
                Err(_) => {}
            }),
        };
        let arrival = match arrival {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(arrival)) => arrival,
            Poll::Ready(Err(error)) => return Poll::Ready(Some(self.read_failed(error))),
        };
        self.note(arrival);
        self.tell_sink();
        Poll::Ready(match fed {
            Err(why) => Some(End::Failed(failure_map::unreadable(why, self.step()))),
            Ok(Fed::Complete { surplus }) => Some(End::Complete { clean: surplus == 0 && !arrival.closed }),
            Ok(Fed::More) if arrival.closed => Some(self.closed()),
            Ok(Fed::More) => {
                self.refused_early = self.sent_at.is_none() && self.reader.status().is_some_and(|s| s >= 400);
                None
            }
        })
    }

    fn note(&mut self, arrival: Arrival) {
        if arrival.content > 0 {
            let moment = Moment { seen: Tick::now(), stamp_ns: arrival.stamp_ns };
            match self.first {
                None => self.first = Some(moment),
                Some(_) => self.last = Some(moment),
            }
        }
    }

    /// Tells a sink when what it took last arrived.
    fn tell_sink(&self) {
        let (Some(sink), Some(moment)) = (self.reader.stream(), self.last.or(self.first)) else { return };
        if let (Some(at), _) = Moment::place(Some(moment), &self.io.stamps, self.sent_at.unwrap_or(moment.seen)) {
            sink.arrived(self.io.stamps.instant(at));
        }
    }

    fn closed(&mut self) -> End {
        if self.reader.end_of_stream(self.place) {
            return End::Complete { clean: false };
        }
        match self.write_error.take() {
            Some(error) if self.first.is_none() => End::Failed(failure_map::transport(error, Step::Send)),
            _ => End::Failed(failure_map::closed(self.step())),
        }
    }

    fn read_failed(&mut self, error: TransportError) -> End {
        let step = self.step();
        let error = if self.first.is_none() { self.write_error.take().unwrap_or(error) } else { error };
        End::Failed(failure_map::transport(error, step))
    }

    fn step(&self) -> Step {
        step(self.first, self.sent_at)
    }

    /// How it went, of an exchange that started at `start`.
    // By reference: handed on by value, it would be copied.
    pub(crate) fn outcome(&mut self, end: End, start: Tick) -> Outcome {
        let whole_upload = self.upload.is_done() && self.sent_at.is_some();
        let nothing_sent = self.upload.is_untouched();
        let (first, first_stamped) = Moment::place(self.first, &self.io.stamps, start);
        let (last, last_stamped) = match self.last {
            Some(_) => Moment::place(self.last, &self.io.stamps, first.unwrap_or(start)),
            None => (first, first_stamped),
        };
        let mut drops = false;
        let (keep, marks, ended) = match (end, self.reader.finished()) {
            (End::Complete { clean }, Some(Finished { keep_alive, has_length, marks })) => {
                drops = has_length && self.connection.transport.drops_uncopied();
                (keep_alive && clean && whole_upload, marks, last)
            }
            (End::Complete { .. }, None) => unreachable!("the reader reported a complete response"),
            (End::Failed(failure), _) => {
                *self.place = Err(failure);
                (false, Marks::default(), None)
            }
        };
        self.connection.drops_much =
            drops && matches!(self.place, Ok(Response { body: Body::Discarded(bytes), .. }) if *bytes >= LARGE_BODY);
        let ended = ended.unwrap_or_else(Tick::now);
        let stamped = first_stamped && last_stamped;
        if self.is_checked
            && let (Some(checker), Some(socket)) = (&self.io.checker, self.connection.transport.socket.direct())
        {
            checker.note(socket, &self.io.stamps, start, ended);
        }
        Outcome { marks, keep, nothing_sent, sent_at: self.sent_at, first, last, stamped, ended }
    }
}
