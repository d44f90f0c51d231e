//! An HTTP/2 connection that its user holds itself, and streams on it that send while they receive: what gRPC needs.
//!
//! Cleartext connections begin with HTTP/2 at once (prior knowledge); over TLS the server has to choose `h2`. The calls
//! that wait poll the connection, as requests do (`http2_connection`). Invariant: a call ends with one of `End`,
//! `Reset`, `TimedOut` and `Failed`, once; one that is dropped before is reset.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;

use crate::client::http2::connection::{Drive, SharedConnection, Slot};
use crate::client::http2::stream::too_large;
use crate::client::route::connect::{self, Unopened};
use crate::client::{Client, ClientContext, ConnectionInfo};
use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::h2::error_code::{CANCEL, NO_ERROR};
use crate::h2::{Asked, HeadBuilder, Http2Head, Keep, StreamEnd};
use crate::io::stamps::Tick;
use crate::room::Room;
use crate::syntax::url::Url;
use crate::timings::Timings;
use crate::tls::config::TlsConfigs;

/// Where a connection goes and how.
pub struct Http2Dial<'a> {
    /// `http`: cleartext; `https`: TLS.
    pub url: &'a Url,
    /// Trust and identity of this connection instead of the run's.
    pub tls: Option<&'a TlsConfigs>,
    /// The name that the certificate has to be for, when it is not the URL's host.
    pub server_name: Option<&'a str>,
    /// For all of it.
    pub timeout: Duration,
}

/// An open connection; clones share it. It closes when the last clone and the last call are gone.
#[derive(Clone)]
pub struct Http2Connection {
    worker: Rc<ClientContext>,
    room: Rc<Room>,
    shared: Rc<SharedConnection>,
}

/// The head of a request, made once for many calls.
#[derive(Clone, Debug)]
pub struct CallHead(Rc<Http2Head>);

impl CallHead {
    /// A POST to a path. `authority` when it is not the URL's.
    pub fn new(
        url: &Url,
        authority: Option<&str>,
        path: &str,
        fields: &[(String, Vec<u8>)],
    ) -> Result<CallHead, Failure> {
        let mut builder = HeadBuilder::new(true);
        let authority = authority.unwrap_or(&url.authority).as_bytes();
        builder.request(b"POST", if url.tls { "https" } else { "http" }, authority, path.as_bytes())?;
        fields.iter().try_for_each(|(name, value)| builder.field(name.as_bytes(), value))?;
        Ok(CallHead(Rc::new(builder.build())))
    }
}

/// Header fields of an answer, or its trailers.
#[derive(Debug, Default)]
pub struct Fields(Bytes);

impl Fields {
    /// The first value of a field.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.lines().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// All fields with their values, in lower case, those of one name together.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let mut fields: Vec<_> = self.lines().enumerate().collect();
        let first_of = |name: &str| self.lines().position(|(known, _)| known == name);
        fields.sort_by_cached_key(|(at, (name, _))| (first_of(name), *at));
        fields.into_iter().map(|(_, field)| field)
    }

    /// Those of names and values, names in lower case.
    pub fn of<'a>(fields: impl Iterator<Item = (&'a str, &'a [u8])>) -> Fields {
        let mut text = Vec::new();
        for (name, value) in fields {
            text.extend(name.bytes().map(|byte| byte.to_ascii_lowercase()));
            text.extend_from_slice(b": ");
            text.extend(value.iter().map(|byte| if b"\r\n".contains(byte) { b' ' } else { *byte }));
            text.extend_from_slice(b"\r\n");
        }
        Fields(text.into())
    }

    fn lines(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let lines = self.0.split(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\r"));
        lines.filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((std::str::from_utf8(&line[..colon]).ok()?, line.get(colon + 2..)?))
        })
    }
}

/// What came of a call.
#[derive(Debug)]
pub enum CallEvent {
    /// The head of the answer.
    Head {
        /// Its status.
        status: u16,
        /// Its fields.
        fields: Fields,
        /// Nothing else comes.
        end: bool,
    },
    /// Content.
    Data(Bytes),
    /// Trailers; the end comes next.
    Trailers(Fields),
    /// The peer has said all.
    End,
    /// The peer reset the stream, with this code.
    Reset(u32),
    /// The time was over.
    TimedOut,
    /// The connection carries the call no further.
    Failed(Failure),
}

/// A stream.
pub struct Http2Call {
    worker: Rc<ClientContext>,
    room: Rc<Room>,
    deadline: Option<Tick>,
    queue: VecDeque<Bytes>,
    /// Bytes in the queue.
    unsent: usize,
    ends: bool,
    has_ended: bool,
    /// Where it is not open yet.
    head: Option<CallHead>,
    id: Option<u32>,
    slot: Slot,
}

impl Client {
    /// Opens a connection of its own for the caller, by the rules of the run for names, addresses, proxies and links.
    pub async fn connect_http2(&self, dial: &Http2Dial<'_>) -> Result<Http2Connection, Failure> {
        match tokio::time::timeout(dial.timeout, self.dial_http2(dial)).await {
            Ok(opened) => opened,
            Err(_) => Err(failure_map::timeout(Step::Connect)),
        }
    }

    async fn dial_http2(&self, dial: &Http2Dial<'_>) -> Result<Http2Connection, Failure> {
        let io = &self.worker.io;
        let origin = self.worker.origins.find_for_http2(dial.url, dial.tls, dial.server_name)?;
        let route = self.route(&origin).await?;
        let mut timings = Timings::default();
        let deadline = Tick::now().after(dial.timeout);
        let opened = connect::open(io, &origin.endpoint, &route, deadline, &mut timings).await;
        let connection = opened.map_err(|Unopened { failure, .. }| failure)?;
        if !SharedConnection::is_chosen(&connection) {
            let message =
                String::from("the server does not offer HTTP/2: it chose no protocol, expected \"h2\" (ALPN)");
            return Err(Failure { step: Step::Handshake, kind: FailureKind::Tls, message });
        }
        let shared = SharedConnection::begin(io, *connection);
        poll_fn(|cx| shared.poll_preface(cx)).await?;
        Ok(Http2Connection { worker: Rc::clone(&self.worker), room: Rc::clone(&self.room), shared })
    }
}

impl SharedConnection {
    /// The server's first words: that it speaks HTTP/2, or over TLS 1.3 why it refuses the client's certificate.
    fn poll_preface(&self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        loop {
            match self.drive(cx, usize::MAX) {
                Drive::Ended => {
                    let failure = self.failure(Step::Receive).unwrap_or_else(|| failure_map::closed(Step::Receive));
                    return Poll::Ready(Err(failure));
                }
                _ if self.last_arrival().is_some() => return Poll::Ready(Ok(())),
                Drive::Again => {}
                Drive::Waits => return Poll::Pending,
            }
        }
    }
}

impl Http2Connection {
    /// Opens a stream. It begins to go out when it is polled; one that cannot be opened fails then.
    pub fn open(&self, head: &CallHead, timeout: Option<Duration>) -> Http2Call {
        let now = Tick::now();
        self.worker.io.stamps.refresh_at(now);
        Http2Call {
            worker: Rc::clone(&self.worker),
            room: Rc::clone(&self.room),
            deadline: timeout.and_then(|timeout| now.after(timeout)),
            queue: VecDeque::new(),
            unsent: 0,
            ends: false,
            has_ended: false,
            head: Some(head.clone()),
            id: None,
            slot: Slot::of(Rc::clone(&self.shared)),
        }
    }

    /// Whether it carries one more stream; looks at what arrived while nobody used it.
    pub fn is_usable(&self) -> bool {
        self.shared.is_usable()
    }

    /// What is known of it.
    pub fn info(&self) -> ConnectionInfo {
        self.shared.info()
    }

    /// Bytes over the network since the last call: sent, received.
    pub fn take_counts(&self) -> (u64, u64) {
        self.shared.take_counts()
    }
}

impl Http2Call {
    /// Queues bytes, which go out as the peer's windows allow. `end`: they are the last.
    pub fn send(&mut self, bytes: Bytes, end: bool) {
        if !bytes.is_empty() {
            self.unsent += bytes.len();
            self.queue.push_back(bytes);
        }
        self.ends |= end;
    }

    /// Bytes that wait for the peer's windows.
    pub fn unsent(&self) -> usize {
        self.unsent
    }

    /// When the last arrival reached this machine, in nanoseconds of the wall clock since 1970: by the kernel's stamp,
    /// else by the clock right after the read.
    pub fn arrived_ns(&self) -> u64 {
        match self.slot.shared.last_arrival() {
            Some(moment) => moment.stamp_ns.unwrap_or_else(|| {
                let wall = self.worker.io.stamps.to_wall(moment.seen);
                wall.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
            }),
            None => crate::io::stamps::wall_ns(),
        }
    }

    /// Resets the stream with this code.
    pub fn reset(&mut self, code: u32) {
        if let Some(id) = self.id.take() {
            self.slot.shared.session().close(id, code);
        }
        if self.head.take().is_some() {
            self.slot.shared.session().leave(self.slot.at);
        }
    }

    /// Sends what may be sent and gives what came next. Not to be called after the end.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<CallEvent> {
        loop {
            if let Some(event) = self.advance() {
                return Poll::Ready(event);
            }
            match self.slot.shared.drive(cx, self.slot.at) {
                // Content that never pauses must not outlast the deadline.
                Drive::Again if self.is_over_time() => return Poll::Ready(self.time_out()),
                Drive::Again => {}
                Drive::Waits if !self.may_go_on() => break,
                Drive::Waits => {}
                Drive::Ended => return Poll::Ready(self.advance().unwrap_or_else(|| self.lost())),
            }
        }
        if let Some(end) = self.deadline
            && self.slot.timer.poll(cx, &self.worker.io.stamps, end).is_ready()
        {
            return Poll::Ready(self.time_out());
        }
        self.slot.wait(cx);
        Poll::Pending
    }

    /// What came last came too late.
    fn is_over_time(&self) -> bool {
        let last = self.slot.shared.last_arrival();
        self.deadline.zip(last).is_some_and(|(deadline, last)| last.seen > deadline)
    }

    fn time_out(&mut self) -> CallEvent {
        self.reset(CANCEL);
        CallEvent::TimedOut
    }

    /// What was queued could leave now.
    fn may_go_on(&self) -> bool {
        let is_queued = !self.queue.is_empty() || (self.ends && !self.has_ended);
        is_queued && self.id.is_some_and(|id| self.slot.shared.session().may_send(id))
    }

    /// The connection ended and the stream knows nothing of it.
    fn lost(&mut self) -> CallEvent {
        self.reset(NO_ERROR);
        let failure = self.slot.shared.failure(Step::Receive);
        CallEvent::Failed(failure.unwrap_or_else(|| failure_map::closed(Step::Receive)))
    }

    fn advance(&mut self) -> Option<CallEvent> {
        if let Err(failure) = self.open() {
            return Some(CallEvent::Failed(failure));
        }
        self.push();
        let mut session = self.slot.shared.session();
        let stream = session.stream(self.id?);
        if let Some(head) = stream.head.take() {
            let (status, fields) = (head.status, Fields(head.text));
            return Some(CallEvent::Head { status, fields, end: stream.is_head_all });
        }
        if let Some(piece) = stream.content.take_piece() {
            return Some(CallEvent::Data(piece));
        }
        if let Some(trailers) = stream.trailers.take() {
            return Some(CallEvent::Trailers(Fields(trailers.text)));
        }
        let end = stream.end?;
        let no_room = stream.content.no_room.is_some().then(|| too_large(stream));
        drop(session);
        if let Some(failure) = no_room {
            self.reset(CANCEL);
            return Some(CallEvent::Failed(failure));
        }
        self.reset(CANCEL);
        Some(match end {
            StreamEnd::Complete => CallEvent::End,
            StreamEnd::Reset(code) => CallEvent::Reset(code),
            StreamEnd::Broken(code) => CallEvent::Failed(failure_map::http2_stream(code, Step::Receive)),
            StreamEnd::TooLarge => unreachable!("the stream says why it has no room"),
            StreamEnd::Excluded(code) => CallEvent::Failed(failure_map::http2_excluded(code, Step::Wait)),
        })
    }

    /// Opens the stream as soon as the peer allows one more.
    fn open(&mut self) -> Result<(), Failure> {
        let Some(CallHead(head)) = &self.head else { return Ok(()) };
        let shared = &self.slot.shared;
        let mut session = shared.session();
        if let Some(code) = session.goodbye() {
            session.leave(self.slot.at);
            self.head = None;
            return Err(failure_map::http2_excluded(code, Step::Wait));
        }
        if session.may_open(self.slot.at) {
            let is_whole = self.ends && self.unsent == 0;
            let asked = Asked { keep: Keep::Pieces, is_bodiless: false, room: &self.room };
            self.id = Some(session.open(head, is_whole, asked, self.slot.at));
            self.has_ended = is_whole;
            self.head = None;
        }
        Ok(())
    }

    /// Hands over what the windows allow.
    fn push(&mut self) {
        debug_assert_eq!(
            self.unsent,
            self.queue.iter().map(Bytes::len).sum::<usize>(),
            "what waits for the windows is in the queue"
        );
        let Some(id) = self.id.filter(|_| !self.has_ended) else { return };
        let mut session = self.slot.shared.session();
        if session.stream(id).end.is_some() {
            // The peer wants no more of it: why, its answer says.
            self.queue.clear();
            self.unsent = 0;
            self.has_ended = true;
            return;
        }
        while let Some(next) = self.queue.front_mut() {
            let allowed = session.allowed(id, next.len());
            if allowed == 0 {
                return;
            }
            let piece = next.split_to(allowed);
            self.unsent -= piece.len();
            if next.is_empty() {
                self.queue.pop_front();
            }
            self.has_ended = self.ends && self.queue.is_empty();
            session.send(id, piece, self.has_ended);
        }
        if self.ends && !self.has_ended {
            self.has_ended = true;
            session.send(id, Bytes::new(), true);
        }
    }
}

impl Drop for Http2Call {
    fn drop(&mut self) {
        // Before the slot goes, whose drop tells the peer.
        self.reset(CANCEL);
    }
}
