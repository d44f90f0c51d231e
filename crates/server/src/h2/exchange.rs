//! One request of an HTTP/2 connection and its answer, by a route, by a method of gRPC or by the app.
//!
//! It runs beside the other streams of its connection. Once the client has reset the stream everything of it is
//! dropped: that is how an app learns that nobody waits for it. A request counts here, first of all.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::request::Parts;

use crate::app::{App, AppRequest, Origin};
use crate::grpc::{self, CallForm};
use crate::h2::body::{Failed, StreamBody};
use crate::h2::fault::{self, Ending};
use crate::h2::{head, send};
use crate::incoming::body::{BodyError, RequestBody};
use crate::kept::{Full, Kept};
use crate::outgoing::http2_out::Respond;
use crate::outgoing::respond::{Reply, Response};
use crate::refusal::{instead, most, too_large};
use crate::request::{Request, split_target};
use crate::route::{self, BodyUse, ROUTES, STATS};
use crate::witness::{ConnectionWitness, StreamWitness};
use crate::worker::Worker;
use wire::h1::framing::BodyFraming;
use wire::h1::request_head::Framing;

/// A request whose head has come.
pub(crate) struct Exchange {
    worker: Rc<Worker>,
    origin: Origin,
    parts: Parts,
    respond: Respond,
    failed: Failed,
    witness: Option<StreamWitness>,
}

/// Answers one request; how the connection is to end if it is.
pub(crate) async fn run(
    worker: Rc<Worker>,
    origin: Origin,
    witness: Option<Rc<ConnectionWitness>>,
    request: http::Request<RecvStream>,
    respond: SendResponse<Bytes>,
) -> Option<Ending> {
    let (parts, stream) = request.into_parts();
    let (_, target) = head::method_and_target(&parts);
    let route = route::find(split_target(target).0).map(|(index, _)| index);
    let witness = witness.filter(|_| route != Some(STATS)).map(|witness| witness.stream_arrived());
    let (respond, failed) = (Rc::new(RefCell::new(respond)), Failed::default());
    let exchange = Exchange { worker, origin, parts, respond, failed, witness };
    let app = exchange.worker.app().filter(|_| route != Some(STATS)).cloned();
    exchange.worker.stats().count(route.filter(|_| app.is_none()));
    match app {
        Some(app) => {
            exchange.fetch(&app, stream).await;
            None
        }
        None => match grpc::form(&exchange.parts) {
            Some(form) => {
                exchange.call(form, stream).await;
                None
            }
            None => exchange.answer(route, stream).await,
        },
    }
}

impl Exchange {
    fn body(&self, stream: RecvStream) -> StreamBody {
        let headers = &self.parts.headers;
        let length = if stream.is_end_stream() { Some(0) } else { head::declared_length(headers) };
        let awaited = (head::expects_continue(headers) && !stream.is_end_stream()).then(|| self.respond.clone());
        StreamBody::new(stream, self.worker.clone(), length, awaited, self.failed.clone())
    }

    async fn send(&self, response: Response) {
        let is_head = self.parts.method == http::Method::HEAD;
        let (status, body) = (response.status, if is_head { Some(0) } else { response.body.length() });
        send::respond(&self.worker, &self.respond, response, is_head).await;
        self.told(status, body);
    }

    fn told(&self, status: u16, body: Option<u64>) {
        if let Some(witness) = &self.witness {
            witness.responded(status, body);
        }
    }

    /// By the app.
    async fn fetch(&self, app: &Rc<dyn App>, stream: RecvStream) {
        let declared = head::declared_length(&self.parts.headers);
        if let Some(limit) = self.worker.limits().body.filter(|limit| declared.is_some_and(|length| length > *limit)) {
            return self.send(Response::error(413, &BodyError::TooLarge(limit).to_string())).await;
        }
        let body = if stream.is_end_stream() {
            RequestBody::empty()
        } else {
            RequestBody::from_source(Rc::new(RefCell::new(self.body(stream))))
        };
        let (method, target) = head::method_and_target(&self.parts);
        let cookies = head::joined_cookies(&self.parts.headers);
        let lines = head::lines(&self.parts, cookies.as_deref());
        let mut answering = app.fetch(AppRequest::new(method, target, lines, self.origin, body));
        let answered = poll_fn(|cx| {
            if let Poll::Ready(answered) = answering.as_mut().poll(cx) {
                return Poll::Ready(Some(answered));
            }
            self.respond.borrow_mut().poll_reset(cx).map(|_| None)
        })
        .await;
        drop(answering);
        let response = match answered {
            None => return,
            Some(Ok(response)) => response,
            Some(Err(text)) => self.refusal().unwrap_or_else(|| Response::error(500, &text)),
        };
        self.send(response).await;
    }

    /// The answer to a body that was refused.
    fn refusal(&self) -> Option<Response> {
        let failed = self.failed.borrow();
        let failed = failed.as_ref()?;
        Some(Response::error(failed.status()?, &failed.to_string()))
    }

    /// By a method of gRPC.
    async fn call(&self, form: CallForm, stream: RecvStream) {
        let body = self.body(stream).patient();
        let body = RequestBody::from_source(Rc::new(RefCell::new(body)));
        grpc::answer(&self.worker, &self.parts, form, &self.respond, body).await;
        self.told(200, None);
    }

    /// By a route.
    async fn answer(&self, route: Option<usize>, stream: RecvStream) -> Option<Ending> {
        let (method, _) = head::method_and_target(&self.parts);
        let body = head::declared_length(&self.parts.headers).map_or(BodyFraming::None, BodyFraming::Length);
        let framing = Framing { body, keep_alive: true, expect_continue: false };
        if let Some(response) = instead(route, method, framing, self.worker.limits().body) {
            self.send(response).await;
            return None;
        }
        let index = route.expect("a request without a route has its answer already");
        let (kept, length) = match self.read(index, stream).await {
            Ok(body) => body,
            Err(refusal) => {
                if let Some(response) = refusal {
                    self.send(*response).await;
                }
                return None;
            }
        };
        let reply = self.run(index, kept.bytes(), length);
        match kept.answered_by(reply) {
            Reply::Respond(response) => {
                self.send(*response).await;
                None
            }
            // None is in order: HTTP/2 has no `Upgrade` header.
            Reply::Upgrade(_) => {
                self.send(Response::error(501, "websockets are opened over HTTP/1.1")).await;
                None
            }
            Reply::Fault(fault) => fault::carry_out(fault, &self.respond).await,
        }
    }

    /// Reads a body to its end: what the route keeps of it, and its length. The error is the answer, unless nobody
    /// waits for one.
    async fn read(&self, route: usize, stream: RecvStream) -> Result<(Kept, u64), Option<Box<Response>>> {
        let (mut kept, mut length) = (Kept::new(self.worker.budget()), 0);
        if stream.is_end_stream() {
            return Ok((kept, length));
        }
        let keeps = ROUTES[route].body == BodyUse::Keep;
        let most = most(keeps, self.worker.limits().body);
        let mut body = self.body(stream);
        while let Some(piece) = poll_fn(|cx| body.poll_piece(cx)).await {
            let piece = piece.map_err(|_| self.refusal().map(Box::new))?;
            length += piece.len() as u64;
            if length > most {
                return Err(Some(Box::new(too_large(most))));
            }
            if keeps {
                kept.extend(&piece).map_err(|Full| Some(Box::new(self.worker.budget().refusal())))?;
            }
        }
        Ok((kept, length))
    }

    fn run(&self, index: usize, body: &[u8], body_length: u64) -> Reply {
        let cookies = head::joined_cookies(&self.parts.headers);
        let lines = head::lines(&self.parts, cookies.as_deref());
        let lines: Vec<_> = lines.map(|(name, value)| httparse::Header { name, value }).collect();
        let head = head::head(&self.parts, &lines);
        let found = route::find(split_target(head.target).0);
        let (_, params) = found.expect("this target has been found before");
        let request = Request {
            head: &head,
            params,
            body,
            body_length,
            peer: self.origin.peer,
            tls: self.origin.tls,
            worker: &self.worker,
        };
        (ROUTES[index].run)(&request)
    }
}
