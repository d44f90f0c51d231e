//! What the next hop looks like after a redirect. Pure: a response in, the changed request out.
//!
//! Followed are 301, 302, 303 (as GET without a body; HEAD stays HEAD), 307 and 308 (method and body as they were),
//! when they carry a Location. As in k6: a Cookie header written by hand belongs to the first hop alone; credentials do
//! not go to another host than the first one or below it, and once dropped they stay dropped; a Host header outlives
//! relative Locations only; Referer is set unless the script set one or https leads to http. Unlike Go, Referer never
//! carries the fragment (RFC 9110, section 10.1.3).
//!
//! Invariant: the request of the caller is never copied unless a redirect really changes it.

use std::borrow::Cow;

use crate::client::exchange::Exchange;
use crate::failure::{Failure, FailureKind, Step};
use crate::payload::Payload;
use crate::request::{Method, Request};
use crate::response::Response;
use crate::syntax::mask::Mask;
use crate::syntax::percent::quote;
use crate::syntax::url::Url;

/// The request as it is at the current hop.
pub(crate) struct Hop<'r> {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// The caller's headers, without those that a redirect took away.
    pub(crate) headers: Cow<'r, [(String, String)]>,
    pub(crate) body: Option<&'r Payload>,
    pub(crate) referer: Option<String>,
    redirects_left: u32,
    first: &'r Url,
    own_referer: bool,
}

/// What a response leads to.
#[derive(Debug)]
pub(crate) enum NextHop {
    /// It is the result.
    Done,
    /// The hop was changed: send it.
    Follow,
    /// It redirects to where nobody can go.
    Failed(Failure),
}

impl<'r> Hop<'r> {
    pub(crate) fn first(request: &'r Request) -> Hop<'r> {
        Hop {
            method: request.method.clone(),
            url: request.url.clone(),
            headers: Cow::Borrowed(&request.headers),
            body: request.body.as_ref(),
            referer: None,
            redirects_left: request.max_redirects,
            first: &request.url,
            own_referer: false,
        }
    }

    /// Turns this hop into the next one, if the response says so.
    pub(crate) fn follow(&mut self, response: &Response) -> NextHop {
        if !(301..=308).contains(&response.status) || self.redirects_left == 0 {
            return NextHop::Done;
        }
        let Some(location) = location_of(response) else { return NextHop::Done };
        let to = match self.url.join(&location) {
            Ok(to) => to,
            Err(error) => {
                let message = match error.kind {
                    FailureKind::InvalidUrl => {
                        let why = error.message.trim_start_matches("invalid URL: ");
                        format!("failed to parse Location header {}: {why}", quote(&Mask::of([]).url(&location)))
                    }
                    _ => error.message,
                };
                return NextHop::Failed(Failure { step: Step::Prepare, kind: error.kind, message });
            }
        };
        let keeps_body = matches!(response.status, 307 | 308);
        if !keeps_body {
            self.body = None;
            if self.method != Method::Head {
                self.method = Method::Get;
            }
        }
        self.own_referer |= self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("referer"));
        let abandoned = self.abandoned(&to, &location, keeps_body);
        self.headers.to_mut().retain(|(name, _)| !abandoned.iter().any(|a| a.eq_ignore_ascii_case(name)));
        self.referer = (!self.own_referer && (to.tls || !self.url.tls)).then(|| referer_of(&self.url));
        self.redirects_left -= 1;
        self.url = to;
        NextHop::Follow
    }

    /// Headers that do not go on to `to`.
    fn abandoned(&self, to: &Url, location: &str, keeps_body: bool) -> Vec<&'static str> {
        let mut names = vec!["Cookie"];
        if !keeps_body {
            names.extend(["Content-Type", "Content-Encoding", "Content-Language", "Content-Location"]);
        }
        if location.contains("://") || location.starts_with("//") {
            names.push("Host");
        }
        if !is_at_or_below(&to.host, &self.first.host) {
            names.extend(["Authorization", "Www-Authenticate", "Cookie2", "Proxy-Authorization", "Proxy-Authenticate"]);
        }
        names
    }
}

impl Exchange {
    /// Whether this is a redirect with a Location that was not followed: as the result of `Client::send` it means that
    /// `max_redirects` was reached.
    pub fn is_unfollowed_redirect(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|r| (301..=308).contains(&r.status) && location_of(r).is_some())
    }
}

/// The Location of a redirect; bytes that are no UTF-8 are escaped, as they will be on the request line.
fn location_of(response: &Response) -> Option<Cow<'_, str>> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let bytes = response.header("location").filter(|l| !l.is_empty())?;
    Some(match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().fold(String::new(), |mut text, byte| {
            if byte.is_ascii() {
                text.push(char::from(*byte));
            } else {
                text.push_str(&format!("%{byte:02X}"));
            }
            text
        })),
    })
}

fn referer_of(url: &Url) -> String {
    // The tag text is the clear one but for the userinfo, which Referer leaves out altogether. Servers know no h2c.
    let text = url.text.split('#').next().unwrap_or_default();
    let Some((scheme, mut rest)) = text.split_once("://") else { return text.to_owned() };
    if url.userinfo.is_some() {
        rest = rest.split_once('@').map_or(rest, |(_, host)| host);
    }
    format!("{}://{rest}", if url.h2c { "http" } else { scheme })
}

fn is_at_or_below(host: &str, top: &str) -> bool {
    if host == top {
        return true;
    }
    let is_name = top.parse::<std::net::IpAddr>().is_err() && !host.contains(':');
    is_name && host.strip_suffix(top).is_some_and(|rest| rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::request::{Auth, BodyUse};
    use crate::response::Body;

    fn request(method: Method, url: &str, headers: &[(&str, &str)]) -> Request {
        Request {
            method,
            url: Url::parse(url).unwrap(),
            headers: headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect::<Vec<_>>().into(),
            cookies: Rc::new([]),
            body: Some(Payload::from_bytes("body")),
            timeout: None,
            max_redirects: 10,
            auth: Auth::FromUserinfo,
            body_use: BodyUse::Keep,
            prior_knowledge: false,
            tls: None,
        }
    }

    fn answer(status: u16, location: impl AsRef<[u8]>) -> Response {
        let head = [format!("HTTP/1.1 {status} X\r\nLocation: ").as_bytes(), location.as_ref(), b"\r\n\r\n"].concat();
        Response { status, proto: "HTTP/1.1", head: head.into(), body: Body::None }
    }

    fn names(hop: &Hop<'_>) -> String {
        hop.headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn methods_and_bodies() {
        let post = request(Method::Post, "http://h/", &[("Content-Type", "t"), ("X-A", "b")]);
        for (status, method, body) in
            [(301, "GET", false), (302, "GET", false), (303, "GET", false), (307, "POST", true), (308, "POST", true)]
        {
            let mut hop = Hop::first(&post);
            assert!(matches!(hop.follow(&answer(status, "/n")), NextHop::Follow));
            assert_eq!((hop.method.as_str(), hop.body.is_some()), (method, body), "{status}");
            assert_eq!(names(&hop), if body { "Content-Type X-A" } else { "X-A" });
            assert_eq!(hop.url.text, "http://h/n");
        }
        let head = request(Method::Head, "http://h/", &[]);
        let mut hop = Hop::first(&head);
        assert!(matches!(hop.follow(&answer(303, "/n")), NextHop::Follow));
        assert_eq!(hop.method, Method::Head);
    }

    #[test]
    fn what_is_not_followed() {
        let get = request(Method::Get, "http://h/", &[]);
        for (status, location) in
            [(200, "/n"), (300, "/n"), (304, "/n"), (305, "/n"), (306, "/n"), (302, ""), (400, "/n")]
        {
            assert!(matches!(Hop::first(&get).follow(&answer(status, location)), NextHop::Done), "{status}");
        }
        let limited = Request { max_redirects: 1, ..get };
        let mut hop = Hop::first(&limited);
        assert!(matches!(hop.follow(&answer(302, "/n")), NextHop::Follow));
        assert!(matches!(hop.follow(&answer(302, "/m")), NextHop::Done));
        assert_eq!(hop.url.text, "http://h/n");
    }

    #[test]
    fn credentials_stay_with_the_first_host() {
        let all = [("Authorization", "a"), ("Cookie", "own=1"), ("X-A", "b"), ("Host", "fake")];
        let get = request(Method::Get, "http://u:p@foo.test/", &all);
        let cases = [
            ("/n", "Authorization X-A Host", true),
            ("http://foo.test:81/n", "Authorization X-A", false),
            ("http://s.foo.test/n", "Authorization X-A", false),
            ("http://bar.test/n", "X-A", false),
            ("//xfoo.test/n", "X-A", false),
        ];
        for (location, left, userinfo) in cases {
            let mut hop = Hop::first(&get);
            assert!(matches!(hop.follow(&answer(302, location)), NextHop::Follow));
            assert_eq!((names(&hop).as_str(), hop.url.userinfo.is_some()), (left, userinfo), "{location}");
            assert_eq!(hop.referer.as_deref(), Some("http://foo.test/"), "{location}");
        }
        let mut hop = Hop::first(&get);
        hop.follow(&answer(302, "http://bar.test/n"));
        hop.follow(&answer(302, "http://foo.test/n"));
        assert_eq!(names(&hop), "X-A", "credentials came back after another host");
        assert!(!is_at_or_below("1.127.0.0.1", "127.0.0.1"));
    }

    #[test]
    fn referers() {
        let cases = [
            ("http://h/a?b#c", "/n", Some("http://h/a?b")),
            ("https://h/a", "http://h/n", None),
            ("https://h/a", "/n", Some("https://h/a")),
            ("http://u@h/@x", "/n", Some("http://h/@x")),
            ("h2c://u@h/a#f", "/n", Some("http://h/a")),
            ("h2c://h/a", "https://h/n", Some("http://h/a")),
        ];
        for (from, location, referer) in cases {
            let get = request(Method::Get, from, &[]);
            let mut hop = Hop::first(&get);
            hop.follow(&answer(302, location));
            assert_eq!(hop.referer.as_deref(), referer, "{from}");
        }
        let own = request(Method::Get, "http://h/", &[("referer", "mine")]);
        let mut hop = Hop::first(&own);
        hop.follow(&answer(302, "/n"));
        assert_eq!((hop.referer.as_deref(), names(&hop).as_str()), (None, "referer"));
    }

    #[test]
    fn locations_that_lead_nowhere() {
        let get = request(Method::Get, "http://h/", &[]);
        let failed = |location: &[u8]| match Hop::first(&get).follow(&answer(302, location)) {
            NextHop::Failed(failure) => (failure.kind, failure.message),
            other => panic!("{location:?} gave {other:?}"),
        };
        let expected = "failed to parse Location header \"http://a b/\": parse \"http://a b/\": invalid character \" \
            \" in host name";
        assert_eq!(failed(b"http://a b/"), (FailureKind::InvalidUrl, expected.into()));
        assert_eq!(failed(b"ftp://x/"), (FailureKind::Other, "unsupported protocol scheme \"ftp\"".into()));
        let mut hop = Hop::first(&get);
        assert!(matches!(hop.follow(&answer(302, b"/\xe9")), NextHop::Follow));
        assert_eq!(hop.url.target, "/%E9");
    }
}
