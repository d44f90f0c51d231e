//! `__ENV`: what the command was given, what modules add, and for its iterations what a scenario says.

use std::collections::BTreeMap;
use std::sync::Arc;

use host::js::atom::Atom;
use host::js::{Ctx, Object, Result};

use crate::vu::Vu;

/// A variable that the command was given.
pub fn variable<'a>(vu: &'a Vu, name: &str) -> Option<&'a str> {
    vu.shared.env.get(name).map(String::as_str)
}

/// Adds the variables that the command was not given. Of several calls for a user the last one's stay.
pub fn add(ctx: &Ctx<'_>, vu: &Vu, more: &Arc<BTreeMap<String, String>>) -> Result<()> {
    *vu.script.added_env.borrow_mut() = Some(Arc::clone(more));
    if vu.options().freezes_env {
        return install(ctx, vu);
    }
    fill(ctx, &ctx.globals().get("__ENV")?, added(vu, more))
}

/// Makes the global.
pub(super) fn install(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    let env = object(ctx, vu)?;
    if vu.options().freezes_env {
        host::object::freeze(ctx, &env)?;
    }
    ctx.globals().set("__ENV", env)
}

/// Puts in what the scenario that begins says, in the place of what the last one said.
pub(super) fn begin_scenario(ctx: &Ctx<'_>, vu: &Vu, own: &BTreeMap<String, String>) -> Result<()> {
    if vu.options().freezes_env {
        let env = object(ctx, vu)?;
        fill(ctx, &env, own.iter())?;
        host::object::freeze(ctx, &env)?;
        return ctx.globals().set("__ENV", env);
    }
    let env: Object<'_> = ctx.globals().get("__ENV")?;
    let more = vu.script.added_env.borrow().clone();
    for name in vu.script.scenario_env.take() {
        match vu.shared.env.get(&name).or_else(|| more.as_ref()?.get(&name)) {
            Some(value) => env.set(name, value.as_str())?,
            None => env.remove(name)?,
        }
    }
    fill(ctx, &env, own.iter())?;
    vu.script.scenario_env.replace(own.keys().cloned().collect());
    Ok(())
}

fn object<'js>(ctx: &Ctx<'js>, vu: &Vu) -> Result<Object<'js>> {
    let env = Object::new(ctx.clone())?;
    fill(ctx, &env, vu.shared.env.iter())?;
    let more = vu.script.added_env.borrow().clone();
    if let Some(more) = &more {
        fill(ctx, &env, added(vu, more))?;
    }
    Ok(env)
}

/// Those of the variables that the command was not given.
fn added<'a>(vu: &'a Vu, more: &'a BTreeMap<String, String>) -> impl Iterator<Item = (&'a String, &'a String)> {
    more.iter().filter(|(name, _)| !vu.shared.env.contains_key(*name))
}

fn fill<'js, 'a>(
    ctx: &Ctx<'js>,
    env: &Object<'js>,
    variables: impl Iterator<Item = (&'a String, &'a String)>,
) -> Result<()> {
    for (name, value) in variables {
        // As a name, so that the users of a worker share the text.
        env.set(name.as_str(), Atom::from_str(ctx.clone(), value)?.to_js_string()?)?;
    }
    Ok(())
}
