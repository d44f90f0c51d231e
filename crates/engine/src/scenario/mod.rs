//! Scenarios as the options give them, and what a running iteration may know of its own.
//!
//! `config` holds them after reading and checking, `fields` reads JSON with messages that name the scenario and the
//! field, `executor_kind` has the names of executors, `shortcut` makes scenarios of `vus`, `duration`, `iterations` and
//! `stages`. Nothing here knows of segments or workers.

mod config;
mod executor_kind;
mod fields;
mod shortcut;

use std::collections::BTreeMap;
use std::time::Duration;

pub use config::{Executor, Scenario, Scenarios, Stage};
pub use fields::ConfigError;
pub use shortcut::{Derived, Shortcuts};

/// What an iteration knows of its scenario. One per scenario and worker, in an `Rc`.
#[derive(Debug)]
pub struct ScenarioInfo {
    /// Position among the run's scenarios.
    pub index: usize,
    /// Name (`default` when the shortcuts were used).
    pub name: String,
    /// k6's name of the executor, `constant-vus`.
    pub executor: &'static str,
    /// Exported function to call.
    pub exec: String,
    /// Added to `__ENV` for this scenario's iterations.
    pub env: BTreeMap<String, String>,
    /// Added to every sample of this scenario's iterations.
    pub tags: BTreeMap<String, String>,
    /// When the scenario started, by the engine's clock.
    pub started: Duration,
}
