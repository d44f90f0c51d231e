//! What the target answers by gRPC: a service to test against, health checks and reflection.
//!
//! A call is a request of HTTP/2 with the content type of gRPC; HTTP/1.1 has no way to send both ways at once. What is
//! no method of the list is answered UNIMPLEMENTED, with trailers alone. Messages, frames and statuses are those of the
//! crate `grpc`. An app answers such requests itself.

mod call;
mod health;
mod messages;
mod reflection;
mod target;

use std::rc::Rc;

use grpc::status::{self, Status};
use http::header::CONTENT_TYPE;
use http::request::Parts;

use crate::body::RequestBody;
use crate::http2_out::Respond;
use crate::worker::Worker;
use call::{Call, MEDIA_TYPE, Outcome};

/// Whether a request is a call whose messages are those of Protocol Buffers.
pub(crate) fn is_call(parts: &Parts) -> bool {
    let content_type = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let subtype = content_type.and_then(|value| value.strip_prefix(MEDIA_TYPE));
    let is_protobuf = |rest: &str| rest.is_empty() || rest.starts_with(';') || rest.starts_with("+proto");
    parts.method == http::Method::POST && subtype.is_some_and(is_protobuf)
}

/// Answers a call.
pub(crate) async fn answer(worker: &Rc<Worker>, parts: &Parts, respond: &Respond, body: RequestBody) {
    let call = Call::new(worker, &parts.headers, respond, body);
    let outcome = match call.deadline() {
        Ok(deadline) => call.until(deadline, run(parts.uri.path(), &call)).await,
        Err(status) => Err(status.into()),
    };
    call.end(outcome);
}

/// Runs the method of that path.
async fn run(path: &str, call: &Call) -> Outcome {
    let unknown = || Err(Status::new(status::UNIMPLEMENTED, format!("unknown method {path:?}")).into());
    let Some((service, method)) = path.strip_prefix('/').and_then(|path| path.rsplit_once('/')) else {
        return unknown();
    };
    match (service, method) {
        ("onrush.test.v1.Target", "Echo") => target::echo(call).await,
        ("onrush.test.v1.Target", "Delay") => target::delay(call).await,
        ("onrush.test.v1.Target", "Fail") => target::fail(call).await,
        ("onrush.test.v1.Target", "Metadata") => target::metadata(call).await,
        ("onrush.test.v1.Target", "Collect") => target::collect(call).await,
        ("onrush.test.v1.Target", "Count") => target::count(call).await,
        ("onrush.test.v1.Target", "Chat") => target::chat(call).await,
        ("grpc.health.v1.Health", "Check") => health::check(call).await,
        ("grpc.health.v1.Health", "Watch") => health::watch(call).await,
        (reflection::V1 | reflection::V1ALPHA, "ServerReflectionInfo") => reflection::info(call).await,
        _ => unknown(),
    }
}
