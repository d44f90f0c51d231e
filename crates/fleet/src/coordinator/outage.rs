//! What carries the messages does not answer: a store that is restarted, a broker that is gone. Nobody is heard then,
//! so nobody is judged for it. Agents go on by themselves, and bring what they measured when it is back.

use super::{Coordinator, Event};
use crate::{Ns, SECOND};

/// For so long; then whoever is not heard is missing like anybody else.
pub const OUTAGE_PATIENCE: Ns = 60 * SECOND;

impl Coordinator {
    /// Messages cannot be read or written, for this reason.
    pub fn unreachable(&mut self, why: String, now: Ns) {
        if self.outage_since.is_none() {
            self.outage_since = Some(now);
            self.outbox.tell(Event::Unreachable { why });
        }
    }

    /// They can again. Everybody has to be heard anew, and gets the time for it.
    pub fn reachable(&mut self, now: Ns) {
        let Some(since) = self.outage_since.take() else { return };
        for seat in self.seats.iter_mut().flatten() {
            (seat.heard, seat.spoke) = (now, now);
            (seat.pinging.sent, seat.pinging.patience) = (None, None);
        }
        self.outbox.tell(Event::Reachable { after: now.saturating_sub(since) });
    }

    /// Whether silence means nothing at this moment.
    pub(super) fn is_cut_off(&self, now: Ns) -> bool {
        self.outage_since.is_some_and(|since| now.saturating_sub(since) < OUTAGE_PATIENCE)
    }
}
