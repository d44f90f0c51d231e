//! What a run needs beside its plan: the options that the engine obeys, and what it shares with its caller.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use metrics::{Recorder, Registry, SystemTags};

use crate::clock::Origin;
use crate::state::RunState;
use crate::stop::Stopper;

/// Called with each worker's recorder before anything is recorded (to tap it).
pub type Prepare = Arc<dyn Fn(usize, &Recorder) + Send + Sync>;

/// How long workers have to hand over their samples after the last possible end.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a run needs beside its plan.
#[derive(Clone)]
pub struct RunConfig {
    /// The run's metrics.
    pub registry: Arc<Registry>,
    /// Counts of the run, from `Plan::state`.
    pub state: Arc<RunState>,
    /// Ends the run; keep a clone.
    pub stopper: Stopper,
    /// Where the run's time starts: before setup and before virtual users are made.
    pub origin: Origin,
    /// Which system tags are on (`scenario` and `group` matter here).
    pub system_tags: SystemTags,
    /// The option `tags`: on every sample.
    pub tags: BTreeMap<String, String>,
    /// The option `minIterationDuration`.
    pub min_iteration_duration: Duration,
    /// The option `rps`, for the whole test; 0 or less is no limit.
    pub rps: f64,
    /// Called with each worker's recorder before anything is recorded.
    pub prepare: Option<Prepare>,
    /// How long a worker that does not come to an end is waited for.
    pub patience: Duration,
    /// When the scenarios start, by the run's clock: to be set in `Event::Made`, where others start at the same time.
    /// None: as soon as they can.
    pub start_at: Arc<OnceLock<Duration>>,
}

impl RunConfig {
    /// The defaults, with time starting now.
    pub fn new(registry: Arc<Registry>, state: Arc<RunState>) -> Self {
        RunConfig {
            registry,
            state,
            stopper: Stopper::new(),
            origin: Origin::now(),
            system_tags: SystemTags::default(),
            tags: BTreeMap::new(),
            min_iteration_duration: Duration::ZERO,
            rps: 0.0,
            prepare: None,
            patience: PATIENCE,
            start_at: Arc::default(),
        }
    }
}
