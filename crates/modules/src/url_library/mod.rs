//! `URL` and `URLSearchParams` for scripts, which have no such globals: k6's library, answered natively.

use host::js::{Ctx, Object, Result};

use crate::libraries;
use script::builtins::ModuleDef;
use script::web;

/// The module that answers imports of the library.
pub const MODULE: ModuleDef = ModuleDef {
    name: "https://jslib.k6.io/url/1.0.0/index.js",
    exports: &["URL", "URLSearchParams"],
    load,
    types: include_str!("types.d.ts"),
};

/// The module that an address of the library means, in a version that is built in.
pub fn module(path: &str) -> Option<&'static ModuleDef> {
    static LIBRARY: ModuleDef = MODULE;
    libraries::native_version(path, "url").map(|_| &LIBRARY)
}

fn load<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    web::url::classes(ctx)
}
