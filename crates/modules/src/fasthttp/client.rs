//! A `Client` of the script: a pool of connections of its own, and the functions that send requests.
//!
//! Sending is that of `k6/http`: the same preparation, exchange, samples and response. A request that is sent again as
//! it was is not prepared again. The network side is made at the first request, when the options of the run are known;
//! clients of one configuration share its worker part.

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use host::Phase;
use host::borrow::Borrows;
use host::js::function::{Constructor, Opt};
use host::js::{Ctx, Exception, Object, Result, Value};
use host::lazy_object::LazyObject;
use host::native::{self, NativeClass};
use host::plain::{self, Plain};
use wire::Method;

use super::config::Config;
use super::request;
use crate::http::request::call::Call;
use crate::http::request::state::HttpState;
use crate::http::verbs;
use script::Vu;

/// The functions that send, by the methods of HTTP behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientVerb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
    Options,
    Head,
}

/// Their names in scripts.
const VERBS: [(ClientVerb, &CStr); 7] = [
    (ClientVerb::Get, c"get"),
    (ClientVerb::Post, c"post"),
    (ClientVerb::Put, c"put"),
    (ClientVerb::Patch, c"patch"),
    (ClientVerb::Delete, c"delete"),
    (ClientVerb::Options, c"options"),
    (ClientVerb::Head, c"head"),
];

impl ClientVerb {
    fn method(self) -> Method {
        match self {
            ClientVerb::Get => Method::Get,
            ClientVerb::Post => Method::Post,
            ClientVerb::Put => Method::Put,
            ClientVerb::Patch => Method::Patch,
            ClientVerb::Delete => Method::Delete,
            ClientVerb::Options => Method::Options,
            ClientVerb::Head => Method::Head,
        }
    }
}

/// What a client object of the script holds.
struct Client(Rc<Pool>);

impl NativeClass for Client {
    const NAME: &'static str = "Client";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        for (number, (_, name)) in VERBS.iter().enumerate() {
            let function = plain::function::<CallClientVerb>(prototype.ctx(), name, number as i32)?;
            prototype.set(name.to_str().expect("ASCII"), function)?;
        }
        Ok(())
    }
}

/// A client's configuration and connections.
struct Pool {
    config: Config,
    line: OnceCell<Line>,
    /// When the oldest connection was made.
    oldest: Cell<Option<Instant>>,
    /// The iteration of the last request.
    iteration: Cell<u64>,
}

/// The network side of a client.
struct Line {
    client: Rc<wire::Client>,
    user_agent: Rc<str>,
    /// The option `noVUConnectionReuse`.
    closes_each_iteration: bool,
}

/// The worker parts of the network side that clients of one thread share.
#[derive(Default)]
struct Workers {
    known: RefCell<Vec<(Config, Rc<wire::ClientContext>)>>,
}

/// The class.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let prototype = native::prototype::<Client>(ctx)?;
    let constructor = Constructor::new_prototype(ctx, prototype, construct)?;
    constructor.set_name("Client")?;
    Ok(constructor)
}

fn construct<'js>(ctx: Ctx<'js>, config: Opt<Value<'js>>) -> Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() != Phase::Init {
        return Err(Exception::throw_message(&ctx, "new Client must be called in the init context"));
    }
    let config = Config::from_js(&ctx, &vu, config.0.as_ref())?;
    // Proxy and certificate are looked at once, in the first run of the init code; the run's own options are not known
    // yet.
    if vu.id() == 0 && (config.proxy.is_some() || config.identity.is_some()) {
        let tried = wire::ClientContext::new(Arc::new(config.settings(wire::Settings::default())));
        tried.map_err(|error| Exception::throw_message(&ctx, &format!("fasthttp Client: {}", error.message)))?;
    }
    let pool = Pool { config, line: OnceCell::new(), oldest: Cell::new(None), iteration: Cell::new(0) };
    native::object(&ctx, Client(Rc::new(pool)))
}

impl Pool {
    fn line<'js>(&self, ctx: &Ctx<'js>, vu: &Vu, state: &HttpState) -> Result<&Line> {
        if let Some(line) = self.line.get() {
            return Ok(line);
        }
        let options = vu.options();
        let workers = vu.worker_local::<Workers>();
        let known = workers.known.borrow().iter().find(|(config, _)| *config == self.config).map(|(_, w)| w.clone());
        let settings = self.config.settings(options.network_settings());
        let user_agent = Rc::from(settings.user_agent.as_str());
        let worker = match known {
            Some(worker) => worker,
            None => {
                let made = wire::ClientContext::new(Arc::new(settings));
                let made = made.map_err(|error| Exception::throw_message(ctx, &error.message))?;
                workers.known.borrow_mut().push((self.config.clone(), made.clone()));
                made
            }
        };
        let client = Rc::new(wire::Client::new(worker));
        vu.count_received(&client);
        if let Some(debug) = &state.run(vu).debug {
            client.watch(debug.clone());
        }
        let closes_each_iteration = options.no_vu_connection_reuse == Some(true);
        Ok(self.line.get_or_init(|| Line { client, user_agent, closes_each_iteration }))
    }

    /// Closes connections that may carry no further request; new ones go over the link of the scenario.
    fn before(&self, vu: &Vu, line: &Line) {
        line.client.set_link(vu.link());
        if line.closes_each_iteration && self.iteration.replace(vu.iterations_before()) != vu.iterations_before() {
            line.client.close_idle();
        }
        if let Some(limit) = self.config.oldest_connection
            && self.oldest.get().is_some_and(|made| made.elapsed() >= limit)
        {
            line.client.close_idle();
            self.oldest.set(None);
        }
    }

    fn after(&self, line: &Line, call: &Call, closes: bool) {
        if self.config.oldest_connection.is_some() && self.oldest.get().is_none() {
            let connection = call.exchange().and_then(|exchange| exchange.connection.as_ref());
            self.oldest.set(connection.map(|_| Instant::now()));
        }
        if closes {
            line.client.close_idle();
        }
    }
}

/// The function behind each of `VERBS`.
struct CallClientVerb;

impl Plain for CallClientVerb {
    fn call<'js>(ctx: &Ctx<'js>, args: plain::Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let (verb, name) = VERBS[number as usize];
        let name = || name.to_str().expect("ASCII");
        let Some(pool) = native::with(&args.this(), |client: &Client| Rc::clone(&client.0)) else {
            return Err(Exception::throw_type(ctx, &format!("{}() must be called on a Client", name())));
        };
        let request = args.get(0);
        let Some(ready) = request.as_ref().map(|value| request::ready(ctx, value)).transpose()?.flatten() else {
            let found = request.as_ref().map_or("nothing", Value::type_name);
            return Err(Exception::throw_type(ctx, &format!("{}() got {found}, expected a Request", name())));
        };
        send(ctx, &pool, &ready, request.as_ref().expect("it is ready"), &verb.method())
    }
}

fn send<'js>(
    ctx: &Ctx<'js>,
    pool: &Pool,
    ready: &request::ParsedRequest,
    request: &Value<'js>,
    method: &Method,
) -> Result<Value<'js>> {
    let vu = Vu::of(ctx);
    verbs::refuse_in_init(ctx, &vu)?;
    let state = vu.local::<HttpState>();
    let line = pool.line(ctx, &vu, &state)?;
    pool.before(&vu, line);
    let sender = (&line.client, &line.user_agent);
    Borrows::with(ctx, |borrows| match ready.prepare(ctx, &vu, &state, request, method, sender, borrows) {
        Ok(prepared) => {
            let call = Call::new(prepared);
            let response = verbs::complete(ctx, &vu, &state, call, borrows)?;
            if let Some(call) = LazyObject::data::<Call>(&response) {
                pool.after(line, &call, ready.closes);
            }
            Ok(response)
        }
        Err(error) => verbs::refused(ctx, &vu, &state, error),
    })
}
