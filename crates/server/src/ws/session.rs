//! Drives one websocket from the 101 to its end: frames in, handler called, frames out, close handshake.
//!
//! Reads into a buffer that all sessions of a thread share; while a client leaves too much unread, nothing is read from
//! it. A violation of the protocol closes with the code that names it. Invariant: the handler's `close` is the last
//! call it gets.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};
use wire::ws::close::{self, CloseReason};
use wire::ws::handshake::Agreement;
use wire::ws::{Decoder, Encoder, Event, Role, Violation};

use super::rooms::Rooms;
use super::socket::{Socket, SocketState};
use super::{Message, SocketHandler};
use crate::connection::stream::Stream;
use crate::stats::WorkerStats;

/// Bytes read in one call.
const SCRATCH: usize = 256 * 1024;
/// Queued bytes above which nothing more is read from the client.
const HIGH_WATER: usize = 1 << 20;
/// How long a client may take to answer a close.
const CLOSE_WAIT: Duration = Duration::from_secs(5);

thread_local!(static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) });

/// One connection after its upgrade.
pub(crate) struct Session<'a> {
    stream: &'a mut Stream,
    stats: &'a WorkerStats,
    socket: Socket,
    handler: Rc<dyn SocketHandler>,
    decoder: Decoder,
    /// Bytes that were read but not looked at, because the client takes too little.
    held: Vec<u8>,
    closing: Option<Pin<Box<Sleep>>>,
    /// The handler asks when messages arrived.
    wants_arrivals: bool,
    /// The peer will say nothing more that counts, or is not listened to any more.
    end: Option<SessionEnd>,
}

/// How it ended.
pub(crate) struct SessionEnd {
    code: u16,
    reason: String,
    /// The client may still be sending: it broke the protocol.
    pub(crate) unread: bool,
}

impl SessionEnd {
    fn new(code: u16, reason: &str) -> SessionEnd {
        SessionEnd { code, reason: reason.to_owned(), unread: false }
    }

    fn gone() -> SessionEnd {
        SessionEnd::new(close::ABNORMAL, "")
    }
}

/// Takes the socket out of its rooms however the session ends.
struct Presence(Socket);

impl Drop for Presence {
    fn drop(&mut self) {
        self.0.0.queue.borrow_mut().state = SocketState::Cut;
        self.0.0.rooms.exit(&self.0);
    }
}

impl<'a> Session<'a> {
    /// A session whose 101 has been written; `behind` is what came behind the request's head.
    pub(crate) fn new(
        stream: &'a mut Stream,
        stats: &'a WorkerStats,
        rooms: &Rc<Rooms>,
        agreed: Agreement,
        handler: Rc<dyn SocketHandler>,
        behind: Vec<u8>,
    ) -> Self {
        let encoder = Encoder::new(Role::Server, agreed.deflate);
        let socket = Socket::new(rooms.next_id(), rooms.clone(), agreed.protocol, encoder);
        let decoder = Decoder::new(Role::Server, agreed.deflate, handler.max_message());
        let wants_arrivals = handler.wants_arrivals();
        if wants_arrivals {
            stream.stamp_arrivals();
            // Of what came behind the request.
            socket.0.arrived_ns.set(wire::wall_ns());
        }
        Session { stream, stats, socket, handler, decoder, held: behind, closing: None, wants_arrivals, end: None }
    }

    /// Runs it to its end.
    pub(crate) async fn run(mut self) -> SessionEnd {
        let presence = Presence(self.socket.clone());
        self.socket.0.rooms.enter(&self.socket);
        self.stats.web_sockets.open.add(1);
        self.socket.0.at_work.set(true);
        self.handler.open(&self.socket);
        let end = poll_fn(|cx| {
            self.socket.0.at_work.set(true);
            let polled = self.poll(cx);
            self.socket.0.at_work.set(false);
            self.stats.web_sockets.sent.add(self.socket.0.messages_sent.take());
            polled
        })
        .await;
        drop(presence);
        self.stats.web_sockets.open.sub(1);
        self.handler.close(&self.socket, end.code, &end.reason);
        end
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<SessionEnd> {
        self.socket.register(cx.waker());
        loop {
            let flushed = match self.poll_flush(cx) {
                Poll::Ready(Err(_)) => return Poll::Ready(self.end.take().unwrap_or_else(SessionEnd::gone)),
                flushed => flushed.is_ready(),
            };
            match self.socket.state() {
                SocketState::Cut => return Poll::Ready(self.end.take().unwrap_or_else(SessionEnd::gone)),
                SocketState::Leaving if flushed => return Poll::Ready(SessionEnd::gone()),
                SocketState::Open | SocketState::Leaving => {}
                SocketState::Closing => {
                    // Boxed: only a session that ends waits so.
                    let wait = self.closing.get_or_insert_with(|| Box::pin(sleep(CLOSE_WAIT)));
                    if wait.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(self.end.take().unwrap_or_else(SessionEnd::gone));
                    }
                }
            }
            if let Some(end) = self.end.take_if(|_| flushed) {
                return Poll::Ready(end);
            }
            if self.end.is_some() || self.socket.buffered() > HIGH_WATER {
                return Poll::Pending;
            }
            if self.held.is_empty() {
                ready!(self.poll_read(cx));
            } else {
                let held = std::mem::take(&mut self.held);
                self.take(&held);
            }
        }
    }

    /// Writes what is queued; tells the handler when a slow client has caught up, which may queue more.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_write(cx))?;
            if !std::mem::take(&mut self.socket.0.queue.borrow_mut().was_full) || self.end.is_some() {
                return Poll::Ready(Ok(()));
            }
            self.handler.drain(&self.socket);
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        {
            let mut queue = self.socket.0.queue.borrow_mut();
            while queue.waiting() > 0 {
                let written = match Pin::new(&mut *self.stream).poll_write(cx, &queue.bytes[queue.written..]) {
                    Poll::Ready(written) => written?,
                    Poll::Pending => {
                        queue.was_full = true;
                        return Poll::Pending;
                    }
                };
                if written == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                queue.written += written;
                self.stats.sent.add(written as u64);
            }
            if queue.written > 0 {
                queue.clear();
            }
        }
        Pin::new(&mut *self.stream).poll_flush(cx)
    }

    /// Reads once and handles what came.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut scratch = BUFFER.take();
        if scratch.is_empty() {
            scratch = vec![0; SCRATCH];
        }
        let mut buffer = ReadBuf::new(&mut scratch);
        let read = match self.wants_arrivals {
            true => self.stream.poll_read_stamped(cx, &mut buffer).map_ok(|ns| self.socket.0.arrived_ns.set(ns)),
            false => Pin::new(&mut *self.stream).poll_read(cx, &mut buffer),
        };
        let filled = buffer.filled().len();
        match read {
            Poll::Pending => {}
            Poll::Ready(Ok(())) if filled > 0 => {
                self.stats.received.add(filled as u64);
                self.take(&scratch[..filled]);
            }
            Poll::Ready(_) => {
                self.socket.0.queue.borrow_mut().state = SocketState::Cut;
                self.end = Some(SessionEnd::gone());
            }
        }
        BUFFER.set(scratch);
        read.map(|_| ())
    }

    /// Handles bytes, until too much is queued: the rest is held.
    fn take(&mut self, mut bytes: &[u8]) {
        while self.end.is_none() {
            if self.socket.buffered() > HIGH_WATER {
                self.held = bytes.to_vec();
                return;
            }
            let event = match self.decoder.next(&mut bytes) {
                Ok(Some(event)) => event,
                Ok(None) => return,
                Err(violation) => return self.violated(&violation),
            };
            let socket = &self.socket;
            let message = match event {
                Event::Text(text) => Message::Text(text),
                Event::Binary(bytes) => Message::Binary(bytes),
                Event::Ping(payload) => {
                    socket.pong(payload);
                    continue;
                }
                Event::Pong(_) => continue,
                Event::Close(reason) => {
                    // Echoed, unless it is the answer to ours.
                    let _answered = socket.begin_close(reason.map(|r| CloseReason { reason: "", ..r }));
                    let CloseReason { code, reason } =
                        reason.unwrap_or(CloseReason { code: close::NO_STATUS, reason: "" });
                    self.end = Some(SessionEnd::new(code, reason));
                    return;
                }
            };
            self.stats.web_sockets.received.add(1);
            // What comes after our close frame is not for the handler.
            if socket.is_open() {
                self.handler.message(socket, message);
            }
        }
    }

    fn violated(&mut self, violation: &Violation) {
        let _told = self.socket.begin_close(Some(CloseReason { code: violation.code, reason: violation.message }));
        self.end = Some(SessionEnd { unread: true, ..SessionEnd::new(violation.code, violation.message) });
    }
}
