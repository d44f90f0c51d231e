//! What the caller of a run learns: events while it runs, an outcome at its end.

use std::fmt;
use std::time::Duration;

use metrics::Snapshot;

use crate::health::Health;
use crate::stop::StopCause;
use crate::vu::CreateError;

/// What the caller learns while it runs.
pub enum Event {
    /// Virtual users made so far, and how many there will be.
    Making {
        /// Made.
        done: u64,
        /// In all.
        of: u64,
    },
    /// All planned users are made; the scenarios start when the handler returns. The place to run `setup()`; to give
    /// the run up, use the `Stopper`.
    Made,
    /// The scenarios' time starts at this time of the run's clock.
    Started(Duration),
    /// About once a second, and once at the end.
    Tick(Tick),
    /// To be logged as a warning.
    Warning(String),
    /// A virtual user could not be stopped and is stuck for good: to be logged as an error.
    Lost(String),
}

/// What came in since the last tick.
pub struct Tick {
    /// By the run's clock.
    pub now: Duration,
    /// Until when the snapshots reach, by the run's clock: a worker that is late by more than a moment hands over
    /// later.
    pub cut: Duration,
    /// Since the scenarios started.
    pub elapsed: Duration,
    /// To be merged into the aggregate.
    pub snapshots: Vec<Snapshot>,
    /// Whether this is the last one.
    pub is_last: bool,
    /// How the generator fared over the last two ticks.
    pub lately: Health,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it ended early; none when all scenarios ended.
    pub stopped: Option<StopCause>,
    /// When the scenarios started, by the run's clock; none when they never did.
    pub started: Option<Duration>,
    /// When the last worker was done, by the run's clock.
    pub ended: Duration,
    /// When the last iteration ended, or the plan of the last arrival rate: what rates count up to.
    pub loaded_until: Duration,
    /// How the generator fared.
    pub health: Health,
    /// Virtual users that could not be stopped.
    pub lost_users: u64,
    /// Workers that did not come to an end: what they recorded in their last second is missing.
    pub stuck_workers: Vec<usize>,
}

/// Why a run could not take place.
#[derive(Debug)]
pub enum RunError {
    /// Init code failed in a virtual user.
    Create(CreateError),
    /// The system refused a thread, timer or event queue.
    System(std::io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Create(error) => error.fmt(f),
            RunError::System(error) => write!(f, "could not start a worker thread: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_cannot_take_place_says_why() {
        let create = RunError::Create(CreateError { message: "init code failed".into(), exit_code: 107 });
        let system = RunError::System(std::io::Error::other("no threads left"));
        assert_eq!(
            [create.to_string(), system.to_string()],
            ["init code failed", "could not start a worker thread: no threads left"]
        );
    }
}
