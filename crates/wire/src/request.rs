//! A request as its caller wants it sent: method, URL, headers, body, and what becomes of the answer's body.
//!
//! Plain data. What the client adds (cookies, credentials, referers) is not in it.

use std::fmt;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::own_tls::OwnTls;
use crate::payload::Payload;
use crate::response::Response;
use crate::syntax::url::Url;

/// An HTTP method; always upper case, any token allowed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// GET
    Get,
    /// HEAD
    Head,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
    /// OPTIONS
    Options,
    /// Any other token.
    Other(Rc<str>),
}

impl Method {
    /// Of this token, whose letters count as they are (RFC 9110 section 9.1).
    pub fn of(token: &str) -> Method {
        match token {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            "PUT" => Method::Put,
            "PATCH" => Method::Patch,
            "DELETE" => Method::Delete,
            "OPTIONS" => Method::Options,
            other => Method::Other(other.into()),
        }
    }

    /// The token.
    pub fn as_str(&self) -> &str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
            Method::Options => "OPTIONS",
            Method::Other(token) => token,
        }
    }
}

/// How to answer a 401 challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Basic, sent at once, when the URL carries userinfo.
    FromUserinfo,
    /// Digest with the URL's userinfo: the first request goes without, the 401 is an exchange of its own.
    Digest,
}

/// What becomes of the response body.
#[derive(Clone)]
pub enum BodyUse {
    /// Kept, content codings decoded.
    Keep,
    /// Read to its end and dropped without buffering.
    Discard,
    /// Given to the sink while it arrives and not kept. Only the body of a 2xx answer: others (redirects, challenges,
    /// errors) are kept as usual. Content codings are not undone.
    Stream(Rc<dyn BodySink>),
}

/// Takes a response body piece by piece.
pub trait BodySink {
    /// The answer whose body follows, its own body empty. False: the body is kept as usual instead.
    fn begin(&self, _answer: &Response) -> bool {
        true
    }

    /// The next bytes. They are gone after the call.
    fn take(&self, bytes: &[u8]);

    /// What was taken since the last call had reached this machine by then.
    fn arrived(&self, _at: Instant) {}

    /// The rest is not wanted: the exchange ends here as a complete one, and its connection is closed. Asked before
    /// `poll_ready`.
    fn has_enough(&self) -> bool {
        false
    }

    /// Asked before each read from the network. Pending: wait with it, so that the sender slows down; wake the task
    /// when there is room again. An error ends the exchange with that text.
    fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<Result<(), String>>;
}

impl fmt::Debug for BodyUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BodyUse::Keep => "Keep",
            BodyUse::Discard => "Discard",
            BodyUse::Stream(_) => "Stream",
        })
    }
}

/// One request as the caller wants it. `Client::send` may turn it into several exchanges (redirects, digest).
#[derive(Clone, Debug)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Where to.
    pub url: Url,
    /// Extra headers in the order they go out. `Host` replaces the URL's; `User-Agent` replaces the settings'.
    /// Content-Length is the client's own business and ignored here.
    pub headers: Rc<[(String, String)]>,
    /// Cookies of this request alone: `(name, value, replace)`; see k6's `params.cookies`.
    pub cookies: Rc<[(String, String, bool)]>,
    /// Body. `None` differs from an empty one: no Content-Length for methods that define no body.
    pub body: Option<Payload>,
    /// For the whole request, redirects and reading the body included. `None`: no limit.
    pub timeout: Option<Duration>,
    /// Redirects to follow at most.
    pub max_redirects: u32,
    /// Authentication.
    pub auth: Auth,
    /// What becomes of the body.
    pub body_use: BodyUse,
    /// HTTP/2 from the first byte on, on each hop that goes to an http URL.
    pub prior_knowledge: bool,
    /// What it wants of TLS other than its client, on hops to the host of its URL.
    pub tls: Option<Rc<OwnTls>>,
}
