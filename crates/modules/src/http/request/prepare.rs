//! From what a script gave to a request that can be sent.
//!
//! Refuses what cannot be one, and reads nothing again that has not changed (`fixed.rs`). What of a body is lent
//! instead of copied is looked up last, when the script no longer runs.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use host::borrow::Borrows;
use host::bytes;
use host::js::{Ctx, Value};
use wire::mask::Mask;
use wire::request::{Auth, BodyUse};
use wire::{FailureKind, Method, Request};

use super::body::{self, BodyArg};
use super::call::{PreparedRequest, RequestArgs, Sent, without_userinfo};
use super::encode::encode_body;
use super::events::EventStream;
use super::hint;
use super::params::{Params, ResponseType};
use super::state::{HttpState, RunSettings};
use crate::http::common::refusal::{Checked, Refusal};
use crate::http::common::url::{self, Target, Unsendable};
use crate::http::samples::sampler::Labels;
use script::Vu;

/// What a request is for.
pub enum Purpose<'a, 'js> {
    /// The script waits for its response. What of the body is borrowed instead of copied goes here.
    Response(&'a Borrows<'js>),
    /// The script continues beside it: all is copied, and no callback can be served.
    Promise,
    /// A stream of events, which continues behind the last event it had. Without a timeout of the script it may take as
    /// long as it likes.
    Events(&'a Rc<EventStream>),
}

/// Turns arguments into a request.
#[inline]
pub fn prepare<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    state: &HttpState,
    args: &RequestArgs<'_, 'js>,
    purpose: &Purpose<'_, 'js>,
) -> Checked<Rc<PreparedRequest>> {
    let same = if may_repeat(state, purpose) { state.fixed.request(args) } else { None };
    match same {
        Some(same) => allowed(same, purpose),
        None => prepare_anew(ctx, vu, state, args, purpose),
    }
}

/// Whether a request may be the one that was sent before.
#[inline]
fn may_repeat(state: &HttpState, purpose: &Purpose<'_, '_>) -> bool {
    state.jar.is_empty() && !matches!(purpose, Purpose::Events(_))
}

/// The same for a request that is not the last one.
// Not inlined: its frame of a kilobyte would be touched on the stack of each user.
#[inline(never)]
fn prepare_anew<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    state: &HttpState,
    args: &RequestArgs<'_, 'js>,
    purpose: &Purpose<'_, 'js>,
) -> Checked<Rc<PreparedRequest>> {
    let run = state.run(vu);
    let (target, template_name) = match args.url.and_then(|url| state.last_url.get(url)) {
        Some(known) => (known, None),
        None => target(ctx, state, run, args.url)?,
    };
    // A header that is another one each time makes it another request each time.
    let keeps = template_name.is_none() && run.traces.is_none() && may_repeat(state, purpose);
    let params = || params(ctx, state, args, purpose);
    let (body, params) = match purpose {
        Purpose::Response(borrows) => {
            let read = (body_of(ctx, args, borrows)?, params()?);
            borrows.check()?;
            if read.1.intake.calling().is_some() {
                // The script goes on in the callback: what is being sent must not be its own then.
                borrows.copy();
            }
            read
        }
        Purpose::Promise | Purpose::Events(_) => (body_of(ctx, args, &Borrows::none(ctx))?, params()?),
    };
    let arguments = Arguments { method: args.method.clone(), target, template_name, body, params };
    let prepared = Rc::new(assemble(vu, state, run, arguments));
    if keeps {
        state.fixed.keep(ctx, args, &prepared);
    }
    allowed(prepared, purpose)
}

fn body_of<'js>(ctx: &Ctx<'js>, args: &RequestArgs<'_, 'js>, borrows: &Borrows<'js>) -> Checked<BodyArg> {
    args.body.map_or_else(|| Ok(BodyArg::default()), |value| body::from_js(ctx, value, borrows))
}

fn params<'js>(
    ctx: &Ctx<'js>,
    state: &HttpState,
    args: &RequestArgs<'_, 'js>,
    purpose: &Purpose<'_, 'js>,
) -> Checked<Params> {
    if let Purpose::Events(events) = purpose {
        let mut params = Params::from_js(ctx, args.params, &state.empty)?;
        params.take_events(events);
        let given = args.params.and_then(Value::as_object);
        if !given.map_or(Ok(false), |given| given.contains_key("timeout"))? {
            params.timeout = Duration::MAX;
        }
        return Ok(params);
    }
    if let Some(params) = state.fixed.params(args.params) {
        return Ok(params);
    }
    let params = Params::from_js(ctx, args.params, &state.empty)?;
    state.fixed.keep_params(args.params, &params);
    Ok(params)
}

/// Who continues beside a request cannot be called back by it.
#[inline]
fn allowed(prepared: Rc<PreparedRequest>, purpose: &Purpose<'_, '_>) -> Checked<Rc<PreparedRequest>> {
    match prepared.intake.calling().filter(|_| matches!(purpose, Purpose::Promise)) {
        None => Ok(prepared),
        Some(param) => Err(not_beside(param).into()),
    }
}

// Cold: it is called only to refuse.
#[cold]
fn not_beside(param: &str) -> Refusal {
    let instead = "use a function that waits for its response, such as http.get";
    Refusal::new(format!("{param} is not possible with asyncRequest and batch: {instead}"))
}

/// Where a request goes, and the name that a template gave it.
type Addressed = (Rc<Target>, Option<Arc<str>>);

fn target<'js>(ctx: &Ctx<'js>, state: &HttpState, run: &RunSettings, url: Option<&Value<'js>>) -> Checked<Addressed> {
    let undefined;
    let value = match url {
        Some(value) => value,
        None => {
            undefined = Value::new_undefined(ctx.clone());
            &undefined
        }
    };
    if value.is_string() {
        // The text is looked up without a copy.
        let urls = Rc::clone(&run.urls);
        let found = bytes::read(ctx, value, move |text| urls.target(std::str::from_utf8(text).unwrap_or_default()))?;
        let target = found.expect("it is a string")?;
        state.last_url.put(ctx, value, Rc::clone(&target));
        return Ok((target, None));
    }
    Ok(run.urls.address(&url::from_js(ctx, value)?)?)
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

impl Outline {
    /// A request along it, to be sent by a client of the script's own.
    pub fn prepare(
        &self,
        (vu, state): (&Vu, &HttpState),
        (method, body): (Method, BodyArg),
        (client, user_agent): (Rc<wire::Client>, Rc<str>),
    ) -> Rc<PreparedRequest> {
        let Outline { target, template_name, params } = self;
        let (target, template_name) = (Rc::clone(target), template_name.clone());
        let arguments = Arguments { method, target, template_name, body, params: params.clone() };
        let mut prepared = assemble(vu, state, state.run(vu), arguments);
        prepared.client = Some(client);
        prepared.sent.user_agent = user_agent;
        Rc::new(prepared)
    }
}

/// Arguments after conversion.
struct Arguments {
    method: Method,
    target: Rc<Target>,
    template_name: Option<Arc<str>>,
    body: BodyArg,
    params: Params,
}

fn assemble(vu: &Vu, state: &HttpState, run: &RunSettings, arguments: Arguments) -> PreparedRequest {
    let Arguments { method, target, template_name, body, mut params } = arguments;
    hint::consider(vu, &body, &params);
    let (payload, plain, unreadable) = match encode_body(vu, &method, &target, &body, &mut params) {
        Ok((payload, plain)) => (payload, plain, None),
        Err(why) => (None, None, Some(why)),
    };
    let trace = run.traces.as_ref().and_then(|traces| traces.begin(&mut params.headers));
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
        prior_knowledge: params.prior_knowledge,
        tls: params.tls.of_request(vu),
    });
    let jar_cookies = match (&target.url, jar.is_empty()) {
        (Ok(url), false) => jar.for_url(url),
        _ => Vec::new(),
    };
    let labels = Labels {
        url: tag_url(&target, params.digest, run.urls.mask()),
        name: params.name.or(template_name).or_else(|| target.rule_name.clone()),
        extra: params.tags,
        expectation: params.expectation.unwrap_or_else(|| state.expectation()),
    };
    let out_of_time = || {
        let message = String::from("request timeout");
        params.timeout.is_zero().then_some(Unsendable { kind: FailureKind::Timeout, message })
    };
    PreparedRequest {
        labels,
        jar,
        client: None,
        unsendable: target.url.as_ref().err().cloned().or(unreadable).or_else(out_of_time),
        response_type,
        throw: params.throw.unwrap_or(run.throw),
        intake: params.intake,
        warn_redirects: params.redirects.is_none() && !run.redirects_given,
        usual_series: Cell::new(None),
        trace,
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
