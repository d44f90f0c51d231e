//! Extensions of k6 that are built in: what `import … from "k6/x/…"` gives.
//!
//! What needs a library is a cargo feature of this crate, on by default. What speaks a protocol is a maintained library
//! where there is one; the bytes go over the streams of `wire`, so that names, addresses, links and counts are those of
//! the test. A call waits on its user's coroutine, never on the worker.

mod client;
#[cfg(feature = "dns")]
mod dns;
mod dotenv;
#[cfg(feature = "faker")]
mod faker;
#[cfg(feature = "file")]
mod file;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
#[cfg(feature = "kafka")]
mod kafka;
mod kv;
#[cfg(feature = "mqtt")]
mod mqtt;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "tcp")]
mod tcp;

use script::builtins::ModuleDef;

/// The extensions: those that every build has, and the others by the cargo feature that each needs.
macro_rules! extensions {
    (always $($always:path),+; $($feature:literal $($name:literal $module:path),+;)+) => {
        /// Every extension of this build.
        pub static MODULES: &[ModuleDef] = &[$($always,)+ $($(#[cfg(feature = $feature)] $module,)+)+];

        /// The import paths that this build has nothing for, and the features that would.
        pub static LEFT_OUT: &[(&str, &str)] = &[$($(#[cfg(not(feature = $feature))] ($name, $feature),)+)+];

        #[cfg(test)]
        const NAMES: &[(&str, &str)] = &[$($(($name, $feature),)+)+];
    };
}

extensions! {
    always kv::MODULE, dotenv::MODULE;
    "faker" "k6/x/faker" faker::MODULE;
    "file" "k6/x/file" file::MODULE;
    "redis" "k6/x/redis" redis::MODULE;
    "sql" "k6/x/sql" sql::MODULE, "k6/x/sql/driver/mysql" sql::MYSQL, "k6/x/sql/driver/postgres" sql::POSTGRES,
        "k6/x/sql/driver/sqlite3" sql::SQLITE;
    "dns" "k6/x/dns" dns::MODULE;
    "mqtt" "k6/x/mqtt" mqtt::MODULE;
    "tcp" "k6/x/tcp" tcp::MODULE;
    "kafka" "k6/x/kafka" kafka::MODULE;
}

#[cfg(test)]
mod tests {
    use super::{LEFT_OUT, MODULES, NAMES};

    #[test]
    fn an_extension_is_there_or_left_out_by_its_name() {
        for (name, feature) in NAMES {
            let is_there = MODULES.iter().any(|module| module.name == *name);
            assert_ne!(is_there, LEFT_OUT.contains(&(name, feature)), "{name}");
        }
        assert_eq!(MODULES.len() + LEFT_OUT.len(), NAMES.len() + 2);
    }
}
