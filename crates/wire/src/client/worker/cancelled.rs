//! What became of exchanges that were dropped before they ended, as when the end of a test interrupts a user: the
//! server may have had their requests, and their bytes went over the network.
//!
//! They are counted with what the clients of a thread share; whoever interrupts takes the counts there at once. An
//! exchange that ends in any other way is never counted here.

use std::cell::Cell;

/// Counts of cancelled exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cancelled {
    /// Requests of which something had been sent.
    pub requests: u64,
    /// Bytes written to the network.
    pub bytes_sent: u64,
    /// Bytes read from it.
    pub bytes_received: u64,
}

/// Counts since they were last taken.
#[derive(Default)]
pub(crate) struct CancelledCounter(Cell<Cancelled>);

impl CancelledCounter {
    pub(crate) fn add(&self, more: Cancelled) {
        let Cancelled { requests, bytes_sent, bytes_received } = self.0.get();
        self.0.set(Cancelled {
            requests: requests + more.requests,
            bytes_sent: bytes_sent + more.bytes_sent,
            bytes_received: bytes_received + more.bytes_received,
        });
    }

    #[inline]
    pub(crate) fn take(&self) -> Cancelled {
        self.0.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_taken_once() {
        let counter = CancelledCounter::default();
        counter.add(Cancelled { requests: 1, bytes_sent: 90, bytes_received: 0 });
        counter.add(Cancelled { requests: 0, bytes_sent: 10, bytes_received: 5 });
        assert_eq!(counter.take(), Cancelled { requests: 1, bytes_sent: 100, bytes_received: 5 });
        assert_eq!(counter.take(), Cancelled::default());
    }
}
