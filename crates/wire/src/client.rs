//! The client: redirects, cookies, authentication and proxies around single exchanges.
//!
//! Every hop is an exchange of its own; the request's time covers them all. Decoding a body comes after its last byte was
//! stamped. The plain request (empty jar, no userinfo, no proxy) pays one branch for each of these and no allocation.
//! Invariant: each exchange that touched the network is either handed to `hop` or returned, exactly once.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::auth::{self, Challenge, Subject};
use crate::codec::Decoder;
use crate::cookies::{CookieJar, cookie_header};
use crate::exchange::{Exchange, Outgoing, exchange};
use crate::failure::Failure;
use crate::h1::encode::RequestHead;
use crate::origins::{Origin, Origins};
use crate::payload::Payload;
use crate::pool::Pool;
use crate::redirect::{Hop, Next};
use crate::request::{Auth, Request};
use crate::response::{Body, Marks, Response};
use crate::settings::Settings;
use crate::stamps::Tick;
use crate::url::Url;
use crate::worker_io::WorkerIo;

/// What all clients of one worker thread share: settings, DNS answers, TLS configurations, receive buffers.
/// Kept in an `Rc`; make it on the worker's thread, inside its tokio runtime.
pub struct Worker {
    settings: Arc<Settings>,
    io: WorkerIo,
    origins: Origins,
    decoder: RefCell<Decoder>,
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
        let origins = Origins::new(&settings).map_err(|message| SettingsError { message })?;
        let decoder = RefCell::new(Decoder::new(settings.max_decoded_body));
        Ok(Rc::new(Worker { settings, io: WorkerIo::new(), origins, decoder }))
    }
}

/// Sees each request of a client right before it is sent: once for each exchange, not again when a kept connection turned
/// out to be closed.
pub trait Watch {
    /// The whole head, empty line included, and the body of one exchange of `request`.
    fn sending(&self, request: &Request, head: &[u8], body: Option<&Payload>);
}

/// Local addresses are dealt over all clients of the process: workers must not begin anew at the first.
static CLIENTS: AtomicUsize = AtomicUsize::new(0);

/// One virtual user's client with connections of its own.
pub struct Client {
    worker: Rc<Worker>,
    pool: Pool,
    local: Option<IpAddr>,
    /// The origins used last, so that the worker's map is rarely asked.
    recent: RefCell<Vec<Rc<Origin>>>,
    watch: OnceCell<Rc<dyn Watch>>,
}

/// More origins than this per user are looked up in the worker's map.
const RECENT: usize = 4;

impl Client {
    /// A client without connections.
    pub fn new(worker: Rc<Worker>) -> Client {
        let pool = Pool::new(worker.settings.batch.max(1), worker.settings.batch_per_host.max(1));
        let local_ips = &worker.settings.local_ips;
        let turn = if local_ips.is_empty() { 0 } else { CLIENTS.fetch_add(1, Ordering::Relaxed) % local_ips.len() };
        let local = local_ips.get(turn).copied();
        Client { worker, pool, local, recent: RefCell::default(), watch: OnceCell::new() }
    }

    /// Shows the requests of this client to `watch` from now on; a second call has no effect.
    pub fn watch(&self, watch: Rc<dyn Watch>) {
        let _ = self.watch.set(watch);
    }

    /// Runs a request to its end. Every exchange but the last (redirects, digest challenges) goes to `hop`; the last is
    /// returned. Cookies are read from and stored into `jar` hop by hop.
    /// A Location that cannot be requested gives a failure of kind `InvalidUrl` (or `Other`, for another scheme) after its
    /// exchange went to `hop`: nothing was sent for it.
    /// Dropping the future closes the connection in use.
    pub async fn send(&self, request: &Request, jar: Option<&CookieJar>, hop: &mut dyn FnMut(&Exchange)) -> Exchange {
        let now = Instant::now();
        let mut clock = HopClock {
            asked: self.worker.io.stamps.at(now),
            deadline: request.timeout.and_then(|timeout| now.checked_add(timeout)),
        };
        let mut at = Hop::first(request);
        let mut digest = DigestState::default();
        loop {
            let mut exchange = Exchange::begin(at.method.clone(), at.url.clone());
            let marks = self.send_hop(request, &at, jar, digest.answer.as_deref(), &clock, &mut exchange).await;
            let Ok(response) = &exchange.outcome else { return exchange };
            if let Some(jar) = jar.filter(|_| marks.sets_cookie) {
                let set_cookies = response.headers().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
                set_cookies.for_each(|(_, value)| jar.set_from_header(&at.url, value));
            }
            if response.status == 401 && request.auth == Auth::Digest && digest.answer_to(response, &at) {
                hop(&exchange);
                clock.asked = self.worker.io.stamps.now();
                continue;
            }
            match at.follow(response) {
                Next::Done => {
                    if marks.is_coded {
                        self.decode(&mut exchange);
                    }
                    return exchange;
                }
                Next::Follow => {
                    hop(&exchange);
                    digest = DigestState::default();
                    clock.asked = self.worker.io.stamps.now();
                }
                Next::Failed(failure) => {
                    hop(&exchange);
                    let mut unsent = Exchange::begin(at.method, at.url);
                    unsent.fail(&self.worker.io, failure);
                    return unsent;
                }
            }
        }
    }

    /// One exchange: what the hop needs beyond the caller's headers is put together here. `hop` is to say what happened.
    async fn send_hop(
        &self,
        request: &Request,
        at: &Hop<'_>,
        jar: Option<&CookieJar>,
        digest: Option<&str>,
        clock: &HopClock,
        hop: &mut Exchange,
    ) -> Marks {
        let io = &self.worker.io;
        let origin = match self.origin(&at.url) {
            Ok(origin) => origin,
            Err(failure) => {
                hop.fail(io, failure);
                return Marks::default();
            }
        };
        let cookie = cookie_of(request, at, jar);
        let headers = if cookie.is_some() { without_cookie(&at.headers) } else { Cow::Borrowed(&*at.headers) };
        let basic = match &at.url.userinfo {
            Some(userinfo) if request.auth == Auth::FromUserinfo => Some(auth::basic(userinfo)),
            _ => None,
        };
        let authorization = digest.or(basic.as_deref()).filter(|_| !has(&headers, "authorization"));
        let proxy = origin.plain_proxy.as_deref();
        let absolute = proxy.map(|_| format!("http://{}{}", at.url.authority, at.url.target));
        let fields = [
            ("Authorization", authorization),
            ("Cookie", cookie.as_deref()),
            ("Referer", at.referer.as_deref()),
            ("Proxy-Authorization", proxy.and_then(|p| p.authorization.as_deref())),
        ];
        let (mut added, mut count) = ([("", ""); 4], 0);
        for (name, value) in fields {
            if let Some(value) = value {
                added[count] = (name, value);
                count += 1;
            }
        }
        let close = self.worker.settings.no_connection_reuse;
        let mut head = io.take_head();
        let parts = RequestHead {
            method: &at.method,
            target: absolute.as_deref().unwrap_or(&at.url.target),
            authority: &at.url.authority,
            user_agent: &self.worker.settings.user_agent,
            headers: &headers,
            added: &added[..count],
            body_len: at.body.map(Payload::len),
            close,
        };
        if let Err(failure) = parts.encode(&mut head) {
            io.return_head(head);
            hop.fail(io, failure);
            return Marks::default();
        }
        if let Some(watch) = self.watch.get() {
            watch.sending(request, &head, at.body);
        }
        let out = Outgoing {
            method: &at.method,
            head: &head,
            body: at.body.map_or(&[], Payload::segments),
            body_use: request.body_use.clone(),
            deadline: clock.deadline,
            asked: clock.asked,
            idempotency_key: has(&headers, "idempotency-key") || has(&headers, "x-idempotency-key"),
            close,
        };
        let route = async || self.worker.origins.route(&origin, self.local).await;
        let marks = exchange(io, &self.pool, &origin.endpoint, &out, route, hop).await;
        io.return_head(head);
        marks
    }

    fn origin(&self, url: &Url) -> Result<Rc<Origin>, Failure> {
        let mut recent = self.recent.borrow_mut();
        if let Some(origin) = recent.iter().find(|o| o.is_of(url)) {
            return Ok(origin.clone());
        }
        let origin = self.worker.origins.find(url)?;
        if recent.len() == RECENT {
            recent.remove(0);
        }
        recent.push(origin.clone());
        Ok(origin)
    }

    /// Undoes the content codings of the result.
    fn decode(&self, exchange: &mut Exchange) {
        let Ok(response) = &mut exchange.outcome else { return };
        let mut codings = String::new();
        for (_, value) in response.headers().filter(|(name, _)| name.eq_ignore_ascii_case("content-encoding")) {
            codings.extend([&*String::from_utf8_lossy(value), ","]);
        }
        let Body::Kept(body) = &mut response.body else { return };
        match self.worker.decoder.borrow_mut().decode(&codings, std::mem::take(body)) {
            Ok(decoded) => *body = decoded,
            Err(failure) => exchange.outcome = Err(failure),
        }
    }

    /// Closes idle connections (`noVUConnectionReuse`, end of the user).
    pub fn close_idle(&self) {
        self.pool.close_idle();
    }
}

/// When a hop was asked for, and when its request must have ended.
struct HopClock {
    asked: Tick,
    deadline: Option<Instant>,
}

/// How far the digest dialogue of one hop has come.
#[derive(Default)]
struct DigestState {
    answer: Option<String>,
    renewed: bool,
}

impl DigestState {
    /// Prepares the answer to a 401. Refused credentials are not tried again; a stale nonce is renewed once.
    fn answer_to(&mut self, response: &Response, at: &Hop<'_>) -> bool {
        let Some(userinfo) = at.url.userinfo.as_ref().filter(|_| !has(&at.headers, "authorization")) else {
            return false;
        };
        let values = response.headers().filter(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"));
        let values = values.filter_map(|(_, value)| std::str::from_utf8(value).ok());
        let Some(challenge) = Challenge::find(values) else { return false };
        let renewal = self.answer.is_some();
        if renewal && (self.renewed || !challenge.stale) {
            return false;
        }
        self.renewed = renewal;
        let subject = Subject { method: at.method.as_str(), target: &at.url.target, body: at.body };
        self.answer = Some(challenge.answer(userinfo, &subject, &auth::fresh_cnonce()));
        true
    }
}

/// The Cookie header the client writes; `None` leaves one written by hand where it is.
fn cookie_of(request: &Request, at: &Hop<'_>, jar: Option<&CookieJar>) -> Option<String> {
    let jar = jar.filter(|jar| !jar.is_empty());
    if jar.is_none() && request.cookies.is_empty() {
        return None;
    }
    let own = at.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("cookie")).map(|(_, value)| value.as_str());
    cookie_header(own, &request.cookies, jar, &at.url)
}

fn without_cookie(headers: &[(String, String)]) -> Cow<'_, [(String, String)]> {
    if !has(headers, "cookie") {
        return Cow::Borrowed(headers);
    }
    headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("cookie")).cloned().collect()
}

fn has(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name))
}
