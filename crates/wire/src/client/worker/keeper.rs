//! Looks after the connections of HTTP/2 that nobody uses at the moment.
//!
//! The requests on a connection poll it, so one without requests is polled by nobody. A server that asks whether it is
//! still there (PING) would wait in vain and close it. One task a worker looks each second; a connection on which
//! nothing arrived costs it one load.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::time::Duration;

/// A connection that may be idle.
pub(crate) trait MayIdle {
    /// Takes in what arrived while nobody used it, and answers what has to be answered.
    fn look(&self);
}

/// Servers that ask allow several seconds for the answer (grpc-go: 20, nginx and Envoy do not ask).
const BEAT: Duration = Duration::from_secs(1);

/// The connections of a worker. While there are some, a task looks after them.
#[derive(Default)]
pub(crate) struct Http2Keeper(RefCell<Vec<Weak<dyn MayIdle>>>);

impl Http2Keeper {
    /// Looks after one more connection. To be called within a `tokio::task::LocalSet`.
    pub(crate) fn keep(self: &Rc<Http2Keeper>, connection: &Rc<impl MayIdle + 'static>) {
        let mut connections = self.0.borrow_mut();
        if connections.is_empty() {
            tokio::task::spawn_local(watch(Rc::downgrade(self)));
        }
        let connection = Rc::downgrade(connection);
        connections.push(connection);
    }

    /// `false` when there is nothing left to look after.
    fn look(&self) -> bool {
        let mut connections = self.0.borrow_mut();
        connections.retain(|connection| match connection.upgrade() {
            Some(connection) => {
                connection.look();
                true
            }
            None => false,
        });
        !connections.is_empty()
    }
}

async fn watch(keeper: Weak<Http2Keeper>) {
    loop {
        tokio::time::sleep(BEAT).await;
        if !keeper.upgrade().is_some_and(|keeper| keeper.look()) {
            return;
        }
    }
}
