//! Time as the engine sees it: nanoseconds since the run began, from a clock that tests can replace.

use std::future::Future;
use std::time::Duration;

/// A monotonic clock and a way to wait for it.
pub trait Clock: Clone + 'static {
    /// Time since the clock's own origin, which all workers of a run share.
    fn now(&self) -> Duration;

    /// Resolves at `deadline` or as little after it as the platform allows; at once when it has passed.
    fn sleep_until(&self, deadline: Duration) -> impl Future<Output = ()>;

    /// The same instant as nanoseconds since the Unix epoch (for samples).
    fn epoch_ns(&self, at: Duration) -> u64;
}
