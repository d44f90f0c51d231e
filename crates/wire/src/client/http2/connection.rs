//! An HTTP/2 connection of one user, which its requests share.
//!
//! The requests that wait for it poll it, so that a request costs no task and no channel. The socket wakes the one that
//! polled last. It may be gone then, or its user may wait for something else, so a connection with more than one
//! request has a task that steps in (`relief`). A request that is given up says so to the peer at once.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::io::IoSlice;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use crate::client::http1::connection::{Connection, ConnectionFacts, ConnectionInfo};
use crate::client::http2::relief::{self, SocketWaker};
use crate::client::worker::context::IoContext;
use crate::client::worker::keeper::MayIdle;
use crate::failure::{Failure, Step};
use crate::failure_map;
use crate::h2::Http2Session;
use crate::h2::error_code::{ConnectionFault, NO_ERROR};
use crate::io::arrival::{Arrival, Moment, TransportError};
use crate::io::buffers::Buffers;
use crate::io::deadline_timer::DeadlineTimer;
use crate::io::stamps::Tick;
use crate::io::upload::MAX_PARTS;
use crate::transport::Transport;

/// From so many requests on, what they write is gathered.
const MANY_STREAMS: usize = 16;
/// So many requests leave together at most: one waits for the scripts of seven others, some 50 µs.
const TOGETHER: usize = 8;

/// A connection and those who wait for it.
pub(crate) struct SharedConnection {
    session: RefCell<Http2Session>,
    transport: RefCell<Transport>,
    buffers: Rc<Buffers>,
    facts: Rc<ConnectionFacts>,
    was_used: Cell<bool>,
    ended: RefCell<Option<Ending>>,
    /// Reads that brought something, and when the last of them did.
    last: Cell<Option<Moment>>,
    streams: Cell<usize>,
    waiting: RefCell<Vec<Option<Waker>>>,
    on_socket: SocketWaker,
    /// Requests in the queue that wait for more of them.
    held_back: Cell<usize>,
    timers: RefCell<Vec<DeadlineTimer>>,
}

/// Why a connection carries nothing more.
enum Ending {
    /// The peer closed.
    Closed,
    /// The peer broke the rules of the connection.
    Broken(ConnectionFault),
    /// The network.
    Failed(Failure),
}

/// What polling a connection came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drive {
    /// Something arrived: look at it, then poll again.
    Again,
    /// Nothing is to be done until the waker is called.
    Waits,
    /// It carries nothing more.
    Ended,
}

impl SharedConnection {
    /// Speaks HTTP/2 on a connection that carried nothing yet. What it begins with goes out with the first request.
    pub(crate) fn begin(io: &IoContext, connection: Connection) -> Rc<SharedConnection> {
        let Connection { transport, facts, timer, .. } = connection;
        let shared = Rc::new(SharedConnection {
            session: RefCell::new(Http2Session::new()),
            transport: RefCell::new(transport),
            buffers: io.buffers.clone(),
            facts,
            was_used: Cell::new(false),
            ended: RefCell::default(),
            last: Cell::default(),
            streams: Cell::new(0),
            waiting: RefCell::default(),
            on_socket: SocketWaker::default(),
            held_back: Cell::new(0),
            timers: RefCell::new(vec![timer]),
        });
        io.http2_keeper.keep(&shared);
        shared
    }

    /// What is known of it, for the next exchange.
    pub(crate) fn info(&self) -> ConnectionInfo {
        let reused = self.was_used.replace(true);
        ConnectionInfo { facts: Rc::clone(&self.facts), reused, kernel_stamps: false }
    }

    /// Its streams. Not to be held while the connection is polled.
    pub(crate) fn session(&self) -> RefMut<'_, Http2Session> {
        self.session.borrow_mut()
    }

    /// When the last arrival reached this machine.
    pub(crate) fn last_arrival(&self) -> Option<Moment> {
        self.last.get()
    }

    /// Bytes over the network since the last call: sent, received.
    pub(crate) fn take_counts(&self) -> (u64, u64) {
        let transport = &mut *self.transport.borrow_mut();
        (std::mem::take(&mut transport.sent), std::mem::take(&mut transport.received))
    }

    /// Whether the peer chose HTTP/2, or nobody asked because nothing is encrypted.
    pub(crate) fn is_chosen(connection: &Connection) -> bool {
        connection.transport.tls.as_ref().is_none_or(|session| session.chose_http2())
    }

    /// Whether the connection takes another request, as far as this machine knows. Looks at what arrived while it was
    /// idle.
    pub(crate) fn is_usable(&self) -> bool {
        self.look();
        self.ended.borrow().is_none() && self.session.borrow().is_open()
    }

    /// Whether the peer allows one more stream beside those under way.
    pub(crate) fn has_room(&self) -> bool {
        self.session.borrow().has_room()
    }

    /// Streams that the peer allows at once.
    pub(crate) fn most_streams(&self) -> usize {
        self.session.borrow().max_streams()
    }

    /// Why it carries nothing more, at this step of an exchange; `None` while it does.
    pub(crate) fn failure(&self, step: Step) -> Option<Failure> {
        let ended: Ref<'_, Option<Ending>> = self.ended.borrow();
        Some(match ended.as_ref()? {
            Ending::Failed(failure) => Failure { step, ..failure.clone() },
            Ending::Broken(ConnectionFault(code)) => failure_map::http2_connection(*code, step),
            Ending::Closed => match self.session.borrow().goodbye().filter(|code| *code != NO_ERROR) {
                Some(code) => failure_map::http2_goodbye(code, step),
                // Go's words, also where nothing of the response came.
                None => Failure { step, ..failure_map::closed(Step::Receive) },
            },
        })
    }

    /// Polls the connection for the request of this slot: writes what is there, then reads once.
    pub(crate) fn drive(&self, cx: &mut Context<'_>, slot: usize) -> Drive {
        if self.ended.borrow().is_some() {
            return Drive::Ended;
        }
        self.on_socket.driven_by(cx.waker());
        let cx = &mut self.on_socket.context();
        if let Err(ending) = self.write(cx) {
            return self.end(ending);
        }
        match self.read(cx) {
            Poll::Pending => {
                self.on_socket.registered();
                self.wake_all_but(slot);
                Drive::Waits
            }
            Poll::Ready(Ok(arrival)) => {
                self.on_socket.has_more();
                // What has to be answered is answered at once: nobody may poll for long.
                let written = self.write(cx);
                self.wake_all_but(slot);
                match (written, arrival.closed) {
                    (Err(ending), _) => self.end(ending),
                    (Ok(()), true) => self.end(Ending::Closed),
                    (Ok(()), false) => Drive::Again,
                }
            }
            Poll::Ready(Err(Ending::Broken(ConnectionFault(code)))) => {
                self.session.borrow_mut().accuse(code);
                let _gone = self.write(cx);
                self.end(Ending::Broken(ConnectionFault(code)))
            }
            Poll::Ready(Err(ending)) => self.end(ending),
        }
    }

    /// Nothing more goes over the connection: all who wait are told.
    fn end(&self, ending: Ending) -> Drive {
        self.ended.borrow_mut().get_or_insert(ending);
        self.waiting.borrow().iter().flatten().for_each(Waker::wake_by_ref);
        Drive::Ended
    }

    /// Writes as much as the socket takes.
    fn write(&self, cx: &mut Context<'_>) -> Result<(), Ending> {
        let session = &mut *self.session.borrow_mut();
        if session.queue.is_empty() && self.transport.borrow().is_flushed() {
            return Ok(());
        }
        match self.poll_write(cx, session) {
            Poll::Ready(Err(error)) => Err(Ending::Failed(failure_map::transport(error, Step::Send))),
            _ => {
                session.wake_senders();
                Ok(())
            }
        }
    }

    fn poll_write(&self, cx: &mut Context<'_>, session: &mut Http2Session) -> Poll<Result<(), TransportError>> {
        let transport = &mut *self.transport.borrow_mut();
        self.held_back.set(0);
        while !session.queue.is_empty() {
            if !transport.has_room() {
                ready!(transport.poll_flush(cx, &self.buffers))?;
                session.note_sent(session.queue.taken_total());
            }
            let mut parts = [IoSlice::new(&[]); MAX_PARTS];
            let filled = session.queue.parts(&mut parts);
            let n = ready!(transport.poll_take(cx, &self.buffers, &parts[..filled]))?;
            session.queue.advance(n);
            if transport.is_flushed() {
                session.note_sent(session.queue.taken_total());
            }
        }
        ready!(transport.poll_flush(cx, &self.buffers))?;
        session.note_sent(session.queue.taken_total());
        Poll::Ready(Ok(()))
    }

    /// Whether a request that was just queued leaves together with others. Then it is not to be driven now: the task
    /// that steps in is woken behind the users that are ready, and writes for all of them.
    pub(crate) fn holds_back(&self) -> bool {
        let held_back = self.held_back.get() + 1;
        debug_assert!(held_back <= TOGETHER, "{held_back} requests are held back");
        if self.streams.get() < MANY_STREAMS || held_back == TOGETHER {
            return false;
        }
        self.held_back.set(held_back);
        self.on_socket.has_more();
        true
    }

    /// One read.
    fn read(&self, cx: &mut Context<'_>) -> Poll<Result<Arrival, Ending>> {
        let session = &mut *self.session.borrow_mut();
        let mut fed = Ok(());
        let arrival = self.transport.borrow_mut().poll_receive(cx, &self.buffers, |bytes| {
            if fed.is_ok() {
                fed = session.feed(bytes);
            }
        });
        let arrival = ready!(arrival).map_err(|error| Ending::Failed(failure_map::transport(error, Step::Receive)))?;
        if arrival.content > 0 {
            let moment = Moment { seen: Tick::now(), stamp_ns: arrival.stamp_ns };
            self.last.set(Some(moment));
            session.note(moment);
        }
        Poll::Ready(fed.map(|()| arrival).map_err(Ending::Broken))
    }

    /// Wakes those that have something to look at, but not this one, which looks by itself.
    fn wake_all_but(&self, awake: usize) {
        let waiting = self.waiting.borrow();
        let wake = |slot: usize| {
            if slot != awake
                && let Some(waker) = waiting.get(slot).and_then(Option::as_ref)
            {
                waker.wake_by_ref();
            }
        };
        self.session.borrow_mut().take_woken(wake);
    }
}

impl MayIdle for SharedConnection {
    fn look(&self) {
        if self.streams.get() == 0 && !self.transport.borrow().socket.is_quiet() {
            self.relieve(Waker::noop());
        }
    }
}

impl SharedConnection {
    /// Drives it for nobody in particular.
    pub(crate) fn relieve(&self, waker: &Waker) {
        while self.drive(&mut Context::from_waker(waker), usize::MAX) == Drive::Again {}
    }
}

/// A request's place among those that share a connection; given up when it is dropped.
pub(crate) struct Slot {
    pub(crate) shared: Rc<SharedConnection>,
    pub(crate) at: usize,
    pub(crate) timer: DeadlineTimer,
}

impl Slot {
    pub(crate) fn of(shared: Rc<SharedConnection>) -> Slot {
        shared.streams.set(shared.streams.get() + 1);
        if shared.streams.get() > 1 {
            relief::watch(&shared, &shared.on_socket);
        }
        let mut waiting = shared.waiting.borrow_mut();
        let at = waiting.iter().position(Option::is_none).unwrap_or(waiting.len());
        // Taken, though nobody waits in it yet.
        let taken = Some(Waker::noop().clone());
        if at == waiting.len() {
            waiting.push(taken)
        } else {
            waiting[at] = taken
        }
        debug_assert_eq!(waiting.iter().flatten().count(), shared.streams.get(), "each request has a place of its own");
        drop(waiting);
        let timer = shared.timers.borrow_mut().pop().unwrap_or_default();
        Slot { shared, at, timer }
    }

    /// The request waits; it is woken when something came for it.
    pub(crate) fn wait(&self, cx: &Context<'_>) {
        let mut waiting = self.shared.waiting.borrow_mut();
        waiting[self.at].get_or_insert_with(|| cx.waker().clone()).clone_from(cx.waker());
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let shared = &self.shared;
        if !shared.session.borrow().queue.is_empty() && shared.ended.borrow().is_none() {
            // The peer is told now that a stream was reset: nobody may poll the connection for long.
            if let Err(ending) = shared.write(&mut shared.on_socket.context()) {
                shared.end(ending);
            }
        }
        shared.wake_all_but(self.at);
        shared.streams.set(shared.streams.get() - 1);
        shared.timers.borrow_mut().push(std::mem::take(&mut self.timer));
        let mut waiting = shared.waiting.borrow_mut();
        waiting[self.at] = None;
        while waiting.last().is_some_and(Option::is_none) {
            waiting.pop();
        }
    }
}
