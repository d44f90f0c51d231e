//! Sends a prepared request and records what happens. Holds no script value, so the same future serves the functions
//! that wait, `asyncRequest` and `batch`.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use wire::request::Auth;
use wire::{Exchange, FailureKind, Request, Timings};

use super::call::Call;
use super::intake::Intake;
use super::samples::HopFacts;
use super::state::HttpState;
use crate::Vu;

/// Sends a request and records what happens. Holds no script value.
pub async fn perform(vu: &Vu, state: &HttpState, call: &Call) {
    let (run, prepared) = (state.run(vu), &call.prepared);
    let labels = &prepared.labels;
    let request = match (&prepared.sent.request, &prepared.unsendable) {
        (Some(request), None) => request,
        (_, why) => {
            let (kind, message) = why.as_ref().map_or((FailureKind::Other, ""), |why| (why.kind, &why.message));
            let hop = HopFacts {
                method: &prepared.sent.method,
                outcome: Err((kind, message)),
                timings: Timings::default(),
                ended_at: SystemTime::now(),
                ip: None,
            };
            run.sampler.record(vu, labels, &hop, None, false);
            return;
        }
    };
    if let Some(context) = vu.context().filter(|context| context.limit.is_some()) {
        context.wait_turn().await;
    }
    if let Intake::Events(events) = &prepared.intake {
        events.ask();
    }
    // Of an arrival rate: how late it begins, and what its hops take.
    let (late, took) = (vu.take_lateness(), Cell::new(Duration::ZERO));
    let digest = request.auth == Auth::Digest;
    let record = |exchange: &Exchange, last: bool| {
        if let Some(debug) = &run.debug {
            debug.answered(request, exchange, last);
        }
        vu.count_data(exchange.bytes_sent, exchange.bytes_received);
        run.unstamped.note(vu, exchange);
        if let Some(referee) = &run.referee {
            referee.note(vu, request, exchange);
        }
        let masked;
        let mut hop = HopFacts::of(exchange);
        if let Err((kind @ FailureKind::InvalidUrl, message)) = hop.outcome {
            masked = run.urls.mask().text(message);
            hop.outcome = Err((kind, &masked));
        }
        let challenge = digest && !last && matches!(&hop.outcome, Ok(answer) if answer.status == 401);
        let elsewhere = exchange.url != request.url && !digest_leg(digest, exchange, request);
        let own_url = elsewhere.then(|| run.urls.mask().url(&wire::Url::written(&exchange.url.text)).into_owned());
        run.sampler.record(vu, labels, &hop, own_url.as_deref(), challenge);
        if let Some(late) = late {
            took.set(took.get() + hop.timings.blocked + hop.timings.duration());
            if last {
                run.sampler.record_from_plan(vu, &hop, late + took.get());
            }
        }
    };
    let client = prepared.client.as_ref().map_or_else(|| vu.client(), Rc::clone);
    let exchange = client.send(request, Some(&prepared.jar), &mut |exchange| record(exchange, false)).await;
    record(call.finish(vu, exchange), true);
}

/// Whether the hop is a leg of a digest exchange with the URL that was asked for.
fn digest_leg(digest: bool, exchange: &Exchange, request: &Request) -> bool {
    digest && exchange.url.target == request.url.target && exchange.url.same_origin(&request.url)
}
