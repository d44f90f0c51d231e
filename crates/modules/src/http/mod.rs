//! `k6/http`: names and argument order; the work is in the rooms beside.
//!
//! `request` reads arguments, `send` sends and records, `trace` puts requests into traces, `response` is filled in when
//! a script reads it, `verbs.rs` joins them. Not supported yet: NTLM.

pub mod common;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod samples;
pub(crate) mod send;
pub(crate) mod trace;
pub(crate) mod verbs;

use std::rc::Rc;

use host::Phase;
use host::js::atom::Atom;
use host::js::function::Opt;
use host::js::prelude::Func;
use host::js::{Ctx, Object, Result, Value};
use host::plain;

use self::common::status::{self, Expectation};
use self::common::url;
use self::request::state::HttpState;
use self::request::{body, cookies};
use self::response::object::is_response;
use self::send::batch;
use script::Vu;
use script::builtins::{AsData, ModuleDef};
use script::go_error;

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/http",
    exports: &[
        "TLS_1_0",
        "TLS_1_1",
        "TLS_1_2",
        "TLS_1_3",
        "OCSP_STATUS_GOOD",
        "OCSP_STATUS_REVOKED",
        "OCSP_STATUS_SERVER_FAILED",
        "OCSP_STATUS_UNKNOWN",
        "OCSP_REASON_UNSPECIFIED",
        "OCSP_REASON_KEY_COMPROMISE",
        "OCSP_REASON_CA_COMPROMISE",
        "OCSP_REASON_AFFILIATION_CHANGED",
        "OCSP_REASON_SUPERSEDED",
        "OCSP_REASON_CESSATION_OF_OPERATION",
        "OCSP_REASON_CERTIFICATE_HOLD",
        "OCSP_REASON_REMOVE_FROM_CRL",
        "OCSP_REASON_PRIVILEGE_WITHDRAWN",
        "OCSP_REASON_AA_COMPROMISE",
        "url",
        "CookieJar",
        "cookieJar",
        "file",
        "get",
        "head",
        "post",
        "put",
        "patch",
        "del",
        "options",
        "request",
        "asyncRequest",
        "batch",
        "setResponseCallback",
        "expectedStatuses",
    ],
    load,
    types: include_str!("types.d.ts"),
};

/// What a response, an `http.url` or an `http.file` is as data.
pub fn as_data<'js>(value: &Value<'js>) -> Result<Option<AsData<'js>>> {
    if is_response(value) {
        return Ok(Some(AsData::WithoutFunctions));
    }
    let fields = match url::exported(value)? {
        Some(fields) => Some(fields),
        None => body::exported(value)?,
    };
    Ok(fields.map(AsData::Fields))
}

/// Empties the user's cookie jar before an iteration, unless `noCookiesReset` is set.
pub fn on_iteration_start(ctx: &Ctx<'_>) {
    let vu = Vu::peek(ctx);
    let state = vu.local::<HttpState>();
    if !state.jar.is_empty() && !vu.options().no_cookies_reset.unwrap_or(false) {
        state.jar.clear_all();
    }
}

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    constants(&module)?;
    module.set("url", Func::from(url::template))?;
    module.set("CookieJar", cookies::constructor(ctx)?)?;
    module.set("cookieJar", Func::from(user_jar))?;
    module.set("file", plain::function::<body::MakeFile>(ctx, c"file", 0)?)?;
    verbs::add(&module)?;
    module.set("batch", Func::from(batch::batch))?;
    module.set("setResponseCallback", Func::from(set_response_callback))?;
    module.set("expectedStatuses", Func::from(status::expected_statuses))?;
    Ok(module)
}

fn constants(module: &Object<'_>) -> Result<()> {
    for (name, value) in [("TLS_1_0", "tls1.0"), ("TLS_1_1", "tls1.1"), ("TLS_1_2", "tls1.2"), ("TLS_1_3", "tls1.3")] {
        module.set(name, shared_text(module, value)?)?;
    }
    for name in MODULE.exports {
        if let Some(word) = name.strip_prefix("OCSP_STATUS_").or_else(|| name.strip_prefix("OCSP_REASON_")) {
            module.set(*name, shared_text(module, &word.to_ascii_lowercase())?)?;
        }
    }
    Ok(())
}

/// As a name, so that the users of a worker share it.
fn shared_text<'js>(module: &Object<'js>, text: &str) -> Result<Value<'js>> {
    Atom::from_str(module.ctx().clone(), text)?.to_value()
}

/// `http.cookieJar()`: the user's own jar.
fn user_jar<'js>(ctx: Ctx<'js>) -> Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    if vu.phase() == Phase::Init {
        return Err(go_error::throw(&ctx, "Making cookie jars in the init context is not supported"));
    }
    cookies::object(&ctx, Rc::clone(&vu.local::<HttpState>().jar))
}

fn set_response_callback<'js>(ctx: Ctx<'js>, callback: Opt<Value<'js>>) -> Result<()> {
    let callback = callback.0.unwrap_or_else(|| Value::new_null(ctx.clone()));
    let Some(expectation) = Expectation::from_js(&callback) else {
        return Err(go_error::throw(&ctx, "unsupported argument, expected http.expectedStatuses"));
    };
    Vu::of(&ctx).local::<HttpState>().expect(expectation);
    Ok(())
}
