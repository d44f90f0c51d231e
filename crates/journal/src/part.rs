//! A part of a test, as whoever merges the parts hears of it: its users and iterations, and how it ended.
//!
//! These are the engine's own types, because a copy of each would have to be kept equal by hand. Another field in one
//! of them is another format: then the version that agents and coordinator compare has to change.

use std::time::Duration;

use engine::state::Counts;
use engine::{Finding, Health, Judgement, Outcome, RunState, StopCause, Stopper, Verdict};
use metrics::results::Results;
use report::document::{AgentLoad, SampledTrace};
use serde::{Deserialize, Serialize};

use crate::second::{decode, encode};

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

/// Why a part ended before its plan did, without being told to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Cause {
    /// The script called `exec.test.abort`; its message.
    Script(String),
    /// A signal, by its name.
    Signal(String),
}

/// Messages that a part has received and logged.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LoggedMessages {
    /// In its files.
    pub written: u64,
    /// Lost, because writing was too slow.
    pub dropped: u64,
    /// Whether every file could be written.
    pub is_whole: bool,
}

/// What a part's process counted until its end. Times count from the start of the scenarios.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartOutcome {
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
}

/// How a part ended. It is sent and kept field by field, those of a part inside as if they stood here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartEnd {
    /// What its process counted.
    pub outcome: PartOutcome,
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
    /// `--save-messages`: what became of received messages.
    pub messages: Option<LoggedMessages>,
    /// What it measured by itself, in few figures.
    pub load: Option<AgentLoad>,
    /// Its sampled requests that were slowest, and the first that failed.
    pub traces: Vec<SampledTrace>,
    /// Its clock was no further from the coordinator's at the start; none without one.
    pub clock_bound: Option<Duration>,
}

impl PartOutcome {
    fn of(outcome: &Outcome, state: &RunState) -> PartOutcome {
        let start = outcome.started.unwrap_or(outcome.ended);
        PartOutcome {
            ended: outcome.ended.saturating_sub(start),
            loaded_until: outcome.loaded_until.saturating_sub(start),
            awake_late: state.awake_late(),
            health: outcome.health.clone(),
            live: PartCounts::of(state),
            lost_users: outcome.lost_users,
            stuck_workers: outcome.stuck_workers.len() as u64,
        }
    }
}

impl PartEnd {
    /// What this process's part came to on so many processors; who judges it, and why it ended early, is for others to
    /// add.
    pub fn of(outcome: &Outcome, state: &RunState, allowed_cores: usize) -> PartEnd {
        PartEnd {
            outcome: PartOutcome::of(outcome, state),
            verdict: Verdict::NotJudged,
            findings: Vec::new(),
            cause: None,
            is_marked_failed: false,
            allowed_cores,
            messages: None,
            load: None,
            traces: Vec::new(),
            clock_bound: None,
        }
    }

    /// As it is sent and written.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Reads what an agent has sent or written; the error says what else it is.
    pub fn read(bytes: &[u8]) -> Result<PartEnd, String> {
        decode(bytes)
    }

    /// The same with its own verdict and figures.
    pub fn judged(self, judgement: &Judgement, results: &Results) -> PartEnd {
        let load = Some(AgentLoad::of(results));
        PartEnd { verdict: judgement.verdict, findings: judgement.findings.clone(), load, ..self }
    }
}

impl Cause {
    /// Why the test ended early, without a coordinator's asking.
    pub fn own(stopper: &Stopper) -> Option<Cause> {
        match stopper.cause()? {
            StopCause::Script(message) => Some(Cause::Script(message.clone())),
            StopCause::Signal(name) => Some(Cause::Signal((*name).to_owned())),
            StopCause::Threshold(_) | StopCause::Api | StopCause::Requested => None,
        }
    }
}
