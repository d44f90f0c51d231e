//! `k6/timers`: the timer functions under a name that can be imported.
//!
//! They are the very functions that scripts also find as globals; the event loop of the host runs them.

use host::js::{Ctx, Object, Result, Value};

use script::builtins::ModuleDef;

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/timers",
    exports: &["setTimeout", "clearTimeout", "setInterval", "clearInterval"],
    load,
    types: include_str!("types.d.ts"),
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let globals = ctx.globals();
    for name in MODULE.exports {
        module.set(*name, globals.get::<_, Value<'js>>(*name)?)?;
    }
    Ok(module)
}
