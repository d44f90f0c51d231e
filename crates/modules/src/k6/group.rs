//! `group(name, function)`: names what happens inside, and times it. With k6's feature async-metric-context the
//! function may be asynchronous: then the group lasts until its promise is settled.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Instant;

use host::js::function::Opt;
use host::js::{Ctx, Function, Persistent, Result, Value};
use host::{async_context, object};
use metrics::builtin;

use super::guards::{refuse_in_init, refuse_separator};
use script::Vu;
use script::arguments::text_or;
use script::go_error;
use script::series::SeriesCache;
use script::web;

pub(super) fn group<'js>(ctx: Ctx<'js>, name: Opt<Value<'js>>, body: Opt<Value<'js>>) -> Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    refuse_in_init(&ctx, &vu, "group")?;
    let name = text_or(&ctx, name, "")?;
    refuse_separator(&ctx, &name)?;
    let Some(body) = body.0.and_then(Value::into_function) else {
        return Err(go_error::throw(&ctx, "group() requires a callback as a second argument"));
    };
    let keeps_contexts = vu.keeps_async_contexts();
    if !keeps_contexts && object::is_async(body.as_value()) {
        let message = "group() does not support async functions: it would end before they do; group the steps inside \
                       the async function instead, or add --features async-metric-context";
        return Err(go_error::throw(&ctx, message));
    }
    let outer = vu.group();
    // As in k6, a group without a name at the root is the root.
    let path = if name.is_empty() && outer.is_empty() { outer.clone() } else { format!("{outer}::{name}").into() };
    if keeps_contexts {
        return group_in_context(&ctx, &vu, path, &body);
    }
    vu.set_group(path);
    let started = Instant::now();
    let result = body.call(());
    count(&vu, started);
    vu.set_group(outer);
    result
}

/// The sample of a group. One that was cut short has no duration; one that threw, or ended the test, has.
fn count(vu: &Vu, started: Instant) {
    if !vu.is_stopped() {
        let series = vu.worker_local::<SeriesCache>().resolve(vu, builtin::GROUP_DURATION, &[]);
        vu.recorder().add(series, started.elapsed().as_secs_f64() * 1e3, vu.now_ns());
    }
}

/// The caller goes on in its own context as soon as the function returns. When the function returns a promise, or
/// anything with `then`, the group ends once that is settled.
fn group_in_context<'js>(ctx: &Ctx<'js>, vu: &Vu, path: Arc<str>, body: &Function<'js>) -> Result<Value<'js>> {
    let outer = async_context::keep(ctx);
    vu.set_group(path);
    let inner = async_context::keep(ctx);
    let started = Instant::now();
    let result = body.call::<_, Value<'js>>(());
    async_context::leave(ctx, outer);
    let end = move |ctx: Ctx<'js>| {
        async_context::run_in(&ctx, inner, || count(&Vu::of(&ctx), started));
        async_context::drop_kept(&ctx, inner);
    };
    let result = result.inspect_err(|_| end(ctx.clone()))?;
    match is_thenable(&result) {
        Ok(false) => end(ctx.clone()),
        Ok(true) => {
            let end = Function::new(ctx.clone(), host::js::function::OnceFn::from(end))?;
            return vu.local::<Follow>().function(ctx)?.call((result, end));
        }
        Err(error) => {
            end(ctx.clone());
            return Err(error);
        }
    }
    Ok(result)
}

/// The function of `FOLLOW`, compiled once a user.
#[derive(Default)]
struct Follow(OnceCell<Persistent<Function<'static>>>);

impl Follow {
    fn function<'js>(&self, ctx: &Ctx<'js>) -> Result<Function<'js>> {
        if let Some(known) = self.0.get() {
            return known.clone().restore(ctx);
        }
        let function: Function<'js> = web::evaluate_bare(ctx, "k6/group.js", FOLLOW)?;
        self.0.get_or_init(|| Persistent::save(ctx, function.clone()));
        Ok(function)
    }
}

/// Returns a promise with the outcome of `result`, and calls `end` before its reactions.
const FOLLOW: &str = "(result, end) => Promise.resolve(result).then(
  (value) => (end(), value),
  (reason) => { end(); throw reason; },
)";

fn is_thenable(value: &Value<'_>) -> Result<bool> {
    let Some(object) = value.as_object() else { return Ok(false) };
    object.get::<_, Value<'_>>("then").map(|then| then.is_function())
}
