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

use ::h2::client::ResponseFuture;
use ::h2::{Reason, RecvStream, SendStream};
use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Uri, Version};

use crate::client::connect::{self, Unopened};
use crate::client::http2_connection::{Drive, SharedConnection, Slot};
use crate::client::{Client, ClientContext, ConnectionInfo};
use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::io::stamps::Tick;
use crate::timings::Timings;
use crate::tls::config::TlsConfigs;
use crate::url::Url;

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
    shared: Rc<SharedConnection>,
}

/// The head of a request, made once for many calls.
#[derive(Debug)]
pub struct CallHead(Request<()>);

impl CallHead {
    /// A POST to a path. `authority` when it is not the URL's.
    pub fn new(
        url: &Url,
        authority: Option<&str>,
        path: &str,
        fields: &[(String, Vec<u8>)],
    ) -> Result<CallHead, Failure> {
        let refused = |what: &str| Failure {
            step: Step::Prepare,
            kind: FailureKind::Other,
            message: format!("http2: invalid {what}"),
        };
        let mut request = Request::new(());
        let uri = Uri::builder()
            .scheme(if url.tls { "https" } else { "http" })
            .authority(authority.unwrap_or(&url.authority))
            .path_and_query(path);
        *request.method_mut() = Method::POST;
        *request.version_mut() = Version::HTTP_2;
        *request.uri_mut() = uri.build().map_err(|error| refused(&error.to_string()))?;
        for (name, value) in fields {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused("header field name"))?;
            let value = HeaderValue::from_bytes(value).map_err(|_| refused("header field value"))?;
            request.headers_mut().append(name, value);
        }
        Ok(CallHead(request))
    }
}

/// Header fields of an answer, or its trailers.
#[derive(Debug, Default)]
pub struct Fields(HeaderMap);

impl Fields {
    /// The first value of a field.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(HeaderValue::as_bytes)
    }

    /// All fields with their values, in lower case, those of one name together.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
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

enum CallState {
    Head(ResponseFuture),
    Body(RecvStream),
    Trailers(RecvStream),
    Ended,
    Over,
}

/// A stream.
pub struct Http2Call {
    worker: Rc<ClientContext>,
    deadline: Option<Tick>,
    queue: VecDeque<Bytes>,
    /// Bytes in the queue.
    unsent: usize,
    ends: bool,
    has_ended: bool,
    sending: Option<SendStream<Bytes>>,
    state: CallState,
    /// It could not be opened.
    refused: Option<Failure>,
    reads: u64,
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
        if connection.transport.tls.as_ref().is_some_and(|session| !session.chose_http2()) {
            let message =
                String::from("the server does not offer HTTP/2: it chose no protocol, expected \"h2\" (ALPN)");
            return Err(Failure { step: Step::Handshake, kind: FailureKind::Tls, message });
        }
        let shared = SharedConnection::begin(io, connection).await?;
        poll_fn(|cx| shared.poll_preface(cx)).await?;
        Ok(Http2Connection { worker: Rc::clone(&self.worker), shared })
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
                _ if self.pipe.reads() > 0 => return Poll::Ready(Ok(())),
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
        let slot = Slot::of(Rc::clone(&self.shared));
        let reads = self.shared.pipe.reads();
        let (sending, state, refused) = match self.shared.requests.clone().send_request(head.0.clone(), false) {
            Ok((response, sending)) => (Some(sending), CallState::Head(response), None),
            Err(error) => {
                let failure = self.shared.failure(Step::Send);
                let failure = failure.unwrap_or_else(|| failure_map::http2(&error, Step::Send));
                (None, CallState::Over, Some(failure))
            }
        };
        Http2Call {
            worker: Rc::clone(&self.worker),
            deadline: timeout.and_then(|timeout| now.after(timeout)),
            queue: VecDeque::new(),
            unsent: 0,
            ends: false,
            has_ended: false,
            sending,
            state,
            refused,
            reads,
            slot,
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
        let transport = &mut *self.shared.pipe.transport.borrow_mut();
        (std::mem::take(&mut transport.sent), std::mem::take(&mut transport.received))
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
        match self.slot.shared.pipe.last() {
            Some(moment) => moment.stamp_ns.unwrap_or_else(|| {
                let wall = self.worker.io.stamps.to_wall(moment.seen);
                wall.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
            }),
            None => crate::io::stamps::wall_ns(),
        }
    }

    /// Resets the stream with this code.
    pub fn reset(&mut self, code: u32) {
        if let Some(sending) = &mut self.sending {
            sending.send_reset(Reason::from(code));
            // The stream is not settled before the server knows: when it is dropped, it is told.
            self.has_ended = false;
        }
        self.state = CallState::Over;
    }

    /// Sends what may be sent and gives what came next. Not to be called after the end.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<CallEvent> {
        if let Some(failure) = self.refused.take() {
            return Poll::Ready(CallEvent::Failed(failure));
        }
        loop {
            let reads = self.slot.shared.pipe.reads();
            if let Some(arrival) = self.advance(cx) {
                return Poll::Ready(arrival);
            }
            self.reads = reads;
            match self.slot.shared.drive(cx, self.slot.at) {
                Drive::Again => {}
                Drive::Waits if self.slot.shared.pipe.reads() == self.reads => break,
                Drive::Waits => {}
                Drive::Ended => {
                    let lost = |call: &mut Self| {
                        call.state = CallState::Over;
                        let failure = call.slot.shared.failure(Step::Receive);
                        CallEvent::Failed(failure.unwrap_or_else(|| failure_map::closed(Step::Receive)))
                    };
                    return Poll::Ready(self.advance(cx).unwrap_or_else(|| lost(self)));
                }
            }
        }
        if let Some(end) = self.deadline
            && self.slot.timer.poll(cx, &self.worker.io.stamps, end).is_ready()
        {
            self.reset(u32::from(Reason::CANCEL));
            return Poll::Ready(CallEvent::TimedOut);
        }
        // Another call may take over the polling: then the stream has to wake this one.
        if !self.slot.wait(cx)
            && let Some(arrival) = self.advance(cx)
        {
            return Poll::Ready(arrival);
        }
        Poll::Pending
    }

    fn advance(&mut self, cx: &mut Context<'_>) -> Option<CallEvent> {
        self.push(cx);
        loop {
            match &mut self.state {
                CallState::Head(response) => {
                    let Poll::Ready(answer) = std::pin::Pin::new(response).poll(cx) else { return None };
                    let answer = match answer {
                        Ok(answer) => answer,
                        Err(error) => return Some(self.failed(&error)),
                    };
                    let (parts, body) = answer.into_parts();
                    let end = body.is_end_stream();
                    self.state = if end { CallState::Ended } else { CallState::Body(body) };
                    return Some(CallEvent::Head { status: parts.status.as_u16(), fields: Fields(parts.headers), end });
                }
                CallState::Body(body) => {
                    let Poll::Ready(data) = body.poll_data(cx) else { return None };
                    match data {
                        Some(Ok(bytes)) => {
                            // Fails when the stream was reset meanwhile, which the next poll finds out.
                            let _reset = body.flow_control().release_capacity(bytes.len());
                            if !bytes.is_empty() {
                                return Some(CallEvent::Data(bytes));
                            }
                        }
                        Some(Err(error)) => return Some(self.failed(&error)),
                        None => {
                            let CallState::Body(body) = std::mem::replace(&mut self.state, CallState::Over) else {
                                return None;
                            };
                            self.state = CallState::Trailers(body);
                        }
                    }
                }
                CallState::Trailers(body) => {
                    let Poll::Ready(trailers) = body.poll_trailers(cx) else { return None };
                    match trailers {
                        Ok(trailers) => {
                            self.state = CallState::Ended;
                            if let Some(trailers) = trailers {
                                return Some(CallEvent::Trailers(Fields(trailers)));
                            }
                        }
                        Err(error) => return Some(self.failed(&error)),
                    }
                }
                CallState::Ended => {
                    self.state = CallState::Over;
                    return Some(CallEvent::End);
                }
                CallState::Over => return None,
            }
        }
    }

    /// Hands over what the windows allow.
    fn push(&mut self, cx: &mut Context<'_>) {
        let Some(sending) = &mut self.sending else { return };
        while let Some(next) = self.queue.front_mut() {
            sending.reserve_capacity(next.len());
            let allowed = match sending.capacity() {
                0 => match sending.poll_capacity(cx) {
                    Poll::Ready(Some(Ok(allowed))) => allowed,
                    Poll::Pending => return,
                    // The peer has reset the stream: why, its receiving side says.
                    Poll::Ready(_) => {
                        self.queue.clear();
                        self.unsent = 0;
                        self.has_ended = true;
                        return;
                    }
                },
                allowed => allowed,
            };
            let piece = next.split_to(allowed.min(next.len()));
            let is_last = next.is_empty() && self.queue.len() == 1;
            self.unsent -= piece.len();
            if self.queue.front().is_some_and(Bytes::is_empty) {
                self.queue.pop_front();
            }
            let end = is_last && self.ends;
            self.has_ended |= end;
            // Fails when the stream was reset, as above.
            let _reset = sending.send_data(piece, end);
        }
        if self.ends && !self.has_ended {
            self.has_ended = true;
            let _reset = sending.send_data(Bytes::new(), true);
        }
    }

    fn failed(&mut self, error: &::h2::Error) -> CallEvent {
        self.state = CallState::Over;
        if let (true, true, Some(reason)) = (error.is_remote(), error.is_reset(), error.reason()) {
            return CallEvent::Reset(u32::from(reason));
        }
        if error.is_remote() && error.is_go_away() {
            return CallEvent::Failed(failure_map::http2_excluded(error, Step::Wait));
        }
        let lost = self.slot.shared.failure(Step::Receive).filter(|_| error.is_io());
        CallEvent::Failed(lost.unwrap_or_else(|| failure_map::http2(error, Step::Receive)))
    }
}

impl Drop for Http2Call {
    fn drop(&mut self) {
        let is_received = matches!(self.state, CallState::Over | CallState::Ended);
        self.slot.is_settled = is_received && (self.has_ended || self.sending.is_none());
        if !self.slot.is_settled
            && let Some(sending) = &mut self.sending
        {
            sending.send_reset(Reason::CANCEL);
        }
        // The stream goes before its slot, whose drop tells the peer.
        self.sending = None;
        self.state = CallState::Over;
    }
}
