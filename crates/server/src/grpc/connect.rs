//! Calls of Connect: by a stream of HTTP/2 as those of gRPC, by HTTP/1.1 as requests that are answered once they are
//! all there.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use grpc::Method;
use grpc::connect::Codec;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::grpc::call::Call;
use crate::grpc::files::schema;
use crate::grpc::form::{CallForm, Form};
use crate::grpc::methods::outcome;
use crate::outgoing::respond::{Body, PieceStream, Reply, Response};
use crate::request::{Request, split_target};

/// What the paths of methods begin with that Connect calls, too.
const SERVICES: [&str; 2] = ["/onrush.test.v1.Target/", "/grpc.health.v1.Health/"];

/// The form of a call of that content type, and its method if there is one; `None`: it is no call, or of the other kind
/// than its method.
pub(crate) fn form(path: &str, content_type: &str) -> Option<CallForm> {
    let (codec, is_stream) = Codec::of_content_type(content_type)?;
    if !SERVICES.iter().any(|service| path.starts_with(service)) {
        return None;
    }
    let method = schema().methods().iter().find(|method| method.path == path);
    let fits = method.is_none_or(|method| method.is_stream() == is_stream);
    fits.then_some((Form::Connect(codec, is_stream), method))
}

/// The route of those services.
pub(crate) fn answer(request: &Request<'_>) -> Reply {
    let path = split_target(request.head.target).0;
    let content_type = request.header("content-type").unwrap_or_default();
    let Some((form, method)) = form(path, &content_type) else {
        let detail = format!(
            "this path is a method. The content type is {content_type:?}, expected application/grpc over HTTP/2, or \
             Connect's: {}",
            wanted(path)
        );
        return Response::error(415, &detail).into();
    };
    let mut fields = HeaderMap::with_capacity(request.head.headers.len());
    for line in request.head.headers.iter() {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(line.name), HeaderValue::try_from(line.value)) {
            fields.append(name, value);
        }
    }
    let path = path.to_owned();
    let call = Rc::new(Call::of_request(request.worker, fields, (form, method), request.body));
    if !matches!(form, Form::Connect(_, true)) {
        return Response::later(async move { response(call.whole_answer(outcome(&path, &call).await)) }).into();
    }
    let head = response(call.response().map(|()| Bytes::new()));
    let called = Rc::clone(&call);
    let running = Box::pin(async move { called.end(outcome(&path, &called).await) });
    let pieces = Pieces { call, running: Some(running) };
    Response { body: Body::stream(pieces), ..head }.into()
}

/// The content types that a method takes.
fn wanted(path: &str) -> String {
    let method = schema().methods().iter().find(|method| method.path == path);
    let is_stream = method.is_some_and(Method::is_stream);
    format!("{} or {}", Codec::Proto.content_type(is_stream), Codec::Json.content_type(is_stream))
}

fn response(whole: http::Response<Bytes>) -> Response {
    let (head, body) = whole.into_parts();
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let content_type = head.headers.get(CONTENT_TYPE).map(text).unwrap_or_default();
    let mut response = Response::new(head.status.as_u16(), content_type, Body::Shared(body));
    let lines = head.headers.iter().filter(|(name, _)| *name != CONTENT_TYPE);
    response.headers = lines.map(|(name, value)| (Cow::from(name.to_string()), Cow::from(text(value)))).collect();
    response
}

/// The messages of a stream as its method gives them.
struct Pieces {
    call: Rc<Call>,
    /// Gone when it has ended.
    running: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

impl PieceStream for Pieces {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        loop {
            if let Some(piece) = self.call.take_piece() {
                return Poll::Ready(Some(Ok(piece)));
            }
            let Some(running) = &mut self.running else { return Poll::Ready(None) };
            if running.as_mut().poll(cx).is_ready() {
                self.running = None;
            } else if !self.call.has_pieces() {
                return Poll::Pending;
            }
        }
    }
}
