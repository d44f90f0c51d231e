//! The traits through which the engine drives virtual users without knowing what they do.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use metrics::Recorder;

use crate::scenario::ScenarioInfo;
use crate::stop::Interrupt;

/// Someone who runs iterations. Lives on one worker thread, never moves to another.
pub trait VirtualUser: 'static {
    /// Runs one iteration to its end. Never dropped before it has resolved: to cut it short the engine sets the
    /// `Interrupt` of its `Seat`, and the future then resolves soon to `Interrupted`.
    /// The implementor records what happens inside (requests, checks, data); the engine records the iteration itself.
    fn iterate(&mut self, iteration: Iteration) -> impl Future<Output = IterationEnd>;
}

/// Makes virtual users, on the worker thread where they will live.
pub trait Users: Send + Sync + 'static {
    /// What is made.
    type User: VirtualUser;

    /// Makes the user of this seat. May take time (init code runs); called before the scenarios start, or later for the
    /// unplanned users of arrival-rate executors.
    fn create(&self, seat: Seat) -> impl Future<Output = Result<Self::User, CreateError>>;
}

/// Init code failed in a virtual user: the message is for the person who wrote the script.
#[derive(Debug)]
pub struct CreateError {
    /// Ready to print.
    pub message: String,
    /// k6's exit code for it.
    pub exit_code: u8,
}

/// Who a virtual user is and what it may use.
#[derive(Clone)]
pub struct Seat {
    /// From 1, unique in this process (`__VU`, `exec.vu.idInInstance`).
    pub id_in_instance: u64,
    /// From 1, unique over all segments of the test (`exec.vu.idInTest`).
    pub id_in_test: u64,
    /// The worker it lives on, from 0.
    pub worker: usize,
    /// The worker's store of samples.
    pub recorder: Rc<Recorder>,
    /// How the engine tells this user to stop.
    pub interrupt: Rc<Interrupt>,
    /// Counts of the whole run.
    pub run: Arc<crate::run::RunState>,
}

/// One iteration about to start.
#[derive(Clone)]
pub struct Iteration {
    /// The scenario it belongs to.
    pub scenario: Rc<ScenarioInfo>,
    /// How many iterations this user did before in this scenario (`exec.vu.iterationInScenario`).
    pub in_scenario: u64,
    /// Which of the scenario's iterations it is, where the executor deals them out in advance (shared-iterations);
    /// others number them when the script asks (`RunState::next_scenario_iteration`).
    pub number: Option<u64>,
    /// When it should have started, by the engine's clock; equals the real start for closed models.
    pub planned: Duration,
}

/// How an iteration ended.
#[derive(Clone, Debug, PartialEq)]
pub enum IterationEnd {
    /// Ran to its end, also when the script threw (k6 counts it as completed).
    Completed,
    /// Cut short by its `Interrupt`: no iteration metrics.
    Interrupted,
    /// The script asked for the whole test to end (`exec.test.abort`).
    AbortTest(String),
}
