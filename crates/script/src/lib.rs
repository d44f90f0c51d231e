//! Runs JavaScript and TypeScript: QuickJS host, module loader, every `k6/*` and `onrush/*` module.
//!
//! A virtual user is a coroutine with a QuickJS runtime of its own. A native function that has to wait suspends the
//! coroutine, so scripts are synchronous and the network is not. A suspended user is never dropped: C frames lie on its
//! stack; it is resumed with a stop reason instead.

pub mod arguments;
pub mod asked;
pub mod base64;
pub mod builtins;
pub mod debug;
pub mod error;
pub mod exception;
pub mod globals;
pub mod go_error;
pub mod handlers;
pub mod json_path;
pub mod linker;
pub mod loader;
pub mod message_log;
pub mod message_sink;
pub mod options;
pub mod paths;
pub mod program;
pub mod referee;
pub mod secrets;
pub mod series;
mod shared;
mod sources;
mod stops;
pub mod unstamped;
pub mod user;
pub mod users;
pub mod vu;
pub mod web;
mod whole_test;
mod worker;

pub use sources::{disk, files, source_kind};
pub use whole_test::{test_clock, test_mark, traces};

pub use error::{Place, ScriptError};
pub use host::log::{self, LogSink};
pub use program::Program;
pub use shared::{LoadOptions, Shared, Source};
pub use users::{ScriptUser, ScriptUsers, run};
pub use vu::{Role, SampleContext, Vu};
pub use worker::WorkerState;
