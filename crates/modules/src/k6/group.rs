//! `group(name, function)`: names what happens inside, and times it.

use std::time::Instant;

use host::js::function::Opt;
use host::js::{Ctx, Result, Value};
use host::object;
use metrics::builtin;

use super::guards::{refuse_in_init, refuse_separator};
use script::Vu;
use script::arguments::text_or;
use script::go_error;
use script::series::SeriesCache;

pub(super) fn group<'js>(ctx: Ctx<'js>, name: Opt<Value<'js>>, body: Opt<Value<'js>>) -> Result<Value<'js>> {
    let vu = Vu::of(&ctx);
    refuse_in_init(&ctx, &vu, "group")?;
    let name = text_or(&ctx, name, "")?;
    refuse_separator(&ctx, &name)?;
    let Some(body) = body.0.and_then(Value::into_function) else {
        return Err(go_error::throw(&ctx, "group() requires a callback as a second argument"));
    };
    if object::is_async(body.as_value()) {
        let message = "group() does not support async functions: it would end before they do; group the steps inside \
                       the async function instead";
        return Err(go_error::throw(&ctx, message));
    }
    let outer = vu.group();
    // As in k6, a group without a name at the root is the root.
    let path = if name.is_empty() && outer.is_empty() { outer.clone() } else { format!("{outer}::{name}").into() };
    vu.set_group(path);
    let started = Instant::now();
    let result = body.call(());
    // A group that was cut short has no duration; one that threw, or ended the test, has.
    if !vu.is_stopped() {
        let series = vu.worker_local::<SeriesCache>().resolve(&vu, builtin::GROUP_DURATION, &[]);
        vu.recorder().add(series, started.elapsed().as_secs_f64() * 1e3, vu.now_ns());
    }
    vu.set_group(outer);
    result
}
