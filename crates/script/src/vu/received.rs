//! Bytes that the clients of a user hold while a body or message arrives, on the account of the user's memory.

use std::cell::RefCell;

use host::memory::Reservation;
use wire::room::Budget;

/// What is on the account now.
pub(super) struct ReceivedBytes(pub(super) RefCell<Reservation>);

impl Budget for ReceivedBytes {
    fn take(&self, bytes: usize) -> Result<(), String> {
        self.0.borrow_mut().grow(bytes).map_err(|over| over.to_string())
    }

    fn give_back(&self, bytes: usize) {
        self.0.borrow_mut().shrink(bytes);
    }
}
