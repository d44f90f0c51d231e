//! The functions that send one request: those that wait for it, and `asyncRequest`. Refused in init code, as in k6.

use std::ffi::CStr;
use std::rc::Rc;

use host::Phase;
use host::borrow::Borrows;
use host::bytes;
use host::js::prelude::{Func, Opt};
use host::js::{Ctx, Object, Promise, Result, Value};
use host::lazy_object::Lazy;
use host::plain::{self, Plain};
use wire::{Exchange, Method};

use crate::http::common::refusal::Refusal;
use crate::http::request::call::{Call, RequestArgs};
use crate::http::request::intake::{self, Intake};
use crate::http::request::prepare::{Purpose, prepare};
use crate::http::request::state::HttpState;
use crate::http::response::finish::finish;
use crate::http::response::object as response;
use crate::http::response::page;
use crate::http::send::perform::{Sender, perform, perform_beside, plain};
use script::Vu;
use script::arguments::{ArgumentError, present};
use script::go_error;

/// The functions that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Del,
    Options,
    Request,
}

/// Their names in scripts.
const VERBS: [(Verb, &CStr); 8] = [
    (Verb::Get, c"get"),
    (Verb::Head, c"head"),
    (Verb::Post, c"post"),
    (Verb::Put, c"put"),
    (Verb::Patch, c"patch"),
    (Verb::Del, c"del"),
    (Verb::Options, c"options"),
    (Verb::Request, c"request"),
];

/// Puts the functions into the module.
pub fn add(module: &Object<'_>) -> Result<()> {
    bind_pages(module.ctx());
    for (number, (_, name)) in VERBS.iter().enumerate() {
        let function = plain::function::<CallVerb>(module.ctx(), name, number as i32)?;
        module.set(name.to_str().expect("ASCII"), function)?;
    }
    module.set("asyncRequest", Func::from(async_request))
}

/// Lets responses send forms and follow links; for each module whose functions give responses.
pub fn bind_pages(ctx: &Ctx<'_>) {
    page::bind(ctx, send);
}

/// The function behind each of `VERBS`.
struct CallVerb;

impl Plain for CallVerb {
    fn call<'js>(ctx: &Ctx<'js>, args: plain::Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let (first, second, third) = (args.peek(0), args.peek(1), args.peek(2));
        let with_body =
            |method| RequestArgs { method, url: first.as_deref(), body: second.as_deref(), params: third.as_deref() };
        let without_body = |name, method| {
            if args.count() > 2 {
                warn_about_arguments(ctx, name, args.count());
            }
            RequestArgs { method, url: first.as_deref(), body: None, params: second.as_deref() }
        };
        let given = match VERBS[number as usize].0 {
            Verb::Get => without_body("get", Method::Get),
            Verb::Head => without_body("head", Method::Head),
            Verb::Post => with_body(Method::Post),
            Verb::Put => with_body(Method::Put),
            Verb::Patch => with_body(Method::Patch),
            Verb::Del => with_body(Method::Delete),
            Verb::Options => with_body(Method::Options),
            Verb::Request => {
                let (method, params) = (method_argument(ctx, args.get(0))?, args.peek(3));
                let (url, body, params) = (second.as_deref(), third.as_deref(), params.as_deref());
                return send(ctx, &RequestArgs { method, url, body, params });
            }
        };
        send(ctx, &given)
    }
}

// Cold: it is called only to warn.
#[cold]
fn warn_about_arguments(ctx: &Ctx<'_>, name: &str, given: usize) {
    let message = format!("http.{name} only accepts a url and a params argument (2 arguments), but {given} were given");
    Vu::of(ctx).log().warn(&message, &[]);
}

/// The method as the script wrote it; k6 does not change its case either. Nothing means GET.
fn method_argument<'js>(ctx: &Ctx<'js>, method: Option<Value<'js>>) -> Result<Method> {
    let Some(method) = present(method) else { return Ok(Method::Get) };
    let token = bytes::to_text(ctx, &method)?;
    Ok(if token.is_empty() { Method::Get } else { wire::Method::of(&token) })
}

/// Refuses to send in init code.
pub fn refuse_in_init(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    if vu.phase() == Phase::Init {
        return Err(go_error::throw(ctx, "Making http requests in the init context is not supported"));
    }
    Ok(())
}

/// Runs one request and waits for it.
fn send<'js>(ctx: &Ctx<'js>, args: &RequestArgs<'_, 'js>) -> Result<Value<'js>> {
    let vu = Vu::peek(ctx);
    refuse_in_init(ctx, vu)?;
    let state = vu.local::<HttpState>();
    Borrows::with(ctx, |borrows| match prepare(ctx, vu, &state, args, &Purpose::Response(borrows)) {
        Ok(prepared) => complete(ctx, vu, &state, Call::new(prepared), borrows),
        Err(error) => refused(ctx, vu, &state, error),
    })
}

/// Sends a prepared request, waits for its response and makes the object of it.
pub fn complete<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    state: &HttpState,
    mut call: Rc<Lazy<Call>>,
    borrows: &Borrows<'js>,
) -> Result<Value<'js>> {
    wait(ctx, vu, state, Call::not_shared(&mut call))?;
    finish(ctx, vu, call, borrows.values())
}

/// Waits until the exchanges of a request are over.
#[inline]
fn wait(ctx: &Ctx<'_>, vu: &Vu, state: &HttpState, call: &mut Call) -> Result<()> {
    let sender = Sender::of(vu, state);
    {
        let (prepared, place) = call.parts();
        let (Some(request), Some(place)) = (plain(vu, prepared), place) else {
            return wait_for_more(ctx, vu, state, call);
        };
        let before_last = &mut |exchange: &Exchange| sender.record(prepared, exchange, false);
        // Not `perform`: a future that holds another one would be polled through at each turn. By reference, to stay
        // where it is made.
        let mut sending = sender.client(prepared).send_into(request, Some(&prepared.jar), before_last, place);
        let mut has_begun = false;
        // It begins when it is the user's turn to send, which is after others have run their scripts.
        let turn = std::future::poll_fn(|cx| {
            if !std::mem::replace(&mut has_begun, true) {
                sender.begin();
            }
            std::pin::Pin::new(&mut sending).poll(cx)
        });
        vu.block_on(ctx, turn)?;
    }
    sender.end(call);
    Ok(())
}

/// The same for what is waited for in other ways, or is not sent at all.
// Not inlined: the future of a request that is not plain would be on the stack of each.
#[inline(never)]
fn wait_for_more(ctx: &Ctx<'_>, vu: &Vu, state: &HttpState, call: &mut Call) -> Result<()> {
    let prepared = Rc::clone(&call.prepared);
    let request = std::pin::pin!(perform(vu, state, call));
    match &prepared.intake {
        Intake::Callback(chunks) => intake::drive(ctx, vu, chunks, request),
        Intake::Events(events) => events.drive_callback((ctx, vu, &prepared.own_tags(vu)), request),
        _ => vu.block_on(ctx, request),
    }
}

/// Throws or warns about arguments that are no request, and makes the response that says so.
// Cold: it is for arguments that are no request.
#[cold]
pub fn refused<'js>(ctx: &Ctx<'js>, vu: &Vu, state: &HttpState, error: ArgumentError<Refusal>) -> Result<Value<'js>> {
    let refusal = match error {
        ArgumentError::Thrown(error) => return Err(error),
        ArgumentError::Refused(refusal) => refusal,
    };
    if state.run(vu).throw {
        return Err(go_error::throw(ctx, &refusal.message));
    }
    vu.log().warn("Request Failed", &[("error", &refusal.message)]);
    response::refused(ctx, Some(refusal))
}

/// `http.asyncRequest(method, url, body?, params?)`.
fn async_request<'js>(
    ctx: Ctx<'js>,
    method: Opt<Value<'js>>,
    url: Opt<Value<'js>>,
    body: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<Promise<'js>> {
    let vu = Vu::of(&ctx);
    refuse_in_init(&ctx, &vu)?;
    let state = vu.local::<HttpState>();
    let args = RequestArgs {
        method: method_argument(&ctx, method.0)?,
        url: url.0.as_ref(),
        body: body.0.as_ref(),
        params: params.0.as_ref(),
    };
    let prepared = match prepare(&ctx, &vu, &state, &args, &Purpose::Promise) {
        Ok(prepared) => Ok(prepared),
        Err(ArgumentError::Refused(refusal)) => Err(refusal),
        Err(ArgumentError::Thrown(error)) => return Err(error),
    };
    let (sender, sender_state, asked) = (Rc::clone(&vu), Rc::clone(&state), vu.sample_context());
    let work = async move {
        let mut call = Call::new(prepared?);
        perform_beside(&sender, &sender_state, Call::not_shared(&mut call), asked).await;
        Ok::<_, Refusal>(call)
    };
    vu.promise(&ctx, work, move |ctx, outcome| {
        let vu = Vu::of(ctx);
        match outcome {
            Ok(call) => finish(ctx, &vu, call, Vec::new()),
            Err(refusal) => refused(ctx, &vu, &state, refusal.into()),
        }
    })
}
