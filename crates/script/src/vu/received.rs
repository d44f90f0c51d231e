//! Bytes that the clients of a user hold while a body or message arrives, on the account of the user's memory.

use std::cell::RefCell;

use host::memory::Reservation;
use wire::room::Budget;

/// What is on the account now.
pub(super) struct ReceivedBytes(pub(super) RefCell<Reservation>);

impl Budget for ReceivedBytes {
    fn take(&self, bytes: usize) -> Result<(), String> {
        // Without how much was wanted, which differs by what one read brought: failures of one kind have one text.
        self.0.borrow_mut().grow(bytes).map_err(|over| {
            let limit = over.limit();
            format!("it does not fit into the {limit} bytes of a virtual user; raise the limit with --vu-memory-limit")
        })
    }

    fn give_back(&self, bytes: usize) {
        self.0.borrow_mut().shrink(bytes);
    }
}
