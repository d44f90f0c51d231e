//! The one list of modules a script can import.

pub mod argument;
pub mod crypto;
pub mod data;
pub mod delay;
pub mod encoding;
pub mod execution;
pub mod experimental;
pub mod fasthttp;
pub mod form_data;
pub mod http;
pub mod k6;
pub mod metrics;
pub mod mix;
pub mod onrush_fs;
pub mod onrush_http;
pub mod payload;
pub mod series;
pub mod timers;
pub mod together;
pub mod websockets;
pub mod ws;

use rquickjs::{Ctx, Object};

/// A built-in module: what a script gets for `import … from "<name>"` and `require("<name>")`.
pub struct ModuleDef {
    /// Import path.
    pub name: &'static str,
    /// Names that can be imported, besides `default`, which is the whole object unless the object has a `default` key.
    pub exports: &'static [&'static str],
    /// Makes the object; called at most once per virtual user, at the first import.
    pub load: for<'js> fn(&Ctx<'js>) -> rquickjs::Result<Object<'js>>,
    /// TypeScript declarations: the reference documentation of the module.
    pub types: &'static str,
}

/// Every built-in module. One line a module.
#[rustfmt::skip]
pub static MODULES: &[ModuleDef] = &[
    crypto::MODULE,
    data::MODULE,
    delay::MODULE,
    encoding::MODULE,
    execution::MODULE,
    experimental::csv::MODULE,
    experimental::fs::MODULE,
    experimental::streams::MODULE,
    fasthttp::MODULE,
    form_data::MODULE,
    http::MODULE,
    k6::MODULE,
    metrics::MODULE,
    mix::MODULE,
    onrush_fs::MODULE,
    onrush_http::MODULE,
    payload::MODULE,
    timers::MODULE,
    together::MODULE,
    websockets::EXPERIMENTAL,
    websockets::MODULE,
    ws::MODULE,
];

/// The built-in module that an import path means: one of the list, or k6's FormData library in any version.
pub fn find(path: &str) -> Option<&'static ModuleDef> {
    MODULES.iter().find(|module| module.name == path).or_else(|| form_data::texts::module(path))
}
