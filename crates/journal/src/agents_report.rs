//! What the end of a run has to say of its agents. `members.rs` makes it.

use engine::{Finding, Verdict};
use report::document::{AgentFigures, MessageLogs};

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
    /// Their messages, where they are kept, and whether all are there that could be.
    pub messages: Option<(MessageLogs, bool)>,
}

impl AgentsReport {
    /// Whether samples of some are not all here.
    pub fn has_lost(&self) -> bool {
        self.figures.iter().any(|agent| agent.lost.is_some())
    }
}
