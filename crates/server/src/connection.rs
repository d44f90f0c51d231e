//! One connection from its first byte to its end: read a head, read its body, carry out the reply, again.
//!
//! Requests that arrive together are answered in order and leave together; nothing that is ready waits for something that is
//! not: the output is flushed before every wait, be it for input, for a timer or for a body. A request counts the moment its
//! head is complete, before anything else can go wrong. A connection that waits for its next request holds no buffer, and what
//! most requests do not need (bodies, streams, waits) is a future of its own, made when it is needed.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

use crate::app::AppRequest;
use crate::h1::head::{self, BodyFraming, Framing, Head, Refused};
use crate::h2;
use crate::kept::Kept;
use crate::output::Output;
use crate::request::{Request, split_target};
use crate::respond::{Reply, Response};
use crate::route::{self, BodyUse, ROUTES, STATS};
use crate::stream::Stream;
use crate::upload::{BadBody, BodyRead, most, too_large};
use crate::vitals::{Phase, Vitals};
use crate::worker::Worker;

/// Room for a head, and for what comes with it.
const INPUT: usize = 4 * 1024;
/// Such rooms that a thread keeps for its connections: more are in use at once only while heads arrive in parts.
const KEPT_INPUTS: usize = 16;
/// Bytes of a body read in one call, into a buffer that all connections of a worker share (and that stays in its cache). `Buffers::receive_size`
/// replaces it.
pub(crate) const SCRATCH: usize = 256 * 1024;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; SCRATCH]);
    static INPUTS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An accepted connection.
pub(crate) struct Connection {
    pub(crate) stream: Stream,
    pub(crate) worker: Rc<Worker>,
    pub(crate) vitals: Rc<Vitals>,
    pub(crate) input: Vec<u8>,
    /// Where in `input` the next request begins.
    pub(crate) start: usize,
    pub(crate) out: Output,
    pub(crate) peer: Option<IpAddr>,
    /// No request was read yet, so that the protocol may still turn out to be another.
    is_first: bool,
}

/// A head that is complete, without the borrow of its bytes.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    pub(crate) route: Option<usize>,
    /// The app answers it.
    of_app: bool,
    pub(crate) head_len: usize,
    pub(crate) framing: Framing,
    pub(crate) minor: u8,
    pub(crate) is_head: bool,
}

impl Begun {
    /// The end of the client's side means that nobody waits for the response: an app answers, and no body is still being read.
    pub(crate) fn watches_client(&self) -> bool {
        self.of_app && self.framing.body == BodyFraming::None
    }
}

/// What the input holds.
enum Next {
    Partial,
    Refused(Refused),
    /// The connection is one of HTTP/2.
    Http2,
    /// Answered already.
    Reply(Begun, Reply),
    /// For the app, which may have the answer at once: no body, no upgrade.
    Asked(Begun, AppRequest),
    /// With a body, or for the app; with the answer when the route is not to run.
    Begun(Begun, Option<Box<Response>>),
}

/// How waiting for input ended.
enum Filled {
    Bytes,
    End,
    TooLong(Phase),
}

/// How a connection goes on.
#[derive(PartialEq, Eq)]
pub(crate) enum After {
    Continue,
    Close,
    /// The client may still be sending: closing at once would reset the connection and destroy the answer.
    CloseUnread,
    /// Without another byte.
    Abandon,
}

impl Connection {
    pub(crate) fn new(stream: Stream, peer: Option<IpAddr>, worker: Rc<Worker>, vitals: Rc<Vitals>) -> Self {
        let (input, out) = (Vec::new(), Output::default());
        Connection { stream, worker, vitals, input, start: 0, out, peer, is_first: true }
    }

    /// Serves until either side ends it. Errors of the socket end it silently: the client knows better what happened.
    pub(crate) async fn serve(mut self) {
        let after = self.exchanges().await;
        if self.stream.is_handshaking() {
            self.worker.stats().tls_failed.add(1);
        }
        if let Ok(after @ (After::Close | After::CloseUnread)) = after {
            let _client_gone = Box::pin(self.close(after)).await;
        }
    }

    async fn exchanges(&mut self) -> io::Result<After> {
        loop {
            let after = match self.next() {
                Next::Partial => match self.fill().await? {
                    Filled::Bytes => After::Continue,
                    Filled::End => After::Abandon,
                    Filled::TooLong(phase) => Box::pin(self.time_out(phase)).await?,
                },
                Next::Refused(refused) => Box::pin(self.refuse(refused)).await?,
                Next::Http2 => {
                    let ahead = std::mem::take(&mut self.input);
                    Box::pin(h2::serve(self.stream.clone(), self.peer, &self.worker, &self.vitals, ahead)).await?
                }
                Next::Reply(begun, reply) => {
                    self.begin(begun);
                    let after = match &reply {
                        Reply::Respond(response) => self.reply_at_once(begun, response),
                        _ => None,
                    };
                    match after {
                        Some(after) => after,
                        None => Box::pin(self.carry_out(begun, reply)).await?,
                    }
                }
                Next::Asked(begun, request) => match self.ask(begun, request).await {
                    Ok(after) => after,
                    Err(answering) => Box::pin(self.fetch_on(begun, answering)).await?,
                },
                Next::Begun(begun, instead) => Box::pin(self.exchange(begun, instead)).await?,
            };
            if after != After::Continue {
                return Ok(after);
            }
        }
    }

    /// Parses and counts the next head, and runs its route when that is all there is to do.
    fn next(&self) -> Next {
        let input = &self.input[self.start..];
        if input.is_empty() {
            return Next::Partial;
        }
        let mut room = head::header_room();
        let head = match head::parse_within(input, &mut room, self.worker.limits().head) {
            Ok(Some(head)) => head,
            Ok(None) => return Next::Partial,
            Err(_) if self.is_http2(input) => return Next::Http2,
            Err(refused) => return Next::Refused(refused),
        };
        let found = route::find(split_target(head.target).0);
        let of_app = self.worker.app().is_some() && found.is_none_or(|(index, _)| index != STATS);
        let found = found.filter(|_| !of_app);
        let route = found.map(|(index, _)| index);
        self.worker.stats().count(route);
        let is_head = head.method == "HEAD";
        let begun = Begun { route, of_app, head_len: head.len, framing: head.framing, minor: head.minor, is_head };
        if of_app {
            let is_plain = head.framing.body == BodyFraming::None && head.header("upgrade").is_none();
            return if is_plain { Next::Asked(begun, self.app_request(&head)) } else { Next::Begun(begun, None) };
        }
        let instead = instead(route, head.method, head.framing, self.worker.limits().body);
        match (found, instead) {
            (Some((index, params)), None) if head.framing.body == BodyFraming::None => {
                Next::Reply(begun, (ROUTES[index].run)(&self.request(&head, params, &[], 0)))
            }
            (_, Some(response)) if head.framing.body == BodyFraming::None => Next::Reply(begun, response.into()),
            (_, instead) => Next::Begun(begun, instead.map(Box::new)),
        }
    }

    /// Whether bytes that are no head begin a connection of HTTP/2. Asked about such alone, so that no request pays for it.
    fn is_http2(&self, input: &[u8]) -> bool {
        self.is_first && (h2::is_preface(input) || self.stream.chose_http2())
    }

    fn request<'r>(
        &'r self,
        head: &'r Head<'r, 'r>,
        params: [&'r str; 4],
        body: &'r [u8],
        body_length: u64,
    ) -> Request<'r> {
        let tls = self.stream.is_tls();
        Request { head, params, body, body_length, peer: self.peer, tls, stats: self.worker.all_stats() }
    }

    /// Leaves a head without a body behind.
    pub(crate) fn begin(&mut self, begun: Begun) {
        self.is_first = false;
        self.start += begun.head_len;
    }

    /// Sends what is ready, then reads more.
    async fn fill(&mut self) -> io::Result<Filled> {
        // At once: letting all connections that are ready have their turn first cost 4 % more (8 rounds, 64 connections).
        if !self.out.is_empty() {
            self.flush().await?;
        }
        if self.start == self.input.len() {
            self.input.clear();
        } else {
            self.input.drain(..self.start);
        }
        self.start = 0;
        let now = self.worker.now();
        match self.vitals.phase() {
            Phase::Fresh => {}
            Phase::Head if !self.input.is_empty() => {}
            _ if self.input.is_empty() => self.vitals.enter(Phase::Idle, now),
            _ => self.vitals.enter(Phase::Head, now),
        }
        poll_fn(|cx| self.poll_fill(cx)).await
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Filled>> {
        if self.input.capacity() == 0 {
            self.input = INPUTS.with_borrow_mut(Vec::pop).unwrap_or_else(|| Vec::with_capacity(INPUT));
        } else if self.input.capacity() - self.input.len() < INPUT / 4 {
            self.input.reserve(INPUT);
        }
        let Poll::Ready(read) = pin!(self.stream.read_buf(&mut self.input)).poll(cx) else {
            if self.input.is_empty() {
                self.give_input_back();
            }
            let phase = self.vitals.phase();
            let leave = self.vitals.wait(cx) || (phase == Phase::Idle && self.worker.is_stopping());
            return if leave { Poll::Ready(Ok(Filled::TooLong(phase))) } else { Poll::Pending };
        };
        let read = read?;
        self.worker.stats().received.add(read as u64);
        if read == 0 {
            return Poll::Ready(Ok(Filled::End));
        }
        if self.vitals.phase() == Phase::Idle {
            self.vitals.enter(Phase::Head, self.worker.now());
        } else if self.vitals.phase() == Phase::Fresh {
            self.vitals.begins();
        }
        Poll::Ready(Ok(Filled::Bytes))
    }

    /// An idle connection has no room for a head.
    fn give_input_back(&mut self) {
        let input = std::mem::take(&mut self.input);
        if input.capacity() <= 4 * INPUT {
            INPUTS.with_borrow_mut(|inputs| {
                if inputs.len() < KEPT_INPUTS {
                    inputs.push(input);
                }
            });
        }
    }

    /// An idle connection closes without a word, a request that does not come to its end is told so.
    async fn time_out(&mut self, phase: Phase) -> io::Result<After> {
        if phase == Phase::Idle || self.worker.is_stopping() || self.stream.is_handshaking() {
            return Ok(After::Close);
        }
        self.worker.stats().timed_out.add(1);
        let why =
            if phase == Phase::Fresh { "no request came in time" } else { "the request head did not end in time" };
        self.respond(NO_REQUEST, Response::error(408, why), false).await?;
        Ok(After::CloseUnread)
    }

    async fn refuse(&mut self, refused: Refused) -> io::Result<After> {
        self.worker.stats().malformed.add(1);
        self.respond(NO_REQUEST, Response::error(refused.status, refused.why), false).await?;
        Ok(After::CloseUnread)
    }

    async fn exchange(&mut self, begun: Begun, mut instead: Option<Box<Response>>) -> io::Result<After> {
        self.is_first = false;
        self.vitals.enter(Phase::Busy, self.worker.now());
        if let Some(app) = self.worker.app().filter(|_| begun.of_app).cloned() {
            return self.fetch(&app, begun).await;
        }
        let head_end = self.start + begun.head_len;
        if let Some(response) = instead.take_if(|r| begun.framing.expect_continue || r.status == 413) {
            self.respond(begun, *response, false).await?;
            return Ok(After::CloseUnread);
        }
        let mut body = BodyRead::new(begun, instead.is_none(), self.worker.limits().body, self.worker.total());
        if let Err(bad) = self.read_body(&mut body, begun, head_end).await? {
            self.worker.stats().timed_out.add(u64::from(matches!(bad, BadBody::TimedOut)));
            self.respond(begun, bad.response(self.worker.total()), false).await?;
            return Ok(After::CloseUnread);
        }
        let reply = instead.map_or_else(|| self.run(begun, &body), Reply::Respond);
        let reply = match body.kept {
            Some(kept) => kept.answered_by(reply),
            None => reply,
        };
        self.start = head_end;
        self.carry_out(begun, reply).await
    }

    async fn carry_out(&mut self, begun: Begun, reply: Reply) -> io::Result<After> {
        self.vitals.enter(Phase::Busy, self.worker.now());
        match reply {
            Reply::Respond(response) => self.respond(begun, *response, begun.framing.keep_alive).await,
            Reply::Fault(fault) => self.misbehave(fault).await,
            Reply::Upgrade(opening) => Box::pin(self.upgrade(*opening)).await,
        }
    }

    /// Runs the route. The head is parsed again, for its borrow could not be held while the body was read.
    fn run(&self, begun: Begun, body: &BodyRead) -> Reply {
        let mut room = head::header_room();
        let head = head::parse(&self.input[self.start..], &mut room);
        let Ok(Some(head)) = &head else { unreachable!("this head was parsed before") };
        let found = route::find(split_target(head.target).0);
        let (index, params) = found.expect("a request without a route has its answer already");
        debug_assert_eq!(Some(index), begun.route);
        (ROUTES[index].run)(&self.request(head, params, body.kept.as_ref().map_or(&[], Kept::bytes), body.length))
    }
}

/// What stands for a request that cannot be told from its bytes.
const NO_REQUEST: Begun = Begun {
    route: None,
    of_app: false,
    head_len: 0,
    framing: Framing { body: BodyFraming::None, keep_alive: false, expect_continue: false },
    minor: 1,
    is_head: false,
};

/// The answer to a request whose route is not to run.
pub(crate) fn instead(route: Option<usize>, method: &str, framing: Framing, limit: Option<u64>) -> Option<Response> {
    let Some(route) = route.map(|index| &ROUTES[index]) else {
        return Some(Response::error(404, "no such path; the readme of onrush lists the target's routes"));
    };
    if method == "OPTIONS" {
        return Some(Response::empty(204).header("Allow", route.allow()));
    }
    if !route.answers(method) {
        return Some(Response::error(405, "the allow header lists the methods").header("Allow", route.allow()));
    }
    let most = most(route.body == BodyUse::Keep, limit);
    let too_long = matches!(framing.body, BodyFraming::Length(n) if n > most);
    too_long.then(|| too_large(most))
}

/// Reads once into the shared buffer and hands over what came; the end of the input is an error.
pub(crate) async fn with_bytes<T>(stream: &mut Stream, mut use_bytes: impl FnMut(&[u8]) -> T) -> io::Result<T> {
    poll_fn(|cx| poll_bytes(stream, cx, SCRATCH, &mut use_bytes)).await
}

/// As `with_bytes`, of at most `most` bytes.
pub(crate) fn poll_bytes<T>(
    stream: &mut Stream,
    cx: &mut Context<'_>,
    most: usize,
    use_bytes: &mut impl FnMut(&[u8]) -> T,
) -> Poll<io::Result<T>> {
    BUFFER.with_borrow_mut(|buffer| {
        if buffer.len() < most {
            buffer.resize(most, 0);
        }
        let mut buffer = ReadBuf::new(&mut buffer[..most]);
        ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer))?;
        if buffer.filled().is_empty() {
            return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
        }
        Poll::Ready(Ok(use_bytes(buffer.filled())))
    })
}
