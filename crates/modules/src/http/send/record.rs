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

use crate::http::request::call::PreparedRequest;
use crate::http::request::state::RunSettings;
use crate::http::samples::sampler::{HopFacts, UsualSeries, add};
use crate::http::trace::tracing::TracedHop;
use script::Vu;

/// How long a visitor on schedule has waited, by the end of the last exchange: how late the request began, and what its
/// exchanges took. Nothing where no plan started the request.
#[derive(Default)]
pub struct SincePlan(Cell<Option<Duration>>);

impl SincePlan {
    /// The request begins now.
    #[inline]
    pub fn begin(&self, vu: &Vu) {
        self.0.set(vu.take_lateness());
    }
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
        HopRecord { vu, run, prepared, request, exchange, last }.record(since_plan);
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
    let (usual, request) = (prepared.usual_series.get()?, prepared.sent.request.as_ref()?);
    let is_plain = is_first_hop(exchange, request)
        && exchange.timings.connecting.is_zero()
        && exchange.connection.as_ref().is_some_and(|connection| connection.kernel_stamps)
        && !exchange.is_upload_cut;
    if is_plain { usual.of(vu.tags_key(), exchange) } else { None }
}

/// Whether no redirect led elsewhere: a redirect makes a URL of its own, even of the same text.
#[inline]
fn is_first_hop(exchange: &Exchange, request: &Request) -> bool {
    exchange.url.is(&request.url) && discriminant(&exchange.method) == discriminant(&request.method)
}

/// An exchange about which nothing is taken for granted.
struct HopRecord<'a> {
    vu: &'a Vu,
    run: &'a RunSettings,
    prepared: &'a PreparedRequest,
    request: &'a Request,
    exchange: &'a Exchange,
    /// No other exchange of the request follows.
    last: bool,
}

impl HopRecord<'_> {
    // Not inlined: an exchange like the one before is recorded without it.
    #[inline(never)]
    fn record(&self, since_plan: &SincePlan) {
        if let Some(debug) = &self.run.debug {
            debug.answered(self.request, self.exchange, self.last);
        }
        self.run.unstamped.note(self.vu, self.exchange);
        if let Some(referee) = &self.run.referee {
            referee.note(self.vu, self.request, self.exchange);
        }
        let series = self.add_traced_samples();
        self.prepared.usual_series.set(series.and_then(|series| self.usual_series(series)));
        self.add_since_plan(since_plan);
    }

    /// Adds the samples and what there is to say of a trace. Samples that outputs get carry the id of a sampled one.
    fn add_traced_samples(&self) -> Option<Bundle> {
        let HopRecord { vu, run, prepared, request, exchange, last } = *self;
        if let (Some(traces), Some(trace)) = (&run.traces, &prepared.trace) {
            let hop = TracedHop { labels: &prepared.labels, request, exchange, last, mask: run.urls.mask() };
            traces.note(vu, trace, &hop);
        }
        match prepared.trace_id().filter(|_| vu.recorder().has_batches()) {
            Some(id) => vu.with_metadata("trace_id", &id, || self.add_samples()),
            None => self.add_samples(),
        }
    }

    /// Where the samples went; nowhere when the test's end cut the exchange short.
    fn add_samples(&self) -> Option<Bundle> {
        let HopRecord { request, exchange, .. } = self;
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
        let is_usual = self.last && is_first_hop(self.exchange, self.request) && !self.run.sampler.tells_address();
        if is_usual { UsualSeries::new(self.vu.tags_key(), self.exchange, series) } else { None }
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
