//! Who is in which room, on every worker.
//!
//! Each worker knows its own members; a message goes to them at once and to the other workers through their inboxes,
//! encoded once. Refuses to pile up: an inbox that holds too much drops what comes and counts it, a member that does
//! not keep up is cut off. Invariant: messages of one sender reach each member in order.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use wire::ws::{Shared, close};

use super::socket::{Socket, SocketState};
use crate::stats::Stats;

/// Bytes that wait in one inbox at most.
const MOST_WAITING: usize = 256 << 20;

/// The inboxes of all workers.
#[derive(Debug)]
pub(crate) struct Inboxes(Vec<Inbox>);

#[derive(Debug, Default)]
struct Inbox {
    waiting: Mutex<Undelivered>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Undelivered {
    published: Vec<(Arc<str>, Shared)>,
    bytes: usize,
}

impl Inboxes {
    pub(crate) fn new(workers: usize) -> Inboxes {
        Inboxes((0..workers).map(|_| Inbox::default()).collect())
    }

    /// Leaves the message in every other inbox; how many were too full to take it.
    fn post(&self, from: usize, room: &str, message: &Shared) -> u64 {
        let room: Arc<str> = Arc::from(room);
        let mut dropped = 0;
        for inbox in self.0.iter().enumerate().filter(|(index, _)| *index != from).map(|(_, inbox)| inbox) {
            let mut waiting = inbox.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.bytes > MOST_WAITING {
                dropped += 1;
                continue;
            }
            waiting.bytes += message.payload.len() + size_of::<(Arc<str>, Shared)>();
            waiting.published.push((room.clone(), message.clone()));
            drop(waiting);
            inbox.arrived.notify_one();
        }
        dropped
    }
}

/// The rooms of one worker.
pub(crate) struct Rooms {
    inboxes: Arc<Inboxes>,
    stats: Arc<Stats>,
    index: usize,
    members: RefCell<HashMap<String, Vec<Socket>>>,
    open: RefCell<HashMap<u64, Socket>>,
    next_id: Cell<u64>,
}

impl Rooms {
    pub(crate) fn new(inboxes: Arc<Inboxes>, stats: Arc<Stats>, index: usize) -> Rc<Rooms> {
        let (members, open) = (RefCell::default(), RefCell::default());
        Rc::new(Rooms { inboxes, stats, index, members, open, next_id: Cell::new(0) })
    }

    pub(super) fn next_id(&self) -> u64 {
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        id
    }

    pub(super) fn enter(&self, socket: &Socket) {
        let before = self.open.borrow_mut().insert(socket.0.id, socket.clone());
        debug_assert!(before.is_none(), "no two sockets have the number {}", socket.0.id);
    }

    /// Out of every room, and off the list.
    pub(super) fn exit(&self, socket: &Socket) {
        let rooms = socket.0.subscribed.take();
        rooms.iter().for_each(|room| self.forget(room, socket));
        self.open.borrow_mut().remove(&socket.0.id);
    }

    pub(super) fn join(&self, room: &str, socket: &Socket) {
        if !socket.is_subscribed(room) && socket.state() == SocketState::Open {
            socket.0.subscribed.borrow_mut().push(room.to_owned());
            let mut rooms = self.members.borrow_mut();
            let members = rooms.entry(room.to_owned()).or_default();
            debug_assert!(!members.contains(socket), "a member is in a room once");
            members.push(socket.clone());
        }
    }

    pub(super) fn leave(&self, room: &str, socket: &Socket) {
        socket.0.subscribed.borrow_mut().retain(|name| name != room);
        self.forget(room, socket);
    }

    fn forget(&self, room: &str, socket: &Socket) {
        let mut rooms = self.members.borrow_mut();
        if let Some(members) = rooms.get_mut(room) {
            members.retain(|member| member != socket);
            if members.is_empty() {
                rooms.remove(room);
            }
        }
    }

    /// To all members but one, here and on the other workers.
    pub(crate) fn publish(&self, room: &str, message: &Shared, except: Option<&Socket>) {
        self.deliver(room, message, except);
        if self.inboxes.0.len() > 1 {
            let dropped = self.inboxes.post(self.index, room, message);
            self.stats.worker(self.index).web_sockets.dropped.add(dropped);
        }
    }

    fn deliver(&self, room: &str, message: &Shared, except: Option<&Socket>) {
        if let Some(members) = self.members.borrow().get(room) {
            for member in members.iter().filter(|member| Some(*member) != except) {
                member.send_shared(message);
            }
        }
    }

    /// Delivers what other workers publish, for as long as the worker lives.
    pub(crate) async fn serve(self: Rc<Self>) {
        let inbox = &self.inboxes.0[self.index];
        loop {
            inbox.arrived.notified().await;
            let arrived = std::mem::take(&mut *inbox.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            debug_assert!(
                arrived.bytes >= arrived.published.len(),
                "each message was counted: {} bytes",
                arrived.bytes
            );
            arrived.published.iter().for_each(|(room, message)| self.deliver(room, message, None));
        }
    }

    /// The worker stops: every socket must go.
    pub(crate) fn close_all(&self) {
        let open: Vec<Socket> = self.open.borrow().values().cloned().collect();
        for socket in open {
            socket.close(close::GOING_AWAY, "");
        }
    }
}
