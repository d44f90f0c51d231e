//! Sends a prepared request and records what happens. Holds no script value, so the same future serves the functions
//! that wait, `asyncRequest` and `batch`.

use std::rc::Rc;

use wire::Exchange;

use super::call::Call;
use super::intake::Intake;
use super::record::{SincePlan, record, record_unsent};
use super::state::HttpState;
use crate::Vu;

/// Sends a request and records what happens. Holds no script value.
pub async fn perform(vu: &Vu, state: &HttpState, call: &Call) {
    let (run, prepared) = (state.run(vu), &*call.prepared);
    let (Some(request), None) = (&prepared.sent.request, &prepared.unsendable) else {
        return record_unsent(vu, run, prepared);
    };
    if let Some(context) = vu.context().filter(|context| context.limit.is_some()) {
        context.wait_turn().await;
    }
    if let Intake::Events(events) = &prepared.intake {
        events.ask();
    }
    let since_plan = SincePlan::begin(vu);
    let client = prepared.client.as_ref().map_or_else(|| vu.client(), Rc::clone);
    let before_last = &mut |exchange: &Exchange| record(vu, run, prepared, exchange, &since_plan, false);
    let exchange = client.send(request, Some(&prepared.jar), before_last).await;
    record(vu, run, prepared, call.finish(vu, exchange), &since_plan, true);
}
