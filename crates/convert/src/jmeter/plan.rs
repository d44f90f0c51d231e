//! What is known of a plan while it is read: its variables, its scenarios, the test so far.
//!
//! Held by `mod.rs` and changed by its neighbours, each of which reads one kind of element; no element is kept here.

use serde_json::{Map, Value};

use super::expressions::PlanVariables;
use crate::conversion::Settings;
use crate::model::Test;
use crate::notes::Notes;

/// What is known while a plan is read.
pub struct Plan<'s> {
    pub settings: &'s Settings,
    pub variables: PlanVariables,
    pub notes: Notes,
    pub test: Test,
    pub scenarios: Map<String, Value>,
    /// Lines at the beginning of each iteration.
    pub rows: Vec<String>,
}
