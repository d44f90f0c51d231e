//! The client: redirects, cookies, authentication and proxies around single exchanges.
//!
//! Every hop is an exchange of its own; the request's time covers them all. Decoding a body comes after its last byte
//! was stamped. The plain request (empty jar, no userinfo, no proxy, a kept connection) has a short way of its own, on
//! which only what a response asks for leads to the long one, in `hops`; `in_flight` says which way a request goes.
//! Invariant: each exchange that touched the network is either handed to `hop` or returned, exactly once.

mod byte_stream;
mod carried;
mod datagrams;
mod exchange;
mod hops;
mod http1;
mod http2;
mod http2_call;
mod in_flight;
mod issuer_fetch;
mod known_requests;
mod lease;
mod own_origins;
mod pool;
mod redirect;
pub(crate) mod route;
mod websocket;
mod websocket_opening;
pub(crate) mod worker;

use std::cell::{Cell, OnceCell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::client::exchange::Site;
use crate::client::http1::transaction::Work;
use crate::client::known_requests::{KnownRequests, PlainHead};
use crate::client::own_origins::OwnOrigins;
use crate::client::pool::{Kept, Pool};
use crate::client::route::endpoint::Route;
use crate::client::route::origins::{Origin, Origins};
use crate::client::worker::context::IoContext;
use crate::departures::Checker;
use crate::failure::Failure;
use crate::h1::encode::RequestHead;
use crate::h1::handling::Handling;
use crate::io::stamps::Tick;
use crate::link::Link;
use crate::own_tls::OwnTls;
use crate::payload::Payload;
use crate::request::{BodyUse, Method, Request};
use crate::response::Marks;
use crate::room::{Budget, Room};
use crate::settings::Settings;
use crate::syntax::codec::ContentDecoder;
use crate::syntax::cookies::CookieJar;
use crate::syntax::field;
use crate::syntax::url::Url;
use crate::tls::config::Offer;

pub use crate::tls::config::TlsConfigs;
pub use byte_stream::{ByteStream, StreamDial, StreamOpening, StreamTls, StreamTraffic};
pub use datagrams::DatagramSocket;
pub use exchange::Exchange;
pub use http1::connection::{ConnectionFacts, ConnectionInfo};
pub use http2::pool::Http2Pool;
pub use http2_call::{CallEvent, CallHead, Fields, Http2Call, Http2Connection, Http2Dial};
pub use in_flight::InFlight;
pub use issuer_fetch::issuer_fetch;
pub use route::dns::{ask_system, hear_of_slow_lookups};
pub use websocket::{Broken, WebSocket};
pub use websocket_opening::{Ask, Opening};
pub use worker::cancelled::Cancelled;

/// What all clients of one worker thread share: settings, DNS answers, TLS configurations, receive buffers.
/// Kept in an `Rc`; make it on the worker's thread, inside its tokio runtime.
pub struct ClientContext {
    settings: Arc<Settings>,
    pub(crate) io: IoContext,
    origins: Origins,
    known: KnownRequests,
    decoder: RefCell<ContentDecoder>,
}

/// The settings cannot work; the message is for the person who wrote the options.
#[derive(Debug)]
pub struct SettingsError {
    /// Which option, what was found, what was expected.
    pub message: String,
}

impl ClientContext {
    /// Checks the settings and prepares what they need.
    pub fn new(settings: Arc<Settings>) -> Result<Rc<ClientContext>, SettingsError> {
        if let Some(problem) = field::problem_in(&settings.user_agent) {
            return Err(SettingsError { message: format!("User-Agent {:?}: {problem}", settings.user_agent) });
        }
        let origins = Origins::new(&settings).map_err(|message| SettingsError { message })?;
        let decoder = RefCell::new(ContentDecoder::new(settings.sizes.decoded));
        let checker = settings.departures.as_deref().map(Checker::new);
        let mut io = IoContext::new(settings.limits.clone(), settings.send_buffer);
        io.checker = checker;
        Ok(Rc::new(ClientContext { settings, io, origins, known: KnownRequests::default(), decoder }))
    }

    /// Takes the counts of the exchanges that were dropped before they ended since the last call.
    #[inline]
    pub fn take_cancelled(&self) -> Cancelled {
        self.io.cancelled.take()
    }
}

/// Sees each request of a client right before it is sent: once for each exchange, not again when a kept connection
/// turned out to be closed.
pub trait Watch {
    /// The whole head, empty line included, and the body of one exchange of `request`.
    fn sending(&self, request: &Request, head: &[u8], body: Option<&Payload>);
}

/// How a client uses HTTP/2.
#[derive(Clone)]
pub enum Http2Use {
    /// k6's way: https servers are offered it, and the client has connections of its own.
    Own,
    /// https servers are offered it, and requests take their turn in this pool, which clients of one thread may share.
    Shared(Rc<Http2Pool>),
    /// https servers are offered HTTP/1.1 alone.
    Never,
}

/// Local addresses are dealt over all clients of the process: workers must not begin again at the first.
static CLIENTS: AtomicUsize = AtomicUsize::new(0);

/// One virtual user's client with connections of its own.
pub struct Client {
    worker: Rc<ClientContext>,
    pool: Pool,
    local: Option<IpAddr>,
    /// The origins used last, so that the worker's map is rarely asked.
    recent: RefCell<Vec<Rc<Origin>>>,
    own_tls: OwnOrigins,
    watch: OnceCell<Rc<dyn Watch>>,
    offers_http2: Cell<bool>,
    link: RefCell<Option<Rc<Link>>>,
    room: Rc<Room>,
}

/// More origins than this per user are looked up in the worker's map.
const RECENT: usize = 4;

impl Client {
    /// A client without connections.
    pub fn new(worker: Rc<ClientContext>) -> Client {
        let batch = worker.settings.batch;
        let pool = Pool::new(batch.in_all.max(1), batch.per_host.max(1));
        let local_ips = &worker.settings.local_ips;
        let turn = if local_ips.is_empty() { 0 } else { CLIENTS.fetch_add(1, Ordering::Relaxed) % local_ips.len() };
        let local = local_ips.get(turn).copied();
        let offers_http2 = Cell::new(worker.settings.http2);
        let (recent, watch, link) = (RefCell::default(), OnceCell::new(), RefCell::default());
        let room = Room::new(worker.settings.sizes.kept);
        Client { worker, pool, local, recent, own_tls: OwnOrigins::default(), watch, offers_http2, link, room }
    }

    /// Counts what arrives and is kept on this account, until whoever asked for it has it; a second call has no effect.
    pub fn set_budget(&self, budget: Rc<dyn Budget>) {
        self.room.share(budget);
    }

    /// How the requests from now on use HTTP/2. Connections that are open elsewhere are closed when they are idle.
    pub fn use_http2(&self, how: Http2Use) {
        self.offers_http2.set(self.worker.settings.http2 && !matches!(how, Http2Use::Never));
        self.pool.use_http2(match how {
            Http2Use::Shared(pool) => pool,
            Http2Use::Own | Http2Use::Never => Http2Pool::new(None),
        });
    }

    /// Puts a link under all connections that are opened from now on, or none; idle connections over another one are
    /// closed. Connections over a link, and those of HTTP/2, need a `tokio::task::LocalSet`.
    pub fn set_link(&self, link: Option<Rc<Link>>) {
        if link.as_ref().map(Rc::as_ptr) != self.link.borrow().as_ref().map(Rc::as_ptr) {
            *self.link.borrow_mut() = link;
            self.pool.close_idle();
        }
    }

    /// How to get there.
    async fn route(&self, origin: &Origin) -> Result<Route, Failure> {
        let route = self.worker.origins.route(origin, self.local).await?;
        Ok(Route { link: self.link.borrow().clone(), ..route })
    }

    /// Shows the requests of this client to `watch` from now on; a second call has no effect.
    pub fn watch(&self, watch: Rc<dyn Watch>) {
        let _ = self.watch.set(watch);
    }

    /// Runs a request to its end. Every exchange but the last (redirects, digest challenges) goes to `hop`; the last is
    /// returned. Cookies are read from and stored into `jar` hop by hop.
    /// A Location that cannot be requested gives a failure of kind `InvalidUrl` (or `Other`, for another scheme) after
    /// its exchange went to `hop`: nothing was sent for it. Boxed, since it is large and usually kept: what is handed
    /// on by value is copied at each step. Dropping the future closes the connection in use.
    pub async fn send(
        &self,
        request: &Request,
        jar: Option<&CookieJar>,
        hop: &mut dyn FnMut(&Exchange),
    ) -> Box<Exchange> {
        let mut exchange = Box::new(Exchange::of(request));
        self.send_into(request, jar, hop, &mut exchange).await;
        exchange
    }

    /// The same into the caller's place: `exchange`, made by `Exchange::of`, says what happened once it is over.
    #[inline(always)]
    pub fn send_into<'a>(
        &'a self,
        request: &'a Request,
        jar: Option<&'a CookieJar>,
        hop: &'a mut dyn FnMut(&Exchange),
        exchange: &'a mut Exchange,
    ) -> InFlight<'a> {
        InFlight::new(self, request, jar, hop, exchange)
    }

    /// What a plain request needs to be sent at once: its head, which nothing is added to, and a kept connection.
    #[inline]
    fn ready(&self, request: &Request, jar: Option<&CookieJar>) -> Option<(PlainHead, Kept)> {
        if !request.cookies.is_empty() || jar.is_some_and(|jar| !jar.is_empty()) || self.watch.get().is_some() {
            return None;
        }
        if request.tls.is_some() || self.own_tls.is_set() {
            return None;
        }
        let worker = &self.worker;
        let offer = self.offer(&request.url, request.prior_knowledge);
        let mut head = match worker.known.find(request, offer) {
            Some(known) => PlainHead::Known(known),
            None => self.encode_plain(request, offer)?,
        };
        let connection = self.pool.have(&worker.io, &head.origin().endpoint);
        if connection.is_none() {
            head.give_back(&worker.io);
            return None;
        }
        Some((head, connection?))
    }

    /// `None` when it is not plain after all, or cannot be sent: the long way finds out why.
    // Not inlined: requests that are sent again are found among the known ones.
    #[inline(never)]
    fn encode_plain(&self, request: &Request, offer: Offer) -> Option<PlainHead> {
        let (worker, url) = (&self.worker, &request.url);
        let origin = self.origin(url, offer).ok()?;
        if url.userinfo.is_some() || origin.plain_proxy.is_some() || worker.settings.no_connection_reuse {
            return None;
        }
        let parts = RequestHead {
            method: &request.method,
            target: &url.target,
            authority: &url.authority,
            user_agent: &worker.settings.user_agent,
            headers: &request.headers,
            added: &[],
            body_len: request.body.as_ref().map(Payload::len),
            close: false,
        };
        let mut head = worker.io.take_head();
        if parts.encode(&mut head).is_err() {
            worker.io.return_head(head);
            return None;
        }
        Some(worker.known.learn(&worker.io, request, origin, head))
    }

    /// Where requests to an origin go.
    #[inline]
    fn site<'a>(&'a self, origin: &'a Origin) -> Site<'a> {
        Site { io: &self.worker.io, pool: &self.pool, endpoint: &origin.endpoint }
    }

    #[inline]
    fn work<'a>(
        &'a self,
        method: &Method,
        body: Option<&'a Payload>,
        body_use: &'a BodyUse,
        clock: &HopClock,
    ) -> Work<'a> {
        let handling = self.handling(method, body_use);
        Work { body: body.map_or(&[], Payload::segments), deadline: clock.deadline, handling }
    }

    #[inline]
    fn handling<'a>(&'a self, method: &Method, body_use: &'a BodyUse) -> Handling<'a> {
        let heads = &self.worker.io.heads;
        Handling { is_bodiless: *method == Method::Head, body_use, room: &self.room, heads }
    }

    /// What the connection to a URL may speak.
    fn offer(&self, url: &Url, prior_knowledge: bool) -> Offer {
        match url.tls {
            true if self.offers_http2.get() => Offer::Http2,
            false if url.h2c || prior_knowledge => Offer::OnlyHttp2,
            _ => Offer::Http1,
        }
    }

    fn origin(&self, url: &Url, offer: Offer) -> Result<Rc<Origin>, Failure> {
        let mut recent = self.recent.borrow_mut();
        if let Some(origin) = recent.iter().find(|o| o.is_of(url, offer)) {
            return Ok(origin.clone());
        }
        let origin = self.worker.origins.find(url, offer)?;
        if recent.len() == RECENT {
            recent.remove(0);
        }
        recent.push(origin.clone());
        debug_assert!(recent.len() <= RECENT, "{} origins are remembered", recent.len());
        Ok(origin)
    }

    /// What requests want of TLS from now on, where they do not say so themselves; none: the run's settings.
    pub fn set_tls(&self, own: Option<Rc<OwnTls>>) {
        self.own_tls.set(own);
    }

    /// The origin of a URL for a request that wants this of TLS, or what its client wants.
    fn origin_of(&self, url: &Url, offer: Offer, own: Option<&Rc<OwnTls>>) -> Result<Rc<Origin>, Failure> {
        match own.cloned().or_else(|| self.own_tls.of_client()).filter(|_| url.tls) {
            None => self.origin(url, offer),
            Some(own) => self.own_tls.find(&self.worker.origins, url, offer, &own),
        }
    }

    /// Closes idle connections (`noVUConnectionReuse`, end of the user).
    pub fn close_idle(&self) {
        self.pool.close_idle();
    }
}

/// Whether the exchange is all there is to do: nothing to store, to follow, to answer or to decode.
fn is_all(exchange: &Exchange, marks: Marks) -> bool {
    match &exchange.outcome {
        Ok(response) => marks == Marks::default() && !(301..=308).contains(&response.status) && response.status != 401,
        Err(_) => true,
    }
}

/// When a hop was asked for, and when its request must have ended.
#[derive(Clone, Copy)]
struct HopClock {
    asked: Tick,
    deadline: Option<Tick>,
}

impl HopClock {
    #[inline]
    fn start(io: &IoContext, request: &Request) -> HopClock {
        let asked = Tick::now();
        io.stamps.refresh_at(asked);
        HopClock { asked, deadline: request.timeout.and_then(|timeout| asked.after(timeout)) }
    }

    fn ask_again(&mut self, io: &IoContext) {
        self.asked = Tick::now();
        io.stamps.refresh_at(self.asked);
    }
}
