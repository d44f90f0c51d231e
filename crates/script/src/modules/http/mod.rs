//! `k6/http`: names and argument order; the work is in the files beside.
//!
//! A request function reads its arguments, waits for the exchange without blocking the worker, and returns a response that
//! is filled in when it is read. Refused in init code, as in k6. Not there yet: NTLM, and what needs `k6/html`.

mod batch;
pub(crate) mod body;
pub(crate) mod cookies;
mod debug;
pub(crate) mod failure_text;
mod fixed;
mod hint;
pub(crate) mod intake;
pub(crate) mod params;
pub(crate) mod request;
mod response;
pub(crate) mod samples;
mod status;
pub(crate) mod url;

use std::rc::Rc;

use rquickjs::function::Opt;
use rquickjs::prelude::Func;
use rquickjs::{Ctx, Object, Promise, Result, Value};
use wire::Method;

use self::intake::Intake;
use self::request::{Args, Call, HttpState, finish, perform, prepare, prepare_beside, warn};
use self::status::Expectation;
use crate::builtins::ModuleDef;
use crate::host::loan::Loans;
use crate::host::plain::{self, Plain};
use crate::host::{bytes, go_error};
use crate::{Phase, Vu};

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/http",
    exports: &[
        "TLS_1_0",
        "TLS_1_1",
        "TLS_1_2",
        "TLS_1_3",
        "OCSP_STATUS_GOOD",
        "OCSP_STATUS_REVOKED",
        "OCSP_STATUS_SERVER_FAILED",
        "OCSP_STATUS_UNKNOWN",
        "OCSP_REASON_UNSPECIFIED",
        "OCSP_REASON_KEY_COMPROMISE",
        "OCSP_REASON_CA_COMPROMISE",
        "OCSP_REASON_AFFILIATION_CHANGED",
        "OCSP_REASON_SUPERSEDED",
        "OCSP_REASON_CESSATION_OF_OPERATION",
        "OCSP_REASON_CERTIFICATE_HOLD",
        "OCSP_REASON_REMOVE_FROM_CRL",
        "OCSP_REASON_PRIVILEGE_WITHDRAWN",
        "OCSP_REASON_AA_COMPROMISE",
        "url",
        "CookieJar",
        "cookieJar",
        "file",
        "get",
        "head",
        "post",
        "put",
        "patch",
        "del",
        "options",
        "request",
        "asyncRequest",
        "batch",
        "setResponseCallback",
        "expectedStatuses",
    ],
    load,
    types: include_str!("types.d.ts"),
};

/// Empties the user's cookie jar before an iteration, unless `noCookiesReset` is set.
pub fn on_iteration_start(ctx: &Ctx<'_>) {
    let vu = Vu::of(ctx);
    let state = vu.local::<HttpState>();
    if !state.jar.is_empty() && !vu.options().no_cookies_reset.unwrap_or(false) {
        state.jar.clear_all();
    }
}

/// Arguments that cannot be a request: told to the script by a failed response or a throw, never counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    message: String,
    /// k6's `error_code`; 0 for most.
    code: u16,
}

impl Refusal {
    fn new(message: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), code: 0 }
    }

    /// What is wrong.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    constants(&module)?;
    module.set("url", Func::from(url::template))?;
    module.set("CookieJar", cookies::constructor(ctx)?)?;
    module.set("cookieJar", Func::from(user_jar))?;
    module.set("file", plain::function::<body::MakeFile>(ctx, c"file", 0)?)?;
    for (number, name) in
        [c"get", c"head", c"post", c"put", c"patch", c"del", c"options", c"request"].iter().enumerate()
    {
        let function = plain::function::<Verb>(ctx, name, number as i32)?;
        module.set(name.to_str().expect("ASCII"), function)?;
    }
    module.set("asyncRequest", Func::from(async_request))?;
    module.set("batch", Func::from(batch::batch))?;
    module.set("setResponseCallback", Func::from(set_response_callback))?;
    module.set("expectedStatuses", Func::from(status::expected_statuses))?;
    Ok(module)
}

fn constants(module: &Object<'_>) -> Result<()> {
    for (name, value) in [("TLS_1_0", "tls1.0"), ("TLS_1_1", "tls1.1"), ("TLS_1_2", "tls1.2"), ("TLS_1_3", "tls1.3")] {
        module.set(name, value)?;
    }
    for name in MODULE.exports {
        if let Some(word) = name.strip_prefix("OCSP_STATUS_").or_else(|| name.strip_prefix("OCSP_REASON_")) {
            module.set(*name, word.to_ascii_lowercase())?;
        }
    }
    Ok(())
}

/// The functions that send one request and wait for it, by their position in `load`.
struct Verb;

impl Plain for Verb {
    fn call<'js>(ctx: &Ctx<'js>, args: plain::Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        let (first, second, third) = (args.get(0), args.get(1), args.get(2));
        let with_body = |method| Args { method, url: first.as_ref(), body: second.as_ref(), params: third.as_ref() };
        let without_body = |name, method| {
            if args.count() > 2 {
                warn_about_arguments(ctx, name, args.count());
            }
            Args { method, url: first.as_ref(), body: None, params: second.as_ref() }
        };
        let given = match number {
            0 => without_body("get", Method::Get),
            1 => without_body("head", Method::Head),
            2 => with_body(Method::Post),
            3 => with_body(Method::Put),
            4 => with_body(Method::Patch),
            5 => with_body(Method::Delete),
            6 => with_body(Method::Options),
            _ => {
                let (method, params) = (method_argument(ctx, Opt(first))?, args.get(3));
                let (url, body, params) = (second.as_ref(), third.as_ref(), params.as_ref());
                return send(ctx, &Args { method, url, body, params });
            }
        };
        send(ctx, &given)
    }
}

#[cold]
fn warn_about_arguments(ctx: &Ctx<'_>, name: &str, given: usize) {
    let message = format!("http.{name} only accepts a url and a params argument (2 arguments), but {given} were given");
    warn(&Vu::of(ctx), &message, &[]);
}

/// The method as the script wrote it; k6 does not change its case either. Nothing means GET.
fn method_argument<'js>(ctx: &Ctx<'js>, method: Opt<Value<'js>>) -> Result<Method> {
    match method.0.filter(|method| !method.is_null() && !method.is_undefined()) {
        Some(method) => {
            let token = bytes::to_text(ctx, &method)?;
            Ok(if token.is_empty() { Method::Get } else { response::method(&token) })
        }
        None => Ok(Method::Get),
    }
}

pub(crate) fn refuse_in_init(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    if vu.phase() == Phase::Init {
        return Err(go_error::throw(ctx, "Making http requests in the init context is not supported"));
    }
    Ok(())
}

/// Waits until the exchanges of a request are over.
fn wait(ctx: &Ctx<'_>, vu: &Vu, state: &HttpState, call: &Call) -> Result<()> {
    // Pinned here: handed over by value, the future's kilobytes would be copied for each request.
    let request = std::pin::pin!(perform(vu, state, call));
    match &call.prepared.intake {
        Intake::Callback(chunks) => intake::drive(ctx, vu, chunks, request),
        _ => vu.block_on(ctx, request),
    }
}

/// Runs one request and waits for it.
fn send<'js>(ctx: &Ctx<'js>, args: &Args<'_, 'js>) -> Result<Value<'js>> {
    let vu = Vu::of(ctx);
    refuse_in_init(ctx, &vu)?;
    let state = vu.local::<HttpState>();
    let loans = Loans::new(ctx);
    match prepare(ctx, &vu, &state, args, &loans)? {
        Ok(prepared) => {
            let call = Rc::new(Call::new(prepared));
            complete(ctx, &vu, &state, call, &loans)
        }
        Err(refusal) => refused(ctx, &vu, &state, refusal),
    }
}

/// Sends a prepared request, waits for its response and makes the object of it.
pub(crate) fn complete<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    state: &HttpState,
    call: Rc<Call>,
    loans: &Loans<'js>,
) -> Result<Value<'js>> {
    wait(ctx, vu, state, &call)?;
    loans.close();
    finish(ctx, vu, call, loans.values())
}

/// Throws or warns about arguments that are no request, and makes the response that says so.
pub(crate) fn refused<'js>(ctx: &Ctx<'js>, vu: &Vu, state: &HttpState, refusal: Refusal) -> Result<Value<'js>> {
    if state.run(vu).throw {
        return Err(go_error::throw(ctx, &refusal.message));
    }
    warn(vu, "Request Failed", &[("error", &refusal.message)]);
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
    let args = Args {
        method: method_argument(&ctx, method)?,
        url: url.0.as_ref(),
        body: body.0.as_ref(),
        params: params.0.as_ref(),
    };
    let prepared = prepare_beside(&ctx, &vu, &state, &args)?;
    let (sender, sender_state) = (Rc::clone(&vu), Rc::clone(&state));
    let work = async move {
        match prepared {
            Ok(prepared) => {
                let call = Rc::new(Call::new(prepared));
                perform(&sender, &sender_state, &call).await;
                Ok(call)
            }
            Err(refusal) => Err(refusal),
        }
    };
    vu.promise(&ctx, work, move |ctx, outcome| {
        let vu = Vu::of(ctx);
        match outcome {
            Ok(call) => finish(ctx, &vu, call, Vec::new()),
            Err(refusal) => refused(ctx, &vu, &state, refusal),
        }
    })
}

/// `http.cookieJar()`: the user's own jar.
fn user_jar<'js>(ctx: Ctx<'js>) -> Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() == Phase::Init {
        return Err(go_error::throw(&ctx, "Making cookie jars in the init context is not supported"));
    }
    cookies::object(&ctx, Rc::clone(&vu.local::<HttpState>().jar))
}

fn set_response_callback<'js>(ctx: Ctx<'js>, callback: Opt<Value<'js>>) -> Result<()> {
    let callback = callback.0.unwrap_or_else(|| Value::new_null(ctx.clone()));
    let Some(expectation) = Expectation::from_js(&callback) else {
        return Err(go_error::throw(&ctx, "unsupported argument, expected http.expectedStatuses"));
    };
    Vu::of(&ctx).local::<HttpState>().expect(expectation);
    Ok(())
}
