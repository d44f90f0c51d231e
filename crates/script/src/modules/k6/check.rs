//! `check(value, { name: condition }, tags)`: one sample of `checks` an entry.
//!
//! Scripts check every response, so this is a hot path: the series of a check is found by its name and the tags of the
//! virtual user, without building a tag set.

use std::cell::RefCell;

use metrics::{Series, SystemTag, builtin};
use rquickjs::function::Opt;
use rquickjs::object::Filter;
use rquickjs::{Atom, Coerced, Ctx, Exception, FromJs, Function, Result, Value};
use rustc_hash::FxHashMap;

use super::{refuse_in_init, refuse_separator};
use crate::Vu;
use crate::host::{bytes, object};
use crate::modules::series::{self, OwnTags, SeriesCache};

/// Tag sets whose checks the cache holds before it is emptied.
const LIMIT: usize = 1_000;

/// Series by the name of the check.
type Names = FxHashMap<Box<[u8]>, Series>;

/// Series of checks without tags of their own, by `Vu::tags_key`.
#[derive(Default)]
struct CheckCache {
    by_tags: RefCell<FxHashMap<u32, Names>>,
}

/// The function, with the worker's cache at hand.
pub(super) fn function<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    let cache = Vu::of(ctx).worker_local::<CheckCache>();
    let check = move |ctx: Ctx<'js>, value: Opt<Value<'js>>, checks: Opt<Value<'js>>, tags: Opt<Value<'js>>| {
        check(&ctx, &cache, value, checks, tags)
    };
    Function::new(ctx.clone(), check)?.with_name("check")
}

fn check<'js>(
    ctx: &Ctx<'js>,
    cache: &CheckCache,
    value: Opt<Value<'js>>,
    checks: Opt<Value<'js>>,
    tags: Opt<Value<'js>>,
) -> Result<bool> {
    let vu = Vu::of(ctx);
    refuse_in_init(ctx, &vu, "check")?;
    let Some(checks) = checks.0 else {
        return Err(Exception::throw_message(ctx, "no checks provided to `check`"));
    };
    if checks.is_null() || checks.is_undefined() {
        return Err(Exception::throw_type(ctx, "no checks provided to `check`: expected an object, found nothing"));
    }
    let tags = series::own_tags(ctx, tags.0)?;
    let value = value.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let Some(checks) = checks.as_object() else { return Ok(true) };
    let at_ns = vu.now_ns();
    let mut all = true;
    for entry in checks.own_props::<Atom<'js>, Value<'js>>(Filter::new().string().enum_only()) {
        let (name, condition) = entry?;
        // Resolved first: a condition may change the tags, and a name that is refused must not run its condition.
        let series = series_of(ctx, &vu, cache, &name, &tags)?;
        refuse_async(ctx, &condition)?;
        let held = holds(ctx, &value, condition);
        if held.is_err() && vu.is_leaving() {
            return held;
        }
        vu.recorder().add(series, f64::from(u8::from(*held.as_ref().unwrap_or(&false))), at_ns);
        all &= held?;
    }
    Ok(all)
}

/// An async condition is no outcome at all: neither passed nor failed.
fn refuse_async(ctx: &Ctx<'_>, condition: &Value<'_>) -> Result<()> {
    if condition.as_function().is_some_and(object::is_async) {
        let message = "check() does not support async functions: it cannot wait for what they return; await the value \
                       first, or use the check function of k6's jslib utils";
        return Err(Exception::throw_message(ctx, message));
    }
    Ok(())
}

fn holds<'js>(ctx: &Ctx<'js>, value: &Value<'js>, condition: Value<'js>) -> Result<bool> {
    let result = match condition.as_function() {
        Some(function) => function.call((value.clone(),))?,
        None => condition,
    };
    Coerced::<bool>::from_js(ctx, result).map(|held| held.0)
}

fn series_of(ctx: &Ctx<'_>, vu: &Vu, cache: &CheckCache, name: &Atom<'_>, tags: &OwnTags) -> Result<Series> {
    let key = vu.tags_key();
    let name = name.to_js_string()?;
    if tags.is_empty() {
        let known =
            bytes::borrow(&name, |name| cache.by_tags.borrow().get(&key).and_then(|names| names.get(name)).copied())?;
        if let Some(series) = known {
            return Ok(series);
        }
    }
    let name = bytes::text(name.as_value())?.unwrap_or_default();
    refuse_separator(ctx, &name)?;
    let named = vu.options().system_tags().has(SystemTag::Check).then(|| ("check".to_owned(), name.clone()));
    let own: OwnTags = tags.iter().cloned().chain(named).collect();
    let series = vu.worker_local::<SeriesCache>().resolve(vu, builtin::CHECKS, &own);
    if tags.is_empty() {
        let mut by_tags = cache.by_tags.borrow_mut();
        if by_tags.len() >= LIMIT {
            by_tags.clear();
        }
        by_tags.entry(key).or_default().insert(name.into_bytes().into(), series);
    }
    Ok(series)
}
