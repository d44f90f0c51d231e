//! What became of exchanges that were dropped before they ended, as when the end of a test interrupts a user: the
//! server may have had their requests, and their bytes went over the network.
//!
//! Counted for the thread that drops them; whoever interrupts takes the counts there. An exchange that ends in any
//! other way is never counted here.

use std::cell::Cell;

/// Counts since somebody last took them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abandoned {
    /// Requests of which something had been sent.
    pub requests: u64,
    /// Bytes written to the network.
    pub bytes_sent: u64,
    /// Bytes read from it.
    pub bytes_received: u64,
}

thread_local! {
    static HERE: Cell<Abandoned> = const { Cell::new(Abandoned { requests: 0, bytes_sent: 0, bytes_received: 0 }) };
}

/// Takes this thread's counts.
#[inline]
pub fn take() -> Abandoned {
    HERE.take()
}

/// Adds to this thread's counts.
pub(crate) fn add(more: Abandoned) {
    let Abandoned { requests, bytes_sent, bytes_received } = HERE.get();
    HERE.set(Abandoned {
        requests: requests + more.requests,
        bytes_sent: bytes_sent + more.bytes_sent,
        bytes_received: bytes_received + more.bytes_received,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_taken_once() {
        add(Abandoned { requests: 1, bytes_sent: 90, bytes_received: 0 });
        add(Abandoned { requests: 0, bytes_sent: 10, bytes_received: 5 });
        assert_eq!(take(), Abandoned { requests: 1, bytes_sent: 100, bytes_received: 5 });
        assert_eq!(take(), Abandoned::default());
    }
}
