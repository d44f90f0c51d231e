//! The life of a virtual user: how its coroutine is made, what runs on it, and what leaves it.

mod export;
mod main;

use std::rc::Rc;
use std::sync::Arc;

use host::js::Ctx;
use host::{Fiber, GivenUp, Jobs};

use crate::error::{ScriptError, exit_code};
use crate::globals;
use crate::shared::Shared;
use crate::vu::{Role, Vu};
use crate::worker::WorkerState;
pub(crate) use main::{CallError, Exported, Job, JobEnd, Returned};

pub use main::failure;

/// The coroutine of a user.
pub(crate) type UserFiber = Fiber<Job, JobEnd>;

/// A user and its coroutine, which has not begun.
pub(crate) fn make(
    shared: &Arc<Shared>,
    worker: Rc<WorkerState>,
    role: Role,
) -> Result<(UserFiber, Rc<Vu>), ScriptError> {
    let vu = Vu::new(shared.clone(), worker, role, globals::HIDDEN);
    let fiber = coroutine(&vu, main::run, |error| JobEnd::Ready(Box::new(Err(error))))?;
    Ok((fiber, vu))
}

/// A coroutine that enters the user's runtime with its first job and runs `main` in it. `failed` is the end of that job
/// when there is no memory for a runtime.
pub fn coroutine<J: 'static, E: 'static>(
    vu: &Rc<Vu>,
    main: impl for<'js> FnOnce(&Ctx<'js>, &Rc<Vu>, &Jobs<J, E>) + 'static,
    failed: impl FnOnce(ScriptError) -> E + 'static,
) -> Result<Fiber<J, E>, ScriptError> {
    let inside = vu.clone();
    let fiber = Fiber::new(vu.switch().clone(), move |_: J, jobs| {
        inside.memory().set_limit(inside.options().memory_limit());
        if let Err(error) = host::enter(inside.user(), &inside, |ctx| main(ctx, &inside, jobs)) {
            let message = format!("no memory for a virtual user: {error}");
            jobs.next(failed(ScriptError::new(message, exit_code::SCRIPT_EXCEPTION)));
        }
    });
    fiber.map_err(|error| {
        let message =
            format!("no stack for a virtual user: {error}; lower the number of users or raise the memory limit");
        ScriptError::new(message, exit_code::GENERIC)
    })
}

/// The message for code that must stop but stays in native code.
pub(crate) fn stuck(fiber: &UserFiber, what: &str) -> ScriptError {
    let why = fiber.given_up().map(GivenUp::to_string).unwrap_or_else(|| String::from("its coroutine has ended"));
    ScriptError::new(format!("{what} could not be stopped: {why}"), exit_code::GENERIC_TIMEOUT)
}
