//! The message that a handler of the script is being called for: when it reached this machine; and the one about to be
//! sent: whether the script has stamped it.
//!
//! Whoever calls a handler says so with `begin` and keeps the guard while the handler and the promise jobs right after
//! it run. Handlers nest: a handler that opens a blocking connection has others called within it. Invariant: outside
//! every handler there is no arrival, also after one that threw.

use std::cell::{Cell, RefCell};

/// What a user is handling. Nothing at first.
#[derive(Default)]
pub struct Messages {
    /// Nanoseconds of the wall clock since 1970; 0: no message.
    arrived_ns: Cell<u64>,
    /// The script has taken a stamp that no message has gone out with yet.
    has_stamped: Cell<bool>,
    /// The script asks when messages arrived.
    wants_arrivals: Cell<bool>,
    /// For the log of messages.
    note: RefCell<Option<Note>>,
}

/// What the script recorded of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// What kind of message it is.
    pub event: String,
    /// Microseconds since 1970.
    pub stamps: Vec<f64>,
}

/// Ends the handling when it is dropped.
pub struct Handling<'a> {
    of: &'a Messages,
    outer_ns: u64,
}

impl Messages {
    /// A handler is called for a message that arrived then: wall clock, nanoseconds since 1970.
    #[inline]
    pub fn begin(&self, arrived_ns: u64) -> Handling<'_> {
        Handling { of: self, outer_ns: self.arrived_ns.replace(arrived_ns) }
    }

    /// From now on somebody should find out when messages arrive, where that costs something.
    pub fn want_arrivals(&self) {
        self.wants_arrivals.set(true);
    }

    /// Whether the script asks when messages arrived.
    pub fn wants_arrivals(&self) -> bool {
        self.wants_arrivals.get()
    }

    /// The script has stamped what it sends next: that is not to wait for other users' work, which would count as its
    /// delay.
    pub fn note_stamp(&self) {
        self.has_stamped.set(true);
    }

    /// Whether what is sent now was stamped. Again: no.
    #[inline]
    pub fn take_stamp(&self) -> bool {
        self.has_stamped.replace(false)
    }

    /// Replaces the last note.
    pub fn replace_note(&self, note: Option<Note>) -> Option<Note> {
        self.note.replace(note)
    }

    /// When the message being messages arrived; `None` outside of handlers.
    pub fn arrived_ns(&self) -> Option<u64> {
        Some(self.arrived_ns.get()).filter(|ns| *ns > 0)
    }
}

impl Drop for Handling<'_> {
    fn drop(&mut self) {
        self.of.arrived_ns.set(self.outer_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_nest_and_leave_nothing_behind() {
        let messages = Messages::default();
        assert_eq!(messages.arrived_ns(), None);
        {
            let _outer = messages.begin(5);
            {
                let _inner = messages.begin(7);
                assert_eq!(messages.arrived_ns(), Some(7));
            }
            assert_eq!(messages.arrived_ns(), Some(5));
        }
        assert_eq!(messages.arrived_ns(), None);
    }
}
