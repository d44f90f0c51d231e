//! Runs JavaScript and TypeScript: QuickJS host, module loader, every `k6/*` and `onrush/*` module.
//!
//! A virtual user is a coroutine with a QuickJS runtime of its own. A native function that has to wait suspends the
//! coroutine, so scripts are synchronous and the network is not. A suspended user is never dropped: C frames lie on its
//! stack; it is resumed with a stop reason instead.

pub mod app;
pub mod arguments;
pub mod builtins;
pub mod error;
pub mod host;
pub mod json_path;
pub mod loader;
pub mod log;
pub mod message_log;
pub mod modules;
pub mod options;
pub mod program;
pub mod series;
pub mod test_mark;
pub mod unstamped;
pub mod users;
pub mod vu;
mod worker;

pub use error::{Place, ScriptError};
pub use log::LogSink;
pub use program::{LoadOptions, Program, Source};
pub use users::{ScriptUser, ScriptUsers};
pub use vu::{Phase, Vu};
