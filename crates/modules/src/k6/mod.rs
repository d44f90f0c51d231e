//! `k6`: check, group, sleep, fail, randomSeed.
//!
//! Binding only; `check.rs` and `group.rs` hold what records samples. Everything that records refuses to work in init
//! code, where there is no iteration to record for.

mod check;
mod group;
mod guards;

use std::cell::RefCell;
use std::time::Duration;

use host::js::function::{Func, Opt};
use host::js::{Coerced, Ctx, Function, Object, Result, Value};

use script::Vu;
use script::arguments::text_or;
use script::builtins::ModuleDef;
use script::go_error;

/// Longer sleeps are endless for any test.
const LONGEST_SLEEP_S: f64 = 1e9;

/// From here on giving back the stack that requests have used costs nothing beside the sleep.
const LONG_SLEEP: Duration = Duration::from_secs(1);

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6",
    exports: &["check", "fail", "group", "randomSeed", "sleep"],
    load,
    types: include_str!("types.d.ts"),
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("check", check::function(ctx)?)?;
    module.set("fail", Func::from(fail))?;
    module.set("group", Func::from(group::group))?;
    module.set("randomSeed", Func::from(random_seed))?;
    module.set("sleep", Func::from(sleep))?;
    Ok(module)
}

fn fail<'js>(ctx: Ctx<'js>, message: Opt<Value<'js>>) -> Result<()> {
    let message = text_or(&ctx, message, "")?;
    Err(go_error::throw(&ctx, &message))
}

/// Only users who seed pay for a `Math.random` of ours; the engine's own cannot be seeded.
fn random_seed(ctx: Ctx<'_>, seed: Opt<Coerced<i64>>) -> Result<()> {
    let seed = seed.0.map_or(0, |seed| seed.0);
    let numbers = RefCell::new(fastrand::Rng::with_seed(seed as u64));
    let math: Object<'_> = ctx.globals().get("Math")?;
    math.set("random", Function::new(ctx.clone(), move || numbers.borrow_mut().f64())?)
}

fn sleep(ctx: Ctx<'_>, seconds: Opt<Coerced<f64>>) -> Result<()> {
    let seconds = seconds.0.map_or(0.0, |seconds| seconds.0);
    if seconds.is_nan() || seconds <= 0.0 {
        return Ok(());
    }
    let time = Duration::from_secs_f64(seconds.min(LONGEST_SLEEP_S));
    let vu = Vu::of(&ctx);
    if time >= LONG_SLEEP {
        vu.switch().trim_stack_to_wait();
    }
    let clock = vu.clock();
    vu.block_on(&ctx, clock.sleep(time))
}
