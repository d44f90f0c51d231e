//! What clients changed of the load while it ran: as results have it, and the scenarios as they ran.

use engine::scenario::Scenarios;
use engine::{LoadChange, load_change};
use report::document;

use crate::commands::run::drive::progress::Ran;

/// The scenarios with what clients changed of them.
pub fn as_run(ran: &Ran) -> Option<Scenarios> {
    ran.planned.options.execution.scenarios.as_ref().map(|scenarios| load_change::as_run(scenarios, &ran.changes))
}

/// As results have them.
pub fn kept_changes(changes: &[LoadChange]) -> Vec<document::LoadChange> {
    let kept = |change: &LoadChange| document::LoadChange {
        at_s: (change.at.as_secs_f64() * 1e3).round() / 1e3,
        scenario: change.scenario.clone(),
        quantity: change.quantity.name().to_owned(),
        from: change.from,
        to: change.to,
        by: change.by.name().to_owned(),
    };
    changes.iter().map(kept).collect()
}
