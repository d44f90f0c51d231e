//! An open websocket of a client: frames over a connection, without a task of its own.
//!
//! Sending queues; `poll_flush` writes everything queued in one go. Receiving reads into the worker's shared buffer and
//! gives events out of it. Whoever holds the stream decides what to answer: pings and closes are events like others.
//! Invariant: an idle stream owns next to no buffer.

use std::rc::Rc;
use std::task::{Context, Poll, ready};

use crate::client::ClientContext;
use crate::client::http1::connection::Connection;
use crate::failure::{Failure, Step};
use crate::failure_map;
use crate::io::upload::Upload;
use crate::ws::{
    CloseReason, Decoder, DeflateParams, Encoder, Event, FrameWatch, Kind, MessageLimits, PassingFrames, Role,
    Violation,
};

/// Queue memory kept between messages at most.
const MOST_IDLE: usize = 1024;

/// An open connection.
pub struct WebSocket {
    worker: Rc<ClientContext>,
    connection: Box<Connection>,
    decoder: Decoder,
    encoder: Encoder,
    /// Frames not written yet.
    queue: Vec<u8>,
    written: usize,
    /// What came with the 101; looked at before anything is read.
    behind: Vec<u8>,
    /// When the last read's last byte reached this machine.
    arrived_ns: u64,
    /// A write is not with the kernel in full.
    is_flushing: bool,
    /// What sees its frames.
    watched: Option<Box<PassingFrames>>,
}

/// Why nothing more comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The peer broke the protocol; it must get a close frame.
    Protocol(Violation),
    /// The network failed, or the peer closed without a close frame (`None`).
    Network(Option<Failure>),
}

impl WebSocket {
    pub(crate) fn new(
        worker: Rc<ClientContext>,
        connection: Box<Connection>,
        deflate: Option<DeflateParams>,
        limits: MessageLimits,
        (behind, arrived_ns): (Vec<u8>, u64),
    ) -> WebSocket {
        WebSocket {
            worker,
            connection,
            decoder: Decoder::within(Role::Client, deflate, limits),
            encoder: Encoder::new(Role::Client, deflate),
            queue: Vec::new(),
            written: 0,
            behind,
            arrived_ns,
            is_flushing: false,
            watched: None,
        }
    }

    /// Shows each frame from now on, of those that came with the 101, too.
    pub fn watch(&mut self, watch: Rc<dyn FrameWatch>) {
        self.watched = Some(Box::new(PassingFrames::new(watch)));
    }

    /// Queues what `add` appends.
    fn queue(&mut self, add: impl FnOnce(&mut Encoder, &mut Vec<u8>)) {
        let before = self.queue.len();
        add(&mut self.encoder, &mut self.queue);
        if let Some(watched) = &mut self.watched {
            watched.sent(&self.queue[before..]);
        }
    }

    /// Queues a message; the bytes of a text are UTF-8.
    pub fn message(&mut self, kind: Kind, payload: &[u8]) {
        self.queue(|encoder, queue| encoder.message(queue, kind, payload));
    }

    /// Queues a ping of at most 125 bytes.
    pub fn ping(&mut self, payload: &[u8]) {
        self.queue(|encoder, queue| encoder.ping(queue, payload));
    }

    /// Queues a pong of at most 125 bytes.
    pub fn pong(&mut self, payload: &[u8]) {
        self.queue(|encoder, queue| encoder.pong(queue, payload));
    }

    /// Queues a close frame.
    pub fn close(&mut self, reason: Option<CloseReason<'_>>) {
        self.queue(|encoder, queue| encoder.close(queue, reason));
    }

    /// Queued bytes the kernel has not taken.
    pub fn buffered(&self) -> usize {
        self.queue.len() - self.written
    }

    /// Whether there is something to write.
    pub fn wants_flush(&self) -> bool {
        self.is_flushing || !self.queue.is_empty()
    }

    /// Writes what is queued; ready when all of it is with the kernel.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        if !self.wants_flush() {
            return Poll::Ready(Ok(()));
        }
        self.is_flushing = true;
        let mut upload = Upload::new(&self.queue[self.written..], &[]);
        let sent = self.connection.transport.poll_send(cx, &self.worker.io.buffers, &mut upload);
        self.written += upload.head_taken();
        debug_assert!(self.written <= self.queue.len(), "{} of {} bytes", self.written, self.queue.len());
        ready!(sent).map_err(|error| failure_map::transport(error, Step::Send))?;
        debug_assert_eq!(self.written, self.queue.len(), "what is flushed is with the kernel");
        self.is_flushing = false;
        self.written = 0;
        self.queue.clear();
        if self.queue.capacity() > MOST_IDLE {
            self.queue = Vec::new();
        }
        Poll::Ready(Ok(()))
    }

    /// Reads once and gives what it completed to `sink`, possibly nothing. After an error, do not read on.
    pub fn poll_receive(&mut self, cx: &mut Context<'_>, mut sink: impl FnMut(Event<'_>)) -> Poll<Result<(), Broken>> {
        if !self.behind.is_empty() {
            let behind = std::mem::take(&mut self.behind);
            self.watched.iter_mut().for_each(|watched| watched.received(&behind));
            return Poll::Ready(feed(&mut self.decoder, &behind, &mut sink));
        }
        let (decoder, watched, mut fed) = (&mut self.decoder, &mut self.watched, Ok(()));
        let arrival = self.connection.transport.poll_receive(cx, &self.worker.io.buffers, |bytes| {
            if fed.is_ok() {
                watched.iter_mut().for_each(|watched| watched.received(bytes));
                fed = feed(decoder, bytes, &mut sink);
            }
        });
        let arrival = match ready!(arrival) {
            Ok(arrival) => {
                self.arrived_ns = arrival.wall_ns();
                arrival
            }
            Err(error) => {
                let failure = failure_map::transport(error, Step::Receive);
                return Poll::Ready(Err(Broken::Network(Some(failure))));
            }
        };
        fed?;
        if arrival.closed {
            return Poll::Ready(Err(Broken::Network(None)));
        }
        Poll::Ready(Ok(()))
    }

    /// When what the last read completed reached this machine, in nanoseconds of the wall clock since 1970: by the
    /// kernel's stamp of the last byte, else by the clock right after the read.
    pub fn arrived_ns(&self) -> u64 {
        self.arrived_ns
    }

    /// Bytes over the network since the last call: sent, received.
    pub fn take_counts(&mut self) -> (u64, u64) {
        let transport = &mut self.connection.transport;
        (std::mem::take(&mut transport.sent), std::mem::take(&mut transport.received))
    }

    /// Waits until everything queued is with the kernel.
    pub async fn flush(&mut self) -> Result<(), Failure> {
        std::future::poll_fn(|cx| self.poll_flush(cx)).await
    }
}

fn feed(decoder: &mut Decoder, mut bytes: &[u8], sink: &mut impl FnMut(Event<'_>)) -> Result<(), Broken> {
    while let Some(event) = decoder.next(&mut bytes).map_err(Broken::Protocol)? {
        sink(event);
    }
    Ok(())
}

impl Broken {
    /// A text for people, Go's words where scripts know them.
    pub fn message(&self) -> String {
        match self {
            Broken::Protocol(violation) => format!("websocket: {}", violation.message),
            Broken::Network(Some(failure)) => failure.message.clone(),
            Broken::Network(None) => "websocket: close 1006 (abnormal closure): unexpected EOF".into(),
        }
    }
}

impl std::fmt::Debug for WebSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WebSocket({:?}, {} queued)", self.connection.facts.remote, self.buffered())
    }
}
