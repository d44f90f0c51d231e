//! What is done with each exchange of a request once it is over: its bytes are counted, it becomes samples, and those
//! who watch are told.
//!
//! One function for all who drive exchanges; it waits for nothing and calls no script. A prepared request that is sent
//! again keeps where its samples went. While nobody watches and the answer is the usual one, recording it is some
//! comparisons and one call.

use std::cell::Cell;
use std::mem::discriminant;
use std::time::{Duration, SystemTime};

use metrics::Bundle;
use wire::request::Auth;
use wire::{Exchange, FailureKind, Request, Timings};

use super::call::PreparedRequest;
use super::samples::{HopFacts, add};
use super::state::RunSettings;
use crate::Vu;

/// How long a visitor on schedule has waited, by the end of the last exchange: how late the request began, and what its
/// exchanges took. Nothing where no plan started the request.
#[derive(Default)]
pub struct SincePlan(Cell<Option<Duration>>);

impl SincePlan {
    /// Of a request that begins now.
    pub fn begin(vu: &Vu) -> SincePlan {
        SincePlan(Cell::new(vu.take_lateness()))
    }
}

/// Where the samples of a request went last, and what of the answer decided it. Everything else that decides it is the
/// request's own.
#[derive(Clone, Copy)]
pub struct UsualSeries {
    tags_key: u32,
    status: u16,
    proto: &'static str,
    tls_version: Option<&'static str>,
    series: Bundle,
}

/// Records an exchange of a request. `last`: no other exchange of it follows.
#[inline]
pub fn record(
    vu: &Vu,
    run: &RunSettings,
    prepared: &PreparedRequest,
    exchange: &Exchange,
    since_plan: &SincePlan,
    last: bool,
) {
    vu.count_data(exchange.bytes_sent, exchange.bytes_received);
    let is_plain = last && !run.is_watched && since_plan.0.get().is_none();
    if is_plain && let Some(series) = usual_series(vu, prepared, exchange) {
        return add(vu.recorder(), series, &exchange.timings, exchange.ended_at);
    }
    if let Some(request) = &prepared.sent.request {
        Hop { vu, run, prepared, request, exchange, last }.record(since_plan);
    }
}

/// Records a request that fails before anything is sent.
pub fn record_unsent(vu: &Vu, run: &RunSettings, prepared: &PreparedRequest) {
    let why = prepared.unsendable.as_ref();
    let hop = HopFacts {
        method: &prepared.sent.method,
        outcome: Err(why.map_or((FailureKind::Other, ""), |why| (why.kind, &why.message))),
        timings: Timings::default(),
        ended_at: SystemTime::now(),
        ip: None,
    };
    run.sampler.record(vu, &prepared.labels, &hop, None, false);
}

/// Where the samples go, if the exchange is like the last one: with the URL that was asked for, over a connection that
/// was there, timed by the kernel.
#[inline]
fn usual_series(vu: &Vu, prepared: &PreparedRequest, exchange: &Exchange) -> Option<Bundle> {
    let usual = prepared.usual_series.get()?;
    let (Ok(response), Some(connection)) = (&exchange.outcome, &exchange.connection) else { return None };
    let request = prepared.sent.request.as_ref()?;
    let is_same = usual.tags_key == vu.tags_key()
        && usual.status == response.status
        && std::ptr::eq(usual.proto, response.proto)
        && usual.tls_version.map(str::as_ptr) == connection.tls_version.map(str::as_ptr)
        && is_first_hop(exchange, request)
        && exchange.timings.connecting.is_zero()
        && connection.kernel_stamps
        && !exchange.is_upload_cut;
    is_same.then_some(usual.series)
}

/// Whether no redirect led elsewhere: a redirect makes a URL of its own, even of the same text.
#[inline]
fn is_first_hop(exchange: &Exchange, request: &Request) -> bool {
    exchange.url.is(&request.url) && discriminant(&exchange.method) == discriminant(&request.method)
}

/// An exchange about which nothing is taken for granted.
struct Hop<'a> {
    vu: &'a Vu,
    run: &'a RunSettings,
    prepared: &'a PreparedRequest,
    request: &'a Request,
    exchange: &'a Exchange,
    /// No other exchange of the request follows.
    last: bool,
}

impl Hop<'_> {
    #[inline(never)]
    fn record(&self, since_plan: &SincePlan) {
        if let Some(debug) = &self.run.debug {
            debug.answered(self.request, self.exchange, self.last);
        }
        self.run.unstamped.note(self.vu, self.exchange);
        if let Some(referee) = &self.run.referee {
            referee.note(self.vu, self.request, self.exchange);
        }
        let series = self.add_samples();
        self.prepared.usual_series.set(series.and_then(|series| self.usual_series(series)));
        self.add_since_plan(since_plan);
    }

    /// Where the samples went; nowhere when the test's end cut the exchange short.
    fn add_samples(&self) -> Option<Bundle> {
        let Hop { request, exchange, .. } = self;
        let mask = self.run.urls.mask();
        let masked;
        let mut hop = HopFacts::of(exchange);
        if let Err((kind @ FailureKind::InvalidUrl, message)) = hop.outcome {
            masked = mask.text(message);
            hop.outcome = Err((kind, &masked));
        }
        let is_digest = request.auth == Auth::Digest;
        let challenge = is_digest && !self.last && matches!(&hop.outcome, Ok(answer) if answer.status == 401);
        let is_elsewhere = exchange.url != request.url && !(is_digest && is_digest_leg(exchange, request));
        let own_url = is_elsewhere.then(|| mask.url(&wire::Url::written(&exchange.url.text)).into_owned());
        self.run.sampler.record(self.vu, &self.prepared.labels, &hop, own_url.as_deref(), challenge)
    }

    /// What the next exchange has to be like to have its samples there, too. An address is asked of each.
    fn usual_series(&self, series: Bundle) -> Option<UsualSeries> {
        let Hop { request, exchange, .. } = self;
        let (Ok(response), Some(connection)) = (&exchange.outcome, &exchange.connection) else { return None };
        let is_usual = self.last && is_first_hop(exchange, request) && !self.run.sampler.tells_address();
        is_usual.then(|| UsualSeries {
            tags_key: self.vu.tags_key(),
            status: response.status,
            proto: response.proto,
            tls_version: connection.tls_version,
            series,
        })
    }

    /// What somebody who came on schedule has waited, once the last exchange is over.
    fn add_since_plan(&self, since_plan: &SincePlan) {
        let Some(before) = since_plan.0.get() else { return };
        let timings = &self.exchange.timings;
        let waited = before + timings.blocked + timings.duration();
        since_plan.0.set(Some(waited));
        if self.last {
            self.run.sampler.record_from_plan(self.vu, &HopFacts::of(self.exchange), waited);
        }
    }
}

/// Whether the hop is a leg of a digest exchange with the URL that was asked for.
fn is_digest_leg(exchange: &Exchange, request: &Request) -> bool {
    exchange.url.target == request.url.target && exchange.url.same_origin(&request.url)
}
