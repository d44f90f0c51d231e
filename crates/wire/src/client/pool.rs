//! A virtual user's connections between exchanges. No pipelining: one connection of HTTP/1.1 carries one exchange at a
//! time. Those of HTTP/2 are shared by the exchanges under way.
//!
//! The connection used last is used next. An idle one on which anything arrived (a close, or bytes nobody asked for) is
//! dropped when it is asked for. Refuses to hold more idle connections than it was set to, as Go's transport does.
//! Invariant: a connection in the pool has no response outstanding.

use std::cell::RefCell;
use std::rc::Rc;

use tokio::sync::Notify;

use crate::client::connection::Connection;
use crate::client::context::IoContext;
use crate::client::endpoint::Endpoint;
use crate::client::http2_connection::SharedConnection;

/// Connections by endpoint.
pub(crate) struct Pool {
    idle: RefCell<Vec<(Rc<Endpoint>, Box<Connection>)>>,
    shared: RefCell<Vec<(Rc<Endpoint>, Rc<SharedConnection>)>>,
    /// Endpoints of HTTP/2 that a connection is being opened to.
    openings: RefCell<Vec<(Rc<Endpoint>, Rc<Notify>)>>,
    max_idle: usize,
    max_idle_per_endpoint: usize,
}

impl Pool {
    /// A pool that keeps this many idle connections in all and per endpoint.
    pub(crate) fn new(max_idle: usize, max_idle_per_endpoint: usize) -> Pool {
        Pool {
            idle: RefCell::default(),
            shared: RefCell::default(),
            openings: RefCell::default(),
            max_idle,
            max_idle_per_endpoint,
        }
    }

    /// A connection that can be used at once.
    #[inline]
    pub(crate) fn have(&self, io: &IoContext, endpoint: &Rc<Endpoint>) -> Option<Kept> {
        if endpoint.speaks_http2.get()
            && let Some(shared) = self.find_shared(endpoint)
        {
            return Some(Kept::Shared(shared));
        }
        self.lease(io, endpoint).map(Kept::Own)
    }

    /// A connection of HTTP/2 on which the server takes another stream.
    fn find_shared(&self, endpoint: &Rc<Endpoint>) -> Option<Rc<SharedConnection>> {
        let mut all = self.shared.borrow_mut();
        all.retain(|(owner, shared)| !Rc::ptr_eq(owner, endpoint) || shared.is_usable());
        let mut of_endpoint = all.iter().filter(|(owner, _)| Rc::ptr_eq(owner, endpoint));
        of_endpoint.find(|(_, shared)| shared.has_room()).map(|(_, shared)| shared.clone())
    }

    /// Lets other requests use the connection, too.
    pub(crate) fn share(&self, endpoint: &Rc<Endpoint>, shared: Rc<SharedConnection>) {
        self.shared.borrow_mut().push((endpoint.clone(), shared));
    }

    /// Waits while another request opens a connection of HTTP/2 to the endpoint; `true` if one did.
    pub(crate) async fn opened(&self, endpoint: &Rc<Endpoint>) -> bool {
        let opening = self.openings.borrow().iter().find(|(of, _)| Rc::ptr_eq(of, endpoint)).map(|(_, o)| o.clone());
        let Some(opening) = opening else { return false };
        opening.notified().await;
        true
    }

    /// Makes other requests wait for a connection that is about to be opened.
    pub(crate) fn open(&self, endpoint: &Rc<Endpoint>) -> OpeningShared<'_> {
        self.openings.borrow_mut().push((endpoint.clone(), Rc::default()));
        OpeningShared { pool: self, endpoint: endpoint.clone() }
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
        self.shared.borrow_mut().clear();
    }
}

/// A connection that the pool had.
pub(crate) enum Kept {
    /// Of HTTP/1.1: the request's own until it is given back.
    Own(Box<Connection>),
    /// Of HTTP/2.
    Shared(Rc<SharedConnection>),
}

/// Lasts while a connection of HTTP/2 is opened; others that want one wait for its end.
pub(crate) struct OpeningShared<'a> {
    pool: &'a Pool,
    endpoint: Rc<Endpoint>,
}

impl Drop for OpeningShared<'_> {
    fn drop(&mut self) {
        let mut openings = self.pool.openings.borrow_mut();
        if let Some(at) = openings.iter().position(|(of, _)| Rc::ptr_eq(of, &self.endpoint)) {
            openings.swap_remove(at).1.notify_waiters();
        }
    }
}
