//! A request on its way, as one future.
//!
//! A plain request over a kept connection of HTTP/1.1, which is nearly each of a load test, is polled here without any
//! future inside; whatever needs more (a connection, HTTP/2, a redirect, cookies, a body to decode, another try)
//! becomes a boxed one. It begins with the first poll, not before: users who ask in the same turn are sent one after
//! the other, and none of them has begun while others are sent.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::{Client, HopClock, is_all};
use crate::client::exchange::{Exchange, Leased, Outgoing, attempt_http2, exchange_anew};
use crate::client::http2::pool::Seat;
use crate::client::known_requests::PlainHead;
use crate::client::pool::Kept;
use crate::client::redirect::Hop;
use crate::request::Request;
use crate::response::Marks;
use crate::syntax::cookies::CookieJar;

/// A request on its way; see `Client::send_into`. Dropped before it is over, it closes the connection in use.
pub struct InFlight<'a>(State<'a>);

#[expect(clippy::large_enum_variant, reason = "nearly each request is of the large one, and stays where it is made")]
enum State<'a> {
    /// Not polled yet.
    Asked(Option<Task<'a>>),
    Plain(Plain<'a>),
    Long(Pin<Box<dyn Future<Output = ()> + 'a>>),
}

/// A plain request on a kept connection.
struct Plain<'a> {
    task: Option<Task<'a>>,
    head: PlainHead,
    out: Outgoing<'a>,
    leased: Leased<'a>,
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
        InFlight(State::Asked(Some(Task { client, request, jar, hop, exchange })))
    }
}

impl Future for InFlight<'_> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let state = &mut self.get_mut().0;
        if let State::Asked(task) = state {
            *state = task.take().expect("it begins once").begin();
        }
        if let State::Plain(plain) = state {
            match ready!(plain.poll(cx)) {
                None => return Poll::Ready(()),
                Some(rest) => *state = State::Long(rest),
            }
        }
        match state {
            State::Long(long) => long.as_mut().poll(cx),
            State::Asked(_) | State::Plain(_) => unreachable!("it has become a long one"),
        }
    }
}

impl<'a> Plain<'a> {
    /// Goes on until the exchange is over; what remains to be done then.
    #[inline]
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Pin<Box<dyn Future<Output = ()> + 'a>>>> {
        let Plain { task, head, out, leased } = self;
        let Task { client, exchange, .. } = task.as_mut().expect("it is not over");
        let io = &client.worker.io;
        let end = ready!(leased.poll(cx, head.head(), out, exchange));
        let marks = leased.end(end, client.site(head.origin()), head.head(), out, exchange);
        Poll::Ready(match marks {
            Some(marks) if is_all(exchange, marks) => {
                head.give_back(io);
                None
            }
            marks => Some(self.rest(marks)),
        })
    }

    #[cold]
    fn rest(&mut self, marks: Option<Marks>) -> Pin<Box<dyn Future<Output = ()> + 'a>> {
        let task = self.task.take().expect("it is over once");
        let (head, clock) = (self.head.take(), HopClock { asked: self.out.asked, deadline: self.out.work.deadline });
        Box::pin(task.go_on_from_head(head, marks, clock))
    }
}

impl<'a> Task<'a> {
    /// The request begins now.
    #[inline(always)]
    fn begin(self) -> State<'a> {
        let io = &self.client.worker.io;
        let clock = HopClock::start(io, self.request);
        match self.client.ready(self.request, self.jar) {
            Some((head, Kept::Own(connection))) => {
                let out = self.outgoing(&clock);
                let leased = Leased::new(io, &out, connection, clock.asked);
                State::Plain(Plain { task: Some(self), head, out, leased })
            }
            Some((head, Kept::Shared(seat))) => State::Long(Box::pin(self.send_shared(head, seat, clock))),
            None => State::Long(Box::pin(self.send(clock))),
        }
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
            Box::pin(client.go_on(request, jar, hop, clock, (exchange, marks))).await;
        }
    }
}
