//! One HTTP/1.1 exchange on a connection: the request out, the response in, the steps stamped.
//!
//! Reads while it writes, so that an early answer is seen. An error answer (400 and up) or a finished response ends the
//! upload at once and the connection is closed after it (RFC 9112 9.3); any other early head leaves the upload running,
//! because the body may depend on it. The deadline is one timer per connection, re-armed only when it fires early.
//! Refuses pipelining. It is a value of its own: who drives it shows it the connection, the request and the place of
//! the response at each turn. Its state is a pair:
//!
//! | sending \ receiving | nothing came | some of it came |
//! |---|---|---|
//! | under way | the request goes out | an early answer, which may be complete |
//! | sent | the server thinks | the answer arrives |
//! | broken (the peer hung up) | what it said before is still looked for | and read |
//! | cut short | never | the server refused before it had everything |
//!
//! Invariants: of a pair that says "never" there is none (asserted at each turn); `keep` is true only when request and
//! response both went through completely.

use std::io::ErrorKind;
use std::task::{Context, Poll};

use crate::client::http1::connection::Connection;
use crate::client::worker::context::IoContext;
use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::h1::decode::{Fed, Finished, Place, ResponseReader, Unreadable};
use crate::h1::handling::Handling;
use crate::io::arrival::{Arrival, Moment, TransportError};
use crate::io::stamps::Tick;
use crate::io::upload::{Cursor, Upload};
use crate::payload::Segment;
use crate::request::{BodySink, BodyUse};
use crate::response::{Body, Marks, Response};

/// The rest of a discarded body is dropped without being copied, where its length is known and the kernel can do that.
/// Where the last one on a connection was large, the read that brings the head is made this short, so that little of
/// the body is copied along with it.
const SHORT_READ: usize = 4 << 10;
/// From this size on the second read that this takes costs less than the copy.
const LARGE_BODY: u64 = 48 << 10;

/// What to put on the wire behind the head, by when, and how to read the answer.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) body: &'a [Segment],
    pub(crate) deadline: Option<Tick>,
    pub(crate) handling: Handling<'a>,
}

/// What an exchange is about, shown to it at each turn. The response is put where its owner keeps it: it is large, and
/// a value handed up through futures is copied by each.
pub(crate) struct Parties<'a> {
    pub(crate) connection: &'a mut Connection,
    pub(crate) io: &'a IoContext,
    pub(crate) head: &'a [u8],
    pub(crate) work: &'a Work<'a>,
    pub(crate) place: &'a mut Place,
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
    /// The last handling of the clock.
    pub(crate) ended: Tick,
}

/// An exchange under way.
pub(crate) struct Transaction {
    sending: Sending,
    receiving: Receiving,
    reader: ResponseReader,
    /// The read that brings the head is a short one.
    is_body_dropped: bool,
    /// The kernel stamps when the request leaves.
    is_checked: bool,
}

/// How far the request has come.
enum Sending {
    /// Not all of it is with the kernel.
    UnderWay(Unsent),
    /// All of it is, since then.
    Sent(Tick),
    /// The peer hung up while it was written.
    Broken(Unsent, Box<TransportError>),
    /// The server refused before it was through: the rest stays unsent and the connection is closed.
    CutShort(Unsent),
}

/// A request of which the kernel has taken a part, or nothing.
#[derive(Clone, Copy)]
struct Unsent {
    written: Cursor,
    /// By when all of it must be out.
    by: Option<Tick>,
}

/// What has come of the response; the bytes are with the reader.
enum Receiving {
    Nothing,
    /// `last`: where more than one read brought content.
    Some {
        first: Moment,
        last: Option<Moment>,
    },
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

impl Connection {
    /// Notes whether a response had a large body that was dropped and could have been without a copy.
    #[inline]
    pub(crate) fn note_dropped(&mut self, finished: &Finished, place: &Place) {
        let is_large = matches!(place, Ok(Response { body: Body::Discarded(bytes), .. }) if *bytes >= LARGE_BODY);
        self.drops_much = is_large && finished.has_length && self.transport.drops_uncopied();
    }
}

impl Sending {
    #[inline]
    fn sent_at(&self) -> Option<Tick> {
        match self {
            Sending::Sent(at) => Some(*at),
            _ => None,
        }
    }

    /// The part that was written, and by when the rest must be.
    #[inline]
    fn unsent(&self) -> Option<Unsent> {
        match self {
            Sending::Sent(_) => None,
            Sending::UnderWay(unsent) | Sending::Broken(unsent, _) | Sending::CutShort(unsent) => Some(*unsent),
        }
    }

    /// Whether writing was told that the peer has reset the connection.
    fn was_reset(&self) -> bool {
        let Sending::Broken(_, error) = self else { return false };
        matches!(&**error, TransportError::Io(error) if error.kind() == ErrorKind::ConnectionReset)
    }

    /// Why writing failed, for an exchange that ends with that.
    fn take_error(&mut self) -> Option<TransportError> {
        let Sending::Broken(unsent, _) = self else { return None };
        let unsent = *unsent;
        match std::mem::replace(self, Sending::UnderWay(unsent)) {
            Sending::Broken(_, error) => Some(*error),
            _ => None,
        }
    }
}

impl Transaction {
    /// An exchange on this connection.
    // Inlined, to be built where it stays.
    #[inline(always)]
    pub(crate) fn new(connection: &Connection, io: &IoContext, work: &Work<'_>) -> Transaction {
        let is_checked =
            io.checker.as_ref().is_some_and(|checker| checker.begin(&connection.transport.socket, work.body));
        Transaction::begun(connection, io, work, is_checked)
    }

    /// The same, where it is known whether the kernel stamps when the request leaves.
    #[inline(always)]
    pub(crate) fn begun(connection: &Connection, io: &IoContext, work: &Work<'_>, is_checked: bool) -> Transaction {
        let by = io.limits.write.and_then(|limit| Tick::now().after(limit));
        Transaction {
            sending: Sending::UnderWay(Unsent { written: Cursor::default(), by }),
            receiving: Receiving::Nothing,
            reader: ResponseReader::default(),
            is_body_dropped: matches!(work.handling.body_use, BodyUse::Discard) && connection.drops_much,
            is_checked,
        }
    }

    /// One whose request has been with the kernel since then; `reader` has what the first read of the answer brought.
    pub(crate) fn sent(at: Tick, reader: ResponseReader, is_checked: bool) -> Transaction {
        let (sending, receiving) = (Sending::Sent(at), Receiving::Nothing);
        Transaction { sending, receiving, reader, is_body_dropped: false, is_checked }
    }

    /// Goes on until the exchange is over; `outcome` then says how it went.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, parties: &mut Parties<'_>) -> Poll<End> {
        debug_assert!(self.is_legal(), "only what was answered is cut short");
        if let Sending::UnderWay(unsent) = self.sending {
            self.write(unsent, cx, parties);
        }
        while let Poll::Ready(read) = self.read(cx, parties) {
            if let Some(end) = read {
                return Poll::Ready(end);
            }
        }
        if matches!(&self.sending, Sending::Broken(_, error) if !error.is_hangup())
            && let Some(error) = self.sending.take_error()
        {
            return Poll::Ready(End::Failed(failure_map::transport(error, Step::Send)));
        }
        let write_by = self.sending.unsent().and_then(|unsent| unsent.by);
        if let Some(deadline) = due(parties.io, parties.work.deadline, write_by, self.sending.sent_at())
            && parties.connection.timer.poll(cx, &parties.io.stamps, deadline).is_ready()
        {
            return Poll::Ready(End::Failed(failure_map::timeout(self.step())));
        }
        Poll::Pending
    }

    /// Whether its state is one of the pairs above.
    fn is_legal(&self) -> bool {
        let has_status = self.reader.status().is_some();
        match (&self.sending, &self.receiving) {
            (Sending::CutShort(_), Receiving::Nothing) => false,
            (Sending::CutShort(_), Receiving::Some { .. }) => has_status,
            (_, Receiving::Nothing) => !has_status,
            (_, Receiving::Some { .. }) => true,
        }
    }

    #[inline]
    fn write(&mut self, unsent: Unsent, cx: &mut Context<'_>, parties: &mut Parties<'_>) {
        let Parties { connection, io, head, work, .. } = parties;
        let mut upload = Upload::at(head, work.body, unsent.written);
        let sent = connection.transport.poll_send(cx, &io.buffers, &mut upload);
        self.wrote(sent, Unsent { written: upload.cursor(), ..unsent });
    }

    /// What came of the first attempt to write, which reached this place.
    pub(crate) fn wrote_first(&mut self, sent: Poll<Result<(), TransportError>>, written: Cursor) {
        if let Sending::UnderWay(unsent) = self.sending {
            self.wrote(sent, Unsent { written, ..unsent });
        }
    }

    #[inline]
    fn wrote(&mut self, sent: Poll<Result<(), TransportError>>, unsent: Unsent) {
        self.sending = match sent {
            Poll::Ready(Ok(())) => Sending::Sent(Tick::now()),
            // The server may have answered before it closed: what it said is read first. After a hang-up the socket is
            // certain to become readable.
            Poll::Ready(Err(error)) => Sending::Broken(unsent, Box::new(error)),
            Poll::Pending => Sending::UnderWay(unsent),
        };
    }

    /// One read; an end when the exchange is over.
    #[inline]
    fn read(&mut self, cx: &mut Context<'_>, parties: &mut Parties<'_>) -> Poll<Option<End>> {
        let Parties { connection, io, work, place, .. } = parties;
        if let Some(sink) = self.reader.sink() {
            if sink.has_enough() {
                self.reader.cut(place);
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
        let most = if self.is_body_dropped && self.reader.status().is_none() { SHORT_READ } else { usize::MAX };
        let (reader, transport) = (&mut self.reader, &mut connection.transport);
        let arrival = match reader.unwanted().filter(|_| transport.tls.is_none()) {
            Some(left) => transport.poll_drop(cx, &io.buffers, left).map_ok(|arrival| {
                fed = Ok(reader.skip(arrival.content as u64, place));
                arrival
            }),
            None => transport.poll_receive_some(cx, &io.buffers, most, |bytes| {
                reader.feed_one_of(bytes, &mut fed, &work.handling, place);
            }),
        };
        match arrival {
            Poll::Pending => Poll::Pending,
            Poll::Ready(arrival) => Poll::Ready(self.take(arrival, fed, parties)),
        }
    }

    /// What one read came to, whose bytes have done this to the reader; an end when the exchange is over.
    #[inline]
    pub(crate) fn take(
        &mut self,
        arrival: Result<Arrival, TransportError>,
        fed: Result<Fed, Unreadable>,
        parties: &mut Parties<'_>,
    ) -> Option<End> {
        let arrival = match arrival {
            Ok(arrival) => arrival,
            Err(error) => return Some(self.read_failed(error)),
        };
        self.note(arrival);
        if let BodyUse::Stream(sink) = parties.work.handling.body_use {
            self.tell_sink(&**sink, parties.io, parties.place);
        }
        match fed {
            Err(why) => Some(End::Failed(failure_map::unreadable(why, self.step()))),
            Ok(Fed::Complete { surplus }) => Some(End::Complete { clean: surplus == 0 && !arrival.closed }),
            Ok(Fed::More) if arrival.closed => Some(self.closed(parties.place)),
            Ok(Fed::More) => {
                if let Sending::UnderWay(unsent) = self.sending
                    && self.reader.status().is_some_and(|status| status >= 400)
                {
                    self.sending = Sending::CutShort(unsent);
                }
                None
            }
        }
    }

    fn note(&mut self, arrival: Arrival) {
        if arrival.content > 0 {
            let moment = Moment { seen: Tick::now(), stamp_ns: arrival.stamp_ns };
            match &mut self.receiving {
                Receiving::Nothing => self.receiving = Receiving::Some { first: moment, last: None },
                Receiving::Some { last, .. } => *last = Some(moment),
            }
        }
    }

    /// Tells a sink when what it took last arrived.
    fn tell_sink(&self, sink: &dyn BodySink, io: &IoContext, place: &Place) {
        let Receiving::Some { first, last } = &self.receiving else { return };
        let has_taken =
            || self.reader.finished().is_some() && !matches!(place, Ok(Response { body: Body::Kept(_), .. }));
        if self.reader.sink().is_none() && !has_taken() {
            return;
        }
        let moment = last.unwrap_or(*first);
        let earliest = self.sending.sent_at().unwrap_or(moment.seen);
        if let (Some(at), _) = Moment::place(Some(moment), &io.stamps, earliest) {
            sink.arrived(io.stamps.instant(at));
        }
    }

    fn closed(&mut self, place: &mut Place) -> End {
        // The kernel tells a reset once. Where writing was told, reading finds an end that looks like an orderly one,
        // and what came is no whole body. (Behind an orderly end, writing is told of a broken pipe instead.)
        let was_reset = self.sending.was_reset();
        if !was_reset && self.reader.end_of_stream(place) {
            return End::Complete { clean: false };
        }
        let step = self.step();
        match self.sending.take_error() {
            Some(error) if was_reset || step == Step::Send => End::Failed(failure_map::transport(error, step)),
            _ => End::Failed(failure_map::closed(step)),
        }
    }

    fn read_failed(&mut self, error: TransportError) -> End {
        let step = self.step();
        let error = if self.first().is_none() { self.sending.take_error().unwrap_or(error) } else { error };
        End::Failed(failure_map::transport(error, step))
    }

    /// When the first of the response came.
    fn first(&self) -> Option<Moment> {
        match self.receiving {
            Receiving::Nothing => None,
            Receiving::Some { first, .. } => Some(first),
        }
    }

    fn step(&self) -> Step {
        step(self.first(), self.sending.sent_at())
    }

    /// How it went, of an exchange that started at `start`.
    // By reference: handed on by value, it would be copied.
    #[inline(always)]
    pub(crate) fn outcome(&mut self, end: End, start: Tick, parties: &mut Parties<'_>) -> Outcome {
        let Parties { connection, io, place, .. } = parties;
        let sent_at = self.sending.sent_at();
        debug_assert!(sent_at.is_none_or(|sent| sent >= start), "a request is sent after it began");
        let nothing_sent = self.sending.unsent().is_some_and(|unsent| unsent.written.is_at_start());
        let (first, last) = match self.receiving {
            Receiving::Nothing => (None, None),
            Receiving::Some { first, last } => (Some(first), last),
        };
        let (first, first_stamped) = Moment::place(first, &io.stamps, start);
        let (last, last_stamped) = match last {
            Some(_) => Moment::place(last, &io.stamps, first.unwrap_or(start)),
            None => (first, first_stamped),
        };
        connection.drops_much = false;
        let (keep, marks, ended) = match (end, self.reader.finished()) {
            (End::Complete { clean }, Some(finished)) => {
                connection.note_dropped(finished, place);
                (finished.keep_alive && clean && sent_at.is_some(), finished.marks, last)
            }
            (End::Complete { .. }, None) => unreachable!("the reader reported a complete response"),
            (End::Failed(failure), _) => {
                **place = Err(failure);
                (false, Marks::default(), None)
            }
        };
        debug_assert!(!keep || place.is_ok(), "a connection goes on behind a response, and behind nothing else");
        let ended = ended.unwrap_or_else(Tick::now);
        let stamped = first_stamped && last_stamped;
        if let (true, Some(checker)) = (self.is_checked, &io.checker) {
            checker.note(&connection.transport.socket, &io.stamps, start, ended);
        }
        Outcome { marks, keep, nothing_sent, sent_at, first, last, stamped, ended }
    }
}

#[cfg(test)]
mod tests;
