//! A virtual user's connections between exchanges. No pipelining: one connection carries one exchange at a time.
//!
//! The connection used last is used next. An idle one on which anything arrived (a close, or bytes nobody asked for) is
//! dropped when it is asked for. Refuses to hold more idle connections than it was set to, as Go's transport does.
//! Invariant: a connection in the pool has no response outstanding.

use std::cell::RefCell;
use std::rc::Rc;

use crate::client::connection::Connection;
use crate::client::context::IoContext;
use crate::client::endpoint::Endpoint;

/// Idle connections by endpoint.
pub(crate) struct Pool {
    idle: RefCell<Vec<(Rc<Endpoint>, Box<Connection>)>>,
    max_idle: usize,
    max_idle_per_endpoint: usize,
}

impl Pool {
    /// A pool that keeps this many idle connections in all and per endpoint.
    pub(crate) fn new(max_idle: usize, max_idle_per_endpoint: usize) -> Pool {
        Pool { idle: RefCell::default(), max_idle, max_idle_per_endpoint }
    }

    /// An idle connection that is still open as far as this machine knows.
    pub(crate) fn lease(&self, io: &IoContext, endpoint: &Rc<Endpoint>) -> Option<Box<Connection>> {
        let mut idle = self.idle.borrow_mut();
        while let Some(at) = idle.iter().rposition(|(owner, _)| Rc::ptr_eq(owner, endpoint)) {
            let (_, mut connection) = idle.remove(at);
            if connection.is_usable(io) {
                connection.info.reused = true;
                return Some(connection);
            }
        }
        None
    }

    /// Keeps a connection for the next exchange, dropping the oldest where there are too many.
    pub(crate) fn give_back(&self, endpoint: &Rc<Endpoint>, connection: Box<Connection>) {
        let mut idle = self.idle.borrow_mut();
        let same = idle.iter().filter(|(owner, _)| Rc::ptr_eq(owner, endpoint)).count();
        if same >= self.max_idle_per_endpoint {
            return;
        }
        if idle.len() >= self.max_idle {
            idle.remove(0);
        }
        idle.push((endpoint.clone(), connection));
    }

    /// Closes all idle connections.
    pub(crate) fn close_idle(&self) {
        self.idle.borrow_mut().clear();
    }
}
