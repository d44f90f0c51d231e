//! Bytes of a hop that waits for a connection: what went over earlier ones, and what came unasked over idle ones.
//!
//! A hop that is dropped meanwhile, as at the end of the test, ends without a word. Invariant: its bytes are counted
//! once, by the hop when it goes on, or as cancelled.

use crate::client::worker::cancelled::Cancelled;
use crate::client::worker::context::IoContext;

/// Counted as cancelled, unless the hop goes on.
pub(crate) struct Carried<'a> {
    io: &'a IoContext,
    bytes: Cancelled,
}

impl<'a> Carried<'a> {
    /// So many bytes, of a request of which something was sent where there are some that were.
    pub(crate) fn of(io: &'a IoContext, bytes_sent: u64, bytes_received: u64) -> Carried<'a> {
        Carried { io, bytes: Cancelled { requests: u64::from(bytes_sent > 0), bytes_sent, bytes_received } }
    }

    /// The hop goes on with them.
    pub(crate) fn land(mut self) -> Cancelled {
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for Carried<'_> {
    fn drop(&mut self) {
        self.io.cancelled.add(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::StepLimits;

    #[test]
    fn bytes_are_counted_by_the_hop_or_as_cancelled() {
        let io = IoContext::new(StepLimits::default(), None);
        let landed = Carried::of(&io, 90, 4).land();
        assert_eq!(landed, Cancelled { requests: 1, bytes_sent: 90, bytes_received: 4 });
        assert_eq!(io.cancelled.take(), Cancelled::default());
        drop(Carried::of(&io, 90, 4));
        assert_eq!(io.cancelled.take(), landed);
        drop(Carried::of(&io, 0, 4));
        assert_eq!(io.cancelled.take(), Cancelled { requests: 0, bytes_sent: 0, bytes_received: 4 });
    }
}
