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
    pub declarations: Declarations,
    /// Cookies of managers above the thread groups.
    pub cookies: Vec<String>,
    /// Whether some thread group is being read.
    pub is_in_group: bool,
    /// Whether that one is run once, by `setup` or `teardown`.
    pub is_once: bool,
    /// Whether the option `noCookiesReset` is set.
    pub keeps_cookies: bool,
    /// Names and addresses.
    pub hosts: Vec<(String, String)>,
    /// Whether each sampler keeps its connection.
    pub keep_alive: Vec<bool>,
}

/// What holds for the whole plan, wherever it stands there: complete before any thread group is read.
#[derive(Default)]
pub struct Declarations {
    /// Lines at the beginning of each iteration.
    pub rows: Vec<String>,
    /// What rows are in `setup` and `teardown`, which have no iterations.
    pub first_rows: Vec<String>,
    /// Whether thread groups run one after the other.
    pub is_serial: bool,
    /// Whether the plan has a Cookie Manager.
    pub has_cookies: bool,
    /// Whether each iteration of some thread group is a new user.
    pub has_new_users: bool,
}
