//! The connections of a user: its client, and the link of its scenario under them.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use wire::Client;
use wire::link::Link;

/// The network side of one user, made at the first request.
#[derive(Default)]
pub(super) struct Network {
    client: OnceCell<Rc<Client>>,
    link: RefCell<Option<Rc<Link>>>,
    /// The option `noVUConnectionReuse`.
    closes_connections: OnceCell<bool>,
}

impl Network {
    pub fn client(&self, make: impl FnOnce() -> Client) -> Rc<Client> {
        let make = || {
            let client = make();
            if let Some(link) = self.link() {
                client.set_link(Some(link));
            }
            Rc::new(client)
        };
        self.client.get_or_init(make).clone()
    }

    pub fn client_if_made(&self) -> Option<&Rc<Client>> {
        self.client.get()
    }

    pub fn link(&self) -> Option<Rc<Link>> {
        self.link.borrow().clone()
    }

    /// All connections go over this one from now on.
    pub fn set_link(&self, link: Option<Rc<Link>>) {
        self.link.borrow_mut().clone_from(&link);
        if let Some(client) = self.client_if_made() {
            client.set_link(link);
        }
    }

    /// Closes connections, where the option says so.
    pub fn end_iteration(&self, closes: impl FnOnce() -> bool) {
        if *self.closes_connections.get_or_init(closes)
            && let Some(client) = self.client_if_made()
        {
            client.close_idle();
        }
    }
}
