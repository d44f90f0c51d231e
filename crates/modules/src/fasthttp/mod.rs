//! `k6/x/fasthttp`: the API of the extension xk6-fasthttp over the HTTP of `k6/http`.
//!
//! A second spelling, not a second way: requests are prepared, sent and recorded by the code of `k6/http`, so that what
//! the extension lacks is there (timings, data counters, `http_req_failed`, cookies, decompression). What differs from
//! the extension on purpose is in `types.d.ts`.

mod client;
mod config;
mod request;
mod status;

use host::js::{Ctx, Object, Result};

use crate::http::verbs;
use crate::onrush_fs;
use script::builtins::ModuleDef;

/// The module.
pub const MODULE: ModuleDef = ModuleDef {
    name: "k6/x/fasthttp",
    exports: &["Client", "Request", "FileStream", "checkstatus"],
    load,
    types: include_str!("types.d.ts"),
};

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    verbs::bind_pages(ctx);
    let module = Object::new(ctx.clone())?;
    module.set("Client", client::constructor(ctx)?)?;
    module.set("Request", request::constructor(ctx)?)?;
    module.set("FileStream", onrush_fs::constructor(ctx)?)?;
    module.set("checkstatus", status::function(ctx)?)?;
    Ok(module)
}
