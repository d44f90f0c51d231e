//! The scenarios as they ran: with what clients changed of the load.

use engine::load_change;
use engine::scenario::Scenarios;

use crate::commands::run::drive::progress::Ran;

/// The scenarios with what clients changed of them.
pub fn as_run(ran: &Ran) -> Option<Scenarios> {
    ran.planned.options.execution.scenarios.as_ref().map(|scenarios| load_change::as_run(scenarios, &ran.changes))
}
