//! What the target accepts before it answers with a status or closes.
//!
//! Times are watched by one sweep a worker, not by a timer a read: they may last up to half a second longer than they
//! say.

use std::time::Duration;

/// Limits of a connection. Zero durations never end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request's head; more is 431. At most 1 MiB.
    pub head: usize,
    /// Bytes of a request's body; more is 413. `None`: any.
    pub body: Option<u64>,
    /// Bytes of bodies, and of answers made from them, that routes keep for all clients together; more is 503.
    pub kept: u64,
    /// From the first byte of a request (of a new connection: from its begin) to the end of its head; longer is 408.
    pub head_time: Duration,
    /// Without a byte of a body that is awaited; longer is 408.
    pub body_time: Duration,
    /// Between a response and the next request; then the connection closes without a word.
    pub idle_time: Duration,
}

impl Default for Limits {
    /// 64 KiB of head, any body, 512 MiB kept at once, a minute for a head and for a silent body, ten minutes idle.
    fn default() -> Self {
        Limits {
            head: 64 * 1024,
            body: None,
            kept: 512 << 20,
            head_time: Duration::from_secs(60),
            body_time: Duration::from_secs(60),
            idle_time: Duration::from_secs(600),
        }
    }
}
