//! Virtual users for the engine: it says when, the script says what.

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;

use engine::vu::CreateError;
use engine::{Iteration, IterationEnd, StopReason, Users, VirtualUser, VuContext};
use host::GivenUp;
use metrics::TagSet;
use metrics::batches::Note;

use crate::program::{Program, init_ended, within};
use crate::shared::Shared;
use crate::user::{self, Job, JobEnd, UserFiber, stuck};
use crate::vu::{Role, Vu};
use crate::worker::WorkerState;

/// Makes the users of a program on whichever worker they are to live.
pub struct ScriptUsers {
    shared: Arc<Shared>,
}

impl ScriptUsers {
    /// Users of this program.
    pub fn new(program: &Program) -> Self {
        ScriptUsers { shared: program.shared.clone() }
    }
}

impl Users for ScriptUsers {
    type User = ScriptUser;

    async fn create(&self, context: VuContext) -> Result<ScriptUser, CreateError> {
        let worker = WorkerState::of(&self.shared, &context.recorder);
        let failed = |error: crate::ScriptError| CreateError { message: error.to_string(), exit_code: error.exit_code };
        let (interrupt, limit) = (context.interrupt.clone(), self.shared.options().init_time_limit());
        let (mut fiber, vu) = user::make(&self.shared, worker, Role::Member(context)).map_err(failed)?;
        let ended = within(limit, fiber.run(Job::Init), || interrupt.set(StopReason::GracefulStopOver)).await;
        let stuck = || stuck(&fiber, "the init code of a virtual user");
        init_ended(ended, limit, stuck).map_err(failed)?;
        Ok(ScriptUser { fiber, vu })
    }
}

impl ScriptUser {
    /// Who could not be stopped, and where.
    fn farewell(&self, given_up: &GivenUp) -> String {
        let iteration = self.vu.iteration().expect("an iteration was running");
        format!(
            "VU {} could not be stopped in iteration {} of scenario '{}': {given_up}; the VU is given up with all it \
             holds, and the iteration counts as interrupted; avoid the call, or make its data smaller",
            self.vu.id(),
            self.vu.iterations_before(),
            iteration.scenario.name
        )
    }
}

/// One virtual user running a script.
pub struct ScriptUser {
    // Dropped first: the coroutine quits while its user is still there.
    fiber: UserFiber,
    vu: Rc<Vu>,
}

impl VirtualUser for ScriptUser {
    // Not an async function: its future would hold the iteration, and would be moved with it.
    fn iterate(&mut self, iteration: Iteration) -> impl Future<Output = IterationEnd> {
        self.fiber.start(Job::Iterate(iteration));
        poll_fn(|context| {
            self.fiber.poll_job(context).map(|end| match end {
                Some(JobEnd::Iteration(end)) => end,
                _ => match self.fiber.given_up() {
                    Some(given_up) => IterationEnd::Lost(self.farewell(given_up)),
                    None => IterationEnd::Interrupted,
                },
            })
        })
    }

    fn ended(&mut self, at_ns: u64) {
        self.vu.report_data(at_ns);
    }

    fn tags_key(&self) -> u32 {
        self.vu.iteration_tags_key()
    }

    fn tags(&self) -> TagSet {
        self.vu.tags()
    }

    fn note(&self) -> Option<Note> {
        self.vu.note()
    }
}
