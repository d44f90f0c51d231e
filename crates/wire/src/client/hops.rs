//! The hops of a request that is more than one exchange, or whose head needs more than the caller's headers.
//!
//! Redirects, digest dialogues, cookies, credentials, proxies and content codings, in this order of thought. A plain
//! request never comes here but for its first connection. Invariant: each exchange that touched the network is either
//! handed to `hop` or returned, exactly once.

use std::borrow::Cow;

use super::{Client, HopClock};
use crate::client::exchange::{Exchange, Outgoing, WrittenHead, exchange};
use crate::client::redirect::{Hop, NextHop};
use crate::client::route::origins::Origin;
use crate::failure::{Failure, FailureKind, Step};
use crate::h1::encode::RequestHead;
use crate::payload::Payload;
use crate::request::{Auth, Request};
use crate::response::{Body, Content, Marks, Response};
use crate::syntax::auth::{self, Challenge, Subject};
use crate::syntax::codec::Undecoded;
use crate::syntax::cookies::{self, CookieJar, cookie_header};

impl Client {
    /// Goes on from the first exchange: takes its cookies, answers its challenge, follows it elsewhere, decodes its
    /// body.
    pub(super) async fn go_on(
        &self,
        request: &Request,
        jar: Option<&CookieJar>,
        hop: &mut dyn FnMut(&Exchange),
        mut clock: HopClock,
        (exchange, mut marks): (&mut Exchange, Marks),
    ) {
        let mut at = Hop::first(request);
        let mut digest = DigestState::default();
        loop {
            let Ok(response) = &exchange.outcome else { return };
            if let Some(jar) = jar.filter(|_| marks.sets_cookie) {
                let set_cookies = response.headers().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
                set_cookies.for_each(|(_, value)| jar.set_from_header(&at.url, value));
            }
            let answered = response.status == 401 && request.auth == Auth::Digest && digest.answer_to(response, &at);
            if !answered {
                match at.follow(response) {
                    NextHop::Done => {
                        if marks.is_coded {
                            self.decode(exchange);
                        }
                        return;
                    }
                    NextHop::Follow => digest = DigestState::default(),
                    NextHop::Failed(failure) => {
                        hop(exchange);
                        *exchange = Exchange::begin(at.method, at.url);
                        exchange.fail(&self.worker.io, failure);
                        return;
                    }
                }
            }
            hop(exchange);
            clock.ask_again(&self.worker.io);
            *exchange = Exchange::begin(at.method.clone(), at.url.clone());
            // Boxed: most that come here want a cookie stored or a body decoded, and send nothing more.
            marks = Box::pin(self.send_hop(request, &at, jar, digest.answer.as_deref(), &clock, exchange)).await;
        }
    }

    /// One exchange. `hop` is to say what happened.
    pub(super) async fn send_hop(
        &self,
        request: &Request,
        at: &Hop<'_>,
        jar: Option<&CookieJar>,
        digest: Option<&str>,
        clock: &HopClock,
        hop: &mut Exchange,
    ) -> Marks {
        let io = &self.worker.io;
        let mut head = io.take_head();
        let offer = self.offer(&at.url, request.prior_knowledge);
        // A certificate is shown to the host that it was given for, and not where that redirects to.
        let own = request.tls.as_ref().filter(|_| at.url.host == request.url.host);
        let encoded = self.origin_of(&at.url, offer, own).and_then(|origin| {
            let headers = self.encode_hop(request, at, (jar, digest), &origin, &mut head)?;
            Ok((origin, headers))
        });
        let (origin, headers) = match encoded {
            Ok(encoded) => encoded,
            Err(failure) => {
                io.return_head(head);
                hop.fail(io, failure);
                return Marks::default();
            }
        };
        if let Some(watch) = self.watch.get() {
            watch.sending(request, &head, at.body);
        }
        let out = Outgoing {
            method: &at.method,
            headers: &headers,
            asked: clock.asked,
            close: self.worker.settings.no_connection_reuse,
            work: self.work(&at.method, at.body, &request.body_use, clock),
        };
        let route = async || self.route(&origin).await;
        let bytes = WrittenHead { bytes: &head, http2: None };
        let marks = exchange(self.site(&origin), bytes, &out, route, hop).await;
        io.return_head(head);
        marks
    }

    /// Puts the head of a hop together, with what it needs beyond the caller's headers; which of those it has.
    fn encode_hop<'a>(
        &self,
        request: &Request,
        at: &'a Hop<'_>,
        (jar, digest): (Option<&CookieJar>, Option<&str>),
        origin: &Origin,
        head: &mut Vec<u8>,
    ) -> Result<Cow<'a, [(String, String)]>, Failure> {
        let cookie = cookie_of(request, at, jar)?;
        let headers = if cookie.is_some() { without_cookie(&at.headers) } else { Cow::Borrowed(&*at.headers) };
        let basic = match &at.url.userinfo {
            Some(userinfo) if request.auth == Auth::FromUserinfo => Some(auth::basic(userinfo)),
            _ => None,
        };
        let authorization = digest.or(basic.as_deref()).filter(|_| !has(&headers, "authorization"));
        let proxy = origin.plain_proxy.as_deref();
        let absolute = proxy.map(|_| format!("http://{}{}", at.url.authority, at.url.target));
        let fields = [
            ("Authorization", authorization),
            ("Cookie", cookie.as_deref()),
            ("Referer", at.referer.as_deref()),
            ("Proxy-Authorization", proxy.and_then(|p| p.authorization.as_deref())),
        ];
        let (mut added, mut count) = ([("", ""); 4], 0);
        for (name, value) in fields {
            if let Some(value) = value {
                added[count] = (name, value);
                count += 1;
            }
        }
        let parts = RequestHead {
            method: &at.method,
            target: absolute.as_deref().unwrap_or(&at.url.target),
            authority: &at.url.authority,
            user_agent: &self.worker.settings.user_agent,
            headers: &headers,
            added: &added[..count],
            body_len: at.body.map(Payload::len),
            close: self.worker.settings.no_connection_reuse,
        };
        parts.encode(head)?;
        Ok(headers)
    }

    /// Undoes the content codings of the result.
    fn decode(&self, exchange: &mut Exchange) {
        let Ok(response) = &mut exchange.outcome else { return };
        let mut codings = String::new();
        for (_, value) in response.headers().filter(|(name, _)| name.eq_ignore_ascii_case("content-encoding")) {
            codings.extend([&*String::from_utf8_lossy(value), ","]);
        }
        let Body::Kept(body) = &mut response.body else { return };
        match self.worker.decoder.borrow_mut().decode(&codings, std::mem::take(body).into()) {
            Ok(decoded) => *body = Content::from(decoded),
            Err(Undecoded { failure, so_far }) => {
                exchange.partial_body = so_far.map(Box::new);
                exchange.outcome = Err(failure);
            }
        }
    }
}

/// How far the digest dialogue of one hop has come.
#[derive(Default)]
struct DigestState {
    answer: Option<String>,
    renewed: bool,
}

impl DigestState {
    /// Prepares the answer to a 401. Refused credentials are not tried again; a stale nonce is renewed once.
    fn answer_to(&mut self, response: &Response, at: &Hop<'_>) -> bool {
        let Some(userinfo) = at.url.userinfo.as_ref().filter(|_| !has(&at.headers, "authorization")) else {
            return false;
        };
        let values = response.headers().filter(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"));
        let values = values.filter_map(|(_, value)| std::str::from_utf8(value).ok());
        let Some(challenge) = Challenge::find(values) else { return false };
        let renewal = self.answer.is_some();
        if renewal && (self.renewed || !challenge.stale) {
            return false;
        }
        self.renewed = renewal;
        let subject = Subject { method: at.method.as_str(), target: &at.url.target, body: at.body };
        self.answer = Some(challenge.answer(userinfo, &subject, &auth::fresh_cnonce()));
        true
    }
}

/// The Cookie header the client writes; `None` leaves one written by hand where it is. Fails for cookies that would end
/// its line.
fn cookie_of(request: &Request, at: &Hop<'_>, jar: Option<&CookieJar>) -> Result<Option<String>, Failure> {
    let jar = jar.filter(|jar| !jar.is_empty());
    if jar.is_none() && request.cookies.is_empty() {
        return Ok(None);
    }
    if let Some(message) = request.cookies.iter().find_map(|(name, value, _)| cookies::problem_in(name, value)) {
        return Err(Failure { step: Step::Prepare, kind: FailureKind::Other, message });
    }
    let own = at.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("cookie")).map(|(_, value)| value.as_str());
    Ok(cookie_header(own, &request.cookies, jar, &at.url))
}

pub(super) fn without_cookie(headers: &[(String, String)]) -> Cow<'_, [(String, String)]> {
    if !has(headers, "cookie") {
        return Cow::Borrowed(headers);
    }
    headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("cookie")).cloned().collect()
}

fn has(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name))
}
