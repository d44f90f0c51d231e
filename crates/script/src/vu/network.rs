//! The connections of a user: its client, the link of its scenario under them, whose connections of HTTP/2 it uses, and
//! what it wants of TLS.
//!
//! What is said before the client is made, it is told when it is.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use wire::Client;
use wire::client::{Http2Pool, Http2Use};
use wire::link::Link;
use wire::settings::{ClientIdentity, Http2Limits, OwnTls};

use super::user_tls::UserTls;
use crate::options::Http2Choice;

/// The network side of one user, made at the first request.
#[derive(Default)]
pub(super) struct Network {
    client: OnceCell<Rc<Client>>,
    link: RefCell<Option<Rc<Link>>>,
    choice: Cell<Http2Choice>,
    http2: RefCell<Option<Http2Use>>,
    tls: UserTls,
    /// The option `noVUConnectionReuse`.
    closes_connections: OnceCell<bool>,
}

impl Network {
    #[inline]
    pub fn client(&self, make: impl FnOnce() -> Client) -> &Rc<Client> {
        let make = || {
            let client = make();
            if let Some(link) = self.link() {
                client.set_link(Some(link));
            }
            if let Some(how) = &*self.http2.borrow() {
                client.use_http2(how.clone());
            }
            client.set_tls(self.tls.of_client());
            Rc::new(client)
        };
        self.client.get_or_init(make)
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

    /// How requests use HTTP/2 from now on. `shared` gives the connections that users share, and is asked when they do.
    pub fn set_http2(&self, choice: Http2Choice, shared: impl FnOnce() -> Option<Rc<Http2Pool>>) {
        if choice == self.choice.get() && choice.connections().is_none() {
            return;
        }
        self.choice.set(choice);
        let limited = |limits| Http2Use::Shared(Http2Pool::new(Some(limits)));
        let how = match choice {
            Http2Choice::Own => Http2Use::Own,
            Http2Choice::Never => Http2Use::Never,
            Http2Choice::Streams(streams) => limited(Http2Limits { connections: 1, streams: Some(streams) }),
            Http2Choice::Shared(limits) => shared().map_or_else(|| limited(limits), Http2Use::Shared),
        };
        if let Some(client) = self.client_if_made() {
            client.use_http2(how.clone());
        }
        *self.http2.borrow_mut() = Some(how);
    }

    /// Whether TLS sessions are resumed from now on, by the option or the scenario.
    pub fn set_tls_resumption(&self, resumes: bool) {
        if self.tls.set_resumption(resumes) {
            self.tell_client_of_tls();
        }
    }

    /// What the script wants of TLS for all requests from now on.
    pub fn say_tls(&self, identity: Option<Arc<ClientIdentity>>, resumes: Option<bool>) {
        self.tls.say(identity, resumes);
        self.tell_client_of_tls();
    }

    /// What a request wants of TLS that says something of it.
    pub fn tls_of_request(&self, identity: Option<Arc<ClientIdentity>>, resumes: Option<bool>) -> Rc<OwnTls> {
        self.tls.of_request(identity, resumes)
    }

    fn tell_client_of_tls(&self) {
        if let Some(client) = self.client_if_made() {
            client.set_tls(self.tls.of_client());
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
