//! Virtual users for the engine: it says when, the script says what.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use engine::vu::CreateError;
use engine::{
    Event, Iteration, IterationEnd, Outcome, Plan, Progress, RunConfig, RunError, StopReason, Users, VirtualUser,
    VuContext,
};
use host::{Advance, GivenUp};
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

/// Runs a plan with users of a program, as `engine::run` does. Compiled here, where scripts are fast, and not wherever
/// somebody runs one.
pub fn run(
    program: &Program,
    plan: Plan,
    config: RunConfig,
    events: &mut dyn FnMut(Event),
) -> Result<Outcome, RunError> {
    engine::run(plan, Arc::new(ScriptUsers::new(program)), config, events)
}

impl Users for ScriptUsers {
    type User = ScriptUser;

    async fn create(&self, context: VuContext) -> Result<ScriptUser, CreateError> {
        let worker = WorkerState::of(&self.shared, &context.recorder);
        let failed = |error: crate::ScriptError| CreateError { message: error.to_string(), exit_code: error.exit_code };
        let (interrupt, limit) = (context.interrupt.clone(), self.shared.options().init_time_limit());
        let limit = self.shared.time_limit(limit);
        let (mut fiber, vu) = user::make(&self.shared, worker, Role::Member(context)).map_err(failed)?;
        let ended = within(limit, fiber.run(Job::Init), || interrupt.set(StopReason::GracefulStopOver)).await;
        let stuck = || stuck(&fiber, "the init code of a virtual user");
        init_ended(ended, limit, stuck).map_err(failed)?;
        Ok(ScriptUser { fiber, vu })
    }

    /// The sockets of a worker's users wait in a reactor of its own. Without one (no descriptor is left) they wait in
    /// tokio's.
    fn drive(&self) -> Pin<Box<dyn Future<Output = ()>>> {
        let installed = wire::Reactor::install();
        Box::pin(async move {
            match installed {
                Ok(installed) => {
                    let ended = Rc::clone(installed.reactor()).drive().await;
                    panic!("the event loop of a worker's sockets failed: {ended:?}");
                }
                Err(_) => std::future::pending().await,
            }
        })
    }

    fn wake_ready(&self) {
        wire::Reactor::dispatch_here();
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
    #[inline]
    fn begin(&mut self, iteration: Iteration) {
        let scenario_changed = self.vu.begin_iteration(iteration);
        self.fiber.start(Job::Iterate { scenario_changed });
    }

    #[inline(always)]
    fn resume(&mut self, context: &mut Context<'_>) -> Progress<IterationEnd> {
        match self.fiber.advance(context) {
            Advance::Over(Some(JobEnd::Iteration(end))) => Progress::Over(end),
            Advance::Over(_) => Progress::Over(match self.fiber.given_up() {
                Some(given_up) => IterationEnd::lost(self.farewell(given_up)),
                None => IterationEnd::Interrupted,
            }),
            Advance::Asks => Progress::Asks,
            Advance::Waits => Progress::Waits,
        }
    }

    #[inline(always)]
    fn attend(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.fiber.attend(context)
    }

    fn ended(&mut self, at_ns: u64) {
        self.vu.report_data(at_ns);
    }

    #[inline]
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
