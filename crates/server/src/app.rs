//! What a server program is to the target: something that answers requests one at a time, on the thread that received
//! them.
//!
//! An app lives on one worker thread, made there by its factory; no part of it is shared or sent. It answers every path
//! but
//! `/stats`. A request's body is pulled: as long as the app does not ask for the next piece, nothing is read from the
//! socket, and the client's sending blocks. Dropping the future is how the app learns that the client has gone.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

pub use crate::incoming::body::{BodyError, BodySource, RequestBody};
pub use crate::incoming::pool::{Piece, PieceBuffer};
use crate::outgoing::respond::Response;
pub use crate::ws::{Opening, Upgrade};

/// Makes the app of one worker, on that worker's thread and within its runtime (`tokio::task::spawn_local` works). The
/// error's text makes `Server::start` fail.
pub type AppFactory = Arc<dyn Fn() -> Result<Rc<dyn App>, String> + Send + Sync>;

/// The answer of an app as it comes about.
pub type Answering = Pin<Box<dyn Future<Output = Result<Response, String>>>>;

/// A server program.
pub trait App {
    /// Answers one request. Dropped when the client goes away. An error becomes a 500 with that text; logging it is up
    /// to the app.
    fn fetch(&self, request: AppRequest) -> Answering;

    /// Whether to ask `websocket` about requests that want to become one.
    fn accepts_websockets(&self) -> bool {
        false
    }

    /// Takes over the connection of a request that asks for a websocket, `Opening::new(upgrade, handler)`; `None`: it
    /// goes to `fetch` like any other. Only asked when `accepts_websockets` says so, and only about upgrades that are
    /// in order.
    fn websocket(&self, request: &AppRequest, upgrade: Upgrade) -> Option<Opening> {
        let _ = (request, upgrade);
        None
    }

    /// Whether to ask `allocate` for memory.
    fn allocates(&self) -> bool {
        false
    }

    /// Memory for a piece of a request body, of about `size` bytes; `None`: from the worker's pool. Only asked when
    /// `allocates` says so, and only when bytes have arrived that would fill it.
    fn allocate(&self, size: usize) -> Option<Box<dyn PieceBuffer>> {
        let _ = size;
        None
    }
}

/// The protocol a request came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2.
    Http2,
}

/// Where a request came from.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The client's address; unix sockets have none.
    pub peer: Option<IpAddr>,
    /// It came encrypted.
    pub tls: bool,
    /// By this protocol.
    pub version: Version,
}

/// A request whose head is complete and whose body is still to be read.
pub struct AppRequest {
    /// Method, target, and then name and value of each header, without anything between them.
    text: Vec<u8>,
    method_len: usize,
    target_len: usize,
    /// Where in `text` each header's name and value end.
    headers: Vec<(u32, u32)>,
    origin: Origin,
    /// The body; take it out to read it elsewhere.
    pub body: RequestBody,
}

impl AppRequest {
    /// A request of these parts. `target` is path and query; header names come in any case.
    pub fn new<'h>(
        method: &str,
        target: &str,
        headers: impl Iterator<Item = (&'h str, &'h [u8])>,
        origin: Origin,
        body: RequestBody,
    ) -> Self {
        let mut text = Vec::with_capacity(512);
        text.extend_from_slice(method.as_bytes());
        text.extend_from_slice(target.as_bytes());
        let mut ends = Vec::with_capacity(headers.size_hint().0);
        for (name, value) in headers {
            text.extend_from_slice(name.as_bytes());
            let name_end = text.len() as u32;
            text.extend_from_slice(value);
            ends.push((name_end, text.len() as u32));
        }
        AppRequest { text, method_len: method.len(), target_len: target.len(), headers: ends, origin, body }
    }

    /// The same head, without a body: to outlive the request.
    pub fn without_body(&self) -> Self {
        AppRequest { text: self.text.clone(), headers: self.headers.clone(), body: RequestBody::empty(), ..*self }
    }

    fn str_at(&self, from: usize, to: usize) -> &str {
        std::str::from_utf8(&self.text[from..to]).expect("was copied from a str")
    }

    /// As sent, `GET`.
    pub fn method(&self) -> &str {
        self.str_at(0, self.method_len)
    }

    /// Path and query, `/a?b=c`; of an absolute form the part behind the authority.
    pub fn target(&self) -> &str {
        self.str_at(self.method_len, self.method_len + self.target_len)
    }

    /// Name and value of each header line, in order; names in the case they were sent in.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let mut at = self.method_len + self.target_len;
        self.headers.iter().map(move |&(name_end, value_end)| {
            let name = self.str_at(at, name_end as usize);
            at = value_end as usize;
            (name, &self.text[name_end as usize..at])
        })
    }

    /// The first header of that name, in whatever case.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The client's address, `None` on a unix socket.
    pub fn peer(&self) -> Option<IpAddr> {
        self.origin.peer
    }

    /// It came encrypted.
    pub fn is_tls(&self) -> bool {
        self.origin.tls
    }

    /// The protocol it came by.
    pub fn version(&self) -> Version {
        self.origin.version
    }

    /// The whole url: scheme, the host header, the target.
    pub fn url(&self) -> String {
        let host = self.header("host").map_or(Cow::Borrowed("localhost"), String::from_utf8_lossy);
        let scheme = if self.origin.tls { "https" } else { "http" };
        let target = if self.target() == "*" { "/" } else { self.target() };
        [scheme, "://", &host, target].concat()
    }
}

impl fmt::Debug for AppRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AppRequest({} {})", self.method(), self.target())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_gives_back_what_it_was_made_of() {
        let lines = [("Host", &b"a:1"[..]), ("X-Empty", b""), ("x-odd", b"\xff")];
        let origin = Origin { peer: None, tls: true, version: Version::Http11 };
        let request = AppRequest::new("PUT", "/p?q", lines.into_iter(), origin, RequestBody::empty());
        assert_eq!((request.method(), request.target(), request.url().as_str()), ("PUT", "/p?q", "https://a:1/p?q"));
        assert_eq!(request.headers().collect::<Vec<_>>(), lines);
        assert_eq!((request.header("X-ODD"), request.header("none")), (Some(&b"\xff"[..]), None));
        let same = request.without_body();
        assert_eq!((same.method(), same.url(), same.peer()), (request.method(), request.url(), request.peer()));
        assert!(same.headers().eq(request.headers()));
    }
}
