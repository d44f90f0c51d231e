//! The client: redirects, cookies, authentication and proxies around single exchanges.

use std::rc::Rc;
use std::sync::Arc;

use crate::cookies::CookieJar;
use crate::exchange::Exchange;
use crate::request::Request;
use crate::settings::Settings;

/// What all clients of one worker thread share: settings, DNS answers, TLS configurations, receive buffers.
/// Kept in an `Rc`; make it on the worker's thread, inside its tokio runtime.
pub struct Worker {}

/// The settings cannot work; the message is for the person who wrote the options.
#[derive(Debug)]
pub struct SettingsError {
    /// Which option, what was found, what was expected.
    pub message: String,
}

impl Worker {
    /// Checks the settings and prepares what they need.
    pub fn new(_settings: Arc<Settings>) -> Result<Rc<Worker>, SettingsError> {
        todo!()
    }
}

/// One virtual user's client with connections of its own.
pub struct Client {}

impl Client {
    /// A client without connections.
    pub fn new(_worker: Rc<Worker>) -> Client {
        todo!()
    }

    /// Runs a request to its end. Every exchange but the last (redirects, digest challenges) goes to `hop`; the last is
    /// returned. Cookies are read from and stored into `jar` hop by hop.
    /// Dropping the future closes the connection in use.
    pub async fn send(
        &self,
        _request: &Request,
        _jar: Option<&CookieJar>,
        _hop: &mut dyn FnMut(&Exchange),
    ) -> Exchange {
        todo!()
    }

    /// Closes idle connections (`noVUConnectionReuse`, end of the user).
    pub fn close_idle(&self) {
        todo!()
    }
}
