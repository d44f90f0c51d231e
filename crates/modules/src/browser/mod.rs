//! `k6/browser`: its names, and nothing behind them.
//!
//! Libraries and mixed tests import the module in files whose other scenarios send requests only. So the import works,
//! and the first use says that there is no browser.

use host::js::function::Func;
use host::js::{Ctx, Object, Result, Value};

use script::builtins::ModuleDef;
use script::go_error;
use script::web;

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/browser",
    exports: &["browser", "chromium", "devices", "networkProfiles"],
    load,
    types: include_str!("types.d.ts"),
};

/// An object on which everything that a script may do with it fails; looking at it (`console.log`) does not.
const NOTHING: &str = "(refuse) => new Proxy(function () {}, {
  get(_, name) { return typeof name === 'symbol' ? undefined : refuse() },
  set: refuse, has: refuse, apply: refuse, construct: refuse,
})";

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let make = web::evaluate(ctx, "onrush/browser.js", NOTHING)?;
    let module = Object::new(ctx.clone())?;
    for name in MODULE.exports {
        let refuse = move |ctx: Ctx<'js>| -> Result<()> {
            let message = format!(
                "{name} of k6/browser is not offered, because Onrush has no browser; send the pages' requests with \
                 k6/http, or run this scenario with k6"
            );
            Err(go_error::throw(&ctx, &message))
        };
        module.set(*name, make.call::<_, Value<'js>>((Func::from(refuse),))?)?;
    }
    Ok(module)
}
