//! `onrush/together`: virtual users that begin the measured part of their work at one instant, and know when it ends.
//!
//! Binding only: what was given, what the scenario says instead, and what the script gets back; `meeting.rs` has the
//! meeting.

mod meeting;

use std::time::Duration;

use engine::clock::Clock;
use engine::scenario::Executor;
use host::Phase;
use host::bytes;
use host::js::function::Opt;
use host::js::prelude::Func;
use host::js::{Ctx, Exception, Object, Promise, Result, Value};
use units::Span;

pub use self::meeting::{Attendance, Meetings};
use self::meeting::{MeetingName, Start, Terms};
use script::arguments::present;
use script::builtins::ModuleDef;
use script::vu::Vu;

/// How long the first user waits for the others, unless it says how long.
const TIMEOUT: Duration = Duration::from_secs(60);
/// From when all are there to the start, unless given: every worker has heard of it by then.
const LEAD: Duration = Duration::from_millis(100);

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "onrush/together", exports: &["ready", "remaining"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("ready", Func::from(ready))?;
    module.set("remaining", Func::from(remaining))?;
    Ok(module)
}

/// `ready({ name, users, timeout, lead, duration })`.
fn ready<'js>(ctx: Ctx<'js>, options: Opt<Value<'js>>) -> Result<Promise<'js>> {
    let vu = Vu::of(&ctx);
    let options = MeetingOptions { ctx: &ctx, given: present(options.0).and_then(Value::into_object) };
    let name = options.meeting(&vu, "ready")?;
    let executor = executor(&vu);
    let users = match options.number("users")? {
        Some(users) => users,
        None => executor.as_ref().and_then(users_of).ok_or_else(|| {
            let scenario = executor.as_ref().map_or("the scenario", Executor::name);
            let message =
                format!("ready: the number of users of {scenario} is not fixed; write ready({{ users: 50 }})");
            Exception::throw_type(&ctx, &message)
        })?,
    };
    let terms = Terms {
        users,
        timeout: options.time("timeout")?.unwrap_or(TIMEOUT),
        lead: options.time("lead")?.unwrap_or(LEAD),
        length: options.time("duration")?,
    };
    let (meetings, clock, user) =
        (vu.process::<Meetings>(), vu.clock(), vu.context().map_or(0, |context| context.id_in_test));
    let meet = {
        let (meetings, clock, name) = (meetings, clock.clone(), name);
        async move { meetings.meet(&name, user, terms, &clock).await }
    };
    vu.promise(&ctx, meet, move |ctx, start| told(ctx, start, clock.epoch_ns(start.at), terms))
}

/// The start as the script sees it: like `Date.now()` by the clock of the whole test.
fn told<'js>(ctx: &Ctx<'js>, start: Start, at_ns: u64, terms: Terms) -> Result<Value<'js>> {
    let vu = Vu::of(ctx);
    if start.missing > 0 {
        let message = format!(
            "ready: {} of {} users had arrived after {:?}; the others start when they arrive",
            start.came,
            start.came + start.missing,
            terms.timeout
        );
        vu.log().warn(&message, &[]);
    }
    let object = Object::new(ctx.clone())?;
    object.set("at", vu.test_time(at_ns) as f64 / 1e6)?;
    object.set("users", start.came as f64)?;
    object.set("missing", start.missing as f64)?;
    Ok(object.into_value())
}

/// `remaining({ name })`: milliseconds.
fn remaining<'js>(ctx: Ctx<'js>, options: Opt<Value<'js>>) -> Result<f64> {
    let vu = Vu::of(&ctx);
    let options = MeetingOptions { ctx: &ctx, given: present(options.0).and_then(Value::into_object) };
    let name = options.meeting(&vu, "remaining")?;
    let end = match vu.process::<Meetings>().start_of(&name) {
        Some(Start { end: Some(end), .. }) => Some(end),
        _ => scenario_end(&vu),
    };
    Ok(end.map_or(f64::INFINITY, |end| end.saturating_sub(vu.clock().now()).as_secs_f64() * 1e3))
}

/// When the running scenario starts its last iteration, by the run's clock.
fn scenario_end(vu: &Vu) -> Option<Duration> {
    let iteration = vu.iteration()?;
    Some(iteration.scenario.started + executor(vu)?.time())
}

fn executor(vu: &Vu) -> Option<Executor> {
    let iteration = vu.iteration()?;
    let options = vu.options();
    let scenario = options.execution.scenarios.as_ref()?.iter().find(|known| known.name == iteration.scenario.name)?;
    Some(scenario.executor.clone())
}

/// How many users an executor has from its start to its end.
fn users_of(executor: &Executor) -> Option<u64> {
    match executor {
        Executor::SharedIterations { vus, .. }
        | Executor::PerVuIterations { vus, .. }
        | Executor::ConstantVus { vus, .. } => Some(*vus),
        _ => None,
    }
}

/// The argument of either function.
struct MeetingOptions<'a, 'js> {
    ctx: &'a Ctx<'js>,
    given: Option<Object<'js>>,
}

impl<'js> MeetingOptions<'_, 'js> {
    fn get(&self, key: &str) -> Result<Option<Value<'js>>> {
        Ok(match &self.given {
            Some(given) => present(given.get(key)?),
            None => None,
        })
    }

    /// Which meeting is meant.
    fn meeting(&self, vu: &Vu, function: &str) -> Result<MeetingName> {
        let iteration = vu.iteration().filter(|_| vu.phase() == Phase::Iteration).ok_or_else(|| {
            let message =
                format!("{function} belongs in the functions of scenarios, not in init code, setup or teardown");
            Exception::throw_type(self.ctx, &message)
        })?;
        let name = self.get("name")?.map(|name| bytes::to_text(self.ctx, &name)).transpose()?;
        Ok(MeetingName { scenario: iteration.scenario.index, name: name.unwrap_or_default() })
    }

    fn number(&self, key: &str) -> Result<Option<u64>> {
        let Some(value) = self.get(key)? else { return Ok(None) };
        let whole = value.as_number().filter(|number| *number >= 1.0 && number.fract() == 0.0);
        match whole {
            Some(number) => Ok(Some(number as u64)),
            None => {
                let found = bytes::to_text(self.ctx, &value)?;
                let message = format!("ready: {key} is {found}, expected a whole number from 1 on");
                Err(Exception::throw_range(self.ctx, &message))
            }
        }
    }

    fn time(&self, key: &str) -> Result<Option<Duration>> {
        let Some(value) = self.get(key)? else { return Ok(None) };
        let text = bytes::to_text(self.ctx, &value)?;
        Span::parse(&text).map(|time| Some(time.or_zero())).map_err(|_| {
            let message = format!("ready: {key} is {text:?}, expected a time, as in '30s' or 30000");
            Exception::throw_range(self.ctx, &message)
        })
    }
}
