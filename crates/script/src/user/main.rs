//! What runs on the coroutine of one virtual user: init code, then one job after the other until it must quit.
//!
//! The context is entered once and left at the end, so values of the script live on this stack between iterations.

use std::rc::Rc;
use std::sync::Arc;

use engine::IterationEnd;
use host::js::{Ctx, Error, Function, Object, Value};
use host::log::{Level, Record};
use host::{Jobs, Phase, object};

use super::export::{self, ExportError};
use crate::error::{ScriptError, exit_code};
use crate::exception::Caught;
use crate::linker::{self, Until};
use crate::vu::Vu;
use crate::{globals, stops};

/// What a user is asked to do.
pub(crate) enum Job {
    /// Run the init code. The first job, and only the first.
    Init,
    /// Run the iteration that was begun; whether its scenario is another than the last one's.
    Iterate { scenario_changed: bool },
    /// Call an exported function once, with an argument in JSON.
    Call { phase: Phase, function: String, argument: Option<Arc<str>> },
}

/// How a job ended. What is not for every iteration is boxed: an end is moved several times.
pub(crate) enum JobEnd {
    /// Init code.
    Ready(Box<Result<Exported, ScriptError>>),
    /// An iteration.
    Iteration(IterationEnd),
    /// A call; what it returned.
    Called(Box<Result<Returned, CallError>>),
}

/// What init code exports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exported {
    /// Names of exported functions.
    pub functions: Vec<String>,
    /// `options` as JSON; `None` when there is no such export.
    pub options: Option<String>,
}

/// What a called function returned.
#[derive(Clone, Debug)]
pub(crate) enum Returned {
    /// A value as JSON; `None` is `undefined`.
    Json(Option<String>),
    /// The properties of an object: text or bytes; `None` when there was none.
    Files(Option<export::SummaryFiles>),
}

/// Why a call gave nothing.
#[derive(Clone, Debug)]
pub(crate) enum CallError {
    /// The script threw.
    Threw(ScriptError),
    /// It must stop.
    Stopped,
    /// It ended the test.
    AbortTest(String),
}

/// What the coroutine of a user runs.
pub(super) fn run(ctx: &Ctx<'_>, vu: &Rc<Vu>, jobs: &Jobs<Job, JobEnd>) {
    let initialised = init(ctx, vu).map_err(|error| failure(ctx, vu, error));
    let mut user = match initialised.and_then(|exports| vu.script.unhandled.take().map_or(Ok(exports), Err)) {
        Ok(exports) => User { exports, exec: None, data: None },
        Err(error) => {
            jobs.next(JobEnd::Ready(Box::new(Err(error))));
            return;
        }
    };
    let mut end = JobEnd::Ready(Box::new(user.exported(ctx, vu)));
    host::trim_objects(ctx);
    vu.switch().trim_stack();
    while let Some(job) = jobs.next(end) {
        end = match job {
            Job::Iterate { scenario_changed } => JobEnd::Iteration(user.iterate(ctx, vu, scenario_changed)),
            Job::Call { phase, function, argument } => {
                JobEnd::Called(Box::new(user.call(ctx, vu, phase, &function, argument.as_deref())))
            }
            Job::Init => JobEnd::Ready(Box::new(user.exported(ctx, vu))),
        };
    }
}

// Not inlined, like `exported`, `judge` and `call`: rare work would stretch the stack frame below each iteration.
#[inline(never)]
fn init<'js>(ctx: &Ctx<'js>, vu: &Rc<Vu>) -> host::js::Result<Object<'js>> {
    vu.set_phase(Phase::Init);
    globals::install(ctx, vu)?;
    linker::run_entry(ctx, vu, Until::Idle)
}

/// What went wrong with init code, in words.
pub fn failure(ctx: &Ctx<'_>, vu: &Vu, error: Error) -> ScriptError {
    match linker::take_error(ctx, vu, error) {
        Caught::Thrown(error) => {
            stops::stop_at_uncaught(ctx, vu, &error);
            error
        }
        Caught::Stopped => match vu.take_abort() {
            Some(message) => ScriptError::new(message, exit_code::SCRIPT_ABORTED),
            None => ScriptError::new("the init code was interrupted", exit_code::GENERIC_TIMEOUT),
        },
    }
}

/// What a user keeps between two jobs.
struct User<'js> {
    exports: Object<'js>,
    /// The function of the last scenario, by the scenario's address.
    exec: Option<(usize, Value<'js>)>,
    /// What `setup()` returned, parsed once for this user.
    data: Option<Value<'js>>,
}

impl<'js> User<'js> {
    // Not inlined, for the reason told at `init`.
    #[inline(never)]
    fn exported(&self, ctx: &Ctx<'js>, vu: &Vu) -> Result<Exported, ScriptError> {
        self.read_exports(ctx).map_err(|error| failure(ctx, vu, error))
    }

    fn read_exports(&self, ctx: &Ctx<'js>) -> host::js::Result<Exported> {
        let mut exported = Exported::default();
        for key in self.exports.keys::<String>() {
            let key = key?;
            let value: Value<'js> = self.exports.get(key.as_str())?;
            if ["setup", "teardown"].contains(&key.as_str()) && !value.is_function() {
                return Err(host::js::Exception::throw_message(ctx, &format!("exported '{key}' must be a function")));
            }
            if key == "options" && !value.is_undefined() {
                exported.options = ctx.json_stringify(value)?.map(|text| text.to_string()).transpose()?;
            } else if value.is_function() {
                exported.functions.push(key);
            }
        }
        Ok(exported)
    }

    #[inline(never)]
    fn iterate(&mut self, ctx: &Ctx<'js>, vu: &Rc<Vu>, scenario_changed: bool) -> IterationEnd {
        vu.shared.modules.builtins().on_iteration_start.iter().for_each(|hook| hook(ctx));
        host::space_collections(ctx);
        let outcome = globals::begin_iteration(ctx, vu, scenario_changed).and_then(|()| self.run_iteration(ctx, vu));
        let end = match outcome {
            Ok(()) => IterationEnd::Completed,
            Err(error) => self.judge(ctx, vu, error),
        };
        vu.count_cancelled();
        vu.end_iteration();
        end
    }

    // Not inlined, for the reason told at `init`; cold, because most iterations throw nothing.
    #[cold]
    #[inline(never)]
    fn judge(&self, ctx: &Ctx<'js>, vu: &Vu, error: Error) -> IterationEnd {
        let caught = linker::take_error(ctx, vu, error);
        if let Caught::Thrown(error) = &caught {
            stops::stop_at_uncaught(ctx, vu, error);
        }
        vu.stop_timers();
        vu.events.abandon_sources();
        vu.events.clear(ctx);
        match caught {
            Caught::Thrown(error) => {
                vu.count_exception(&error);
                log_exception(vu, &error);
                IterationEnd::Completed
            }
            Caught::Stopped => self.stopped(vu),
        }
    }

    fn stopped(&self, vu: &Vu) -> IterationEnd {
        vu.take_abort().map_or(IterationEnd::Interrupted, IterationEnd::abort_test)
    }

    fn run_iteration(&mut self, ctx: &Ctx<'js>, vu: &Rc<Vu>) -> host::js::Result<()> {
        let scenario = vu.scenario_address();
        if self.exec.as_ref().is_none_or(|(known, _)| *known != scenario) {
            self.exec = Some((scenario, self.exec_function(ctx, vu)?));
        }
        if self.data.is_none() {
            self.data = Some(parse_argument(ctx, vu.shared.setup_data().as_deref())?);
        }
        let (Some((_, function)), Some(data)) = (&self.exec, &self.data) else {
            unreachable!("both have just been seen to");
        };
        object::run(ctx, function, data)?;
        vu.run_events(ctx)
    }

    // Cold: the function is looked up when the scenario changes, and kept.
    #[cold]
    fn exec_function(&self, ctx: &Ctx<'js>, vu: &Vu) -> host::js::Result<Value<'js>> {
        let iteration = vu.iteration().expect("an iteration is running");
        let name = iteration.scenario.exec.as_str();
        let function: Value<'js> = self.exports.get(name)?;
        if !function.is_function() {
            let message = format!("function '{name}' not found in exports");
            return Err(host::js::Exception::throw_message(ctx, &message));
        }
        Ok(function)
    }

    // Not inlined, for the reason told at `init`.
    #[inline(never)]
    fn call(
        &self,
        ctx: &Ctx<'js>,
        vu: &Rc<Vu>,
        phase: Phase,
        function: &str,
        argument: Option<&str>,
    ) -> Result<Returned, CallError> {
        vu.set_phase(phase);
        if let Some(group) = match phase {
            Phase::Setup => Some("::setup"),
            Phase::Teardown => Some("::teardown"),
            _ => None,
        } {
            vu.set_group(Arc::from(group));
        }
        let outcome = self.run_call(ctx, vu, phase, function, argument);
        let unhandled = vu.script.unhandled.take();
        let outcome = outcome.map_err(|error| {
            let error = match error {
                ExportError::Thrown(error) => error,
                ExportError::Refused(what) => {
                    let message = format!("{function}() returned a value that cannot be shared as JSON: {what}");
                    return CallError::Threw(ScriptError::new(message, exit_code::GENERIC));
                }
            };
            let caught = linker::take_error(ctx, vu, error);
            if let Caught::Thrown(error) = &caught {
                stops::stop_at_uncaught(ctx, vu, error);
            }
            vu.events.abandon_sources();
            vu.events.clear(ctx);
            vu.count_cancelled();
            match caught {
                Caught::Thrown(error) => CallError::Threw(error),
                Caught::Stopped => vu.take_abort().map_or(CallError::Stopped, CallError::AbortTest),
            }
        });
        let outcome = outcome.and_then(|returned| match unhandled {
            Some(error) => Err(CallError::Threw(error)),
            None => Ok(returned),
        });
        if phase != Phase::Summary {
            vu.report_data(vu.now_ns());
        }
        outcome
    }

    fn run_call(
        &self,
        ctx: &Ctx<'js>,
        vu: &Rc<Vu>,
        phase: Phase,
        function: &str,
        argument: Option<&str>,
    ) -> Result<Returned, ExportError> {
        let function: Function<'js> = self.exports.get(function)?;
        let argument = parse_argument(ctx, argument)?;
        if phase == Phase::Summary
            && let Some(data) = argument.as_object()
            && !data.contains_key("setup_data")?
        {
            // As in k6 the key is there, whatever setup() gave.
            data.set("setup_data", Value::new_undefined(ctx.clone()))?;
        }
        let returned: Value<'js> = function.call((argument,))?;
        if returned.is_promise() {
            vu.events.look_after(ctx, &returned);
        }
        vu.run_events(ctx)?;
        let value = settled(returned)?;
        if phase == Phase::Summary {
            return Ok(Returned::Files(export::files_of(ctx, &value)?));
        }
        if phase == Phase::Teardown {
            return Ok(Returned::Json(None));
        }
        export::to_json(&value).map(Returned::Json)
    }
}

fn parse_argument<'js>(ctx: &Ctx<'js>, json: Option<&str>) -> host::js::Result<Value<'js>> {
    json.map_or_else(|| Ok(Value::new_undefined(ctx.clone())), |json| ctx.json_parse(json))
}

/// What a function's promise settled to, once nothing is pending; a plain value as it is.
fn settled<'js>(value: Value<'js>) -> host::js::Result<Value<'js>> {
    let Some(promise) = value.as_promise() else { return Ok(value) };
    match promise.result::<Value<'js>>() {
        Some(result) => result,
        None => Ok(Value::new_undefined(value.ctx().clone())),
    }
}

fn log_exception(vu: &Vu, error: &ScriptError) {
    let message = error.with_stack();
    let iteration = vu.iteration();
    let mut fields = Vec::new();
    if let Some(iteration) = &iteration {
        fields.push(("executor", iteration.scenario.executor));
    }
    fields.push(("hint", "script exception"));
    if let Some(iteration) = &iteration {
        fields.push(("scenario", iteration.scenario.name.as_str()));
    }
    fields.push(("source", "stacktrace"));
    vu.log().log(&Record { level: Level::Error, message: &message, fields: &fields });
}
