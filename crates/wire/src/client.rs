//! The client: redirects, cookies, authentication and proxies around single exchanges.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use crate::connect::{Address, Endpoint, Route};
use crate::cookies::CookieJar;
use crate::exchange::{Exchange, Outgoing, exchange};
use crate::failure::{Failure, FailureKind, Step};
use crate::h1::encode::RequestHead;
use crate::payload::Payload;
use crate::pool::Pool;
use crate::request::Request;
use crate::settings::Settings;
use crate::url::Url;
use crate::worker_io::WorkerIo;

/// What all clients of one worker thread share: settings, DNS answers, TLS configurations, receive buffers.
/// Kept in an `Rc`; make it on the worker's thread, inside its tokio runtime.
pub struct Worker {
    settings: Arc<Settings>,
    io: WorkerIo,
}

/// The settings cannot work; the message is for the person who wrote the options.
#[derive(Debug)]
pub struct SettingsError {
    /// Which option, what was found, what was expected.
    pub message: String,
}

impl Worker {
    /// Checks the settings and prepares what they need.
    pub fn new(settings: Arc<Settings>) -> Result<Rc<Worker>, SettingsError> {
        Ok(Rc::new(Worker { settings, io: WorkerIo::new() }))
    }
}

/// One virtual user's client with connections of its own.
pub struct Client {
    worker: Rc<Worker>,
    pool: Pool,
    endpoints: RefCell<Vec<(Url, Rc<Endpoint>)>>,
}

impl Client {
    /// A client without connections.
    pub fn new(worker: Rc<Worker>) -> Client {
        let pool = Pool::new(worker.settings.batch.max(1), worker.settings.batch_per_host.max(1));
        Client { worker, pool, endpoints: RefCell::default() }
    }

    /// Runs a request to its end. Every exchange but the last (redirects, digest challenges) goes to `hop`; the last is
    /// returned. Cookies are read from and stored into `jar` hop by hop.
    /// Dropping the future closes the connection in use.
    pub async fn send(&self, request: &Request, _jar: Option<&CookieJar>, _hop: &mut dyn FnMut(&Exchange)) -> Exchange {
        let io = &self.worker.io;
        let endpoint = self.endpoint(&request.url);
        let mut head = io.take_head();
        let close = self.worker.settings.no_connection_reuse;
        let parts = RequestHead {
            method: &request.method,
            target: &request.url.target,
            authority: &request.url.authority,
            user_agent: &self.worker.settings.user_agent,
            headers: &request.headers,
            added: &[],
            body_len: request.body.as_ref().map(Payload::len),
            close,
        };
        parts.encode(&mut head).expect("plain heads only for now");
        let out = Outgoing {
            method: &request.method,
            url: &request.url,
            head: &head,
            body: request.body.as_ref().map_or(&[], |b| b.segments()),
            body_use: request.body_use,
            deadline: request.timeout.map(|t| Instant::now() + t),
            idempotency_key: false,
            close,
        };
        let resolve = async || {
            let found = tokio::net::lookup_host((request.url.host.as_str(), request.url.port)).await;
            let found =
                found.map_err(|e| Failure { step: Step::Lookup, kind: FailureKind::Dns, message: e.to_string() })?;
            Ok(Route { addresses: found.map(Address::Tcp).collect(), local: None })
        };
        let exchange = exchange(io, &self.pool, &endpoint, &out, resolve).await;
        io.return_head(head);
        exchange
    }

    fn endpoint(&self, url: &Url) -> Rc<Endpoint> {
        let mut endpoints = self.endpoints.borrow_mut();
        if let Some((_, endpoint)) = endpoints.iter().find(|(known, _)| known.same_origin(url)) {
            return endpoint.clone();
        }
        let endpoint = Rc::new(Endpoint { tunnel: None, tls: None });
        endpoints.push((url.clone(), endpoint.clone()));
        endpoint
    }

    /// Closes idle connections (`noVUConnectionReuse`, end of the user).
    pub fn close_idle(&self) {
        self.pool.close_idle();
    }
}
