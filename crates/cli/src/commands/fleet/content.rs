//! What an agent and its coordinator say that only they understand: settings, seconds, how a part ended.

use std::time::Duration;

use engine::state::Counts;
use engine::{Finding, Health, RunState, Verdict};
use serde::{Deserialize, Serialize};

/// How agents run an archive, beside the options that are in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// `--no-thresholds`.
    pub no_thresholds: bool,
    /// Whether metrics are kept by scenario and group.
    pub breakdown: bool,
    /// Whether a report wants more of them.
    pub details: bool,
    /// `--features`.
    pub features: Vec<String>,
    /// The certificate of a target beside the test.
    pub trusted_pem: Option<String>,
    /// `--accept-late`.
    pub accept_late: bool,
}

/// Users and iterations of a part, as far as they are.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PartCounts {
    /// Virtual users that are made.
    pub initialised: u64,
    /// Each scenario, and how long after its time its last start was made.
    pub scenarios: Vec<(Counts, Duration)>,
}

impl PartCounts {
    /// As they are now.
    pub fn of(state: &RunState) -> PartCounts {
        let scenarios = (0..state.scenarios().len()).map(|at| (state.scenario_counts(at), state.behind(at)));
        PartCounts { initialised: state.vus_initialised(), scenarios: scenarios.collect() }
    }
}

/// A second of a part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Second {
    /// Users and iterations at its end.
    pub live: PartCounts,
    /// The interval as the journal has it; empty where the part stood still and nothing was measured.
    #[serde(with = "serde_bytes")]
    pub interval: Vec<u8>,
}

/// Why a part ended before its plan did, without being told to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Cause {
    /// The script called `exec.test.abort`; its message.
    Script(String),
    /// A signal, by its name.
    Signal(String),
}

/// How a part ended. Times count from the start of the scenarios.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartEnd {
    /// When the last worker was done.
    pub ended: Duration,
    /// When the last iteration ended.
    pub loaded_until: Duration,
    /// How long after the start its last worker was awake.
    pub awake_late: Duration,
    /// How its generator fared.
    pub health: Health,
    /// Users and iterations.
    pub live: PartCounts,
    /// Virtual users that could not be stopped.
    pub lost_users: u64,
    /// Workers that did not come to an end.
    pub stuck_workers: u64,
    /// Its own verdict.
    pub verdict: Verdict,
    /// What its verdict is made of.
    pub findings: Vec<Finding>,
    /// Why it ended early.
    pub cause: Option<Cause>,
    /// Whether the script called `exec.test.fail`.
    pub is_marked_failed: bool,
    /// Processors it may use.
    pub allowed_cores: usize,
}
