//! `onrush/http`: everything of `k6/http`, and what k6 does not have: `FormData`, and TLS of a user's own.
//!
//! The functions are those of `k6/http` themselves, so state (the cookie jar, the response callback) is shared and a
//! script may import from both. FormData is no global, because scripts look for one to decide which way to go.

use host::js::function::Opt;
use host::js::object::Filter;
use host::js::prelude::Func;
use host::js::{Ctx, Object, Result, Value};

use crate::form_data::{self, form::Dialect};
use crate::http;
use crate::http::common::refusal::Refusal;
use crate::http::request::own_tls::WantedTls;
use crate::http::request::state::HttpState;
use script::Vu;
use script::builtins::ModuleDef;
use script::go_error;
use script::linker;

const BASE: &[&str] = http::MODULE.exports;

/// The module.
pub const MODULE: ModuleDef =
    ModuleDef { name: "onrush/http", exports: &EXPORTS, load, types: include_str!("types.d.ts") };

const EXPORTS: [&str; BASE.len() + 2] = {
    let mut names = ["FormData"; BASE.len() + 2];
    names[BASE.len()] = "useTLS";
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
    module.set("useTLS", Func::from(use_tls))?;
    Ok(module)
}

/// `useTLS({ tlsAuth, tlsResumption })`: for all requests and sockets of this user from now on.
fn use_tls<'js>(ctx: Ctx<'js>, wanted: Opt<Value<'js>>) -> Result<()> {
    let read = match wanted.0.as_ref().filter(|value| !value.is_null() && !value.is_undefined()) {
        None => Ok(WantedTls::default()),
        Some(value) => match value.as_object() {
            Some(object) => WantedTls::of(&ctx, object),
            None => {
                let found = value.type_name();
                Err(Refusal::new(format!("useTLS: found {found}, expected {{ tlsAuth, tlsResumption }}")).into())
            }
        },
    };
    let wanted = read.map_err(|error| error.or_throw(|refusal| go_error::throw(&ctx, &refusal.message)))?;
    let vu = Vu::of(&ctx);
    vu.say_tls(wanted.identity, wanted.resumes);
    vu.local::<HttpState>().fixed.forget();
    Ok(())
}
