//! Extensions of k6 that are built in: what `import … from "k6/x/…"` gives.
//!
//! What needs a library is a cargo feature of this crate, on by default. What speaks a protocol is a maintained library
//! where there is one; the bytes go over the streams of `wire`, so that names, addresses, links and counts are those of
//! the test. A call waits on its user's coroutine, never on the worker.

#[cfg(any(feature = "dns", feature = "kafka", feature = "mqtt", feature = "redis", feature = "sql", feature = "tcp"))]
#[cfg_attr(
    not(any(feature = "redis", feature = "sql")),
    allow(dead_code, reason = "not every protocol takes certificates from scripts")
)]
mod dial;
#[cfg(feature = "dns")]
mod dns;
mod dotenv;
#[cfg(feature = "faker")]
mod faker;
#[cfg(feature = "file")]
mod file;
#[cfg(feature = "kafka")]
mod kafka;
mod kv;
#[cfg(feature = "mqtt")]
mod mqtt;
#[cfg(any(feature = "dns", feature = "tcp"))]
mod own_metrics;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "tcp")]
mod tcp;

use script::builtins::ModuleDef;

/// Every extension. One line a module.
#[rustfmt::skip]
pub static MODULES: &[ModuleDef] = &[
    kv::MODULE,
    dotenv::MODULE,
    #[cfg(feature = "faker")]
    faker::MODULE,
    #[cfg(feature = "file")]
    file::MODULE,
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
    #[cfg(feature = "dns")]
    dns::MODULE,
    #[cfg(feature = "mqtt")]
    mqtt::MODULE,
    #[cfg(feature = "tcp")]
    tcp::MODULE,
    #[cfg(feature = "kafka")]
    kafka::MODULE,
];
