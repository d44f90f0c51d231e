//! `onrush/http`: everything of `k6/http`, and `FormData`, which k6 does not have.
//!
//! The functions are those of `k6/http` themselves, so state (the cookie jar, the response callback) is shared and a
//! script may import from both. FormData is no global, because scripts look for one to decide which way to go.

use host::js::object::Filter;
use host::js::{Ctx, Object, Result, Value};

use crate::form_data::{self, form::Dialect};
use crate::http;
use script::Vu;
use script::builtins::ModuleDef;
use script::linker;

const BASE: &[&str] = http::MODULE.exports;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "onrush/http", exports: &EXPORTS, load, types: include_str!("types.d.ts") };

const EXPORTS: [&str; BASE.len() + 1] = {
    let mut names = ["FormData"; BASE.len() + 1];
    let mut index = 0;
    while index < BASE.len() {
        names[index] = BASE[index];
        index += 1;
    }
    names
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let base = linker::builtin(ctx, &Vu::of(ctx), &http::MODULE)?;
    for entry in base.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
        let (name, value) = entry?;
        module.set(name, value)?;
    }
    module.set("FormData", form_data::constructor(ctx, Dialect::Browser)?)?;
    Ok(module)
}
