//! One connection from its first byte to its end: read a head, read its body, carry out the reply, again.
//!
//! Requests that arrive together are answered in order and leave together; nothing that is ready waits for something that is
//! not: the output is flushed before every wait, be it for input, for a timer or for a body. A request counts the moment its
//! head is complete, before anything else can go wrong.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

use crate::h1::body::{BadChunk, BodyDecoder};
use crate::h1::head::{self, BodyFraming, Framing, Refused};
use crate::h1::respond;
use crate::output::Output;
use crate::request::{Request, split_target};
use crate::respond::{Reply, Response};
use crate::route::{self, BodyUse, MAX_KEPT, ROUTES, STATS};
use crate::stream::Stream;
use crate::worker::Worker;

/// Room for a head in an idle connection; ten thousand of them must stay small.
const INPUT: usize = 4 * 1024;
/// Bytes of a body read in one call, into a buffer that all connections of a worker share (and that stays in its cache).
const SCRATCH: usize = 256 * 1024;

thread_local!(static BUFFER: std::cell::RefCell<Vec<u8>> = std::cell::RefCell::new(vec![0; SCRATCH]));

/// An accepted connection.
pub(crate) struct Connection {
    pub(crate) stream: Stream,
    pub(crate) worker: Rc<Worker>,
    /// Nothing of a request has been read and nothing is to be written: may be closed at any time.
    idle: Rc<Cell<bool>>,
    pub(crate) input: Vec<u8>,
    /// Where in `input` the next request begins.
    pub(crate) start: usize,
    pub(crate) out: Output,
    pub(crate) peer: Option<IpAddr>,
}

/// A head that is complete, without the borrow of its bytes.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    route: Option<usize>,
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
    /// With the answer when the route is not to run.
    Begun(Begun, Option<Box<Response>>),
}

/// A request body as far as it was read.
struct BodyRead {
    decoder: BodyDecoder,
    kept: Option<Vec<u8>>,
    length: u64,
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
    pub(crate) fn new(stream: Stream, worker: Rc<Worker>, idle: Rc<Cell<bool>>) -> Self {
        let peer = stream.peer();
        Connection { stream, worker, idle, input: Vec::new(), start: 0, out: Output::default(), peer }
    }

    /// Serves until either side ends it. Errors of the socket end it silently: the client knows better what happened.
    pub(crate) async fn serve(mut self) {
        let after = self.exchanges().await;
        if self.stream.is_handshaking() {
            self.worker.stats().tls_failed.add(1);
        }
        if let Ok(after @ (After::Close | After::CloseUnread)) = after {
            let _client_gone = self.close(after).await;
        }
    }

    async fn exchanges(&mut self) -> io::Result<After> {
        loop {
            let after = match self.next() {
                Next::Partial if self.fill().await? => After::Continue,
                Next::Partial => After::Abandon,
                Next::Refused(refused) => self.refuse(refused).await?,
                Next::Begun(begun, instead) => self.exchange(begun, instead).await?,
            };
            if after != After::Continue {
                return Ok(after);
            }
        }
    }

    /// Parses and counts the next head.
    fn next(&self) -> Next {
        let input = &self.input[self.start..];
        if input.is_empty() {
            return Next::Partial;
        }
        let mut room = head::header_room();
        let head = match head::parse(input, &mut room) {
            Ok(Some(head)) => head,
            Ok(None) => return Next::Partial,
            Err(refused) => return Next::Refused(refused),
        };
        let route = route::find(split_target(head.target).0).map(|(index, _)| index);
        let of_app = self.worker.app().is_some() && route != Some(STATS);
        let route = if of_app { None } else { route };
        self.worker.stats().count(route);
        let instead = if of_app { None } else { instead(route, head.method, head.framing).map(Box::new) };
        let is_head = head.method == "HEAD";
        let begun = Begun { route, of_app, head_len: head.len, framing: head.framing, minor: head.minor, is_head };
        Next::Begun(begun, instead)
    }

    /// Sends what is ready, then reads more; false at the end of the input.
    async fn fill(&mut self) -> io::Result<bool> {
        self.flush().await?;
        if self.start == self.input.len() {
            self.input.clear();
        } else {
            self.input.drain(..self.start);
        }
        self.start = 0;
        if self.input.capacity() - self.input.len() < INPUT / 4 {
            self.input.reserve(INPUT);
        }
        self.idle.set(self.input.is_empty());
        let read = self.stream.read_buf(&mut self.input).await?;
        self.idle.set(false);
        self.worker.stats().received.add(read as u64);
        Ok(read > 0)
    }

    async fn refuse(&mut self, refused: Refused) -> io::Result<After> {
        self.worker.stats().malformed.add(1);
        let framing = Framing { body: BodyFraming::None, keep_alive: false, expect_continue: false };
        let begun = Begun { route: None, of_app: false, head_len: 0, framing, minor: 1, is_head: false };
        self.respond(begun, Response::error(refused.status, refused.why), false).await?;
        Ok(After::CloseUnread)
    }

    async fn exchange(&mut self, begun: Begun, mut instead: Option<Box<Response>>) -> io::Result<After> {
        if let Some(app) = self.worker.app().filter(|_| begun.of_app).cloned() {
            return Box::pin(self.fetch(&app, begun)).await;
        }
        let head_end = self.start + begun.head_len;
        let has_body = begun.framing.body != BodyFraming::None;
        if has_body && let Some(response) = instead.take_if(|r| begun.framing.expect_continue || r.status == 413) {
            self.respond(begun, *response, false).await?;
            return Ok(After::CloseUnread);
        }
        let mut body = BodyRead::new(begun, instead.is_none());
        if has_body && let Err(bad) = self.read_body(&mut body, begun, head_end).await? {
            self.respond(begun, bad.response(), false).await?;
            return Ok(After::CloseUnread);
        }
        let reply = instead.map_or_else(|| self.run(begun, &body), Reply::Respond);
        self.start = head_end;
        match reply {
            Reply::Respond(response) => self.respond(begun, *response, begun.framing.keep_alive).await,
            Reply::Fault(fault) => self.misbehave(fault).await,
            Reply::Upgrade(opening) => Box::pin(self.upgrade(*opening)).await,
        }
    }

    /// Reads a body to its end and takes it out of the input, so that the next request follows the head. Inside: the refusal.
    async fn read_body(
        &mut self,
        body: &mut BodyRead,
        begun: Begun,
        head_end: usize,
    ) -> io::Result<Result<(), BadBody>> {
        if begun.framing.expect_continue && self.input.len() == head_end {
            respond::interim(self.out.buffer(), 100, std::iter::empty());
        }
        let mut taken =
            body.take(&self.input[head_end..]).map(|used| drop(self.input.drain(head_end..head_end + used)));
        while taken.is_ok() && !body.decoder.is_done() {
            self.flush().await?;
            let (stream, input, received) = (&mut self.stream, &mut self.input, &self.worker.stats().received);
            taken = with_bytes(stream, |bytes| {
                received.add(bytes.len() as u64);
                let used = body.take(bytes)?;
                input.extend_from_slice(&bytes[used..]);
                Ok(())
            })
            .await?;
        }
        self.worker.stats().body_received.add(body.length);
        Ok(taken)
    }

    /// Runs the route. The head is parsed again, for its borrow could not be held while the body was read.
    fn run(&self, begun: Begun, body: &BodyRead) -> Reply {
        let mut room = head::header_room();
        let head = head::parse(&self.input[self.start..], &mut room);
        let Ok(Some(head)) = &head else { unreachable!("this head was parsed before") };
        let found = route::find(split_target(head.target).0);
        let (index, params) = found.expect("a request without a route has its answer already");
        debug_assert_eq!(Some(index), begun.route);
        let request = Request {
            head,
            params,
            body: body.kept.as_deref().unwrap_or_default(),
            body_length: body.length,
            peer: self.peer,
            tls: self.stream.is_tls(),
            stats: self.worker.all_stats(),
        };
        (ROUTES[index].run)(&request)
    }
}

/// The answer to a request whose route is not to run.
fn instead(route: Option<usize>, method: &str, framing: Framing) -> Option<Response> {
    let Some(route) = route.map(|index| &ROUTES[index]) else {
        return Some(Response::error(404, "no such path; the readme of onrush lists the target's routes"));
    };
    if method == "OPTIONS" {
        return Some(Response::empty(204).header("Allow", route.allow()));
    }
    if !route.answers(method) {
        return Some(Response::error(405, "the allow header lists the methods").header("Allow", route.allow()));
    }
    let too_long = route.body == BodyUse::Keep && matches!(framing.body, BodyFraming::Length(n) if n > MAX_KEPT);
    too_long.then(|| BadBody::TooLarge.response())
}

/// A body that ends the connection.
enum BadBody {
    Chunk,
    TooLarge,
}

impl BadBody {
    fn response(&self) -> Response {
        match self {
            BadBody::Chunk => Response::error(400, "a chunk is malformed"),
            BadBody::TooLarge => Response::error(413, "this route keeps 16 MiB at most; /upload takes any size"),
        }
    }
}

impl BodyRead {
    fn new(begun: Begun, wanted: bool) -> Self {
        let keeps = begun.route.is_some_and(|index| ROUTES[index].body == BodyUse::Keep);
        let kept = (keeps && wanted).then(Vec::new);
        BodyRead { decoder: BodyDecoder::new(begun.framing.body), kept, length: 0 }
    }

    /// Takes what belongs to the body from `bytes`; how much that was, or the refusal.
    fn take(&mut self, bytes: &[u8]) -> Result<usize, BadBody> {
        let mut at = 0;
        while at < bytes.len() && !self.decoder.is_done() {
            let taken = self.decoder.take(&bytes[at..]).map_err(|BadChunk| BadBody::Chunk)?;
            self.length += taken.data.len() as u64;
            if let Some(kept) = &mut self.kept {
                if self.length > MAX_KEPT {
                    return Err(BadBody::TooLarge);
                }
                kept.extend_from_slice(&bytes[at..][taken.data]);
            }
            at += taken.consumed;
        }
        Ok(at)
    }
}

/// Reads once into the shared buffer and hands over what came; the end of the input is an error.
pub(crate) async fn with_bytes<T>(stream: &mut Stream, mut use_bytes: impl FnMut(&[u8]) -> T) -> io::Result<T> {
    poll_fn(|cx| {
        BUFFER.with_borrow_mut(|buffer| {
            let mut buffer = ReadBuf::new(buffer);
            ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            Poll::Ready(Ok(use_bytes(buffer.filled())))
        })
    })
    .await
}
