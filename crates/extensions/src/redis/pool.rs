//! Connections to one server: a command has one for itself, so that one that blocks holds up no other.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use redis_protocol::resp2::types::OwnedFrame;
use script::Vu;
use tokio::sync::{Semaphore, SemaphorePermit};
use wire::link::Link;

use super::arguments::Request;
use super::connection::Connection;
use super::options::NodeOptions;

/// The connections of a client to a server.
pub struct Pool {
    node: NodeOptions,
    read_only: bool,
    idle: RefCell<Vec<Connection>>,
    places: Semaphore,
    /// What the idle ones go over.
    link: RefCell<Option<Weak<Link>>>,
}

impl Pool {
    /// A pool without connections. `read_only`: replicas of a cluster may answer.
    pub fn new(node: NodeOptions, read_only: bool) -> Rc<Pool> {
        let places = Semaphore::new(node.pool_size);
        Rc::new(Pool { node, read_only, idle: RefCell::default(), places, link: RefCell::default() })
    }

    /// One command. The error is what the script is told.
    pub async fn call(&self, vu: &Vu, request: &Request) -> Result<OwnedFrame, String> {
        self.call_after(vu, None, request).await
    }

    /// The same right after another command on the same connection.
    pub async fn call_after(&self, vu: &Vu, first: Option<&Request>, request: &Request) -> Result<OwnedFrame, String> {
        let _place = match self.places.try_acquire() {
            Ok(place) => place,
            Err(_) => self.wait().await?,
        };
        let mut connection = match self.take_idle(vu) {
            Some(connection) => connection,
            // Boxed: it is large, and seldom needed.
            None => Box::pin(Connection::open(vu, &self.node, self.read_only)).await?,
        };
        let timeout = self.node.timeouts.read;
        if let Some(first) = first {
            connection.call(vu, first, timeout).await?;
        }
        let reply = connection.call(vu, request, timeout).await?;
        let mut idle = self.idle.borrow_mut();
        idle.push(connection);
        debug_assert!(idle.len() <= self.node.pool_size, "{} of {} are idle", idle.len(), self.node.pool_size);
        Ok(reply)
    }

    /// Until another command has ended.
    async fn wait(&self) -> Result<SemaphorePermit<'_>, String> {
        match tokio::time::timeout(self.node.timeouts.pool, self.places.acquire()).await {
            Ok(place) => Ok(place.expect("the semaphore is never closed")),
            Err(_) => Err(String::from("redis: connection pool timeout")),
        }
    }

    fn take_idle(&self, vu: &Vu) -> Option<Connection> {
        let (now, mut idle) = (vu.link(), self.idle.borrow_mut());
        let known = self.link.borrow().as_ref().and_then(Weak::upgrade);
        if known.as_ref().map(Rc::as_ptr) != now.as_ref().map(Rc::as_ptr) {
            idle.clear();
            *self.link.borrow_mut() = now.as_ref().map(Rc::downgrade);
        }
        while let Some(mut connection) = idle.pop() {
            if connection.is_usable() {
                return Some(connection);
            }
        }
        None
    }
}
