//! Sends a prepared request and records what happens. Holds no script value, so that the functions that wait,
//! `asyncRequest` and `batch` share it.

use wire::{Client, Exchange, Request};

use super::record::{SincePlan, record, record_unsent};
use crate::http::request::call::{Call, PreparedRequest};
use crate::http::request::intake::Intake;
use crate::http::request::state::{HttpState, RunSettings};
use script::{SampleContext, Vu};

/// Sends a request and records what happens.
pub async fn perform(vu: &Vu, state: &HttpState, call: &mut Call) {
    perform_by(Sender::of(vu, state), call).await;
}

/// The same while the script goes on: samples carry the tags and metadata that were set when it asked, as in k6.
pub async fn perform_beside(vu: &Vu, state: &HttpState, call: &mut Call, asked: SampleContext) {
    perform_by(Sender { asked: Some(asked), ..Sender::of(vu, state) }, call).await;
}

async fn perform_by(sender: Sender<'_>, call: &mut Call) {
    let vu = sender.vu;
    let (prepared, place) = call.parts();
    let (Some(request), Some(place)) = (prepared.sendable(), place) else {
        return sender.as_asked(|| record_unsent(vu, sender.run, prepared));
    };
    if let Some(context) = vu.context().filter(|context| context.limit.is_some()) {
        context.wait_turn().await;
    }
    if let Intake::Events(events) = &prepared.intake {
        events.ask();
    }
    let before_last = &mut |exchange: &Exchange| sender.record(prepared, exchange, false);
    sender.begin();
    sender.client(prepared).send_into(request, Some(&prepared.jar), before_last, place).await;
    sender.end(call);
}

/// Whoever sends one request, from its beginning to its samples.
pub struct Sender<'a> {
    vu: &'a Vu,
    run: &'a RunSettings,
    since_plan: SincePlan,
    /// What samples carry, where the script does not wait for the request.
    asked: Option<SampleContext>,
}

impl<'a> Sender<'a> {
    /// Who will send a request.
    #[inline]
    pub fn of(vu: &'a Vu, state: &'a HttpState) -> Sender<'a> {
        Sender { vu, run: state.run(vu), since_plan: SincePlan::default(), asked: None }
    }

    /// The client that sends this one.
    #[inline]
    pub fn client<'b>(&self, prepared: &'b PreparedRequest) -> &'b Client
    where
        'a: 'b,
    {
        prepared.client.as_ref().unwrap_or_else(|| self.vu.client())
    }

    /// The request begins now: it is late by what has passed since it was planned.
    #[inline]
    pub fn begin(&self) {
        self.since_plan.begin(self.vu);
    }

    /// Records an exchange. `last`: no other one of the request follows.
    #[inline]
    pub fn record(&self, prepared: &PreparedRequest, exchange: &Exchange, last: bool) {
        self.as_asked(|| record(self.vu, self.run, prepared, exchange, &self.since_plan, last));
    }

    #[inline]
    fn as_asked(&self, make: impl FnOnce()) {
        match &self.asked {
            None => make(),
            Some(asked) => self.vu.in_sample_context(asked, make),
        }
    }

    /// The last exchange is over.
    #[inline]
    pub fn end(&self, call: &mut Call) {
        call.end(self.vu);
        call.exchange().into_iter().for_each(|exchange| self.record(&call.prepared, exchange, true));
    }
}

/// The request, if nothing but the network is waited for: no limit of requests, no function of the script that takes
/// the body.
#[inline]
pub fn plain<'a>(vu: &Vu, prepared: &'a PreparedRequest) -> Option<&'a Request> {
    let is_limited = vu.context().is_some_and(|context| context.limit.is_some());
    if is_limited || prepared.intake.calling().is_some() { None } else { prepared.sendable() }
}
