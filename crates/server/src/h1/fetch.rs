//! The exchange with an app: the request is handed over, the body is read while the app asks for it, the response is
//! sent.
//!
//! Responses that are ready before are flushed first when the app does not answer at once. A client that ends its side
//! of the connection while the app is still at work, with nothing left to read, has gone: the app's future is dropped.
//! What the app left unread of a body is drained when it is short; otherwise the connection closes behind the response.

use std::future::{poll_fn, ready};
use std::io;
use std::rc::Rc;
use std::task::Poll;

use crate::after::After;
use crate::app::{Answering, App, AppRequest, Origin, Version};
use crate::connection::phase_timer::Phase;
use crate::connection::stream::Peeked;
use crate::h1::connection::{Begun, Connection};
use crate::h1::incoming::Incoming;
use crate::h1::receive::Reading;
use crate::incoming::body::{BodyError, RequestBody};
use crate::outgoing::respond::Response;
use wire::h1::framing::BodyFraming;
use wire::h1::request_head::{self, Head};

/// Bytes of an unread body that are received and dropped to keep a connection.
const DRAINED: u64 = 256 * 1024;

/// What a look at a busy connection found.
enum Progress {
    Answered(Result<Response, String>),
    Gone,
}

impl Connection {
    /// One request answered by the app.
    pub(crate) async fn fetch(&mut self, app: &Rc<dyn App>, begun: Begun) -> io::Result<After> {
        let limit = self.worker.limits().body;
        if let (BodyFraming::Length(length), Some(limit)) = (begun.framing.body, limit)
            && length > limit
        {
            let why = BodyError::TooLarge(limit).to_string();
            self.respond(begun, Response::error(413, &why), false).await?;
            return Ok(After::CloseUnread);
        }
        if begun.framing.expect_continue {
            // The body sends the interim response by itself, and it must not overtake.
            self.flush().await?;
        }
        let upgrade = if app.accepts_websockets() { self.asked_upgrade() } else { None };
        let (request, incoming) = self.hand_over(app, begun);
        if let (Some(upgrade), None) = (upgrade, &incoming)
            && let Some(opening) = app.websocket(&request, upgrade)
        {
            drop(request);
            return self.upgrade(opening).await;
        }
        let mut answering = app.fetch(request);
        let answered = match poll_fn(|cx| Poll::Ready(answering.as_mut().poll(cx))).await {
            Poll::Ready(answered) => answered,
            Poll::Pending => {
                self.flush().await?;
                match self.answered(&mut answering, incoming.as_deref()).await {
                    Progress::Answered(answered) => answered,
                    Progress::Gone => return Ok(After::Abandon),
                }
            }
        };
        drop(answering);
        let response = answered.unwrap_or_else(|text| failure(&text, incoming.as_deref()));
        let Some(incoming) = incoming else {
            return self.respond(begun, response, begun.framing.keep_alive).await;
        };
        let keep_alive = begun.framing.keep_alive && !incoming.response_begins() && incoming.can_be_drained(DRAINED);
        let after = self.respond(begun, response, keep_alive).await?;
        self.take_back(&incoming, after).await
    }

    /// One request without a body, answered by the app; what is still to be polled, and a response still to be sent, as
    /// an error.
    pub(crate) async fn ask(&mut self, begun: Begun, request: AppRequest) -> Result<After, Answering> {
        let app = self.worker.app().expect("asked for its sake").clone();
        self.begin(begun);
        let mut answering = app.fetch(request);
        let answered = match poll_fn(|cx| Poll::Ready(answering.as_mut().poll(cx))).await {
            Poll::Ready(answered) => answered,
            Poll::Pending => return Err(answering),
        };
        drop(answering);
        let response = answered.unwrap_or_else(|text| failure(&text, None));
        match self.reply_at_once(begun, &response) {
            Some(after) => Ok(after),
            None => Err(Box::pin(ready(Ok(response)))),
        }
    }

    /// Goes on with what `ask` left.
    pub(crate) async fn fetch_on(&mut self, begun: Begun, mut answering: Answering) -> io::Result<After> {
        self.timer.enter(Phase::Busy, self.worker.now());
        let answered = match poll_fn(|cx| Poll::Ready(answering.as_mut().poll(cx))).await {
            Poll::Ready(answered) => answered,
            Poll::Pending => {
                self.flush().await?;
                match self.answered(&mut answering, None).await {
                    Progress::Answered(answered) => answered,
                    Progress::Gone => return Ok(After::Abandon),
                }
            }
        };
        drop(answering);
        let response = answered.unwrap_or_else(|text| failure(&text, None));
        self.respond(begun, response, begun.framing.keep_alive).await
    }

    /// A request without a body as the app gets it.
    pub(crate) fn app_request(&self, head: &Head<'_, '_>) -> AppRequest {
        let headers = head.headers.iter().map(|h| (h.name, h.value));
        AppRequest::new(head.method, head.target, headers, self.origin(head.minor), RequestBody::empty())
    }

    fn origin(&self, minor: u8) -> Origin {
        let version = if minor == 0 { Version::Http10 } else { Version::Http11 };
        Origin { peer: self.peer, tls: self.stream.is_tls(), version }
    }

    /// The request as the app gets it, and the body as the connection keeps it. The input goes with the body.
    fn hand_over(&mut self, app: &Rc<dyn App>, begun: Begun) -> (AppRequest, Option<Rc<Incoming>>) {
        let head_end = self.start + begun.head_len;
        let incoming = (begun.framing.body != BodyFraming::None).then(|| {
            let ahead = self.input.split_off(head_end);
            let app = app.allocates().then(|| app.clone());
            Incoming::new(Reading::new(
                self.stream.clone(),
                self.worker.clone(),
                self.timer.clone(),
                app,
                begun.framing,
                ahead,
            ))
        });
        let mut room = request_head::header_room();
        let head = request_head::parse(&self.input[self.start..], &mut room);
        let Ok(Some(head)) = &head else { unreachable!("this head was parsed before") };
        let origin = self.origin(head.minor);
        let body = incoming.clone().map_or_else(RequestBody::empty, |incoming| RequestBody::from_source(incoming));
        let headers = head.headers.iter().map(|h| (h.name, h.value));
        let request = AppRequest::new(head.method, head.target, headers, origin, body);
        self.start = head_end;
        (request, incoming)
    }

    /// Waits for the app, and for the client's end when there is nothing else to be read from it.
    async fn answered(&mut self, answering: &mut Answering, incoming: Option<&Incoming>) -> Progress {
        let mut watched = self.start == self.input.len();
        poll_fn(|cx| {
            if let Poll::Ready(answered) = answering.as_mut().poll(cx) {
                return Poll::Ready(Progress::Answered(answered));
            }
            if watched && incoming.is_none_or(Incoming::is_done) {
                match self.stream.poll_peek(cx) {
                    Poll::Ready(Peeked::End) => return Poll::Ready(Progress::Gone),
                    Poll::Ready(Peeked::Bytes) => watched = false,
                    Poll::Pending => {}
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Continues behind the body, once the rest of it is drained.
    async fn take_back(&mut self, incoming: &Rc<Incoming>, after: After) -> io::Result<After> {
        let mut rest_is_read = incoming.is_done();
        if !rest_is_read && after == After::Continue {
            self.flush().await?;
            rest_is_read = incoming.drain(DRAINED).await;
        }
        let Some(reading) = incoming.take_back() else { return Ok(After::Abandon) };
        self.input = reading.into_rest();
        self.start = 0;
        Ok(if rest_is_read { after } else { After::CloseUnread })
    }
}

/// An error of the app that comes from a body that was refused has the refusal's status.
fn failure(text: &str, incoming: Option<&Incoming>) -> Response {
    let refused = incoming.and_then(Incoming::refusal);
    refused.map_or_else(|| Response::error(500, text), |(status, why)| Response::error(status, &why))
}
