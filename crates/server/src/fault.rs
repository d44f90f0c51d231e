//! Servers that misbehave, on purpose and always in the same way.
//!
//! A fault is data too: bytes written as they are and what happens to the connection then. Each fault request is read
//! and counted as any other. Nothing lasts longer than `STALL`.

use std::borrow::Cow;
use std::time::Duration;

/// How long a stalled request is held before the connection closes.
pub(crate) const STALL: Duration = Duration::from_secs(120);

/// One misbehaviour.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Written as they are.
    pub(crate) bytes: Cow<'static, [u8]>,
    /// Written one by one, so far apart; `None`: together.
    pub(crate) each: Option<Duration>,
    pub(crate) then: Then,
}

/// What follows the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// FIN.
    Close,
    /// FIN after a while, the connection looking usable until then.
    CloseAfter(Duration),
    /// RST.
    Reset,
    /// Nothing, for `STALL` or until the client goes.
    Stall,
    /// The connection continues as if nothing was wrong.
    GoOn,
}
