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
    /// The target beside it; absent where nobody knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetSeconds>,
}

/// The target over time, where it ran on the generator's machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetSeconds {
    /// Whose CPU it is: `the target of --serve`, whose threads are the generator's process's, or `nginx at port 8080`.
    pub name: String,
    /// CPU that it used, with the processes that it had started, in cores.
    pub cores: Column,
    /// Share of the time that its busiest thread ran; empty of an older result.
    #[serde(default, skip_serializing_if = "Column::is_empty")]
    pub busiest_thread: Column,
    /// Share of the time that this thread was ready to run and had no core; empty of an older result.
    #[serde(default, skip_serializing_if = "Column::is_empty")]
    pub waited: Column,
}

impl TargetSeconds {
    /// The mean; none where nothing was measured.
    pub fn mean(&self) -> Option<f64> {
        mean(&self.cores)
    }

    /// The means of its busiest thread: shares of the time that it ran, and that it waited for a core.
    pub fn mean_of_busiest(&self) -> (Option<f64>, Option<f64>) {
        (mean(&self.busiest_thread), mean(&self.waited))
    }
}

fn mean(column: &Column) -> Option<f64> {
    let known = || column.iter().flatten();
    (known().count() > 0).then(|| known().sum::<f64>() / known().count() as f64)
}

impl GeneratorSeconds {
    /// What is wrong with the columns, when something is.
    pub(super) fn contradiction(&self, expected: usize) -> Option<String> {
        let columns = [&self.cores, &self.busiest_share, &self.lag_p99_ms, &self.planned_per_second];
        let of_target = self.target.iter().map(|target| &target.cores);
        let newer = self.target.iter().flat_map(|target| [&target.busiest_thread, &target.waited]);
        let newer = newer.filter(|column| !column.is_empty());
        let is_odd = columns.into_iter().chain(of_target).chain(newer).any(|column| column.len() != expected);
        is_odd.then(|| format!("generator_seconds has a column that is not {expected} intervals long"))
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        [&self.cores, &self.planned_per_second].iter().all(|column| column.iter().all(Option::is_none))
    }
}
