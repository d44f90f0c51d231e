//! The one list of modules a script can import.

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
pub mod timers;
pub mod together;
pub mod websockets;
pub mod ws;

use crate::builtins::{Builtins, ModuleDef};

/// What the loader knows of them.
pub static BUILTINS: Builtins = Builtins {
    modules: MODULES,
    alias: form_data::texts::module,
    libraries: form_data::texts::KNOWN,
    on_iteration_start: &[http::on_iteration_start],
};

/// Every built-in module. One line a module.
#[rustfmt::skip]
static MODULES: &[ModuleDef] = &[
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
