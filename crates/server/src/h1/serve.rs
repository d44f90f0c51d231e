//! The requests of one connection, one after the other: read a head, read its body, carry out the reply, again.
//!
//! Requests that arrive together are answered in order and leave together; nothing that is ready waits for something
//! that is not: the output is flushed before every wait, for input, for a timer or for a body. A request counts the
//! moment its head is complete, before anything else can go wrong. What most requests do not need (bodies, streams,
//! waits) is a future of its own, made when it is needed.

use std::io;

use crate::after::After;
use crate::app::AppRequest;
use crate::connection::phase_timer::Phase;
use crate::h1::connection::{Begun, Connection, Filled, NO_REQUEST};
use crate::h1::upload::{BadBody, BodyRead, Uploaded};
use crate::h2;
use crate::kept::Kept;
use crate::outgoing::respond::{Reply, Response};
use crate::refusal::instead;
use crate::request::split_target;
use crate::route::{self, ROUTES, STATS};
use wire::h1::framing::BodyFraming;
use wire::h1::request_head::{self, Refused};

/// What the input holds.
enum Next {
    Partial,
    Refused(Refused),
    /// The connection is one of HTTP/2.
    Http2,
    /// Answered already.
    Reply(Begun, Reply),
    /// For the app, which may have the answer at once: no body, no upgrade.
    Asked(Begun, AppRequest),
    /// With a body, or for the app; with the answer when the route is not to run.
    Begun(Begun, Option<Box<Response>>),
}

impl Connection {
    /// Serves until either side ends it. Errors of the socket end it silently: the client knows better what happened.
    pub(crate) async fn serve(mut self) {
        let after = self.exchanges().await;
        if self.stream.is_handshaking() {
            self.worker.stats().tls_failed.add(1);
        }
        if let Ok(after @ (After::Close | After::CloseUnread)) = after {
            // Boxed, as below: the future of a connection that only answers stays small.
            let _client_gone = Box::pin(self.close(after)).await;
        }
    }

    async fn exchanges(&mut self) -> io::Result<After> {
        loop {
            let after = match self.next() {
                Next::Partial => match self.fill().await? {
                    Filled::Bytes => After::Continue,
                    Filled::End => After::Abandon,
                    Filled::TooLong(phase) => Box::pin(self.time_out(phase)).await?,
                },
                Next::Refused(refused) => Box::pin(self.refuse(refused)).await?,
                Next::Http2 => {
                    let ahead = std::mem::take(&mut self.input);
                    Box::pin(h2::serve(
                        self.stream.clone(),
                        self.peer,
                        &self.worker,
                        &self.timer,
                        self.witness.clone(),
                        ahead,
                    ))
                    .await?
                }
                Next::Reply(begun, reply) => {
                    self.begin(begun);
                    let after = match &reply {
                        Reply::Respond(response) => self.reply_at_once(begun, response),
                        _ => None,
                    };
                    match after {
                        Some(after) => after,
                        None => Box::pin(self.carry_out(begun, reply)).await?,
                    }
                }
                Next::Asked(begun, request) => match self.ask(begun, request).await {
                    Ok(after) => after,
                    Err(answering) => Box::pin(self.fetch_on(begun, answering)).await?,
                },
                Next::Begun(begun, instead) => Box::pin(self.exchange(begun, instead)).await?,
            };
            if after != After::Continue {
                return Ok(after);
            }
        }
    }

    /// Parses and counts the next head, and runs its route when that is all there is to do.
    fn next(&self) -> Next {
        let input = &self.input[self.start..];
        if input.is_empty() {
            return Next::Partial;
        }
        let mut room = request_head::header_room();
        let head = match request_head::parse_within(input, &mut room, self.worker.limits().head) {
            Ok(Some(head)) => head,
            Ok(None) => return Next::Partial,
            Err(_) if self.is_http2(input) => return Next::Http2,
            Err(refused) => return Next::Refused(refused),
        };
        let found = route::find(split_target(head.target).0);
        let of_app = self.worker.app().is_some() && found.is_none_or(|(index, _)| index != STATS);
        let found = found.filter(|_| !of_app);
        let route = found.map(|(index, _)| index);
        self.worker.stats().count(route);
        let is_head = head.method == "HEAD";
        let begun = Begun { route, of_app, head_len: head.len, framing: head.framing, minor: head.minor, is_head };
        if let Some(witness) = self.witness.as_ref().filter(|_| begun.is_told()) {
            witness.arrived();
        }
        if of_app {
            let is_plain = head.framing.body == BodyFraming::None && head.header("upgrade").is_none();
            return if is_plain { Next::Asked(begun, self.app_request(&head)) } else { Next::Begun(begun, None) };
        }
        let instead = instead(route, head.method, head.framing, self.worker.limits().body);
        match (found, instead) {
            (Some((index, params)), None) if head.framing.body == BodyFraming::None => {
                Next::Reply(begun, (ROUTES[index].run)(&self.request(&head, params, &[], 0)))
            }
            (_, Some(response)) if head.framing.body == BodyFraming::None => Next::Reply(begun, response.into()),
            (_, instead) => Next::Begun(begun, instead.map(Box::new)),
        }
    }

    /// Whether bytes that are no head begin a connection of HTTP/2. Asked about such alone, so that no request pays for
    /// it.
    fn is_http2(&self, input: &[u8]) -> bool {
        self.is_first && (h2::is_preface(input) || self.stream.chose_http2())
    }

    /// An idle connection closes without a word, a request that does not end gets an answer that says so.
    async fn time_out(&mut self, phase: Phase) -> io::Result<After> {
        if phase == Phase::Idle || self.worker.is_stopping() || self.stream.is_handshaking() {
            return Ok(After::Close);
        }
        self.worker.stats().timed_out.add(1);
        let why =
            if phase == Phase::Fresh { "no request came in time" } else { "the request head did not end in time" };
        self.respond(NO_REQUEST, Response::error(408, why), false).await?;
        Ok(After::CloseUnread)
    }

    async fn refuse(&mut self, refused: Refused) -> io::Result<After> {
        self.worker.stats().malformed.add(1);
        self.respond(NO_REQUEST, Response::error(refused.status, refused.why), false).await?;
        Ok(After::CloseUnread)
    }

    async fn exchange(&mut self, begun: Begun, mut instead: Option<Box<Response>>) -> io::Result<After> {
        self.is_first = false;
        self.timer.enter(Phase::Busy, self.worker.now());
        if let Some(app) = self.worker.app().filter(|_| begun.of_app).cloned() {
            return self.fetch(&app, begun).await;
        }
        let head_end = self.start + begun.head_len;
        if let Some(response) = instead.take_if(|r| begun.framing.expect_continue || r.status == 413) {
            self.respond(begun, *response, false).await?;
            return Ok(After::CloseUnread);
        }
        let mut body = BodyRead::new(begun, instead.is_none(), self.worker.limits().body, self.worker.budget());
        if let Uploaded::Refused(bad) = self.read_body(&mut body, begun, head_end).await? {
            self.worker.stats().timed_out.add(u64::from(matches!(bad, BadBody::TimedOut)));
            self.respond(begun, bad.response(self.worker.budget()), false).await?;
            return Ok(After::CloseUnread);
        }
        let reply = instead.map_or_else(|| self.run(begun, &body), Reply::Respond);
        let reply = match body.kept {
            Some(kept) => kept.answered_by(reply),
            None => reply,
        };
        self.start = head_end;
        self.carry_out(begun, reply).await
    }

    async fn carry_out(&mut self, begun: Begun, reply: Reply) -> io::Result<After> {
        self.timer.enter(Phase::Busy, self.worker.now());
        match reply {
            Reply::Respond(response) => self.respond(begun, *response, begun.framing.keep_alive).await,
            Reply::Fault(fault) => self.misbehave(fault).await,
            Reply::Upgrade(opening) => Box::pin(self.upgrade(*opening)).await,
        }
    }

    /// Runs the route. The head is parsed again, because its borrow could not be held while the body was read.
    fn run(&self, begun: Begun, body: &BodyRead) -> Reply {
        let mut room = request_head::header_room();
        let head = request_head::parse(&self.input[self.start..], &mut room);
        let Ok(Some(head)) = &head else { unreachable!("this head was parsed before") };
        let found = route::find(split_target(head.target).0);
        let (index, params) = found.expect("a request without a route has its answer already");
        debug_assert_eq!(Some(index), begun.route);
        (ROUTES[index].run)(&self.request(head, params, body.kept.as_ref().map_or(&[], Kept::bytes), body.length))
    }
}
