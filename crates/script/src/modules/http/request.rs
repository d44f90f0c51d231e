//! One request from arguments to response: prepare, send, judge.
//!
//! Preparing turns script values into a `wire::Request` and refuses what cannot be one. Sending needs no script value, so
//! the same future serves the blocking functions, `asyncRequest` and `batch`. Judging throws or warns as k6 does.
//! A refused request is not counted (it never was one); a failed one is.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

use rquickjs::{Ctx, Result, Value};
use wire::codec::encode;
use wire::cookies::CookieJar;
use wire::mask::Mask;
use wire::request::{Auth, BodyUse};
use wire::{Body, Exchange, Failure, FailureKind, Method, Payload, Request, Response, Step, Timings};

use super::body::{self, BodyArg};
use super::debug::HttpDebug;
use super::failure_text::failure_text;
use super::fixed::Fixed;
use super::intake::Intake;
use super::params::{Empty, Params, ResponseType};
use super::samples::{EnabledTags, Hop, Labels, Sampler, SeriesCache};
use super::status::Expectation;
use super::url::{self, Target, Unsendable, UrlArg, UrlCache};
use super::{Refusal, go_error, hint, response};
use crate::Vu;
use crate::host::bytes;
use crate::host::loan::Loans;
use crate::host::memo::LastText;
use crate::host::memory::Held;
use crate::log::{Level, Record};
use crate::unstamped::WorkerTally;

/// What the module keeps for a virtual user.
#[derive(Default)]
pub struct HttpState {
    /// The user's cookies.
    pub jar: Rc<CookieJar>,
    expectation: RefCell<Expectation>,
    empty: Empty,
    run: OnceCell<Run>,
    /// The target of the last URL that was given as a string.
    last_url: LastText<Rc<Target>>,
    /// Requests that need not be prepared again.
    fixed: Fixed,
    /// How often the expectation was changed.
    expectations: Cell<u32>,
}

/// What the options of the run say, read at the first request.
pub struct Run {
    /// `throw`.
    pub throw: bool,
    /// `batch`.
    pub batch: usize,
    /// `batchPerHost`.
    pub batch_per_host: usize,
    /// User-Agent.
    pub user_agent: Rc<str>,
    discard: bool,
    max_redirects: u32,
    redirects_given: bool,
    /// Parsed URLs.
    pub urls: Rc<UrlCache>,
    sampler: Sampler,
    /// `httpDebug`: sees the requests of each client.
    pub debug: Option<Rc<HttpDebug>>,
    unstamped: Rc<WorkerTally>,
}

impl HttpState {
    /// What `setResponseCallback` set.
    pub fn expect(&self, expectation: Expectation) {
        *self.expectation.borrow_mut() = expectation;
        self.fixed.forget();
        self.expectations.set(self.expectations.get() + 1);
    }

    /// Another number whenever what is prepared now would not be what was prepared before. `None`: cookies may be different
    /// each time.
    pub fn edition(&self) -> Option<u32> {
        self.jar.is_empty().then(|| self.expectations.get())
    }

    /// Options and caches.
    pub fn run(&self, vu: &Vu) -> &Run {
        self.run.get_or_init(|| {
            let options = vu.options();
            Run {
                throw: options.throw.unwrap_or(false),
                batch: options.batch.unwrap_or(20) as usize,
                batch_per_host: options.batch_per_host.unwrap_or(6) as usize,
                user_agent: Rc::from(options.network_settings().user_agent),
                discard: options.discard_response_bodies.unwrap_or(false),
                max_redirects: options.max_redirects.unwrap_or(10),
                redirects_given: options.max_redirects.is_some(),
                urls: UrlCache::of(vu),
                sampler: Sampler::new(EnabledTags::of(&options), vu.worker_local::<SeriesCache>()),
                debug: HttpDebug::of(vu),
                unstamped: vu.worker_local::<WorkerTally>(),
            }
        })
    }
}

/// The arguments of one request, as the script gave them.
pub struct Args<'a, 'js> {
    /// Method.
    pub method: Method,
    /// URL: text or template.
    pub url: Option<&'a Value<'js>>,
    /// Body.
    pub body: Option<&'a Value<'js>>,
    /// Params.
    pub params: Option<&'a Value<'js>>,
}

/// A request ready to be sent.
pub struct Prepared {
    /// What is sent, and what the response says about it.
    pub sent: Sent,
    labels: Labels,
    jar: Rc<CookieJar>,
    /// Who sends it, when it is not the user's own client.
    client: Option<Rc<wire::Client>>,
    /// Why it fails before anything is sent.
    pub unsendable: Option<Unsendable>,
    /// How the script wants the body.
    pub response_type: ResponseType,
    /// Throw when it fails.
    pub throw: bool,
    /// Who takes the body while it arrives.
    pub intake: Intake,
    /// Warn when redirects were cut off: the limit is the default one.
    warn_redirects: bool,
}

impl Prepared {
    /// It is sent by a client that the script made.
    pub fn is_of_client(&self) -> bool {
        self.client.is_some()
    }
}

/// What `response.request` shows.
pub struct Sent {
    /// Where to.
    pub target: Rc<Target>,
    /// Method.
    pub method: Method,
    /// Absent when the URL cannot be requested.
    pub request: Option<Request>,
    /// The body as the script gave it, before compression.
    pub body: Option<Payload>,
    /// Cookies of the jar that went along.
    pub jar_cookies: Vec<(String, String)>,
    /// User-Agent unless the headers have one.
    pub user_agent: Rc<str>,
}

/// A request and what came of it. It lies where the response object will look for it from the start, so that none of it is
/// copied again.
pub struct Call {
    /// What is sent.
    pub prepared: Rc<Prepared>,
    exchange: OnceCell<Box<Exchange>>,
    /// What a large body takes of the user's memory.
    held: OnceCell<Held>,
}

/// Bodies up to this size are not counted as the user's memory: their responses rarely stay.
const SMALL_BODY: usize = 4 << 10;

impl Call {
    /// A request not sent yet.
    pub fn new(prepared: Rc<Prepared>) -> Call {
        Call { prepared, exchange: OnceCell::new(), held: OnceCell::new() }
    }

    /// Counts the body in the user's memory as long as the response lives. One that does not fit there is dropped, and its
    /// request has failed.
    fn hold_body(&self, vu: &Vu, exchange: &mut Exchange) {
        let Ok(Response { body: Body::Kept(body), .. }) = &exchange.outcome else { return };
        if body.len() <= SMALL_BODY {
            return;
        }
        match vu.memory().hold(body.len()) {
            Ok(held) => drop(self.held.set(held)),
            Err(over) => {
                let message = format!("response body too large: {over}");
                exchange.outcome = Err(Failure { step: Step::Receive, kind: FailureKind::BodyTooLarge, message });
            }
        }
    }

    /// The last exchange; `None` when the URL cannot be requested.
    pub fn exchange(&self) -> Option<&Exchange> {
        self.exchange.get().map(|exchange| &**exchange)
    }
}

/// Turns arguments into a request. What of the body is lent instead of copied goes to `loans`, which are open afterwards:
/// nothing of the script may run until they are closed.
pub fn prepare<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    state: &HttpState,
    args: &Args<'_, 'js>,
    loans: &Loans<'js>,
) -> Result<std::result::Result<Rc<Prepared>, Refusal>> {
    let run = state.run(vu);
    let (target, template_name) = match target(ctx, state, run, args.url)? {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let may_repeat = template_name.is_none() && state.jar.is_empty();
    if may_repeat && let Some(same) = state.fixed.request(&target, args) {
        return Ok(Ok(same));
    }
    let body = match args.body {
        None => BodyArg::default(),
        Some(value) => match body::from_js(ctx, value, loans)? {
            Ok(body) => body,
            Err(refusal) => return Ok(Err(refusal)),
        },
    };
    let params = match state.fixed.params(args.params) {
        Some(params) => params,
        None => match Params::from_js(ctx, args.params, &state.empty)? {
            Ok(params) => {
                state.fixed.keep_params(ctx, args.params, &params)?;
                params
            }
            Err(refusal) => return Ok(Err(refusal)),
        },
    };
    loans.open()?;
    if matches!(params.intake, Intake::Callback(_)) {
        // The script goes on in the callback: what is being sent must not be its own then.
        loans.copy();
    }
    let arguments = Arguments { method: args.method.clone(), target, template_name, body, params };
    let prepared = Rc::new(assemble(vu, state, run, arguments));
    if may_repeat {
        state.fixed.keep(ctx, args, &prepared);
    }
    Ok(Ok(prepared))
}

type Found = (Rc<Target>, Option<Arc<str>>);

fn target<'js>(
    ctx: &Ctx<'js>,
    state: &HttpState,
    run: &Run,
    url: Option<&Value<'js>>,
) -> Result<std::result::Result<Found, Refusal>> {
    let undefined;
    let value = match url {
        Some(value) => value,
        None => {
            undefined = Value::new_undefined(ctx.clone());
            &undefined
        }
    };
    if let Some(target) = state.last_url.get(value) {
        return Ok(Ok((target, None)));
    }
    if value.is_string() {
        // The text is looked up without a copy.
        let urls = Rc::clone(&run.urls);
        let found = bytes::read(ctx, value, move |text| urls.target(std::str::from_utf8(text).unwrap_or_default()))?;
        let found = found.expect("it is a string");
        if let Ok(target) = &found {
            state.last_url.put(ctx, value, Rc::clone(target));
        }
        return Ok(found.map(|target| (target, None)));
    }
    Ok(match url::from_js(ctx, value)? {
        Ok(UrlArg::Text(text)) => run.urls.target(&text).map(|target| (target, None)),
        Ok(UrlArg::Named(text, name)) => run.urls.named(&text, name).map(|(target, name)| (target, Some(name))),
        Err(refusal) => Err(refusal),
    })
}

/// Everything of a request but its method and body, read once for many requests.
pub struct Outline {
    /// Where to.
    pub target: Rc<Target>,
    /// The name of an `http.url` template.
    pub template_name: Option<Arc<str>>,
    /// Params.
    pub params: Params,
}

/// A request along an outline, to be sent by a client of the script's own.
pub fn prepare_outlined(
    vu: &Vu,
    state: &HttpState,
    outline: &Outline,
    (method, body): (Method, BodyArg),
    (client, user_agent): (Rc<wire::Client>, Rc<str>),
) -> Rc<Prepared> {
    let Outline { target, template_name, params } = outline;
    let (target, template_name) = (Rc::clone(target), template_name.clone());
    let arguments = Arguments { method, target, template_name, body, params: params.clone() };
    let mut prepared = assemble(vu, state, state.run(vu), arguments);
    prepared.client = Some(client);
    prepared.sent.user_agent = user_agent;
    Rc::new(prepared)
}

/// Arguments after conversion.
struct Arguments {
    method: Method,
    target: Rc<Target>,
    template_name: Option<Arc<str>>,
    body: BodyArg,
    params: Params,
}

fn assemble(vu: &Vu, state: &HttpState, run: &Run, arguments: Arguments) -> Prepared {
    let Arguments { method, target, template_name, body, mut params } = arguments;
    hint::consider(vu, &body, &params);
    let (payload, plain, unreadable) = match encode_body(vu, &method, &target, &body, &mut params) {
        Ok((payload, plain)) => (payload, plain, None),
        Err(why) => (None, None, Some(why)),
    };
    let response_type =
        params.response_type.unwrap_or(if run.discard { ResponseType::None } else { ResponseType::Text });
    let jar = params.jar.unwrap_or_else(|| Rc::clone(&state.jar));
    let request = target.url.as_ref().ok().map(|url| Request {
        method: method.clone(),
        url: url.clone(),
        headers: params.headers,
        cookies: params.cookies,
        body: payload,
        timeout: Some(params.timeout),
        max_redirects: params.redirects.unwrap_or(run.max_redirects),
        auth: if params.digest { Auth::Digest } else { Auth::FromUserinfo },
        body_use: params.intake.body_use().unwrap_or_else(|| plain_use(response_type)),
    });
    let jar_cookies = match (&target.url, jar.is_empty()) {
        (Ok(url), false) => jar.for_url(url),
        _ => Vec::new(),
    };
    let labels = Labels {
        url: tag_url(&target, params.digest, run.urls.mask()),
        name: params.name.or(template_name),
        extra: params.tags,
        expectation: params.expectation.unwrap_or_else(|| state.expectation.borrow().clone()),
    };
    let out_of_time = || {
        let message = String::from("request timeout");
        params.timeout.is_zero().then_some(Unsendable { kind: FailureKind::Timeout, message })
    };
    Prepared {
        labels,
        jar,
        client: None,
        unsendable: target.url.as_ref().err().cloned().or(unreadable).or_else(out_of_time),
        response_type,
        throw: params.throw.unwrap_or(run.throw),
        intake: params.intake,
        warn_redirects: params.redirects.is_none() && !run.redirects_given,
        sent: Sent { target, method, request, body: plain, jar_cookies, user_agent: Rc::clone(&run.user_agent) },
    }
}

fn plain_use(response_type: ResponseType) -> BodyUse {
    if response_type == ResponseType::None { BodyUse::Discard } else { BodyUse::Keep }
}

/// k6 takes the userinfo off the URL before it starts a digest exchange, so the tag lacks even the mask.
fn tag_url(target: &Target, digest: bool, mask: &Mask) -> Arc<str> {
    match &target.url {
        Ok(url) if digest && url.userinfo.is_some() => Arc::from(mask.url(&without_userinfo(url))),
        _ => Arc::clone(&target.name),
    }
}

/// The URL as it is requested, without name and password.
pub fn without_userinfo(url: &wire::Url) -> String {
    format!("{}://{}{}", url.scheme(), url.authority, url.target)
}

/// The same for a request that the script goes on beside: all is copied, and no callback can be served.
pub fn prepare_beside<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    state: &HttpState,
    args: &Args<'_, 'js>,
) -> Result<std::result::Result<Rc<Prepared>, Refusal>> {
    let prepared = prepare(ctx, vu, state, args, &Loans::none(ctx))?;
    if matches!(&prepared, Ok(prepared) if matches!(prepared.intake, Intake::Callback(_))) {
        let instead = "use a function that waits for its response, such as http.get";
        return Ok(Err(Refusal::new(format!("onBody is not possible with asyncRequest and batch: {instead}"))));
    }
    Ok(prepared)
}

/// Applies compression and completes the headers that describe the body. Returns what is sent and what was given; fails when
/// a file that is to be compressed cannot be read.
fn encode_body(
    vu: &Vu,
    method: &Method,
    target: &Target,
    body: &BodyArg,
    params: &mut Params,
) -> std::result::Result<(Option<Payload>, Option<Payload>), Unsendable> {
    let plain = body.payload.clone();
    let has =
        |params: &Params, name: &str| params.headers.iter().find(|(known, _)| known == name).map(|(_, v)| v.clone());
    let mut added: Vec<(String, String)> = Vec::new();
    if let Some(kind) = body.content_type.as_ref().filter(|_| has(params, "Content-Type").is_none()) {
        added.push((String::from("Content-Type"), kind.clone()));
    }
    // Methods that define a body say that there is none, as Go does.
    let empty = || matches!(method, Method::Post | Method::Put | Method::Patch).then(Payload::empty);
    let mut payload = plain.clone().or_else(empty);
    if let (Some(given), false) = (&plain, params.compression.is_empty()) {
        let coded = params.compression.iter().try_fold(given.clone(), |body, coding| encode(*coding, &body));
        payload = Some(coded.map_err(|failure| Unsendable { kind: failure.kind, message: failure.message })?);
        match has(params, "Content-Encoding") {
            None => added.push((String::from("Content-Encoding"), params.compression_text.clone())),
            Some(header) if header != params.compression_text => {
                let (method, url) = (method.as_str(), &target.name);
                warn(
                    vu,
                    &format!(
                        "There's a mismatch between the desired `compression` the manually set `Content-Encoding` header in the {method} \
                     request for '{url}', the custom header has precedence and won't be overwritten. This may result in invalid data \
                     being sent to the server."
                    ),
                    &[],
                );
            }
            Some(_) => {}
        }
    }
    let length = has(params, "Content-Length");
    if let Some(length) = &length {
        let real = payload.as_ref().map_or(0, Payload::len);
        if length.parse() != Ok(real) {
            let (method, url) = (method.as_str(), &target.name);
            warn(
                vu,
                &format!(
                    "The specified Content-Length header {length:?} in the {method} request for {url} doesn't match the actual request body \
                 length of {real}, so it will be ignored!"
                ),
                &[],
            );
        }
    }
    if !added.is_empty() || length.is_some() {
        let kept = params.headers.iter().filter(|(name, _)| name != "Content-Length").cloned();
        params.headers = kept.chain(added).collect();
    }
    Ok((payload, plain))
}

/// Sends a request and records what happens. Holds no script value.
pub async fn perform(vu: &Vu, state: &HttpState, call: &Call) {
    let (run, prepared) = (state.run(vu), &call.prepared);
    let labels = &prepared.labels;
    let request = match (&prepared.sent.request, &prepared.unsendable) {
        (Some(request), None) => request,
        (_, why) => {
            let (kind, message) = why.as_ref().map_or((FailureKind::Other, ""), |why| (why.kind, &why.message));
            let hop = Hop {
                method: &prepared.sent.method,
                outcome: Err((kind, message)),
                timings: Timings::default(),
                ended_at: SystemTime::now(),
                ip: None,
            };
            run.sampler.record(vu, labels, &hop, None, false);
            return;
        }
    };
    if let Some(seat) = vu.seat().filter(|seat| seat.limit.is_some()) {
        seat.wait_turn().await;
    }
    let digest = request.auth == Auth::Digest;
    let record = |exchange: &Exchange, last: bool| {
        if let Some(debug) = &run.debug {
            debug.answered(request, exchange, last);
        }
        vu.count_data(exchange.bytes_sent, exchange.bytes_received);
        run.unstamped.note(vu, exchange);
        let masked;
        let mut hop = Hop::of(exchange);
        if let Err((kind @ FailureKind::InvalidUrl, message)) = hop.outcome {
            masked = run.urls.mask().text(message);
            hop.outcome = Err((kind, &masked));
        }
        let challenge = digest && !last && matches!(&hop.outcome, Ok(answer) if answer.status == 401);
        let elsewhere = exchange.url != request.url && !digest_leg(digest, exchange, request);
        let own_url = elsewhere.then(|| run.urls.mask().url(&exchange.url.text));
        run.sampler.record(vu, labels, &hop, own_url.as_deref(), challenge);
    };
    let client = prepared.client.as_ref().map_or_else(|| vu.client(), Rc::clone);
    let mut exchange = client.send(request, Some(&prepared.jar), &mut |exchange| record(exchange, false)).await;
    call.hold_body(vu, &mut exchange);
    record(call.exchange.get_or_init(|| exchange), true);
}

/// Whether the hop is a leg of a digest exchange with the URL that was asked for.
fn digest_leg(digest: bool, exchange: &Exchange, request: &Request) -> bool {
    digest && exchange.url.target == request.url.target && exchange.url.same_origin(&request.url)
}

/// Throws or warns when the request failed, and makes the response. `lent`: see `response::object`.
pub fn finish<'js>(ctx: &Ctx<'js>, vu: &Vu, call: Rc<Call>, lent: Vec<Value<'js>>) -> Result<Value<'js>> {
    if let Some(message) = failure_text(vu, &call) {
        if call.prepared.throw {
            return Err(go_error::throw(ctx, &message));
        }
        warn(vu, "Request Failed", &[("error", &message)]);
    } else if call.prepared.warn_redirects {
        warn_about_redirects(vu, &call);
    }
    let hash = match &call.prepared.intake {
        Intake::Hash(_) => Some(call.prepared.intake.digest_of(call.exchange())),
        Intake::Body | Intake::Callback(_) => None,
    };
    let response = response::object(ctx, call, lent)?;
    if let (Some(hash), Some(response)) = (hash, response.as_object()) {
        match hash {
            Some(hash) => response.set("hash", hash)?,
            None => response.set("hash", Value::new_null(ctx.clone()))?,
        }
    }
    Ok(response)
}

/// Tells that a default limit, not the script's, cut redirects off.
fn warn_about_redirects(vu: &Vu, call: &Call) {
    let (Some(exchange), Some(request)) = (call.exchange(), &call.prepared.sent.request) else { return };
    let Ok(response) = &exchange.outcome else { return };
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) || response.header("Location").is_none() {
        return;
    }
    let message = format!(
        "Stopped after {} redirects and returned the redirection; pass {{ redirects: n }} in request params or set global \
         maxRedirects to silence this",
        request.max_redirects + 1
    );
    warn(vu, &message, &[("url", &call.prepared.sent.target.name)]);
}

/// Writes a warning.
pub fn warn(vu: &Vu, message: &str, fields: &[(&str, &str)]) {
    vu.log().log(&Record { level: Level::Warning, message, fields });
}
