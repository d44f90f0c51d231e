//! A request on its way, as one future.
//!
//! A plain request over a kept connection of HTTP/1.1, which is nearly each of a load test, is one write and one read,
//! and there is no future inside. Whatever turns out to be more becomes a boxed one and goes on from where it is: what
//! was not written at once and what was not answered by one read as a `Transaction`, and the rest (a connection,
//! HTTP/2, a redirect, cookies, a body to decode, another try) as `exchange` and `hops` say. A request begins with the
//! first poll, not before: users who ask in the same turn are sent one after the other, and none of them has begun
//! while others are sent.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::{Client, HopClock, is_all};
use crate::client::exchange::{Exchange, Outgoing, attempt_http2, exchange_anew};
use crate::client::http1::connection::Connection;
use crate::client::http1::transaction::{End, Outcome, Transaction};
use crate::client::http2::pool::Seat;
use crate::client::known_requests::PlainHead;
use crate::client::lease::{FirstRead, Lease, Leased};
use crate::client::pool::Kept;
use crate::client::redirect::Hop;
use crate::client::worker::context::IoContext;
use crate::failure::Step;
use crate::failure_map;
use crate::h1::decode::{Fed, ResponseReader};
use crate::io::arrival::{Arrival, Moment};
use crate::io::stamps::Tick;
use crate::io::upload::{Cursor, Upload};
use crate::payload::Payload;
use crate::request::{BodyUse, Request};
use crate::response::Marks;
use crate::syntax::cookies::CookieJar;

/// A request on its way; see `Client::send_into`. Dropped before it is over, it closes the connection in use.
pub struct InFlight<'a> {
    /// Taken by what becomes a future of its own.
    task: Option<Task<'a>>,
    state: State<'a>,
}

enum State<'a> {
    /// Not polled yet.
    Asked,
    Plain(Plain<'a>),
    Long(Long<'a>),
}

type Long<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A plain request that was written at once, and of whose answer nothing has come.
struct Plain<'a> {
    lease: Lease<'a>,
    head: PlainHead,
    clock: HopClock,
    sent: Tick,
    /// The kernel stamps when it leaves.
    is_checked: bool,
}

/// What is to be sent, and where what happens goes.
struct Task<'a> {
    client: &'a Client,
    request: &'a Request,
    jar: Option<&'a CookieJar>,
    /// Told each exchange but the last.
    hop: &'a mut dyn FnMut(&Exchange),
    exchange: &'a mut Exchange,
}

impl<'a> InFlight<'a> {
    #[inline(always)]
    pub(super) fn new(
        client: &'a Client,
        request: &'a Request,
        jar: Option<&'a CookieJar>,
        hop: &'a mut dyn FnMut(&Exchange),
        exchange: &'a mut Exchange,
    ) -> InFlight<'a> {
        InFlight { task: Some(Task { client, request, jar, hop, exchange }), state: State::Asked }
    }

    /// The request begins now.
    #[inline]
    fn begin(&mut self, cx: &mut Context<'_>) {
        let task = self.task.as_ref().expect("it begins once");
        let (client, request) = (task.client, task.request);
        let clock = HopClock::start(&client.worker.io, request);
        match client.ready(request, task.jar) {
            Some((head, Kept::Own(connection))) if may_be_plain(&client.worker.io, request, &connection) => {
                self.write(cx, head, connection, clock);
            }
            kept => self.begin_long(kept, clock),
        }
    }

    /// The same for what is not plain, or has no connection yet.
    // Not inlined, and its futures boxed: a plain request needs none of them, and is not to be as large.
    #[inline(never)]
    fn begin_long(&mut self, kept: Option<(PlainHead, Kept)>, clock: HopClock) {
        let task = self.task.take().expect("it begins once");
        self.state = State::Long(match kept {
            Some((head, Kept::Own(connection))) => Box::pin(task.send_leased(head, connection, clock)),
            Some((head, Kept::Shared(seat))) => Box::pin(task.send_shared(head, seat, clock)),
            None => Box::pin(task.send(clock)),
        });
    }

    /// Writes a plain request.
    #[inline]
    fn write(&mut self, cx: &mut Context<'_>, head: PlainHead, connection: Box<Connection>, clock: HopClock) {
        let task = self.task.as_ref().expect("it is not over");
        let io = &task.client.worker.io;
        // Before anything is written: it tells by the bytes sent since then whether a request was cut short.
        let mut lease = Lease::of(io, connection);
        let body = task.request.body.as_ref().map_or(&[][..], Payload::segments);
        let is_checked =
            io.checker.as_ref().is_some_and(|checker| checker.begin(&lease.connection().transport.socket, body));
        let mut upload = Upload::at(head.head().bytes, body, Cursor::default());
        let written = lease.connection().transport.poll_send(cx, &io.buffers, &mut upload);
        if let Poll::Ready(Ok(())) = written {
            self.state = State::Plain(Plain { lease, head, clock, sent: Tick::now(), is_checked });
            return;
        }
        let at = upload.cursor();
        let task = self.task.take().expect("it is not over");
        let mut leased = task.begun(lease, &clock, is_checked);
        leased.wrote_first(written, at);
        self.state = State::Long(Box::pin(task.go_on_leased(head, leased, None, clock)));
    }
}

/// Whether one write and one read may do. No limit of a step, no taker of the body while it arrives, and no large body
/// that is better dropped uncopied.
#[inline]
fn may_be_plain(io: &IoContext, request: &Request, connection: &Connection) -> bool {
    let is_limited = io.limits.read.is_some() || io.limits.write.is_some();
    let is_taken = match &request.body_use {
        BodyUse::Keep => false,
        BodyUse::Discard => connection.drops_much,
        BodyUse::Stream(_) => true,
    };
    !is_limited && !is_taken
}

impl Future for InFlight<'_> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if let State::Asked = this.state {
            this.begin(cx);
        }
        if let (State::Plain(plain), Some(task)) = (&mut this.state, &mut this.task) {
            match ready!(plain.poll(cx, task)) {
                Answered::Whole => return Poll::Ready(()),
                Answered::More(rest) => {
                    let task = this.task.take().expect("it is over once");
                    this.state = State::Long(task.go_on(plain, *rest));
                }
            }
        }
        match &mut this.state {
            State::Long(long) => long.as_mut().poll(cx),
            State::Asked | State::Plain(_) => unreachable!("it has become a long one"),
        }
    }
}

/// What a read came to.
enum Answered {
    /// The answer, and there is nothing more to do.
    Whole,
    More(Box<More>),
}

/// Why a plain request is not over after all.
enum More {
    /// The answer asks for something.
    Follow(Marks),
    /// It is not complete, the connection broke, or time is over.
    Read(ResponseReader, FirstRead),
    Late,
}

impl Plain<'_> {
    #[inline]
    fn poll(&mut self, cx: &mut Context<'_>, task: &mut Task<'_>) -> Poll<Answered> {
        let Task { client, request, exchange, .. } = task;
        let (io, connection) = (self.lease.io, self.lease.connection());
        let handling = client.handling(&request.method, &request.body_use);
        let (mut reader, mut fed) = (ResponseReader::default(), Ok(Fed::More));
        let arrival = connection.transport.poll_receive(cx, &io.buffers, |bytes| {
            reader.feed_one_of(bytes, &mut fed, &handling, &mut exchange.outcome);
        });
        match arrival {
            Poll::Pending => match self.clock.deadline {
                Some(deadline) if connection.timer.poll(cx, &io.stamps, deadline).is_ready() => {
                    Poll::Ready(Answered::More(Box::new(More::Late)))
                }
                _ => Poll::Pending,
            },
            Poll::Ready(Ok(arrival)) if !arrival.closed && fed == Ok(Fed::Complete { surplus: 0 }) => {
                let marks = self.finish(&reader, arrival, client, exchange);
                if is_all(exchange, marks) {
                    self.head.give_back(io);
                    return Poll::Ready(Answered::Whole);
                }
                Poll::Ready(Answered::More(Box::new(More::Follow(marks))))
            }
            Poll::Ready(arrival) => {
                Poll::Ready(Answered::More(Box::new(More::Read(reader, FirstRead { arrival, fed }))))
            }
        }
    }

    /// The answer is complete: gives the connection back and fills in what happened.
    #[inline]
    fn finish(&mut self, reader: &ResponseReader, arrival: Arrival, client: &Client, exchange: &mut Exchange) -> Marks {
        let finished = reader.finished().expect("the reader reported a complete response");
        let (io, mut connection, start) = (self.lease.io, self.lease.take(), self.clock.asked);
        let (at, stamped) = Moment { seen: Tick::now(), stamp_ns: arrival.stamp_ns }.placed(&io.stamps, start);
        if let (true, Some(checker)) = (self.is_checked, &io.checker) {
            checker.note(&connection.transport.socket, &io.stamps, start, at);
        }
        connection.note_dropped(finished, &exchange.outcome);
        exchange.count(&mut connection, stamped);
        if finished.keep_alive {
            client.pool.give_back(&self.head.origin().endpoint, connection);
        }
        let outcome = Outcome {
            marks: finished.marks,
            keep: finished.keep_alive,
            nothing_sent: false,
            sent_at: Some(self.sent),
            first: Some(at),
            last: Some(at),
            stamped,
            ended: at,
        };
        exchange.finish(io, &outcome, start);
        finished.marks
    }
}

impl<'a> Task<'a> {
    /// Goes on with a plain request that turned out to be more.
    // Cold, and boxed: a plain request ends with one write and one read as a rule.
    #[cold]
    fn go_on(self, plain: &mut Plain<'a>, rest: More) -> Long<'a> {
        let (head, clock, lease) = (plain.head.take(), plain.clock, plain.lease.hand_over());
        let of = |reader| Leased::begun(lease, Transaction::sent(plain.sent, reader, plain.is_checked), clock.asked);
        match rest {
            More::Follow(marks) => Box::pin(self.go_on_from_head(head, Some(marks), clock)),
            More::Late => {
                let end = End::Failed(failure_map::timeout(Step::Wait));
                Box::pin(self.go_on_leased(head, of(ResponseReader::default()), Some(end), clock))
            }
            More::Read(reader, read) => {
                let (mut leased, out) = (of(reader), self.outgoing(&clock));
                let end = leased.take(read, head.head(), &out, self.exchange);
                Box::pin(self.go_on_leased(head, leased, end, clock))
            }
        }
    }

    /// A plain request that was not written at once.
    // Cold, as `go_on`: the kernel takes a small request at once.
    #[cold]
    fn begun(&self, mut lease: Lease<'a>, clock: &HopClock, is_checked: bool) -> Leased<'a> {
        let (io, work) = (&self.client.worker.io, self.outgoing(clock).work);
        let transaction = Transaction::begun(lease.connection(), io, &work, is_checked);
        Leased::begun(lease, transaction, clock.asked)
    }

    /// A plain request as it goes out.
    #[inline]
    fn outgoing(&self, clock: &HopClock) -> Outgoing<'a> {
        let Task { client, request, .. } = *self;
        let work = client.work(&request.method, request.body.as_ref(), &request.body_use, clock);
        Outgoing { method: &request.method, headers: &request.headers, asked: clock.asked, close: false, work }
    }

    /// Sends what is not plain, or has no connection yet.
    async fn send(self, clock: HopClock) {
        let Task { client, request, jar, hop, exchange } = self;
        let marks = client.send_hop(request, &Hop::first(request), jar, None, &clock, exchange).await;
        if !is_all(exchange, marks) {
            client.go_on(request, jar, hop, clock, (exchange, marks)).await;
        }
    }

    /// Sends on a kept connection of HTTP/1.1 what one write and one read will not do for.
    async fn send_leased(self, head: PlainHead, connection: Box<Connection>, clock: HopClock) {
        let leased = Leased::new(&self.client.worker.io, &self.outgoing(&clock), connection, clock.asked);
        self.go_on_leased(head, leased, None, clock).await;
    }

    /// Goes on with an exchange that has begun, or has ended so.
    async fn go_on_leased(self, mut head: PlainHead, mut leased: Leased<'a>, end: Option<End>, clock: HopClock) {
        let out = self.outgoing(&clock);
        let end = match end {
            Some(end) => end,
            None => poll_fn(|cx| leased.poll(cx, head.head(), &out, self.exchange)).await,
        };
        let marks = leased.end(end, self.client.site(head.origin()), head.head(), &out, self.exchange);
        drop(leased);
        if let Some(marks) = marks
            && is_all(self.exchange, marks)
        {
            return head.give_back(&self.client.worker.io);
        }
        // Boxed: redirects and second tries are rare.
        Box::pin(self.go_on_from_head(head, marks, clock)).await;
    }

    /// Sends a plain request on a kept connection of HTTP/2.
    async fn send_shared(self, head: PlainHead, seat: Seat, clock: HopClock) {
        let out = self.outgoing(&clock);
        let site = self.client.site(head.origin());
        let marks = attempt_http2(site, head.head(), &out, (seat, out.asked), self.exchange).await;
        self.go_on_from_head(head, marks, clock).await;
    }

    /// Goes on after the first try on a kept connection. Without marks, the request is sent once more.
    async fn go_on_from_head(self, mut head: PlainHead, marks: Option<Marks>, clock: HopClock) {
        let out = self.outgoing(&clock);
        let Task { client, request, jar, hop, exchange } = self;
        let marks = match marks {
            Some(marks) => marks,
            None => {
                let route = async || client.route(head.origin()).await;
                // Boxed: the way to a new connection is long and rarely taken.
                Box::pin(exchange_anew(client.site(head.origin()), head.head(), &out, route, exchange)).await
            }
        };
        head.give_back(&client.worker.io);
        if !is_all(exchange, marks) {
            // Boxed, because few requests have a further hop.
            Box::pin(client.go_on(request, jar, hop, clock, (exchange, marks))).await;
        }
    }
}
