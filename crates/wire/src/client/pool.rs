//! A virtual user's connections between exchanges. No pipelining: one connection of HTTP/1.1 carries one exchange at a
//! time. Those of HTTP/2 are in a pool of their own, which users may share.
//!
//! The connection used last is used next. An idle one on which anything arrived (a close, or bytes nobody asked for) is
//! dropped when it is asked for. Refuses to hold more idle connections than it was set to, as Go's transport does.
//! Invariant: a connection in the pool has no response outstanding.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::client::http1::connection::Connection;
use crate::client::http2::pool::{Http2Pool, Seat};
use crate::client::route::endpoint::{Endpoint, Speaks};
use crate::client::worker::context::IoContext;

/// Connections by endpoint.
pub(crate) struct Pool {
    idle: RefCell<Vec<(Rc<Endpoint>, Box<Connection>)>>,
    http2: RefCell<Rc<Http2Pool>>,
    max_idle: usize,
    max_idle_per_endpoint: usize,
    /// Bytes that came unasked, over connections that were dropped for it.
    stray: Cell<u64>,
}

impl Pool {
    /// A pool that keeps this many idle connections in all and per endpoint.
    pub(crate) fn new(max_idle: usize, max_idle_per_endpoint: usize) -> Pool {
        let (idle, http2) = (RefCell::default(), RefCell::new(Http2Pool::new(None)));
        Pool { idle, http2, max_idle, max_idle_per_endpoint, stray: Cell::new(0) }
    }

    /// A connection that can be used at once.
    #[inline]
    pub(crate) fn have(&self, io: &IoContext, endpoint: &Rc<Endpoint>) -> Option<Kept> {
        if endpoint.speaks.get() == Speaks::Http2
            && let Some(seat) = self.http2.borrow().have(endpoint)
        {
            return Some(Kept::Shared(seat));
        }
        self.lease(io, endpoint).map(Kept::Own)
    }

    /// The connections of HTTP/2.
    pub(crate) fn http2(&self) -> Rc<Http2Pool> {
        Rc::clone(&self.http2.borrow())
    }

    /// Requests find connections of HTTP/2 there from now on.
    pub(crate) fn use_http2(&self, pool: Rc<Http2Pool>) {
        *self.http2.borrow_mut() = pool;
    }

    /// An idle connection that is still open as far as this machine knows.
    #[inline]
    pub(crate) fn lease(&self, io: &IoContext, endpoint: &Rc<Endpoint>) -> Option<Box<Connection>> {
        let mut idle = self.idle.borrow_mut();
        while let Some(at) = idle.iter().rposition(|(owner, _)| Rc::ptr_eq(owner, endpoint)) {
            // Most have one connection, and the last moves nothing.
            let last = if at + 1 == idle.len() { idle.pop() } else { None };
            let (_, mut connection) = last.unwrap_or_else(|| idle.remove(at));
            if connection.is_usable(io) {
                connection.reused = true;
                return Some(connection);
            }
            self.stray.set(self.stray.get() + connection.transport.received);
        }
        None
    }

    /// Takes the count of bytes that came unasked: the next request that opens a connection counts them.
    pub(crate) fn take_stray(&self) -> u64 {
        self.stray.take()
    }

    /// Keeps a connection for the next exchange, dropping the oldest where there are too many.
    #[inline]
    pub(crate) fn give_back(&self, endpoint: &Rc<Endpoint>, connection: Box<Connection>) {
        let mut idle = self.idle.borrow_mut();
        debug_assert_eq!(connection.transport.sent, 0, "bytes of an exchange that was not counted");
        let same = idle.iter().filter(|(owner, _)| Rc::ptr_eq(owner, endpoint)).count();
        if same >= self.max_idle_per_endpoint {
            return;
        }
        if idle.len() >= self.max_idle {
            idle.remove(0);
        }
        idle.push((endpoint.clone(), connection));
        debug_assert!(idle.len() <= self.max_idle, "{} idle connections, {} at most", idle.len(), self.max_idle);
    }

    /// Closes all idle connections.
    pub(crate) fn close_idle(&self) {
        self.idle.borrow_mut().clear();
        self.http2.borrow().close_idle();
    }
}

/// A connection that the pool had.
pub(crate) enum Kept {
    /// Of HTTP/1.1: the request's own until it is given back.
    Own(Box<Connection>),
    /// Of HTTP/2: a place on it.
    Shared(Seat),
}
