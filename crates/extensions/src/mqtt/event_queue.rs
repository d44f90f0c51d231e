//! What happened to a connection and was not told yet, on its way from the connection's task to the user's loop.
//!
//! It has no limit of its own: the task stops reading while the queue is full, so that a flood waits in the kernel.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use rumqttc::mqttbytes::v4::Publish;

/// Bytes that wait for the script before reading stops.
const BACKLOG: usize = 4 << 20;

/// What happened and was not told yet.
#[derive(Debug)]
pub enum Happened {
    /// There is a connection.
    Connect,
    /// The client tries to connect again.
    Reconnect,
    /// A message, and when it came: nanoseconds of the wall clock since 1970.
    Message(Publish, u64),
    /// Something failed beside the script.
    Error(String),
    /// Nothing follows; whether the listeners hear of it.
    End(bool),
}

/// Events in the order in which they happened.
pub struct EventQueue {
    events: RefCell<VecDeque<Happened>>,
    /// Bytes of the messages in there.
    backlog: Cell<usize>,
    /// Who waits for an event.
    user: RefCell<Option<Waker>>,
}

impl EventQueue {
    /// With a first event.
    pub fn new(first: Happened) -> EventQueue {
        EventQueue { events: RefCell::new(VecDeque::from([first])), backlog: Cell::default(), user: RefCell::default() }
    }

    /// Adds an event, and wakes who waits.
    pub fn push(&self, what: Happened) {
        if let Happened::Message(publish, _) = &what {
            self.backlog.set(self.backlog.get() + publish.payload.len());
        }
        self.events.borrow_mut().push_back(what);
        if let Some(user) = self.user.take() {
            user.wake();
        }
    }

    /// The next event.
    pub fn pop(&self) -> Option<Happened> {
        let next = self.events.borrow_mut().pop_front()?;
        if let Happened::Message(publish, _) = &next {
            let before = self.backlog.get();
            debug_assert!(before >= publish.payload.len(), "a message leaves once: {before} bytes wait");
            self.backlog.set(before - publish.payload.len());
        }
        Some(next)
    }

    /// Whether nothing more is to be read for now.
    pub fn is_full(&self) -> bool {
        self.backlog.get() >= BACKLOG
    }

    /// Ready when there is an event.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.events.borrow().is_empty() {
            return Poll::Ready(());
        }
        *self.user.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Forgets what was not told.
    pub fn clear(&self) {
        self.events.take();
        self.backlog.set(0);
    }
}
