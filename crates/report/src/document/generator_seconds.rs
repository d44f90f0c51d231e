//! How the generator fared, second by second: columns beside those of the metrics, as long as `seconds.starts_s`.
//!
//! Nothing of it judges a run; it shows when the generator had trouble, so that a reader can tell a slow second of the
//! target from one of the generator. What nobody measured in an interval is null.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::seconds::Column;

/// The generator over time. Each entry is of the last two seconds, because what begins between two looks is seen whole
/// in the next but one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorSeconds {
    /// CPU that its process used, in cores.
    pub cores: Column,
    /// Of its busiest worker, the share of a core.
    pub busiest_share: Column,
    /// Of the worker that was worst, how late its event loop was 99 of 100 times, in ms.
    pub lag_p99_ms: Column,
    /// Iterations per second that arrival rates asked for in this interval alone; null where none did.
    pub planned_per_second: Column,
}

impl GeneratorSeconds {
    /// What is wrong with the columns, when something is.
    pub(super) fn contradiction(&self, expected: usize) -> Option<String> {
        let columns = [&self.cores, &self.busiest_share, &self.lag_p99_ms, &self.planned_per_second];
        let is_odd = columns.iter().any(|column| column.len() != expected);
        is_odd.then(|| format!("generator_seconds has a column that is not {expected} intervals long"))
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        [&self.cores, &self.planned_per_second].iter().all(|column| column.iter().all(Option::is_none))
    }
}
