//! One request-response pair as it happened: what the metrics are made from.

use std::cell::OnceCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::client::carried::Carried;
use crate::client::http1::connection::Connection;
use crate::client::http1::connection::ConnectionInfo;
use crate::client::http1::transaction::{Outcome, Work};
use crate::client::http2::connection::{SharedConnection, Slot};
use crate::client::http2::head::read_head;
use crate::client::http2::pool::{Seat, Turn};
use crate::client::http2::stream::{Ended, Stream};
use crate::client::lease::Leased;
use crate::client::pool::{Kept, Pool};
use crate::client::route::connect::{self, Unopened};
use crate::client::route::endpoint::{Endpoint, Route, Speaks};
use crate::client::worker::context::IoContext;
use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::h2::Http2Head;
use crate::h2::error_code::NO_ERROR;
use crate::io::alarm::within;
use crate::io::stamps::Tick;
use crate::request::{Method, Request};
use crate::response::{Marks, Response};
use crate::syntax::url::Url;
use crate::timings::Timings;

/// One hop: a redirect or a digest challenge makes one of its own.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Method of this hop.
    pub method: Method,
    /// URL of this hop.
    pub url: Url,
    /// The response, or why there is none.
    pub outcome: Result<Response, Failure>,
    /// What had been decoded of a body when it broke off: the outcome is a failure then.
    pub partial_body: Option<Box<Bytes>>,
    /// How long each step took. On failure: what was reached.
    pub timings: Timings,
    /// When the hop ended (last byte or failure); samples carry it.
    pub ended_at: SystemTime,
    /// Bytes written to the network for this hop, TLS and handshake included.
    pub bytes_sent: u64,
    /// Bytes read from the network for this hop, TLS and handshake included.
    pub bytes_received: u64,
    /// The connection used, when one was made.
    pub connection: Option<ConnectionInfo>,
    /// The answer was complete before the request's body was: the rest was not sent.
    pub is_upload_cut: bool,
}

/// One hop ready to go, beside its head.
pub(crate) struct Outgoing<'a> {
    pub(crate) method: &'a Method,
    /// The caller's headers: Idempotency-Key among them makes a repetition harmless whatever the method.
    pub(crate) headers: &'a [(String, String)],
    /// When the request was asked for. A kept connection is had at once, and sending begins then: it covers the making
    /// of the head, as in Go, which writes it after it got the connection.
    pub(crate) asked: Tick,
    /// The connection is for this request alone; the head says `Connection: close`.
    pub(crate) close: bool,
    pub(crate) work: Work<'a>,
}

/// The head of a hop.
#[derive(Clone, Copy)]
pub(crate) struct WrittenHead<'a> {
    /// The whole of it, empty line included; see `h1::encode::RequestHead`.
    pub(crate) bytes: &'a [u8],
    /// Where it is kept as HTTP/2 writes it, if it is kept.
    pub(crate) http2: Option<&'a OnceCell<Http2Head>>,
}

/// Where a hop goes to, and whose connections it may use.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) io: &'a IoContext,
    pub(crate) pool: &'a Pool,
    pub(crate) endpoint: &'a Rc<Endpoint>,
}

impl Outgoing<'_> {
    /// Whether sending the request twice does no harm: Go's rule.
    fn is_repeatable(&self) -> bool {
        let names = ["idempotency-key", "x-idempotency-key"];
        let has_key = || self.headers.iter().any(|(name, _)| names.iter().any(|n| n.eq_ignore_ascii_case(name)));
        ["GET", "HEAD", "OPTIONS", "TRACE"].contains(&self.method.as_str()) || has_key()
    }

    /// A kept connection that the server closed just before the request reached it is no failure of the request: it is
    /// sent once more, on a new connection. The first try is not an exchange of its own; its bytes are counted.
    ///
    /// Stricter than Go, because the server's count of requests must stay ours: only when the server cannot have read
    /// it. That is when the kernel took nothing of it, or when the server closed in an orderly way and, by its own
    /// TCP's word, had received not one byte by then (each segment it sends acknowledges all that came before). A reset
    /// gives no such word: the acknowledgement may have been delayed and lost with it.
    #[inline]
    pub(crate) fn deserves_another_try(&self, hop: &Exchange, outcome: &Outcome, connection: &Connection) -> bool {
        let Err(failure) = &hop.outcome else { return false };
        if !connection.reused || outcome.first.is_some() {
            return false;
        }
        let closed = match failure.kind {
            FailureKind::BrokenPipe => true,
            FailureKind::Other => matches!(failure.step, Step::Send | Step::Wait),
            FailureKind::ConnectionReset => return outcome.nothing_sent,
            _ => return false,
        };
        let unread = || self.is_repeatable() && connection.transport.is_all_unacknowledged();
        closed && (outcome.nothing_sent || unread())
    }
}

/// Runs one hop to its end: leases or opens a connection, sends, receives, gives the connection back.
/// `resolve` says where to connect to; it is asked only when no idle connection serves. `hop` comes from
/// `Exchange::begin` and holds what happened afterwards.
pub(crate) async fn exchange(
    site: Site<'_>,
    head: WrittenHead<'_>,
    out: &Outgoing<'_>,
    resolve: impl AsyncFn() -> Result<Route, Failure>,
    hop: &mut Exchange,
) -> Marks {
    if let Some(kept) = site.pool.have(site.io, site.endpoint)
        && let Some(marks) = attempt_any(site, head, out, (kept, out.asked), hop).await
    {
        return marks;
    }
    // Boxed: the way to a new connection is long and rarely taken; what keeps one should not carry the room for it.
    Box::pin(exchange_anew(site, head, out, resolve, hop)).await
}

/// The same on a new connection.
pub(crate) async fn exchange_anew(
    site: Site<'_>,
    head: WrittenHead<'_>,
    out: &Outgoing<'_>,
    resolve: impl AsyncFn() -> Result<Route, Failure>,
    hop: &mut Exchange,
) -> Marks {
    let io = site.io;
    for refused in 0..TRIES {
        let (sent, received) = (std::mem::take(&mut hop.bytes_sent), std::mem::take(&mut hop.bytes_received));
        let carried = Carried::of(io, sent, received + site.pool.take_stray());
        let opened = connection(site, out, &resolve, hop).await;
        let before = carried.land();
        let kept = match opened {
            Ok(Kept::Own(mut connection)) => {
                connection.transport.sent += before.bytes_sent;
                connection.transport.received += before.bytes_received;
                Kept::Own(connection)
            }
            Ok(shared) => {
                hop.bytes_sent += before.bytes_sent;
                hop.bytes_received += before.bytes_received;
                shared
            }
            Err(Unopened { failure, sent, received }) => {
                hop.bytes_sent += sent + before.bytes_sent;
                hop.bytes_received += received + before.bytes_received;
                hop.fail(io, failure);
                return Marks::default();
            }
        };
        if let Some(marks) = attempt_any(site, head, out, (kept, Tick::now()), hop).await {
            return marks;
        }
        if hop.outcome.as_ref().is_err_and(|failure| matches!(failure.kind, FailureKind::Http2Stream(_)))
            && !pause(io, out, refused).await
        {
            hop.outcome = Err(failure_map::timeout(Step::Wait));
            break;
        }
    }
    // The last try says why.
    hop.ended_at = io.stamps.to_wall(Tick::now());
    Marks::default()
}

/// A server that refuses stream after stream, or says goodbye on each connection, is asked no more often than this:
/// Go's figure for refused streams.
const TRIES: u32 = 7;

/// Waits before a refused stream is tried again, as Go does: not at all, then 1 s, 2 s, 4 s … `false` when the
/// request's time was over.
async fn pause(io: &IoContext, out: &Outgoing<'_>, refused: u32) -> bool {
    let Some(doublings) = refused.checked_sub(1) else { return true };
    let end = Instant::now() + Duration::from_secs(1 << doublings);
    let deadline = out.work.deadline.map(|tick| io.stamps.instant(tick));
    tokio::time::sleep_until(deadline.map_or(end, |deadline| deadline.min(end)).into()).await;
    deadline.is_none_or(|deadline| end < deadline)
}

/// A connection to the endpoint: a new one, or a place on one of HTTP/2 which another request has opened meanwhile.
async fn connection(
    Site { io, pool, endpoint }: Site<'_>,
    out: &Outgoing<'_>,
    resolve: &impl AsyncFn() -> Result<Route, Failure>,
    hop: &mut Exchange,
) -> Result<Kept, Unopened> {
    let http2 = pool.http2();
    let mut opening = None;
    if !out.close && http2.serves(endpoint) {
        let deadline = out.work.deadline.map(|tick| io.stamps.instant(tick));
        match http2.turn(endpoint, deadline).await? {
            Turn::Seat(seat) => return Ok(Kept::Shared(seat)),
            Turn::Open(begun) => opening = Some(begun),
            Turn::Alone => {}
        }
    }
    let connection = open(io, endpoint, out, resolve, &mut hop.timings).await?;
    if let Some(session) = &connection.transport.tls {
        endpoint.speaks.set(if session.chose_http2() { Speaks::Http2 } else { Speaks::Http1 });
    }
    if endpoint.speaks.get() != Speaks::Http2 {
        return Ok(Kept::Own(connection));
    }
    // The first requests to a server dial side by side, because only a connection says what the server speaks. As in
    // k6, those that come second share the first connection and close their own.
    if opening.is_none()
        && !out.close
        && let Some(seat) = http2.have(endpoint)
    {
        hop.bytes_sent += connection.transport.sent;
        hop.bytes_received += connection.transport.received;
        return Ok(Kept::Shared(seat));
    }
    let shared = SharedConnection::begin(io, *connection);
    Ok(Kept::Shared(match opening {
        Some(opening) => opening.done(shared),
        None if out.close => Seat::alone(endpoint, shared),
        None => http2.add(endpoint, shared),
    }))
}

/// One try on this connection, which has been had at `start`. `None` when it must be repeated on another one.
async fn attempt_any(
    site: Site<'_>,
    head: WrittenHead<'_>,
    out: &Outgoing<'_>,
    (kept, start): (Kept, Tick),
    hop: &mut Exchange,
) -> Option<Marks> {
    match kept {
        Kept::Own(connection) => {
            let mut leased = Leased::new(site.io, out, connection, start);
            let end = poll_fn(|cx| leased.poll(cx, head, out, hop)).await;
            leased.end(end, site, head, out, hop)
        }
        Kept::Shared(seat) => attempt_http2(site, head, out, (seat, start), hop).await,
    }
}

/// One try on a stream of this connection. `None` when the server has not processed it: it must be repeated.
pub(crate) async fn attempt_http2(
    Site { io, endpoint, .. }: Site<'_>,
    head: WrittenHead<'_>,
    out: &Outgoing<'_>,
    (seat, start): (Seat, Tick),
    hop: &mut Exchange,
) -> Option<Marks> {
    debug_assert!(start >= out.asked, "a connection is had after it was asked for");
    hop.timings.blocked = start.since(out.asked);
    let shared = seat.shared();
    let info = shared.info();
    let read;
    let fields = match head.http2.and_then(OnceCell::get) {
        Some(fields) => fields,
        None => match refuse_coding(out.headers)
            .and_then(|()| read_head(head.bytes, endpoint.tls.is_some(), head.http2.is_some()))
        {
            Ok(fields) => match head.http2 {
                Some(kept) => kept.get_or_init(|| fields),
                None => {
                    read = fields;
                    &read
                }
            },
            Err(failure) => {
                hop.fail(io, failure);
                return Some(Marks::default());
            }
        },
    };
    let Some(mut stream) = Stream::begin(Slot::of(Rc::clone(shared)), io, fields, &out.work) else {
        hop.outcome = Err(failure_map::http2_excluded(NO_ERROR, Step::Send));
        return None;
    };
    let ended = poll_fn(|cx| stream.poll(cx)).await;
    let is_unprocessed = matches!(ended, Ended::Unprocessed(_));
    let outcome = stream.outcome(ended, start, &mut hop.outcome);
    if endpoint.is_prior_knowledge() && !info.reused && outcome.first.is_none() {
        doubt_prior_knowledge(&mut hop.outcome);
    }
    let (sent, received) = shared.take_counts();
    hop.bytes_sent += sent;
    hop.bytes_received += received;
    hop.connection = Some(ConnectionInfo { kernel_stamps: outcome.stamped, ..info });
    if is_unprocessed {
        return None;
    }
    hop.finish(io, &outcome, start);
    Some(outcome.marks)
}

/// A head has no Transfer-Encoding of the caller's, because the client frames bodies itself. HTTP/2 refuses one that is
/// not `chunked`, as Go does.
fn refuse_coding(headers: &[(String, String)]) -> Result<(), Failure> {
    let own = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("transfer-encoding"));
    match own {
        Some((_, value)) if !value.is_empty() && value != "chunked" => {
            let message = format!("http2: invalid Transfer-Encoding request header: [{value:?}]");
            Err(Failure { step: Step::Prepare, kind: FailureKind::Other, message })
        }
        _ => Ok(()),
    }
}

/// A server that knows no HTTP/2 answers the preface in its own words, which are no frames.
fn doubt_prior_knowledge(outcome: &mut Result<Response, Failure>) {
    if let Err(failure) = outcome
        && matches!(failure.kind, FailureKind::Http2Connection(_))
    {
        failure.message.push_str(" before the first answer: the server may speak HTTP/1.1 alone");
    }
}

/// A new connection, its steps timed.
async fn open(
    io: &IoContext,
    endpoint: &Rc<Endpoint>,
    out: &Outgoing<'_>,
    resolve: &impl AsyncFn() -> Result<Route, Failure>,
    timings: &mut Timings,
) -> Result<Box<Connection>, Unopened> {
    let lookup = Tick::now();
    let route = within(&io.stamps, out.work.deadline, resolve()).await;
    timings.looking_up = Tick::now().since(lookup);
    let route = route.unwrap_or_else(|| Err(failure_map::lookup_timeout()));
    connect::open(io, endpoint, &route?, out.work.deadline, timings).await
}

impl Exchange {
    /// Of a request that is about to be sent.
    #[inline(always)]
    pub fn of(request: &Request) -> Exchange {
        Exchange::begin(request.method.clone(), request.url.clone())
    }

    /// An exchange of which nothing has happened yet. Built where its owner keeps it and filled in there: it is too
    /// large to be handed from future to future.
    #[inline(always)]
    pub(crate) fn begin(method: Method, url: Url) -> Exchange {
        let nothing = Failure { step: Step::Prepare, kind: FailureKind::Other, message: String::new() };
        Exchange {
            method,
            url,
            outcome: Err(nothing),
            partial_body: None,
            timings: Timings::default(),
            ended_at: UNIX_EPOCH,
            bytes_sent: 0,
            bytes_received: 0,
            connection: None,
            is_upload_cut: false,
        }
    }

    /// It ended now, without a response.
    pub(crate) fn fail(&mut self, io: &IoContext, failure: Failure) {
        self.outcome = Err(failure);
        self.ended_at = io.stamps.to_wall(Tick::now());
    }

    /// Notes what went over the connection.
    #[inline]
    pub(crate) fn count(&mut self, connection: &mut Connection, stamped: bool) {
        self.bytes_sent += std::mem::take(&mut connection.transport.sent);
        self.bytes_received += std::mem::take(&mut connection.transport.received);
        self.connection = Some(connection.info(stamped));
    }

    /// Notes how it went.
    #[inline]
    pub(crate) fn finish(&mut self, io: &IoContext, outcome: &Outcome, start: Tick) {
        // On loopback the answer can be here before the write call has returned: then sending ended with its arrival.
        self.is_upload_cut = outcome.sent_at.is_none() && self.outcome.is_ok();
        let first = outcome.first.unwrap_or(outcome.ended);
        let sent = outcome.sent_at.unwrap_or(first).min(first).max(start);
        debug_assert!(start <= sent && sent <= first, "an exchange begins, is sent, and is answered");
        debug_assert!(outcome.last.is_none_or(|last| first <= last), "what came first came before what came last");
        debug_assert!(first <= outcome.ended, "an exchange ends after what came of it");
        self.timings.sending = sent.since(start);
        self.timings.waiting = first.since(sent);
        self.timings.receiving = match (outcome.first, outcome.last, &self.outcome) {
            (Some(first), Some(last), Ok(_)) => last.since(first),
            (Some(first), _, Err(_)) => outcome.ended.since(first),
            _ => Duration::ZERO,
        };
        debug_assert!(
            self.timings.duration() <= outcome.ended.since(start),
            "the steps of an exchange are parts of it: {:?}",
            self.timings
        );
        self.ended_at = io.stamps.to_wall(outcome.ended);
    }
}
