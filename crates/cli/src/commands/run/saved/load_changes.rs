//! What clients changed of the load while it ran, as results have it.

use engine::LoadChange;
use report::document;

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
