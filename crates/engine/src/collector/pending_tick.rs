//! The tick that is being put together: which workers have reported, and what they measured.

use std::time::Duration;

use metrics::Snapshot;

use super::TICK_PATIENCE;
use crate::lately::LatelyOfAll;
use crate::workers::worker::TICK;

/// What came in since the last tick.
pub(super) struct PendingTick {
    /// Which it is; the first one is 1.
    pub(super) number: u32,
    /// So many workers have reported it.
    reported: usize,
    /// When the first of them did.
    since: Option<Duration>,
    /// Samples since the last tick.
    pub(super) snapshots: Vec<Snapshot>,
    /// Until when the snapshots reach.
    pub(super) cut: Duration,
    /// How the generator fared.
    pub(super) lately: LatelyOfAll,
}

impl PendingTick {
    /// The first one.
    pub(super) fn new(workers: usize) -> PendingTick {
        PendingTick {
            number: 1,
            reported: 0,
            since: None,
            snapshots: Vec::new(),
            cut: Duration::ZERO,
            lately: LatelyOfAll::new(workers),
        }
    }

    /// Samples of a worker that reach until then.
    pub(super) fn add(&mut self, at: Duration, snapshot: Snapshot) {
        self.snapshots.push(snapshot);
        self.cut = self.cut.max(at);
    }

    /// A worker has reported this tick; a late report of an earlier one does not count.
    pub(super) fn report(&mut self, number: u32, now: Duration) {
        if number == self.number {
            self.reported += 1;
            self.since.get_or_insert(now);
        }
    }

    /// Whether it is time for it, with so many workers that run.
    pub(super) fn is_due(&self, running: usize, start: Duration, now: Duration) -> bool {
        let is_whole = self.since.is_some() && self.reported >= running;
        // Where all workers stand still there is a tick all the same: somebody wants to know.
        let is_late = now >= self.since.unwrap_or(start + TICK * self.number) + TICK_PATIENCE;
        running > 0 && (is_whole || is_late)
    }

    /// Waits for the next one; the number of this one.
    pub(super) fn advance(&mut self, start: Duration, now: Duration) -> u32 {
        let number = self.number;
        let passed = now.saturating_sub(start).as_secs() / TICK.as_secs();
        self.number = number.max(u32::try_from(passed).unwrap_or(u32::MAX)).saturating_add(1);
        (self.reported, self.since) = (0, None);
        number
    }
}
