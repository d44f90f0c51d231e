//! The one list of modules a script can import.
//!
//! How a module puts Rust behind JavaScript, from the plainest way to the most special one:
//!
//! | a script gets | take | example |
//! |---|---|---|
//! | a function | `Func::from` | `k6/crypto` |
//! | a function of hot loops: no closure, no conversion | `host::plain` | `http.get`, `check` |
//! | an object of an ordinary shape whose functions may be called without it, as in k6 | closures | `k6/metrics` |
//! | an object that holds a Rust value | `host::native` | a cookie jar |
//! | the same, with script values that the collector has to see | `host::keeper` | `FormData` |
//! | many fields, few of which are read | `host::lazy_object` | a response |
//! | objects of one shape, made and read often | `host::record` | what `http.file` makes |
//! | an object of a value that others share, with any prototype | `host::native::shared` | an app's `Request` |
//! | bytes that are not copied | `host::shared_buffer`, `received`, `sealed_file` | `SharedArray`, `open(path, "b")` |
//! | properties that are kept elsewhere | a proxy | `SharedArray`, tags |

pub mod browser;
pub mod crypto;
pub mod data;
pub mod delay;
pub mod encoding;
pub mod execution;
pub mod experimental;
pub mod fasthttp;
pub mod form_data;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod grpc;
pub mod html;
pub mod http;
pub mod k6;
pub mod libraries;
pub mod metrics;
pub mod mix;
pub mod onrush_data;
pub mod onrush_fs;
pub mod onrush_http;
pub mod payload;
pub mod secrets;
pub mod socketio;
pub mod sse;
pub mod timers;
pub mod together;
pub mod url_library;
pub(crate) mod web_crypto;
pub mod websockets;
pub mod ws;
pub mod x509;

use host::js::Object;
use script::builtins::{Builtins, ModuleDef};

/// What the loader has to know of this crate's modules.
pub static BUILTINS: Builtins = builtins(&[MODULES]);

/// What the loader has to know of the modules in these lists, which must include `MODULES`.
pub const fn builtins(lists: &'static [&'static [ModuleDef]]) -> Builtins {
    Builtins {
        lists,
        left_out: &[],
        alias: |path| form_data::texts::module(path).or_else(|| url_library::module(path)),
        text: libraries::text,
        advice: libraries::advice,
        libraries: form_data::texts::KNOWN,
        globals: &[("crypto", |ctx| web_crypto::object(ctx).map(Object::into_value))],
        as_data: http::as_data,
        on_iteration_start: &[http::on_iteration_start],
    }
}

/// Every module of this crate. One line a module.
#[rustfmt::skip]
pub static MODULES: &[ModuleDef] = &[
    browser::MODULE,
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
    grpc::MODULE,
    html::MODULE,
    http::MODULE,
    k6::MODULE,
    metrics::MODULE,
    mix::MODULE,
    onrush_data::MODULE,
    onrush_fs::MODULE,
    onrush_http::MODULE,
    payload::MODULE,
    secrets::MODULE,
    socketio::MODULE,
    sse::MODULE,
    timers::MODULE,
    together::MODULE,
    url_library::MODULE,
    websockets::EXPERIMENTAL,
    websockets::MODULE,
    ws::MODULE,
    x509::MODULE,
];
