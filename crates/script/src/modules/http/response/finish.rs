//! What the script gets of a request that is over: a response, or an exception; and the warnings that go with it.

use std::rc::Rc;

use host::js::{Ctx, Result, Value};
use host::lazy_object::Lazy;

use super::failure_text::failure_text;
use super::object as response;
use crate::Vu;
use crate::go_error;
use crate::modules::http::request::call::Call;
use crate::modules::http::request::intake::Intake;

/// Throws or warns when the request failed, and makes the response. `lent`: see `response::object`.
pub fn finish<'js>(ctx: &Ctx<'js>, vu: &Vu, call: Rc<Lazy<Call>>, lent: Vec<Value<'js>>) -> Result<Value<'js>> {
    if let Some(message) = failure_text(vu, &call) {
        if call.prepared.throw {
            return Err(go_error::throw(ctx, &message));
        }
        vu.log().warn("Request Failed", &[("error", &message)]);
    } else if call.prepared.warn_redirects {
        warn_about_redirects(vu, &call);
    }
    let hash = match &call.prepared.intake {
        Intake::Hash(_) => Some(call.prepared.intake.digest_of(call.exchange())),
        Intake::Body | Intake::Callback(_) | Intake::Events(_) => None,
    };
    let response = response::object(ctx, call, lent)?;
    if let Some(hash) = hash
        && let Some(response) = response.as_object()
    {
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
        "Stopped after {} redirects and returned the redirection; pass {{ redirects: n }} in request params or set \
         global maxRedirects to silence this",
        request.max_redirects + 1
    );
    vu.log().warn(&message, &[("url", &call.prepared.sent.target.name)]);
}
