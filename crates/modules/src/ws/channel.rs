//! A connection of a virtual user: what arrived and was not handled yet, what is queued, pings on their way.
//!
//! Polled on the worker's stack, where no JavaScript may run: arrivals are kept until the script's loop takes them, and
//! nothing is read while there are any, so that a flood waits in the kernel. Pings are answered here. Sending only
//! queues; the next that waits writes, for this connection or for something else. Invariant: one session is one sample,
//! however it ends.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use host::event_loop::Outgoing;
use wire::client::{Ask, Opening};
use wire::client::{Broken, WebSocket};
use wire::ws::close::{self, CloseReason};
use wire::ws::{Event, Kind};

use super::params::Plan;
use super::samples::Samples;
use crate::http::samples::sampler::ms;
use script::Vu;
use script::message_log::{Logged, MessageLog};

/// Bytes of a message at most.
const MESSAGE_LIMIT: usize = 256 << 20;
/// For the handshake, as k6 has it.
const HANDSHAKE_TIME: std::time::Duration = std::time::Duration::from_secs(60);
/// Arrival memory kept between messages.
const MOST_IDLE: usize = 4096;

/// Opens what is planned.
pub async fn open(client: &wire::Client, plan: &Plan, url: &wire::Url) -> Opening {
    let ask = Ask {
        url,
        headers: &plan.params.headers,
        protocols: &plan.protocols,
        deflate: plan.params.deflate,
        timeout: HANDSHAKE_TIME,
        message_limit: MESSAGE_LIMIT,
    };
    client.open_websocket(&ask, Some(&plan.params.jar)).await
}

/// Something for the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A text, where in the bytes.
    Text(Range<usize>),
    /// A binary message.
    Binary(Range<usize>),
    /// A ping, answered already.
    Ping,
    /// The answer to one of ours.
    Pong,
    /// The peer closes: 1005 without a code.
    Close {
        /// Its code.
        code: u16,
        /// Its reason.
        reason: String,
    },
    /// The connection broke.
    Broken(Broken),
}

/// Arrivals and their bytes.
#[derive(Default)]
struct Arrived {
    bytes: Vec<u8>,
    queue: VecDeque<Arrival>,
    pings: Vec<Vec<u8>>,
    pongs: usize,
}

impl Arrived {
    fn keep(&mut self, event: Event<'_>) {
        let start = self.bytes.len();
        match event {
            Event::Text(text) => {
                self.bytes.extend_from_slice(text.as_bytes());
                self.queue.push_back(Arrival::Text(start..self.bytes.len()));
            }
            Event::Binary(bytes) => {
                self.bytes.extend_from_slice(bytes);
                self.queue.push_back(Arrival::Binary(start..self.bytes.len()));
            }
            Event::Ping(payload) => {
                self.pings.push(payload.to_vec());
                self.queue.push_back(Arrival::Ping);
            }
            Event::Pong(_) => {
                self.pongs += 1;
                self.queue.push_back(Arrival::Pong);
            }
            Event::Close(reason) => {
                let reason = reason.unwrap_or(CloseReason { code: close::NO_STATUS, reason: "" });
                self.queue.push_back(Arrival::Close { code: reason.code, reason: reason.reason.into() });
            }
        }
    }
}

/// An open connection.
pub struct Channel {
    stream: RefCell<Option<WebSocket>>,
    arrived: RefCell<Arrived>,
    arrived_ns: Cell<u64>,
    log: Option<MessageLog>,
    samples: Samples,
    began: Instant,
    pinged: RefCell<VecDeque<Instant>>,
    /// Bytes of messages queued since the kernel had last taken all.
    payload: Cell<usize>,
    /// Is among the user's outgoing connections.
    is_listed: Cell<bool>,
    close_sent: Cell<bool>,
    /// Because the script or its end asked for it.
    is_closing: Cell<bool>,
}

impl Channel {
    /// A connection that was asked for at `began`.
    pub fn new(stream: WebSocket, samples: Samples, began: Instant, log: Option<MessageLog>) -> Rc<Channel> {
        Rc::new(Channel {
            stream: RefCell::new(Some(stream)),
            arrived: RefCell::default(),
            arrived_ns: Cell::new(0),
            log,
            samples,
            began,
            pinged: RefCell::default(),
            payload: Cell::default(),
            is_listed: Cell::new(false),
            close_sent: Cell::default(),
            is_closing: Cell::default(),
        })
    }

    /// Writes what is queued and reads unless something waits to be handled; ready when something does.
    pub fn poll(&self, vu: &Vu, cx: &mut Context<'_>) -> Poll<()> {
        let mut slot = self.stream.borrow_mut();
        let Some(stream) = slot.as_mut() else { return Poll::Pending };
        let arrived = &mut *self.arrived.borrow_mut();
        let mut broken = None;
        if let Poll::Ready(Err(failure)) = stream.poll_flush(cx) {
            broken = Some(Broken::Network(Some(failure)));
        }
        while broken.is_none() && arrived.queue.is_empty() {
            match stream.poll_receive(cx, |event| arrived.keep(event)) {
                Poll::Pending => break,
                Poll::Ready(received) => broken = received.err(),
            }
            self.answer_pings(stream, arrived);
            if let Poll::Ready(Err(failure)) = stream.poll_flush(cx) {
                broken = broken.or(Some(Broken::Network(Some(failure))));
            }
        }
        self.note_pongs(vu, arrived);
        self.arrived_ns.set(stream.arrived_ns());
        let (sent, received) = stream.take_counts();
        vu.count_data(sent, received);
        vu.report_data_by_second(self.arrived_ns.get());
        if let Some(broken) = broken {
            if let Broken::Protocol(violation) = &broken
                && !self.close_sent.replace(true)
            {
                stream.close(Some(CloseReason { code: violation.code, reason: violation.message }));
                let _told = stream.poll_flush(cx);
            }
            // Behind a close frame the end of the connection is no news.
            if !arrived.queue.iter().any(|a| matches!(a, Arrival::Close { .. })) {
                arrived.queue.push_back(Arrival::Broken(broken));
            }
        }
        if arrived.queue.is_empty() { Poll::Pending } else { Poll::Ready(()) }
    }

    fn answer_pings(&self, stream: &mut WebSocket, arrived: &mut Arrived) {
        if !self.close_sent.get() {
            arrived.pings.iter().for_each(|payload| stream.pong(payload));
        }
        arrived.pings.clear();
    }

    fn note_pongs(&self, vu: &Vu, arrived: &mut Arrived) {
        for _ in 0..std::mem::take(&mut arrived.pongs) {
            if let Some(sent) = self.pinged.borrow_mut().pop_front() {
                self.samples.ponged(vu, ms(sent.elapsed()));
            }
        }
    }

    /// The next arrival, behind a close of ours no message, as in k6; its bytes are lent by `bytes` until the one after
    /// it is asked for.
    pub fn take(&self, vu: &Vu) -> Option<Arrival> {
        let mut arrived = self.arrived.borrow_mut();
        if self.is_closing.get() {
            arrived.queue.retain(|arrival| !matches!(arrival, Arrival::Text(_) | Arrival::Binary(_)));
        }
        let next = arrived.queue.pop_front();
        if let Some(Arrival::Text(_) | Arrival::Binary(_)) = &next {
            self.samples.received(vu);
        }
        if next.is_none() {
            arrived.bytes.clear();
            debug_assert!(arrived.pings.is_empty(), "they are answered when they arrive");
            if arrived.bytes.capacity() > MOST_IDLE {
                arrived.bytes = Vec::new();
            }
        }
        next
    }

    /// When the arrivals that are waiting, and the one taken last, reached this machine: wall clock, nanoseconds since
    /// 1970. One read brought them all.
    pub fn arrived_ns(&self) -> u64 {
        self.arrived_ns.get()
    }

    /// Logs an arrival that was taken, if it is a message and messages are logged; keep it while the handlers run.
    pub fn log<'a>(&'a self, vu: &'a Vu, arrival: &Arrival) -> Option<Logged<'a>> {
        let log = self.log.as_ref()?;
        let (is_text, range) = match arrival {
            Arrival::Text(range) => (true, range),
            Arrival::Binary(range) => (false, range),
            _ => return None,
        };
        Some(self.bytes(range.clone(), |data| log.begin(vu, self.arrived_ns(), is_text, data)))
    }

    /// Lends bytes of an arrival.
    pub fn bytes<R>(&self, range: Range<usize>, read: impl FnOnce(&[u8]) -> R) -> R {
        read(&self.arrived.borrow().bytes[range])
    }

    /// The bytes of a binary message; without a copy where it is all there is.
    pub fn take_bytes(&self, range: Range<usize>) -> Vec<u8> {
        let mut arrived = self.arrived.borrow_mut();
        if range == (0..arrived.bytes.len()) && arrived.queue.is_empty() {
            return std::mem::take(&mut arrived.bytes);
        }
        arrived.bytes[range].to_vec()
    }

    /// Queues a frame; false when the connection is closed or closing.
    fn queue(self: &Rc<Self>, vu: &Vu, write: impl FnOnce(&mut WebSocket)) -> bool {
        let mut slot = self.stream.borrow_mut();
        let Some(stream) = slot.as_mut().filter(|_| !self.close_sent.get()) else { return false };
        write(stream);
        drop(slot);
        if !self.is_listed.replace(true) {
            vu.events.add_outgoing(self.clone());
        }
        true
    }

    /// Queues a message and counts it; false when the connection is closed or closing.
    pub fn send(self: &Rc<Self>, vu: &Vu, kind: Kind, payload: &[u8]) -> bool {
        let queued = self.queue(vu, |stream| {
            let before = if stream.buffered() == 0 { 0 } else { self.payload.get() };
            self.payload.set(before + payload.len());
            stream.message(kind, payload);
        });
        if queued {
            self.samples.sent(vu);
            if vu.messages.take_stamp() {
                self.flush_now();
                // Still listed: what the kernel did not take has to go.
                self.is_listed.set(true);
            }
        }
        queued
    }

    /// Queues a ping, whose pong will be a sample.
    pub fn ping(self: &Rc<Self>, vu: &Vu) -> bool {
        let queued = self.queue(vu, |stream| stream.ping(b""));
        if queued {
            self.pinged.borrow_mut().push_back(Instant::now());
        }
        queued
    }

    /// Queues a close frame; a code that frames cannot carry is left out.
    pub fn close(self: &Rc<Self>, vu: &Vu, code: u16, reason: &str) -> bool {
        let reason = close::is_sendable(code).then_some(CloseReason { code, reason });
        let queued = self.queue(vu, |stream| stream.close(reason));
        self.close_sent.set(true);
        self.is_closing.set(true);
        queued
    }

    /// Counts something else as a message that was sent.
    pub fn count_sent(&self, vu: &Vu) {
        self.samples.sent(vu);
    }

    /// Bytes of messages that are queued; none when the kernel has taken all.
    pub fn buffered(&self) -> usize {
        let is_queued = self.stream.borrow().as_ref().is_some_and(|stream| stream.buffered() > 0);
        if is_queued { self.payload.get() } else { 0 }
    }

    /// Ends the session: what can be written at once still is; one sample. Again: nothing.
    pub fn end(&self, vu: &Vu) {
        if self.leave(vu) {
            self.samples.ended(vu, ms(self.began.elapsed()));
        }
    }

    /// The same without a sample, for a session that the end of the test cuts off: how long it would have lasted is
    /// not known. False when it was over before.
    pub fn leave(&self, vu: &Vu) -> bool {
        self.flush_now();
        let Some(mut stream) = self.stream.borrow_mut().take() else { return false };
        let (sent, received) = stream.take_counts();
        vu.count_data(sent, received);
        true
    }
}

impl Outgoing for Channel {
    fn flush_now(&self) {
        self.is_listed.set(false);
        if let Some(stream) = self.stream.borrow_mut().as_mut() {
            // What the kernel does not take now is written by the next poll; a failure shows up there as well.
            let _written = stream.poll_flush(&mut Context::from_waker(Waker::noop()));
        }
    }
}
