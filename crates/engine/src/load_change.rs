//! A load that is changed while the test runs: what a client may wish for, what came of it, and the plan that workers
//! follow from then on.
//!
//! A change replaces the rest of a scenario's plan by a constant, to the plan's end. It holds from a moment a little
//! ahead, so that all workers know of it when it comes. Scenarios of a fixed number of iterations have nothing to
//! change. In a fleet each agent follows the same changed plan of the whole test from the same moment of it, and its
//! share of users and starts follows from its segment as before.

mod as_run;
mod control;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::pacer::{Arrivals, Ramp, Rate};

pub use as_run::as_run;
pub(crate) use control::{ControlledScenario, LoadControl};

/// From a change to the moment from which it holds.
pub(crate) const CHANGE_LEAD: Duration = Duration::from_millis(100);

/// What a client wants changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadWish {
    /// Of which scenario; none: of the only one that has it.
    pub scenario: Option<String>,
    /// So many users from now on.
    pub users: Option<u64>,
    /// Users at most.
    pub most: Option<u64>,
    /// This rate from now on.
    pub rate: Option<Rate>,
    /// The way that it came.
    pub by: ChangedBy,
}

impl LoadWish {
    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.users.is_none() && self.most.is_none() && self.rate.is_none()
    }
}

/// The way that a change came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangedBy {
    /// The REST API.
    Rest,
    /// The command `scale`, which uses the API too.
    Scale,
}

impl ChangedBy {
    /// As a result has it.
    pub const fn name(self) -> &'static str {
        match self {
            ChangedBy::Rest => "REST API",
            ChangedBy::Scale => "onrush scale",
        }
    }
}

/// What a change is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quantity {
    /// Virtual users of the scenario.
    Users,
    /// Iterations per second.
    Rate,
    /// Virtual users at most, of an arrival rate.
    MostUsers,
}

impl Quantity {
    /// As a result has it.
    pub const fn name(self) -> &'static str {
        match self {
            Quantity::Users => "users",
            Quantity::Rate => "rate",
            Quantity::MostUsers => "max_users",
        }
    }
}

/// A change that took place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadChange {
    /// From when on it holds, after the start of the scenarios.
    pub at: Duration,
    /// Name of the scenario.
    pub scenario: String,
    /// What was changed.
    pub quantity: Quantity,
    /// What the plan was at that moment: users, or iterations per second.
    pub from: f64,
    /// What it is from there.
    pub to: f64,
    /// Who did it.
    pub by: ChangedBy,
}

impl fmt::Display for LoadChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LoadChange { scenario, quantity, from, to, by, .. } = self;
        let unit = match quantity {
            Quantity::Users => " users",
            Quantity::Rate => " iterations/s",
            Quantity::MostUsers => " users at most",
        };
        let [from, to] = [from, to].map(|figure| units::show::rounded(*figure));
        write!(f, "scenario '{scenario}': {from} → {to}{unit} (by {})", by.name())
    }
}

/// What the workers of a scenario follow.
#[derive(Clone, Debug)]
pub(crate) enum LivePlan {
    /// A number of iterations, which is as it is.
    Fixed,
    /// Users who come and go.
    Users {
        ramp: Arc<Ramp>,
        /// The limit that a client set.
        most: Option<u64>,
        is_changed: bool,
    },
    /// Planned starts, and so many users for them at most.
    Starts { arrivals: Arc<Arrivals>, most: u64, is_changed: bool },
}

impl LivePlan {
    /// Users that it has at most.
    pub(crate) fn users(&self) -> u64 {
        match self {
            LivePlan::Fixed => 0,
            LivePlan::Users { ramp, .. } => ramp.peak(),
            LivePlan::Starts { most, .. } => *most,
        }
    }

    pub(crate) fn is_changed(&self) -> bool {
        match self {
            LivePlan::Fixed => false,
            LivePlan::Users { is_changed, .. } | LivePlan::Starts { is_changed, .. } => *is_changed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_one_line() {
        let change = LoadChange {
            at: Duration::from_secs(20),
            scenario: String::from("a"),
            quantity: Quantity::Rate,
            from: 1000.0,
            to: 1.5,
            by: ChangedBy::Scale,
        };
        assert_eq!(change.to_string(), "scenario 'a': 1,000 → 1.5 iterations/s (by onrush scale)");
    }
}
