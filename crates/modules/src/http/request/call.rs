//! A request ready to be sent, and its outcome.
//!
//! Both are plain values. `prepare.rs` makes the first of what a script gave, `send.rs` fills in the second,
//! `response.rs` shows them to the script.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use host::js::Value;
use host::lazy_object::{Lazy, Spare};
use host::memory::Reservation;
use metrics::SystemTag;
use wire::cookies::CookieJar;
use wire::{Body, Exchange, Failure, FailureKind, Method, Payload, Request, Response, Step};

use super::intake::Intake;
use super::params::ResponseType;
use crate::http::common::url::{Target, Unsendable};
use crate::http::samples::sampler::{Labels, UsualSeries};
use crate::http::trace::request_trace::RequestTrace;
use script::Vu;
use script::series::SampleTags;

/// The arguments of one request, as the script gave them.
pub struct RequestArgs<'a, 'js> {
    /// Method.
    pub method: Method,
    /// URL: text or template.
    pub url: Option<&'a Value<'js>>,
    /// Body.
    pub body: Option<&'a Value<'js>>,
    /// Params.
    pub params: Option<&'a Value<'js>>,
}

/// A request ready to be sent.
pub struct PreparedRequest {
    /// What is sent, and what the response says about it.
    pub sent: Sent,
    /// What its samples say of it.
    pub labels: Labels,
    /// Cookies that go along, and where those of the answer go.
    pub jar: Rc<CookieJar>,
    /// Who sends it, when it is not the user's own client.
    pub client: Option<Rc<wire::Client>>,
    /// Why it fails before anything is sent.
    pub unsendable: Option<Unsendable>,
    /// How the script wants the body.
    pub response_type: ResponseType,
    /// Throw when it fails.
    pub throw: bool,
    /// Who takes the body while it arrives.
    pub intake: Intake,
    /// Warn when redirects were cut off: the limit is the default one.
    pub warn_redirects: bool,
    /// Where its samples went last.
    pub usual_series: Cell<Option<UsualSeries>>,
    /// Its trace, if it is in one.
    pub trace: Option<Box<RequestTrace>>,
}

impl PreparedRequest {
    /// What is sent, unless it cannot be.
    #[inline]
    pub fn sendable(&self) -> Option<&Request> {
        self.sent.request.as_ref().filter(|_| self.unsendable.is_none())
    }

    /// The trace where the request is found, if it is sampled.
    pub fn trace_id(&self) -> Option<String> {
        let ids = self.trace.as_ref().map(|trace| trace.ids).filter(|ids| ids.is_sampled)?;
        Some(format!("{:032x}", ids.trace))
    }

    /// It is sent by a client that the script made.
    pub fn is_of_client(&self) -> bool {
        self.client.is_some()
    }

    /// The tags of samples about it that no answer is needed for: its own, its method and its name.
    pub fn own_tags(&self, vu: &Vu) -> SampleTags {
        let (system, labels) = (vu.options().enabled_system_tags(), &self.labels);
        let given = labels.extra.iter().flat_map(|tags| tags.iter());
        let mut tags: SampleTags = given.map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let name = labels.name.as_ref().unwrap_or(&labels.url);
        let told = [(SystemTag::Method, self.sent.method.as_str()), (SystemTag::Name, name), (SystemTag::Url, name)];
        let enabled = told.into_iter().filter(|(tag, _)| system.has(*tag));
        tags.extend(enabled.map(|(tag, value)| (tag.name().to_owned(), value.to_owned())));
        tags
    }
}

/// What `response.request` shows.
pub struct Sent {
    /// Where to.
    pub target: Rc<Target>,
    /// Method.
    pub method: Method,
    /// Absent when the URL cannot be requested.
    pub request: Option<Request>,
    /// The body as the script gave it, before compression.
    pub body: Option<Payload>,
    /// Cookies of the jar that went along.
    pub jar_cookies: Vec<(String, String)>,
    /// User-Agent unless the headers have one.
    pub user_agent: Rc<str>,
}

/// A request and its outcome. It lies where the response object will look for it from the start, so that none of it is
/// copied again.
pub struct Call {
    /// What is sent.
    pub prepared: Rc<PreparedRequest>,
    /// There from the start, to be filled in; none when the request cannot be sent.
    exchange: Option<Exchange>,
    /// The user's memory that a large body takes.
    memory: Option<Reservation>,
}

/// Bodies up to this size are not counted as the user's memory: their responses rarely stay.
const SMALL_BODY: usize = 4 << 10;

/// Blocks that wait for a request: as many as a turn of a worker has users, four times over.
const MOST_SPARES: usize = 256;

thread_local! {
    /// Blocks of responses that are gone, the last one first: it is in the processor's cache. A request takes one block
    /// from here, and a GET 66 instructions less than with one from the allocator, of 6,378 (callgrind).
    static SPARES: RefCell<Vec<Spare<Call>>> = const { RefCell::new(Vec::new()) };
}

impl Call {
    /// A request not sent yet, in the block of the response object that will be made of it.
    #[inline(always)]
    pub fn new(prepared: Rc<PreparedRequest>) -> Rc<Lazy<Call>> {
        Lazy::new_in(SPARES.with_borrow_mut(Vec::pop), || {
            let exchange = prepared.sendable().map(Exchange::of);
            Call { prepared, exchange, memory: None }
        })
    }

    /// Keeps the block of a response that is gone for the next request of this thread.
    #[inline]
    pub fn retire(call: Rc<Lazy<Call>>) {
        let Some(spare) = Lazy::into_spare(call) else { return };
        // A thread that is ending has no list any more.
        _ = SPARES.try_with(|spares| {
            let mut spares = spares.borrow_mut();
            if spares.len() < MOST_SPARES {
                spares.push(spare);
            }
        });
    }

    /// The request, before its response object is made.
    #[inline]
    pub fn not_shared(call: &mut Rc<Lazy<Call>>) -> &mut Call {
        Rc::get_mut(call).expect("nobody has it before its response object")
    }

    /// The request, and where what happens to it goes; nowhere when it cannot be sent.
    #[inline(always)]
    pub fn parts(&mut self) -> (&PreparedRequest, Option<&mut Exchange>) {
        (&self.prepared, self.exchange.as_mut())
    }

    /// The last exchange is over. Counts its body in the user's memory as long as the response lives: one that does not
    /// fit there is dropped, and its request has failed.
    #[inline]
    pub fn end(&mut self, vu: &Vu) {
        if let Some(Exchange { outcome: Ok(Response { body: Body::Kept(body), .. }), .. }) = &self.exchange
            && body.len() > SMALL_BODY
        {
            self.count_body(vu, body.len());
        }
    }

    fn count_body(&mut self, vu: &Vu, bytes: usize) {
        match vu.memory().reserve(bytes) {
            Ok(reserved) => self.memory = Some(reserved),
            Err(over) => {
                let message = format!("response body too large: {over}");
                let failure = Failure { step: Step::Receive, kind: FailureKind::BodyTooLarge, message };
                self.exchange.iter_mut().for_each(|exchange| exchange.outcome = Err(failure.clone()));
            }
        }
    }

    /// The last exchange; `None` when the URL cannot be requested.
    pub fn exchange(&self) -> Option<&Exchange> {
        self.exchange.as_ref()
    }
}

/// The URL as it is requested, without name and password.
pub fn without_userinfo(url: &wire::Url) -> String {
    format!("{}://{}{}", url.scheme(), url.authority, url.target)
}
