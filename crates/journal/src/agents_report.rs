//! What the end of a run has to say of its agents. `members.rs` makes it.

use engine::{Finding, Verdict};
use report::document::{AgentFigures, MessageLogs, SampledTrace};

/// How the agents of a fleet fared, each of which judged itself.
#[derive(Clone, Debug)]
pub struct AgentsReport {
    /// The worst verdict of any of them.
    pub verdict: Verdict,
    /// What a verdict without findings stands on.
    pub basis: String,
    /// What it is made of.
    pub findings: Vec<Finding>,
    /// Lines for the summary.
    pub notes: Vec<String>,
    /// As a result document has them.
    pub figures: Vec<AgentFigures>,
    /// No clock was further from the coordinator's at the start, in ms.
    pub start_bound_ms: f64,
    /// Stamps of two agents may be so far apart for the same instant, in ms; none: they read the same clock.
    pub stamps_apart_ms: Option<f64>,
    /// Whether the script called `exec.test.fail` on one of them.
    pub is_marked_failed: bool,
    /// The sampled requests of all that were slowest, and some that failed.
    pub traces: Vec<SampledTrace>,
    /// Their messages, where they are kept, and whether all are there that could be.
    pub messages: Option<(MessageLogs, bool)>,
}

/// Traces that are named of each kind, as of one process.
const NAMED: usize = 3;

/// Of many processes: the slowest of all, in front the one that took longest, then some that failed.
pub fn named_of_all(traces: impl Iterator<Item = SampledTrace>) -> Vec<SampledTrace> {
    let (mut failed, mut slowest): (Vec<SampledTrace>, Vec<SampledTrace>) = traces.partition(|trace| trace.failed);
    slowest.sort_by(|one, other| other.took_ms.total_cmp(&one.took_ms));
    slowest.truncate(NAMED);
    failed.truncate(NAMED);
    slowest.into_iter().chain(failed).collect()
}

impl AgentsReport {
    /// Whether samples of some are not all here.
    pub fn has_lost(&self) -> bool {
        self.figures.iter().any(|agent| agent.lost.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_all_are_named_and_some_that_failed() {
        let trace = |took_ms: f64, failed: bool| SampledTrace { took_ms, failed, ..SampledTrace::default() };
        let all = [
            (1.0, false),
            (9.0, true),
            (7.0, false),
            (2.0, true),
            (8.0, false),
            (3.0, false),
            (4.0, true),
            (5.0, true),
        ];
        let named = named_of_all(all.into_iter().map(|(took_ms, failed)| trace(took_ms, failed)));
        let named: Vec<_> = named.iter().map(|trace| (trace.took_ms, trace.failed)).collect();
        assert_eq!(named, [(8.0, false), (7.0, false), (3.0, false), (9.0, true), (2.0, true), (4.0, true)]);
    }
}
