//! Extensions of k6 that are built in: what `import … from "k6/x/…"` gives.
//!
//! What needs a library is a cargo feature of this crate, on by default. What speaks a protocol is a maintained library
//! where there is one; the bytes go over the streams of `wire`, so that names, addresses, links and counts are those of
//! the test. A call waits on its user's coroutine, never on the worker.

#[cfg(any(feature = "redis", feature = "sql"))]
mod dial;
mod kv;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sql")]
mod sql;

use script::builtins::ModuleDef;

/// Every extension. One line a module.
#[rustfmt::skip]
pub static MODULES: &[ModuleDef] = &[
    kv::MODULE,
    #[cfg(feature = "redis")]
    redis::MODULE,
    #[cfg(feature = "sql")]
    sql::MODULE,
    #[cfg(feature = "sql")]
    sql::MYSQL,
    #[cfg(feature = "sql")]
    sql::POSTGRES,
    #[cfg(feature = "sql")]
    sql::SQLITE,
];
