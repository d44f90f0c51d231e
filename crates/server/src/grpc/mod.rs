//! What the target answers by gRPC and by Connect: a service to test against, health checks and reflection.
//!
//! A call of gRPC is a request of HTTP/2 with its content type; HTTP/1.1 has no way to send both ways at once. Connect
//! goes by both. What is no method of the list is answered UNIMPLEMENTED. Messages, frames and statuses are those of
//! the crate `grpc`. An app answers such requests itself.

mod call;
pub(crate) mod connect;
mod ended;
mod files;
mod form;
mod health;
mod incoming;
mod messages;
mod methods;
mod reflection;
mod target;

use std::rc::Rc;

use http::header::CONTENT_TYPE;
use http::request::Parts;

use crate::incoming::body::RequestBody;
use crate::outgoing::http2_out::Respond;
use crate::worker::Worker;
use call::Call;
pub(crate) use form::CallForm;
use form::{Form, MEDIA_TYPE};
use methods::outcome;

/// The form of a call by HTTP/2; `None`: the request is none.
pub(crate) fn form(parts: &Parts) -> Option<CallForm> {
    let content_type = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok())?;
    if parts.method != http::Method::POST {
        return None;
    }
    let Some(subtype) = content_type.strip_prefix(MEDIA_TYPE) else {
        return connect::form(parts.uri.path(), content_type);
    };
    let is_protobuf = subtype.is_empty() || subtype.starts_with(';') || subtype.starts_with("+proto");
    is_protobuf.then_some((Form::Grpc, None))
}

/// Answers a call.
pub(crate) async fn answer(worker: &Rc<Worker>, parts: &Parts, form: CallForm, respond: &Respond, body: RequestBody) {
    let call = Call::on_http2(worker, &parts.headers, form, respond, body);
    let outcome = outcome(parts.uri.path(), &call).await;
    call.end(outcome);
}
