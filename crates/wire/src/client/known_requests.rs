//! Heads of plain requests that were sent lately: a script asks for the same few things again and again.
//!
//! A head that says what it said before is not encoded again, and its origin is not looked for. A request is recognised
//! by its URL, which must be a copy of the one sent before, method, length of its body, headers and what its connection
//! may speak. Refuses heads over
//! 4 KiB, and everything that cookies, credentials, referers or proxies add something to. Invariant: the head of a
//! known request is what encoding it again would give.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::client::exchange::WrittenHead;
use crate::client::route::origins::Origin;
use crate::client::worker::context::IoContext;
use crate::h2::Http2Head;
use crate::payload::Payload;
use crate::recent::Recent;
use crate::request::{Method, Request};
use crate::syntax::url::Url;
use crate::tls::config::Offer;

/// A longer head is not kept.
const LONGEST: usize = 4 << 10;

/// The plain requests that one worker sent lately.
#[derive(Default)]
pub(crate) struct KnownRequests(Recent<Rc<KnownRequest>>);

/// One of them.
pub(crate) struct KnownRequest {
    url: Url,
    method: Method,
    body_len: Option<u64>,
    headers: Rc<[(String, String)]>,
    offer: Offer,
    origin: Rc<Origin>,
    head: Box<[u8]>,
    /// The same for HTTP/2, once it was sent so.
    http2: OnceCell<Http2Head>,
}

/// The head of a request that nothing is added to, and where it goes.
pub(crate) enum PlainHead {
    /// Sent before.
    Known(Rc<KnownRequest>),
    /// In the worker's buffer.
    Once(Rc<Origin>, Vec<u8>),
}

impl KnownRequest {
    #[inline]
    fn is(&self, request: &Request, offer: Offer) -> bool {
        self.url.is_copy_of(&request.url)
            && self.offer == offer
            && self.method == request.method
            && self.body_len == request.body.as_ref().map(Payload::len)
            && (Rc::ptr_eq(&self.headers, &request.headers) || self.headers == request.headers)
    }
}

impl KnownRequests {
    /// The request, if it was sent before.
    #[inline]
    pub(crate) fn find(&self, request: &Request, offer: Offer) -> Option<Rc<KnownRequest>> {
        self.0.find(|known| known.is(request, offer))
    }

    /// Keeps the head that a request was just encoded to, if it is likely to come again.
    pub(crate) fn learn(&self, io: &IoContext, request: &Request, origin: Rc<Origin>, head: Vec<u8>) -> PlainHead {
        if head.len() > LONGEST || !self.0.is_learning() {
            return PlainHead::Once(origin, head);
        }
        let known = Rc::new(KnownRequest {
            url: request.url.clone(),
            method: request.method.clone(),
            body_len: request.body.as_ref().map(Payload::len),
            headers: Rc::clone(&request.headers),
            offer: origin.offer,
            origin,
            head: head.as_slice().into(),
            http2: OnceCell::new(),
        });
        io.return_head(head);
        self.0.keep(Rc::clone(&known));
        PlainHead::Known(known)
    }
}

impl PlainHead {
    pub(crate) fn origin(&self) -> &Rc<Origin> {
        match self {
            PlainHead::Known(known) => &known.origin,
            PlainHead::Once(origin, _) => origin,
        }
    }

    #[inline]
    pub(crate) fn head(&self) -> WrittenHead<'_> {
        match self {
            PlainHead::Known(known) => WrittenHead { bytes: &known.head, http2: Some(&known.http2) },
            PlainHead::Once(_, head) => WrittenHead { bytes: head, http2: None },
        }
    }

    /// To be called when it was sent.
    #[inline]
    pub(crate) fn give_back(&mut self, io: &IoContext) {
        if let PlainHead::Once(_, head) = self {
            io.return_head(std::mem::take(head));
        }
    }

    /// Its bytes, for who goes on with it; they are gone here.
    pub(crate) fn take(&mut self) -> PlainHead {
        match self {
            PlainHead::Known(known) => PlainHead::Known(Rc::clone(known)),
            PlainHead::Once(origin, head) => PlainHead::Once(Rc::clone(origin), std::mem::take(head)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::route::origins::Origins;
    use crate::request::{Auth, BodyUse};
    use crate::settings::Settings;

    fn request(url: &Url) -> Request {
        Request {
            method: Method::Post,
            url: url.clone(),
            headers: Rc::new([("x-a".to_owned(), "1".to_owned())]),
            cookies: Rc::new([]),
            body: Some(Payload::from_bytes("abc")),
            timeout: None,
            max_redirects: 0,
            auth: Auth::FromUserinfo,
            body_use: BodyUse::Keep,
            prior_knowledge: false,
            tls: None,
        }
    }

    fn learned(request: &Request, length: usize) -> (KnownRequests, PlainHead) {
        let settings = Settings::default();
        let origin = Origins::new(&settings).unwrap().find(&request.url, Offer::Http1).unwrap();
        let known = KnownRequests::default();
        let head = known.learn(&IoContext::new(settings.limits, None), request, origin, vec![b'h'; length]);
        (known, head)
    }

    #[test]
    fn a_request_is_known_by_all_that_its_head_is_made_of() {
        let url = Url::parse("http://a.test/x").unwrap();
        let one = request(&url);
        let (known, _) = learned(&one, 100);
        let found = |request: &Request, offer| known.find(request, offer).map(|known| known.head.len());
        assert_eq!(found(&one, Offer::Http1), Some(100));
        let equal =
            Request { headers: one.headers.to_vec().into(), body: Some(Payload::from_bytes("xyz")), ..request(&url) };
        assert_eq!(found(&equal, Offer::Http1), Some(100), "equal headers, a body of the same length");
        assert_eq!(found(&one, Offer::OnlyHttp2), None);
        for other in [
            request(&Url::parse("http://a.test/x").unwrap()),
            Request { method: Method::Put, ..request(&url) },
            Request { headers: Rc::new([]), ..request(&url) },
            Request { body: Some(Payload::from_bytes("abcd")), ..request(&url) },
            Request { body: None, ..request(&url) },
        ] {
            assert_eq!(found(&other, Offer::Http1), None);
        }
    }

    #[test]
    fn a_long_head_is_sent_once_and_not_kept() {
        let one = request(&Url::parse("http://a.test/x").unwrap());
        for (length, is_kept) in [(1, true), (LONGEST, true), (LONGEST + 1, false), (2 * LONGEST, false)] {
            let (known, head) = learned(&one, length);
            assert_eq!(head.head().bytes.len(), length);
            assert_eq!(matches!(head, PlainHead::Known(_)), is_kept, "{length}");
            assert_eq!(known.find(&one, Offer::Http1).is_some(), is_kept, "{length}");
        }
    }
}
