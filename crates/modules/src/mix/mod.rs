//! `onrush/mix`: what a virtual user does next, drawn by weight, and when, by a schedule that slow handlers do not
//! stretch.
//!
//! Both draw from the user's `Math.random`, so `randomSeed` of `k6` makes them repeatable. Refuses weights and
//! intervals that mean nothing when they are given, not when they are drawn.

mod schedule;
mod weights;

use std::time::Instant;

use host::js::function::{Opt, This};
use host::js::prelude::Func;
use host::js::{Ctx, Exception, Function, Object, Result, Value};
use host::native::NativeClass;
use host::{bytes, keeper, object};
use units::Span;

use self::schedule::{Distribution, Schedule};
use self::weights::Weights;
use script::arguments::present;
use script::builtins::ModuleDef;
use script::vu::Vu;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "onrush/mix", exports: &["mix", "every"], load, types: include_str!("types.d.ts") };

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("mix", Func::from(mix))?;
    module.set("every", Func::from(every))?;
    Ok(module)
}

fn random(ctx: &Ctx<'_>) -> Result<f64> {
    let math: Object<'_> = ctx.globals().get("Math")?;
    let random: Function<'_> = math.get("random")?;
    random.call(())
}

/// `mix({ name: weight, … })`: a function that draws one of the names.
fn mix<'js>(ctx: Ctx<'js>, given: Opt<Value<'js>>) -> Result<Function<'js>> {
    let given = given.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let Some(names) = given.as_object().filter(|given| !given.is_function() && !given.is_array()) else {
        let found = given.type_name();
        let message = format!("mix: the weights are {found}, expected an object such as {{ read: 9, write: 1 }}");
        return Err(Exception::throw_type(&ctx, &message));
    };
    let mut list = Vec::new();
    object::each_entry(&ctx, names, |name, weight| {
        let name = name.text()?;
        let Some(weight) = weight.as_number().filter(|weight| weight.is_finite() && *weight >= 0.0) else {
            let found = bytes::to_text(&ctx, &weight)?;
            let message = format!("mix: the weight of \"{name}\" is {found}, expected a number from 0 on");
            return Err(Exception::throw_range(&ctx, &message));
        };
        list.push((name, weight));
        Ok(())
    })?;
    let weights = Weights::new(list).ok_or_else(|| {
        Exception::throw_range(&ctx, "mix: no weight is above 0, expected at least one name that can be drawn")
    })?;
    Function::new(ctx, move |ctx: Ctx<'js>| Ok::<_, host::js::Error>(weights.draw(random(&ctx)?).to_owned()))
}

/// What `every` returns; holds the handler and the function that the timers call.
struct Every {
    schedule: Schedule,
    /// The timer that is set; 0: none.
    timer: u32,
    /// Calls that are still to come; `None`: no end.
    left: Option<u64>,
}

impl NativeClass for Every {
    const NAME: &'static str = "Every";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("stop", Func::from(stop))
    }
}

/// `every(interval, handler, { law, count })`.
fn every<'js>(
    ctx: Ctx<'js>,
    interval: Opt<Value<'js>>,
    handler: Opt<Value<'js>>,
    options: Opt<Value<'js>>,
) -> Result<Object<'js>> {
    let interval = interval.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let text = bytes::to_text(&ctx, &interval)?;
    let Some(interval) = Span::parse(&text).ok().map(Span::or_zero).filter(|interval| !interval.is_zero()) else {
        let message = format!("every: the interval is {text:?}, expected a time above 0, as in '500ms' or 500");
        return Err(Exception::throw_range(&ctx, &message));
    };
    let Some(handler) = handler.0.filter(Value::is_function) else {
        return Err(Exception::throw_type(&ctx, "every: the second argument must be a function"));
    };
    let (distribution, left) = options_of(&ctx, present(options.0))?;
    let schedule = Schedule::new(Instant::now(), interval, distribution);
    let every = keeper::object(&ctx, Every { schedule, timer: 0, left })?;
    let tick = Function::new(ctx.clone(), tick)?.into_value();
    keeper::with(every.as_value(), |_: &mut Every, kept| kept.extend([handler, tick]));
    plan_next(&ctx, every.as_value())?;
    Ok(every)
}

fn options_of<'js>(ctx: &Ctx<'js>, options: Option<Value<'js>>) -> Result<(Distribution, Option<u64>)> {
    let Some(options) = options.as_ref().and_then(Value::as_object) else { return Ok((Distribution::Constant, None)) };
    let distribution = match present(options.get("law")?) {
        None => Distribution::Constant,
        Some(law) => {
            let text = bytes::to_text(ctx, &law)?;
            Distribution::parse(&text).ok_or_else(|| {
                let message = format!("every: the law is {text:?}, expected 'constant' or 'poisson'");
                Exception::throw_range(ctx, &message)
            })?
        }
    };
    let count = match present(options.get("count")?) {
        None => None,
        Some(count) => {
            let whole = count.as_number().filter(|count| *count >= 1.0 && count.fract() == 0.0);
            Some(
                whole.ok_or_else(|| Exception::throw_range(ctx, "every: the count must be a whole number from 1 on"))?
                    as u64,
            )
        }
    };
    Ok((distribution, count))
}

/// Sets the timer of the next call, if there is one.
fn plan_next<'js>(ctx: &Ctx<'js>, every: &Value<'js>) -> Result<()> {
    let drawn = random(ctx)?;
    let planned = keeper::with(every, |every: &mut Every, kept| {
        if every.left == Some(0) || kept.is_empty() {
            return None;
        }
        every.left = every.left.map(|left| left - 1);
        Some((every.schedule.next(drawn), kept[1].clone()))
    });
    let Some((due, tick)) = planned.flatten() else { return Ok(()) };
    let tick = tick.into_function().expect("it was made as one");
    let delay = due.saturating_duration_since(Instant::now());
    let timer = Vu::of(ctx).add_timer(ctx, (tick, vec![every.clone()]), delay.as_secs_f64() * 1e3, false)?;
    keeper::with(every, |every: &mut Every, _| every.timer = timer);
    Ok(())
}

/// One call: the next one is planned first, so that neither an exception nor a slow handler moves it.
fn tick<'js>(ctx: Ctx<'js>, every: Value<'js>) -> Result<()> {
    let now = Instant::now();
    let found = keeper::with(&every, |every: &mut Every, kept| {
        every.timer = 0;
        Some((every.schedule.late(now), kept.first()?.clone()))
    });
    let Some((late, handler)) = found.flatten() else { return Ok(()) };
    plan_next(&ctx, &every)?;
    let handler = handler.into_function().expect("it was checked when it was given");
    handler.call((late.as_secs_f64() * 1e3,))
}

/// No further call. What is kept is let go: it may hold the handler's whole world.
fn stop(ctx: Ctx<'_>, this: This<Value<'_>>) -> Result<()> {
    let timer = keeper::with(&this, |every: &mut Every, kept| {
        let kept = std::mem::take(kept);
        (std::mem::take(&mut every.timer), kept)
    });
    match timer {
        Some((timer, kept)) => {
            Vu::of(&ctx).events.clear_timer(timer);
            drop(kept);
            Ok(())
        }
        None => Err(Exception::throw_type(&ctx, "stop belongs to what every() returns: call it on that")),
    }
}
