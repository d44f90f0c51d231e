//! Changes of the load while the test runs: numbered from 1 on, told to all agents, and again to one that comes back.
//!
//! Each says from which moment of the test it holds, which lies a little ahead, so that agents make the same plan of it
//! whenever they hear. The coordinator's caller writes a change down before any agent does.

use super::{Coordinator, Event, Phase};
use crate::Ns;
use crate::message::Order;

impl Coordinator {
    /// Changes the load of a test that runs, as the program writes it.
    pub fn change(&mut self, content: Vec<u8>) {
        if !matches!(self.phase, Phase::Running(_)) {
            return;
        }
        self.changes.push(content.clone());
        let number = self.changes.len() as u64;
        self.outbox.tell(Event::Ordered { number, content: content.clone() });
        self.order_all(&Order::Change { number, content });
    }

    /// All of them, to an agent that may have missed some.
    pub(super) fn order_changes(&mut self, index: u32) {
        let orders = (1..).zip(self.changes.clone()).map(|(number, content)| Order::Change { number, content });
        orders.for_each(|order| self.order(index, order));
    }

    /// An agent follows a change, and heard of it so long after the moment from which it holds.
    pub(super) fn changed(&mut self, index: u32, number: u64, late: Ns) {
        let Some(seat) = self.seats[index as usize].as_mut() else { return };
        if number > seat.changes {
            seat.changes = number;
            self.outbox.tell(Event::Changed { index, number, late });
        }
    }
}
