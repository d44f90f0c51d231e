//! What the script gets of a request that is over: a response, or an exception; and the warnings that go with it.

use std::rc::Rc;

use host::js::{Ctx, Result, Value};
use host::lazy_object::Lazy;

use super::failure_text::failure_text;
use super::object as response;
use crate::http::request::call::Call;
use crate::http::request::intake::Intake;
use script::Vu;
use script::go_error;

/// Throws or warns when the request failed, and makes the response. `lent`: see `response::object`.
pub fn finish<'js>(ctx: &Ctx<'js>, vu: &Vu, call: Rc<Lazy<Call>>, lent: Vec<Value<'js>>) -> Result<Value<'js>> {
    if let Some(message) = failure_text(vu, &call) {
        failed(ctx, vu, &call, &message)?;
    } else if call.prepared.warn_redirects && is_redirect(&call) {
        warn_about_redirects(vu, &call);
    }
    match &call.prepared.intake {
        Intake::Hash(_) => hashed(ctx, call, lent),
        Intake::Body | Intake::Callback(_) | Intake::Events(_) => response::object(ctx, call, lent),
    }
}

// Cold: most requests get an answer.
#[cold]
fn failed(ctx: &Ctx<'_>, vu: &Vu, call: &Call, message: &str) -> Result<()> {
    if call.prepared.throw {
        return Err(go_error::throw(ctx, message));
    }
    let trace_id = call.prepared.trace_id();
    let in_trace = trace_id.iter().map(|id| ("trace_id", id.as_str()));
    let fields: Vec<_> = [("error", message)].into_iter().chain(in_trace).collect();
    vu.log().warn("Request Failed", &fields);
    Ok(())
}

/// The response of a request whose body was hashed while it arrived.
// Not inlined: few scripts ask for a hash.
#[inline(never)]
fn hashed<'js>(ctx: &Ctx<'js>, call: Rc<Lazy<Call>>, lent: Vec<Value<'js>>) -> Result<Value<'js>> {
    let hash = call.prepared.intake.digest_of(call.exchange());
    let response = response::object(ctx, call, lent)?;
    if let Some(response) = response.as_object() {
        match hash {
            Some(hash) => response.set("hash", hash)?,
            None => response.set("hash", Value::new_null(ctx.clone()))?,
        }
    }
    Ok(response)
}

#[inline]
fn is_redirect(call: &Call) -> bool {
    let outcome = call.exchange().map(|exchange| &exchange.outcome);
    matches!(outcome, Some(Ok(response)) if matches!(response.status, 301 | 302 | 303 | 307 | 308))
}

/// Tells that a default limit, not the script's, cut redirects off.
// Cold: it is called only to warn.
#[cold]
fn warn_about_redirects(vu: &Vu, call: &Call) {
    let (Some(exchange), Some(request)) = (call.exchange(), &call.prepared.sent.request) else { return };
    if !exchange.outcome.as_ref().is_ok_and(|response| response.header("Location").is_some()) {
        return;
    }
    let message = format!(
        "Stopped after {} redirects and returned the redirection; pass {{ redirects: n }} in request params or set \
         global maxRedirects to silence this",
        request.max_redirects + 1
    );
    vu.log().warn(&message, &[("url", &call.prepared.sent.target.name)]);
}
