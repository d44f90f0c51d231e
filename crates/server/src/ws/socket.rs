//! A websocket as handlers hold it: a queue of encoded frames and the task that writes them.
//!
//! Clones are the same socket. Sending never waits: it queues and wakes the connection's task, which writes everything
//! queued so far at once. Invariant: a queue longer than `MOST_BEHIND` gets nothing more; its connection is cut off.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use wire::ws::close::{self, CloseReason};
use wire::ws::{Encoder, Kind, Shared};

use super::rooms::Rooms;

/// How far a client may fall behind.
pub(super) const MOST_BEHIND: usize = 16 << 20;
/// Queued bytes from which on the handler hears when they have left.
pub(crate) const FULL: usize = 256 << 10;
/// Room an idle connection keeps for its next answer.
const MOST_IDLE: usize = 4096;

/// One end of a websocket.
#[derive(Clone)]
pub struct Socket(pub(super) Rc<Inner>);

pub(super) struct Inner {
    pub(super) id: u64,
    pub(super) rooms: Rc<Rooms>,
    protocol: Option<String>,
    pub(super) queue: RefCell<Queue>,
    waker: RefCell<Option<Waker>>,
    /// The connection's task is running: it will see what is queued without being woken.
    pub(super) at_work: Cell<bool>,
    pub(super) subscribed: RefCell<Vec<String>>,
    pub(super) messages_sent: Cell<u64>,
    pub(super) arrived_ns: Cell<u64>,
}

/// Frames on their way out.
pub(super) struct Queue {
    encoder: Encoder,
    pub(super) bytes: Vec<u8>,
    /// So many of them are with the kernel.
    pub(super) written: usize,
    pub(super) state: SocketState,
    /// The handler is to hear when all has left.
    pub(super) was_full: bool,
}

/// How far the closing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SocketState {
    Open,
    /// A close frame is queued or sent.
    Closing,
    /// To be dropped as soon as what is queued has left.
    Leaving,
    /// To be dropped without another byte.
    Cut,
}

impl Queue {
    pub(super) fn waiting(&self) -> usize {
        self.bytes.len() - self.written
    }

    /// Everything is written.
    pub(super) fn clear(&mut self) {
        self.written = 0;
        self.bytes.clear();
        if self.bytes.capacity() > MOST_IDLE {
            self.bytes = Vec::new();
        }
    }
}

impl Socket {
    pub(super) fn new(id: u64, rooms: Rc<Rooms>, protocol: Option<String>, encoder: Encoder) -> Socket {
        let queue = Queue { encoder, bytes: Vec::new(), written: 0, state: SocketState::Open, was_full: false };
        Socket(Rc::new(Inner {
            id,
            rooms,
            protocol,
            queue: RefCell::new(queue),
            waker: RefCell::default(),
            at_work: Cell::new(false),
            subscribed: RefCell::default(),
            messages_sent: Cell::new(0),
            arrived_ns: Cell::new(0),
        }))
    }

    pub(super) fn register(&self, waker: &Waker) {
        let mut slot = self.0.waker.borrow_mut();
        if !slot.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *slot = Some(waker.clone());
        }
    }

    fn wake(&self) {
        if !self.0.at_work.get()
            && let Some(waker) = &*self.0.waker.borrow()
        {
            waker.wake_by_ref();
        }
    }

    /// Queues frames; false when the socket is closing, or the client has fallen too far behind and is cut off now.
    fn push(&self, write: impl FnOnce(&mut Encoder, &mut Vec<u8>)) -> bool {
        let mut queue = self.0.queue.borrow_mut();
        if queue.state != SocketState::Open {
            return false;
        }
        if queue.waiting() > MOST_BEHIND {
            queue.state = SocketState::Cut;
            drop(queue);
            self.wake();
            return false;
        }
        let Queue { encoder, bytes, .. } = &mut *queue;
        write(encoder, bytes);
        queue.was_full |= queue.waiting() >= FULL;
        drop(queue);
        self.wake();
        true
    }

    /// Queues a message; false when it will not arrive: the socket is closing or closed. `payload` of a text is UTF-8.
    pub fn send(&self, kind: Kind, payload: &[u8]) -> bool {
        let queued = self.push(|encoder, out| encoder.message(out, kind, payload));
        self.0.messages_sent.set(self.0.messages_sent.get() + u64::from(queued));
        queued
    }

    pub(crate) fn send_shared(&self, message: &Shared) -> bool {
        let queued = self.push(|encoder, out| encoder.shared(out, message));
        self.0.messages_sent.set(self.0.messages_sent.get() + u64::from(queued));
        queued
    }

    /// Queues a ping of at most 125 bytes; more is cut.
    pub fn ping(&self, payload: &[u8]) -> bool {
        self.push(|encoder, out| encoder.ping(out, &payload[..payload.len().min(125)]))
    }

    pub(super) fn pong(&self, payload: &[u8]) {
        self.push(|encoder, out| encoder.pong(out, payload));
    }

    /// Queues bytes that need not be a frame: for servers that misbehave on purpose.
    pub(crate) fn push_raw(&self, bytes: &[u8]) {
        self.push(|_, out| out.extend_from_slice(bytes));
    }

    /// Begins to close; false when it is closing already, or when frames must not carry the code. A reason is cut to
    /// 123 bytes.
    pub fn close(&self, code: u16, reason: &str) -> bool {
        close::is_sendable(code) && self.begin_close(Some(CloseReason { code, reason }))
    }

    pub(super) fn begin_close(&self, reason: Option<CloseReason<'_>>) -> bool {
        let queued = self.push(|encoder, out| encoder.close(out, reason));
        if queued {
            self.0.queue.borrow_mut().state = SocketState::Closing;
        }
        queued
    }

    /// Drops the connection without a word.
    pub fn terminate(&self) {
        self.0.queue.borrow_mut().state = SocketState::Cut;
        self.wake();
    }

    /// Drops the connection without a close frame once what is queued has left: for servers that misbehave on purpose.
    pub(crate) fn hang_up(&self) {
        self.0.queue.borrow_mut().state = SocketState::Leaving;
        self.wake();
    }

    pub(super) fn state(&self) -> SocketState {
        self.0.queue.borrow().state
    }

    /// Whether messages can be sent.
    pub fn is_open(&self) -> bool {
        self.state() == SocketState::Open
    }

    /// Bytes of frames that the kernel has not taken yet.
    pub fn buffered(&self) -> usize {
        self.0.queue.borrow().waiting()
    }

    /// When the message being handled reached this machine: wall clock, nanoseconds since 1970; 0 unless the handler
    /// wants arrivals.
    pub fn arrived_ns(&self) -> u64 {
        self.0.arrived_ns.get()
    }

    /// The subprotocol agreed on.
    pub fn protocol(&self) -> Option<&str> {
        self.0.protocol.as_deref()
    }

    /// Gets what is published in a room from now on.
    pub fn subscribe(&self, room: &str) {
        self.0.rooms.join(room, self);
    }

    /// Gets it no more.
    pub fn unsubscribe(&self, room: &str) {
        self.0.rooms.leave(room, self);
    }

    /// Whether it gets what is published there.
    pub fn is_subscribed(&self, room: &str) -> bool {
        self.0.subscribed.borrow().iter().any(|name| name == room)
    }

    /// Sends a message to everybody in a room, on all workers, but this socket.
    pub fn publish(&self, room: &str, kind: Kind, payload: &[u8]) {
        self.publish_shared(room, &Shared::new(kind, payload), false);
    }

    pub(crate) fn publish_shared(&self, room: &str, message: &Shared, to_itself: bool) {
        self.0.rooms.publish(room, message, if to_itself { None } else { Some(self) });
    }
}

impl PartialEq for Socket {
    fn eq(&self, other: &Socket) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Socket({})", self.0.id)
    }
}
