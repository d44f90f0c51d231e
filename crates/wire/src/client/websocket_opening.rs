//! Opening a websocket: the way every request takes to a connection, then the upgrade.
//!
//! Hosts, DNS, TLS, unix sockets and local addresses are the client's; an HTTP proxy is asked for a tunnel even where
//! its other requests go in absolute form. Refuses redirects and authentication, as RFC 6455 clients may. An answer
//! other than 101 is a result, kept with the start of its body. Invariant: what went over the network until then is
//! counted, however it ended.

use std::borrow::Cow;
use std::future::poll_fn;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use super::Client;
use super::hops::without_cookie;
use crate::client::http1::connection::Connection;
use crate::client::http1::connection::ConnectionInfo;
use crate::client::route::connect::{self, Unopened};
use crate::client::websocket::WebSocket;
use crate::client::worker::context::IoContext;
use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::h1::decode::{Fed, Place, ResponseReader};
use crate::h1::encode::RequestHead;
use crate::h1::handling::Handling;
use crate::h1::response_head::parse_head;
use crate::io::arrival::{Arrival, TransportError};
use crate::io::stamps::{Tick, wall_ns};
use crate::io::upload::Upload;
use crate::request::{BodyUse, Method};
use crate::response::{Body, Response};
use crate::room::{Held, Room};
use crate::syntax::cookies::{CookieJar, cookie_header};
use crate::syntax::url::Url;
use crate::timings::Timings;
use crate::tls::config::Offer;
use crate::ws::handshake::{self, Agreement};
use crate::ws::{DeflateOffer, MessageLimits};

/// Bytes of the body of an answer that is no upgrade; the rest is not waited for.
const MAX_BODY: usize = 64 << 10;

/// A websocket to be opened.
pub struct Ask<'a> {
    /// Where; `http` for `ws`, `https` for `wss`.
    pub url: &'a Url,
    /// The caller's headers, in canonical case; may bring a `Sec-Websocket-Protocol` of their own.
    pub headers: &'a [(String, String)],
    /// Subprotocols to offer, tokens.
    pub protocols: &'a [String],
    /// Compression to offer.
    pub deflate: Option<DeflateOffer>,
    /// For all of it, looking up and connecting included.
    pub timeout: Duration,
    /// Bytes of a message at most.
    pub message_limit: usize,
}

/// How opening went.
pub struct Opening {
    /// The connection, or why there is none. An answer that does not upgrade is a failure of kind `Protocol` with the
    /// text `websocket: bad handshake`.
    pub outcome: Result<WebSocket, Failure>,
    /// The answer, where one came: the 101, or another with the start of its body.
    pub answer: Option<Response>,
    /// What was agreed on.
    pub agreed: Agreement,
    /// Of the steps up to the connection; `waiting` ends with the answer's head.
    pub timings: Timings,
    /// Asking to answer.
    pub took: Duration,
    /// When it ended.
    pub ended_at: SystemTime,
    /// Bytes over the network until then, TLS included.
    pub bytes_sent: u64,
    /// The same of what came.
    pub bytes_received: u64,
    /// The connection it went over.
    pub connection: Option<ConnectionInfo>,
}

/// Why the answer is not the one asked for.
const BAD_HANDSHAKE: &str = "websocket: bad handshake";

impl Client {
    /// Opens a websocket. Cookies of `jar` are sent, those of the answer stored there.
    /// Dropping the future closes the connection.
    pub async fn open_websocket(&self, ask: &Ask<'_>, jar: Option<&CookieJar>) -> Opening {
        let io = &self.worker.io;
        let asked = Tick::now();
        io.stamps.refresh_at(asked);
        let mut opening = Opening {
            outcome: Err(Failure { step: Step::Prepare, kind: FailureKind::Other, message: String::new() }),
            answer: None,
            agreed: Agreement::default(),
            timings: Timings::default(),
            took: Duration::ZERO,
            ended_at: UNIX_EPOCH,
            bytes_sent: 0,
            bytes_received: 0,
            connection: None,
        };
        let deadline = asked.after(ask.timeout);
        let alarm = deadline.map(|tick| io.stamps.instant(tick));
        let work = self.upgrade(ask, jar, deadline, &mut opening);
        let outcome = match alarm {
            Some(alarm) => match tokio::time::timeout_at(alarm.into(), work).await {
                Ok(outcome) => outcome,
                Err(_) => Err(failure_map::timeout(Step::Wait)),
            },
            None => work.await,
        };
        opening.outcome = outcome;
        let ended = Tick::now();
        opening.took = ended.since(asked);
        opening.ended_at = io.stamps.to_wall(ended);
        opening
    }

    async fn upgrade(
        &self,
        ask: &Ask<'_>,
        jar: Option<&CookieJar>,
        deadline: Option<Tick>,
        opening: &mut Opening,
    ) -> Result<WebSocket, Failure> {
        let (worker, io) = (&self.worker, &self.worker.io);
        let origin = match ask.url.tls {
            true => self.origin_of(ask.url, Offer::Http1, None)?,
            false => worker.origins.find_for_stream(ask.url)?,
        };
        let key = handshake::new_key();
        let head = self.upgrade_head(ask, jar, &key)?;
        let lookup = Instant::now();
        let route = self.route(&origin).await?;
        opening.timings.looking_up = lookup.elapsed();
        let opened = connect::open(io, &origin.endpoint, &route, deadline, &mut opening.timings).await;
        let mut connection = match opened {
            Ok(connection) => connection,
            Err(Unopened { failure, sent, received }) => {
                (opening.bytes_sent, opening.bytes_received) = (sent, received);
                return Err(failure);
            }
        };
        opening.connection = Some(connection.info(false));
        let answered = shake_hands(io, &mut connection, &head, opening).await;
        opening.bytes_sent = std::mem::take(&mut connection.transport.sent);
        opening.bytes_received = std::mem::take(&mut connection.transport.received);
        let behind = answered?;
        let Some(answer) = &opening.answer else { return Err(failure_map::closed(Step::Wait)) };
        if let Some(jar) = jar {
            let set = answer.headers().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
            set.for_each(|(_, value)| jar.set_from_header(ask.url, value));
        }
        let bad = |message: String| Failure { step: Step::Receive, kind: FailureKind::Protocol, message };
        if answer.status != 101 {
            return Err(bad(BAD_HANDSHAKE.into()));
        }
        let headers: Vec<_> = answer.headers().collect();
        let own = ask.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-protocol"));
        let own = own.into_iter().flat_map(|(_, value)| value.split(',').map(str::trim));
        let protocols: Vec<&str> = ask.protocols.iter().map(String::as_str).chain(own).collect();
        let agreed = handshake::check_answer(&headers, &key, &protocols, ask.deflate);
        opening.agreed = agreed.map_err(|why| bad(format!("{BAD_HANDSHAKE}: {why}")))?;
        let limits = MessageLimits {
            bytes: ask.message_limit.min(usize::try_from(self.room.most()).unwrap_or(usize::MAX)),
            inflated: worker.settings.sizes.decoded,
            held: Some(Held::nothing_of(&self.room)),
        };
        Ok(WebSocket::new(Rc::clone(worker), connection, opening.agreed.deflate, limits, behind))
    }

    fn upgrade_head(&self, ask: &Ask<'_>, jar: Option<&CookieJar>, key: &str) -> Result<Vec<u8>, Failure> {
        let own =
            ask.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("cookie")).map(|(_, value)| value.as_str());
        let jar = jar.filter(|jar| !jar.is_empty());
        let cookie = jar.and_then(|jar| cookie_header(own, &[], Some(jar), ask.url));
        let headers = if cookie.is_some() { without_cookie(ask.headers) } else { Cow::Borrowed(ask.headers) };
        let protocols = ask.protocols.join(", ");
        let mut added = vec![
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", key),
            ("Sec-WebSocket-Version", "13"),
        ];
        if !protocols.is_empty() {
            added.push(("Sec-WebSocket-Protocol", &protocols));
        }
        if let Some(offer) = ask.deflate {
            added.push(("Sec-WebSocket-Extensions", offer.header()));
        }
        if let Some(cookie) = &cookie {
            added.push(("Cookie", cookie));
        }
        let mut head = Vec::with_capacity(512);
        let parts = RequestHead {
            method: &Method::Get,
            target: &ask.url.target,
            authority: &ask.url.authority,
            user_agent: &self.worker.settings.user_agent,
            headers: &headers,
            added: &added,
            body_len: None,
            close: false,
        };
        parts.encode(&mut head)?;
        Ok(head)
    }
}

/// Sends the request and reads the answer; gives what came behind the head of a 101, and when.
async fn shake_hands(
    io: &IoContext,
    connection: &mut Connection,
    head: &[u8],
    opening: &mut Opening,
) -> Result<(Vec<u8>, u64), Failure> {
    let started = Tick::now();
    let mut upload = Upload::new(head, &[]);
    let sent = poll_fn(|cx| connection.transport.poll_send(cx, &io.buffers, &mut upload)).await;
    sent.map_err(|error| failure_map::transport(error, Step::Send))?;
    let sent_at = Tick::now();
    opening.timings.sending = sent_at.since(started);
    let mut received = Vec::new();
    loop {
        let Arrival { closed, stamp_ns, .. } = receive(io, connection, &mut received).await?;
        opening.timings.waiting = Tick::now().since(sent_at);
        match head_of(&received)? {
            Some((101, len)) => {
                let behind = received.split_off(len);
                opening.answer = Some(response(101, received));
                return Ok((behind, stamp_ns.unwrap_or_else(wall_ns)));
            }
            Some(_) => {
                return other_answer(io, connection, received, closed, opening).await.map(|()| Default::default());
            }
            None if closed => {
                return Err(failure_map::closed(if received.is_empty() { Step::Wait } else { Step::Receive }));
            }
            None => {}
        }
    }
}

/// One read.
async fn receive(io: &IoContext, connection: &mut Connection, into: &mut Vec<u8>) -> Result<Arrival, Failure> {
    let arrival =
        poll_fn(|cx| connection.transport.poll_receive(cx, &io.buffers, |bytes| into.extend_from_slice(bytes))).await;
    arrival.map_err(|error: TransportError| failure_map::transport(error, Step::Wait))
}

/// Status and length of the head, once it is complete.
fn head_of(bytes: &[u8]) -> Result<Option<(u16, usize)>, Failure> {
    let facts = parse_head(bytes).map_err(|message| failure_map::protocol(Step::Receive, message))?;
    Ok(facts.map(|facts| (facts.status, facts.head_len)))
}

fn response(status: u16, head: Vec<u8>) -> Response {
    Response { status, proto: "HTTP/1.1", head: Bytes::from(head), body: Body::None }
}

/// Reads an answer that is no upgrade, as far as it comes.
async fn other_answer(
    io: &IoContext,
    connection: &mut Connection,
    mut received: Vec<u8>,
    mut closed: bool,
    opening: &mut Opening,
) -> Result<(), Failure> {
    let room = Room::new(2 * MAX_BODY as u64);
    let handling = Handling { is_bodiless: false, body_use: &BodyUse::Keep, room: &room, heads: &io.heads };
    let mut reader = ResponseReader::default();
    let nothing = Failure { step: Step::Receive, kind: FailureKind::Other, message: String::new() };
    let mut place: Place = Err(nothing);
    let mut total = 0;
    loop {
        total += received.len();
        let fed = reader.feed(&received, &handling, &mut place);
        let fed = fed.map_err(|why| failure_map::unreadable(why, Step::Receive))?;
        if matches!(fed, Fed::Complete { .. }) || closed && reader.end_of_stream(&mut place) {
            opening.answer = place.ok();
            return Ok(());
        }
        if closed {
            return Err(failure_map::closed(Step::Receive));
        }
        if total > MAX_BODY {
            return Err(failure_map::protocol(
                Step::Receive,
                format!("{BAD_HANDSHAKE}: a long answer that is no upgrade"),
            ));
        }
        received.clear();
        closed = receive(io, connection, &mut received).await?.closed;
    }
}
