//! The traits through which the engine drives virtual users without knowing what they do.
//!
//! `Users` makes them, each on the worker where it will live; `VirtualUser` runs iterations, resumed from the table of
//! its lane. The engine never drops a user in the middle of an iteration: to cut one short it sets the `Interrupt` of
//! the user's `VuContext`.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use metrics::batches::Note;
use metrics::{Recorder, TagSet};

use crate::clock::AnyClock;
use crate::rate_limit::RateLimit;
use crate::scenario::ScenarioInfo;
use crate::state::RunState;
use crate::stop::Interrupt;

/// Someone who runs iterations. Lives on one worker thread, never moves to another.
pub trait VirtualUser: 'static {
    /// Begins an iteration, which `resume` then runs. The implementor records what happens inside (requests, checks,
    /// data); the engine records the iteration itself.
    fn begin(&mut self, iteration: Iteration);

    /// Goes on with the iteration until it has ended or the user asks for something. Called until the iteration has
    /// ended, and never given up before: to cut it short the engine sets the `Interrupt` of the user's `VuContext`, and
    /// it then ends soon as `Interrupted`, or as `Lost` when the user cannot leave.
    fn resume(&mut self, context: &mut Context<'_>) -> Progress<IterationEnd>;

    /// Gets the user what it asked for (`Progress::Asks`). Ready when the user can be resumed: at once if it asked for
    /// nothing.
    fn attend(&mut self, _context: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// Runs an iteration from its beginning to its end, for whoever has a single user.
    fn iterate(&mut self, iteration: Iteration) -> impl Future<Output = IterationEnd> {
        self.begin(iteration);
        poll_fn(|context| {
            loop {
                ready!(self.attend(context));
                match self.resume(context) {
                    Progress::Over(end) => return Poll::Ready(end),
                    Progress::Waits => return Poll::Pending,
                    Progress::Asks => {}
                }
            }
        })
    }

    /// The iteration that ran last ended at this time (nanoseconds since the Unix epoch): whatever sums it up carries
    /// it.
    fn ended(&mut self, _at_ns: u64) {}

    /// Names the present `tags`: equal for equal sets on one worker. 0 says that the iteration's own samples carry the
    /// tags of the scenario and no others.
    fn tags_key(&self) -> u32 {
        0
    }

    /// All tags that the samples of an iteration which just ended carry (run, scenario, group, the script's own). Asked
    /// only when `tags_key` is not 0 and has changed.
    fn tags(&self) -> TagSet {
        TagSet::empty()
    }

    /// What the samples of an iteration which just ended carry besides tags. Asked only where outputs see it.
    fn note(&self) -> Option<Note> {
        None
    }
}

/// How far somebody has come who was resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress<T> {
    /// It is over, and has come to this.
    Over(T),
    /// It asks for something (an exchange, a pause): whoever resumed it is to `attend` until it is there.
    Asks,
    /// It is to be resumed when its waker is called.
    Waits,
}

/// Makes virtual users, on the worker thread where they will live.
pub trait Users: Send + Sync + 'static {
    /// What is made.
    type User: VirtualUser;

    /// Makes the user that this context is for. May take time (init code runs); called before the scenarios start, or
    /// later for the unplanned users of arrival-rate executors.
    fn create(&self, context: VuContext) -> impl Future<Output = Result<Self::User, CreateError>>;

    /// What runs on the thread of a worker for as long as it lives, beside its users and from before the first is made:
    /// whatever wakes them. Nothing by default.
    fn drive(&self) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(std::future::pending())
    }

    /// Wakes users of the calling worker for whom something has arrived, without waiting: called when none can go on,
    /// and cheaper than waiting for `drive` to notice.
    fn wake_ready(&self) {}
}

/// Init code failed in a virtual user: the message is for the person who wrote the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateError {
    /// Ready to print.
    pub message: String,
    /// k6's exit code for it.
    pub exit_code: u8,
}

impl CreateError {
    /// This error with the user that it kept from being made.
    pub(crate) fn of(self, user: &str) -> CreateError {
        CreateError { message: format!("could not initialise {user}: {}", self.message), ..self }
    }
}

impl fmt::Display for CreateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CreateError {}

/// Who a virtual user is and what it may use.
#[derive(Clone)]
pub struct VuContext {
    /// From 1, unique in this process (`__VU`, `exec.vu.idInInstance`); 0 outside the scenarios (setup, teardown).
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
    pub run: Arc<RunState>,
    /// The run's time, and how to sleep.
    pub clock: AnyClock,
    /// The option `rps`, when it is set: wait for a turn before each request.
    pub limit: Option<RateLimit>,
}

impl VuContext {
    /// The context of a user outside the scenarios: init code, setup, teardown, tests.
    pub fn outside(recorder: Rc<Recorder>, run: Arc<RunState>, clock: AnyClock) -> Self {
        VuContext {
            id_in_instance: 0,
            id_in_test: 0,
            worker: 0,
            recorder,
            interrupt: Rc::new(Interrupt::default()),
            run,
            clock,
            limit: None,
        }
    }

    /// Waits until the option `rps` allows another request; at once without the option.
    pub async fn wait_turn(&self) {
        if let Some(limit) = &self.limit {
            limit.wait_turn(&self.clock).await;
        }
    }
}

/// One iteration about to start.
#[derive(Clone)]
pub struct Iteration {
    /// The scenario it belongs to.
    pub scenario: Rc<ScenarioInfo>,
    /// How many iterations this user did before in this scenario (`exec.vu.iterationInScenario`).
    pub in_scenario: u64,
    /// Its number among this instance's iterations of the scenario, where the executor numbers them in advance
    /// (shared-iterations; see `RunState::iteration_number`); others number them when the script asks
    /// (`RunState::next_scenario_iteration`).
    pub number: Option<u64>,
    /// When it should have started, by the engine's clock; equals the real start for closed models.
    pub planned: Duration,
}

/// How an iteration ended. What is rare is boxed, so that the usual end fits into registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IterationEnd {
    /// Ran to its end, also when the script threw (k6 counts it as completed).
    Completed,
    /// Cut short by its `Interrupt`: no iteration metrics.
    Interrupted,
    /// The user was lost, or its script ended the test.
    Rare(Box<RareEnd>),
}

impl IterationEnd {
    /// The user is lost; the text says who and where.
    pub fn lost(text: String) -> IterationEnd {
        IterationEnd::Rare(Box::new(RareEnd::Lost(text)))
    }

    /// The whole test is to end, with this message.
    pub fn abort_test(message: String) -> IterationEnd {
        IterationEnd::Rare(Box::new(RareEnd::AbortTest(message)))
    }
}

/// An end that few iterations have: the user was lost, or its script ended the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RareEnd {
    /// Was to be cut short and could not be: the user is stuck for good, with whatever it holds. Counts as interrupted.
    /// The text says who and where, ready to be logged; the engine drops the user and makes another one when it needs
    /// one.
    Lost(String),
    /// The script asked for the whole test to end (`exec.test.abort`). Counts as completed, as in k6.
    AbortTest(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_init_code_is_told_in_its_own_words() {
        let error = CreateError { message: "ReferenceError: x".into(), exit_code: 107 };
        assert_eq!(error.to_string(), "ReferenceError: x");
    }
}
