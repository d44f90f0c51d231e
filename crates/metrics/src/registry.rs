//! The metrics of one test run: the built-in ones, those a script defines in its init code, and the sub-metrics that
//! thresholds ask for. Shared by all workers; locked only while metrics are being defined, never on the request path.

use std::sync::Arc;

use crate::metric::{Contains, Kind, MetricId};

/// All metrics of a run. Shared as `Arc<Registry>`.
pub struct Registry {}

/// Why a metric could not be defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefineError {
    /// The name does not match `^[A-Za-z_][A-Za-z0-9_]{1,128}$`.
    InvalidName(String),
    /// The name is taken by a metric of another kind or contents.
    Conflict {
        /// The name asked for.
        name: String,
        /// What the existing metric is.
        existing: (Kind, Contains),
        /// What was asked for.
        wanted: (Kind, Contains),
    },
}

impl Registry {
    /// A registry holding the built-in metrics.
    pub fn new() -> Arc<Self> {
        todo!()
    }

    /// Defines a metric, or returns the one of that name when kind and contents agree.
    pub fn define(&self, _name: &str, _kind: Kind, _contains: Contains) -> Result<MetricId, DefineError> {
        todo!()
    }

    /// Finds a metric by name.
    pub fn find(&self, _name: &str) -> Option<MetricId> {
        todo!()
    }
}
