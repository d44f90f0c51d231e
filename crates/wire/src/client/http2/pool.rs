//! Connections of HTTP/2 that requests share, and who has a place on which.
//!
//! Two rules. A user's own connections are k6's: one to an endpoint, and another where the server allows no further
//! stream on it. With limits, requests open so many connections to an endpoint and no more, each carries so many
//! streams at once, and a request that finds no room waits for its turn; so many users of a worker can share them.
//! Requests wait in the order in which they came. Refuses to count streams: a place is taken before the stream begins
//! and left after it has ended. Invariant: while there is room, or a connection may be opened, nobody waits.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use crate::client::http2::connection::SharedConnection;
use crate::client::route::endpoint::{Endpoint, Speaks};
use crate::failure::{Failure, Step};
use crate::failure_map;
use crate::settings::Http2Limits;

/// Connections of HTTP/2 by endpoint.
pub struct Http2Pool {
    limits: Option<Http2Limits>,
    open: RefCell<Vec<Rc<Open>>>,
    /// Endpoints that a connection is being opened to, once for each.
    openings: RefCell<Vec<Rc<Endpoint>>>,
    waiting: RefCell<VecDeque<Rc<Waiting>>>,
    /// Where a place was left last: its next request is likely to come at once.
    left_last: RefCell<Option<Rc<Open>>>,
}

/// An open connection.
struct Open {
    endpoint: Rc<Endpoint>,
    shared: Rc<SharedConnection>,
    /// Places taken, where there are limits.
    taken: Cell<usize>,
    is_listed: Cell<bool>,
}

/// A place on a connection; left when it is dropped.
pub(crate) struct Seat {
    open: Rc<Open>,
    /// Who is told that it was left.
    pool: Option<Rc<Http2Pool>>,
}

/// What a request that wants a place gets.
pub(crate) enum Turn {
    /// A place.
    Seat(Seat),
    /// It opens a connection.
    Open(BeingOpened),
    /// Nothing: the server there speaks HTTP/1.1.
    Alone,
}

/// Lasts while a connection is opened; others wait for its end.
pub(crate) struct BeingOpened {
    pool: Rc<Http2Pool>,
    endpoint: Rc<Endpoint>,
}

/// A request without a place.
struct Waiting {
    endpoint: Rc<Endpoint>,
    turn: RefCell<Option<Turn>>,
    waker: RefCell<Option<Waker>>,
}

impl Http2Pool {
    /// An empty one; without limits it is for one user.
    pub fn new(limits: Option<Http2Limits>) -> Rc<Http2Pool> {
        Rc::new(Http2Pool {
            limits,
            open: RefCell::default(),
            openings: RefCell::default(),
            waiting: RefCell::default(),
            left_last: RefCell::default(),
        })
    }

    /// Whether a request has to take its turn here, rather than to open a connection of its own.
    pub(crate) fn serves(&self, endpoint: &Endpoint) -> bool {
        match endpoint.speaks.get() {
            Speaks::Http2 => true,
            // The first connection tells; with limits only so many are tried.
            Speaks::Unknown => self.limits.is_some(),
            Speaks::Http1 => false,
        }
    }

    /// A place that is free now, unless others wait.
    #[inline]
    pub(crate) fn have(self: &Rc<Self>, endpoint: &Rc<Endpoint>) -> Option<Seat> {
        if self.waiting.borrow().is_empty() { self.find(endpoint) } else { None }
    }

    /// A place, or leave to open a connection: in turn, until the deadline.
    pub(crate) async fn turn(
        self: &Rc<Self>,
        endpoint: &Rc<Endpoint>,
        deadline: Option<Instant>,
    ) -> Result<Turn, Failure> {
        let is_first = !self.waiting.borrow().iter().any(|waiting| Rc::ptr_eq(&waiting.endpoint, endpoint));
        if is_first && let Some(turn) = self.offer(endpoint) {
            return Ok(turn);
        }
        let waiting = InLine::join(self, endpoint);
        let turn = poll_fn(|cx| waiting.poll(cx));
        match deadline {
            Some(deadline) => {
                let turn = tokio::time::timeout_at(deadline.into(), turn).await;
                turn.map_err(|_| failure_map::timeout(Step::Connect))
            }
            None => Ok(turn.await),
        }
    }

    /// A place on a connection that a request opened beside the others.
    pub(crate) fn add(self: &Rc<Self>, endpoint: &Rc<Endpoint>, shared: Rc<SharedConnection>) -> Seat {
        let open = Rc::new(Open::new(endpoint, shared));
        self.open.borrow_mut().push(Rc::clone(&open));
        self.seat(open)
    }

    /// Closes connections that nobody uses; the others when their requests have ended.
    pub(crate) fn close_idle(&self) {
        self.left_last.take();
        self.open.take().iter().for_each(|open| open.is_listed.set(false));
    }

    /// What there is now for a request to this endpoint.
    fn offer(self: &Rc<Self>, endpoint: &Rc<Endpoint>) -> Option<Turn> {
        if endpoint.speaks.get() == Speaks::Http1 {
            return Some(Turn::Alone);
        }
        if let Some(seat) = self.find(endpoint) {
            return Some(Turn::Seat(seat));
        }
        let under_way = self.opening(endpoint);
        let may_open = match self.limits {
            Some(limits) => self.count(endpoint) + under_way < limits.connections,
            None => under_way == 0,
        };
        may_open.then(|| {
            self.openings.borrow_mut().push(Rc::clone(endpoint));
            Turn::Open(BeingOpened { pool: Rc::clone(self), endpoint: Rc::clone(endpoint) })
        })
    }

    /// A free place on a connection that still takes streams.
    fn find(self: &Rc<Self>, endpoint: &Rc<Endpoint>) -> Option<Seat> {
        loop {
            let open = match self.limits {
                None => self.first_with_room(endpoint),
                Some(limits) => self.idle(endpoint).or_else(|| self.least_busy(endpoint, limits)),
            };
            let Some(open) = open else {
                self.forget_ended(endpoint);
                return None;
            };
            if open.shared.is_usable() {
                return Some(self.seat(open));
            }
            self.forget(&open);
        }
    }

    fn forget(&self, open: &Rc<Open>) {
        open.is_listed.set(false);
        self.open.borrow_mut().retain(|known| !Rc::ptr_eq(known, open));
    }

    /// Lets go of connections that have ended while no stream was allowed on them, as a server does that drains: nobody
    /// takes a place there any more, and so nobody would notice.
    // Cold: called only when no connection has room.
    #[cold]
    fn forget_ended(&self, endpoint: &Rc<Endpoint>) {
        let of_endpoint = |open: &&Rc<Open>| Rc::ptr_eq(&open.endpoint, endpoint);
        let all: Vec<Rc<Open>> = self.open.borrow().iter().filter(of_endpoint).cloned().collect();
        all.iter().filter(|open| !open.shared.is_usable()).for_each(|open| self.forget(open));
    }

    fn first_with_room(&self, endpoint: &Rc<Endpoint>) -> Option<Rc<Open>> {
        let all = self.open.borrow();
        all.iter().find(|open| Rc::ptr_eq(&open.endpoint, endpoint) && open.shared.has_room()).cloned()
    }

    /// The connection that carried a stream last, if it carries none now.
    fn idle(&self, endpoint: &Rc<Endpoint>) -> Option<Rc<Open>> {
        let last = self.left_last.borrow();
        let is_fit =
            |open: &&Rc<Open>| open.taken.get() == 0 && open.is_listed.get() && Rc::ptr_eq(&open.endpoint, endpoint);
        last.as_ref().filter(is_fit).cloned()
    }

    /// The connection with the fewest places taken. Those that may be opened come before those in use.
    fn least_busy(&self, endpoint: &Rc<Endpoint>, limits: Http2Limits) -> Option<Rc<Open>> {
        let all = self.open.borrow();
        let mut of_endpoint = 0;
        let mut best: Option<&Rc<Open>> = None;
        for open in all.iter().filter(|open| Rc::ptr_eq(&open.endpoint, endpoint)) {
            of_endpoint += 1;
            let taken = open.taken.get();
            if taken == 0 {
                return Some(Rc::clone(open));
            }
            let allowed = limits.streams.unwrap_or(usize::MAX).min(open.shared.most_streams());
            if taken < allowed && best.is_none_or(|best| taken < best.taken.get()) {
                best = Some(open);
            }
        }
        let may_open = of_endpoint + self.opening(endpoint) < limits.connections;
        best.filter(|_| !may_open).cloned()
    }

    fn seat(self: &Rc<Self>, open: Rc<Open>) -> Seat {
        let pool = self.limits.is_some().then(|| Rc::clone(self));
        open.taken.set(open.taken.get() + usize::from(pool.is_some()));
        let most = self.limits.and_then(|limits| limits.streams).unwrap_or(usize::MAX);
        debug_assert!(open.taken.get() <= most, "{} places of {most} are taken", open.taken.get());
        Seat { open, pool }
    }

    fn opening(&self, endpoint: &Rc<Endpoint>) -> usize {
        self.openings.borrow().iter().filter(|of| Rc::ptr_eq(of, endpoint)).count()
    }

    fn count(&self, endpoint: &Rc<Endpoint>) -> usize {
        self.open.borrow().iter().filter(|open| Rc::ptr_eq(&open.endpoint, endpoint)).count()
    }

    /// Gives what has become free to those who wait for it, the first first.
    fn serve(self: &Rc<Self>, endpoint: &Rc<Endpoint>) {
        loop {
            let is_of = |waiting: &Rc<Waiting>| Rc::ptr_eq(&waiting.endpoint, endpoint);
            let Some(at) = self.waiting.borrow().iter().position(is_of) else { return };
            let Some(turn) = self.offer(endpoint) else { return };
            let Some(next) = self.waiting.borrow_mut().remove(at) else { return };
            *next.turn.borrow_mut() = Some(turn);
            if let Some(waker) = next.waker.take() {
                waker.wake();
            }
        }
    }
}

impl Open {
    fn new(endpoint: &Rc<Endpoint>, shared: Rc<SharedConnection>) -> Open {
        Open { endpoint: Rc::clone(endpoint), shared, taken: Cell::new(0), is_listed: Cell::new(true) }
    }
}

impl Seat {
    /// A place on a connection that no other request is to have.
    pub(crate) fn alone(endpoint: &Rc<Endpoint>, shared: Rc<SharedConnection>) -> Seat {
        Seat { open: Rc::new(Open::new(endpoint, shared)), pool: None }
    }

    /// The connection.
    pub(crate) fn shared(&self) -> &Rc<SharedConnection> {
        &self.open.shared
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some(pool) = self.pool.take() else { return };
        self.open.taken.set(self.open.taken.get() - 1);
        if self.open.is_listed.get() {
            *pool.left_last.borrow_mut() = Some(Rc::clone(&self.open));
        }
        pool.serve(&self.open.endpoint);
    }
}

impl BeingOpened {
    /// The connection is open; a place on it.
    pub(crate) fn done(self, shared: Rc<SharedConnection>) -> Seat {
        self.pool.add(&self.endpoint, shared)
    }
}

impl Drop for BeingOpened {
    fn drop(&mut self) {
        let mut openings = self.pool.openings.borrow_mut();
        if let Some(at) = openings.iter().position(|of| Rc::ptr_eq(of, &self.endpoint)) {
            openings.swap_remove(at);
        }
        drop(openings);
        self.pool.serve(&self.endpoint);
    }
}

/// A place in the line of those who wait; given up when it is dropped.
struct InLine<'a> {
    pool: &'a Rc<Http2Pool>,
    waiting: Rc<Waiting>,
}

impl<'a> InLine<'a> {
    fn join(pool: &'a Rc<Http2Pool>, endpoint: &Rc<Endpoint>) -> InLine<'a> {
        let waiting = Waiting { endpoint: Rc::clone(endpoint), turn: RefCell::default(), waker: RefCell::default() };
        let waiting = Rc::new(waiting);
        pool.waiting.borrow_mut().push_back(Rc::clone(&waiting));
        InLine { pool, waiting }
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<Turn> {
        if let Some(turn) = self.waiting.turn.take() {
            return Poll::Ready(turn);
        }
        *self.waiting.waker.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.pool.waiting.borrow_mut().retain(|waiting| !Rc::ptr_eq(waiting, &self.waiting));
        // A turn that nobody took goes to the next.
        drop(self.waiting.turn.take());
    }
}
