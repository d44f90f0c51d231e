//! The event loop of a thread, and the one way to make it.
//!
//! It belongs to the thread that makes it: what it polls is never shared with another thread, so `spawn_local` needs no
//! set of tasks around it. Sockets and timers are on, because whoever lies above `wire` needs both.

use std::io;

use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

/// A new event loop for this thread.
///
/// # Errors
///
/// The kernel has no descriptor left for it.
pub fn event_loop() -> io::Result<LocalRuntime> {
    Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
}
