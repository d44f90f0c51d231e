//! `check(value, { name: condition }, tags)`: one sample of `checks` an entry.
//!
//! Scripts check every response, so this is a hot path: a native function without a closure, and the series of a check
//! is found by the identity of its name and the tags of the virtual user, without building a tag set.

use host::js::{Ctx, Exception, Function, Result, Value};
use host::memo::NameMemo;
use host::object::{self, Name};
use host::plain::{self, Plain};
use metrics::{Series, SystemTag, TagSet, builtin};

use super::guards::{refuse_in_init, refuse_separator};
use script::Vu;
use script::go_error;
use script::series::{self, SampleTags, SeriesCache};

/// Series of checks without tags of their own, by name and `Vu::tags_key`.
#[derive(Default)]
struct KnownChecks(NameMemo<Series>);

struct Check;

/// The function.
pub(super) fn function<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    plain::function::<Check>(ctx, c"check", 0)
}

impl Plain for Check {
    fn call<'js>(ctx: &Ctx<'js>, args: plain::Args<'_, 'js>, _: i32) -> Result<Value<'js>> {
        let vu = Vu::of(ctx);
        refuse_in_init(ctx, &vu, "check")?;
        let Some(checks) = args.peek(1) else {
            return Err(go_error::throw(ctx, "no checks provided to `check`"));
        };
        if checks.is_null() || checks.is_undefined() {
            let message = "no checks provided to `check`: expected an object, found nothing";
            return Err(Exception::throw_type(ctx, message));
        }
        let tags = series::own_tags(ctx, args.get(2))?;
        let value = args.peek_or_undefined(0);
        let Some(checks) = object::of(&checks) else { return Ok(Value::new_bool(ctx.clone(), true)) };
        let (at_ns, known) = (vu.now_ns(), vu.local::<KnownChecks>());
        // As in k6 all entries have the tags of now: what a condition sets is for what comes after the call.
        let (now, noted) = ((vu.tags_key(), vu.tags()), vu.noted());
        let mut all = true;
        object::each_entry(ctx, checks, |name, condition| {
            // Resolved first: a name that is refused must not run its condition.
            let series = series_of(ctx, &vu, &now, &known, &name, &tags)?;
            refuse_async(ctx, &condition)?;
            let held = holds(ctx, &value, condition);
            if held.is_err() && vu.is_leaving() {
                return held.map(drop);
            }
            vu.recorder_as_noted(noted.as_ref()).add(
                series,
                f64::from(u8::from(*held.as_ref().unwrap_or(&false))),
                at_ns,
            );
            all &= held?;
            Ok(())
        })?;
        Ok(Value::new_bool(ctx.clone(), all))
    }
}

/// An async condition is no outcome at all: neither passed nor failed.
fn refuse_async(ctx: &Ctx<'_>, condition: &Value<'_>) -> Result<()> {
    if object::is_async(condition) {
        let message = "check() does not support async functions: it cannot wait for what they return; await the value \
                       first, or use the check function of k6's jslib utils";
        return Err(go_error::throw(ctx, message));
    }
    Ok(())
}

fn holds<'js>(ctx: &Ctx<'js>, value: &Value<'js>, condition: Value<'js>) -> Result<bool> {
    let result = if condition.is_function() { object::call(ctx, &condition, value)? } else { condition };
    Ok(object::is_true(&result))
}

fn series_of(
    ctx: &Ctx<'_>,
    vu: &Vu,
    (key, now): &(u32, TagSet),
    known: &KnownChecks,
    name: &Name<'_, '_>,
    tags: &SampleTags,
) -> Result<Series> {
    if tags.is_empty()
        && let Some(series) = known.0.get(name, *key)
    {
        return Ok(series);
    }
    let text = name.text()?;
    refuse_separator(ctx, &text)?;
    let named = vu.options().enabled_system_tags().has(SystemTag::Check).then(|| ("check".to_owned(), text));
    let own: SampleTags = tags.iter().cloned().chain(named).collect();
    let series = vu.worker_local::<SeriesCache>().resolve_among(vu, *key, || now.clone(), builtin::CHECKS, &own);
    if tags.is_empty() {
        known.0.put(name, *key, series);
    }
    Ok(series)
}
