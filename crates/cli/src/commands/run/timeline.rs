//! The per-second series of a saved run: which samples belong to which interval.
//!
//! Setup and teardown have an interval of their own, so that series add up to the totals. Times are those of the
//! engine's clock; intervals count from the start of the run's clock, which is when the virtual users were made.

use std::time::Duration;

use engine::Tick;
use metrics::{Seconds, Snapshot};
use report::document;

use super::journal::Journal;

/// Intervals and what came in during each.
pub struct Timeline {
    seconds: Seconds,
    /// Where each is kept as it closes.
    journal: Option<Journal>,
    /// When the run's clock started.
    began: Duration,
    /// Up to where there are intervals, by the run's clock.
    reached: Duration,
    scenarios: (Duration, Duration),
}

impl Timeline {
    /// Nothing yet.
    pub fn new(seconds: Seconds) -> Self {
        Timeline {
            seconds,
            journal: None,
            began: Duration::ZERO,
            reached: Duration::ZERO,
            scenarios: Default::default(),
        }
    }

    /// The virtual users are made: the run's clock starts.
    pub fn begin(&mut self, began: Duration) {
        self.began = began;
    }

    /// Keeps each interval from now on in a journal, too.
    pub fn keep(&mut self, journal: Journal) {
        self.journal = Some(journal);
    }

    /// Why the journal is not written, said once.
    pub fn journal_problem(&mut self) -> Option<String> {
        self.journal.as_mut()?.problem()
    }

    /// An interval of a journal, and the scenarios' times up to then.
    pub fn restore(&mut self, interval: (Duration, Duration), scenarios: (Duration, Duration), samples: &Snapshot) {
        self.scenarios = scenarios;
        self.seconds.add(interval.0, interval.1, std::slice::from_ref(samples));
    }

    /// The scenarios start at this time of the engine's clock.
    pub fn start(&mut self, start: Duration) {
        self.reached = start.saturating_sub(self.began);
        self.scenarios = (self.reached, self.reached);
    }

    /// A second of the scenarios.
    pub fn tick(&mut self, tick: &Tick) {
        let is_empty = tick.snapshots.iter().all(Snapshot::is_empty);
        let cut = tick.cut.saturating_sub(self.began);
        // What a stuck worker left behind comes after the last cut; the moment of handing over is all that is known of
        // it.
        let end = if cut > self.reached { cut } else { tick.now.saturating_sub(self.began).max(self.reached) };
        if end > self.reached || !is_empty {
            self.scenarios.1 = end;
            self.add(end, &tick.snapshots);
        }
        self.scenarios.1 = self.reached;
    }

    /// The interval that ends now.
    fn add(&mut self, end: Duration, snapshots: &[Snapshot]) {
        self.seconds.add(self.reached, end, snapshots);
        if let Some(journal) = &mut self.journal {
            journal.add((self.reached, end), self.scenarios, snapshots);
        }
        self.reached = end;
    }

    /// What setup or teardown recorded, and how long it took.
    pub fn aside(&mut self, took: Duration, snapshot: &Snapshot) {
        if !snapshot.is_empty() {
            self.add(self.reached + took, std::slice::from_ref(snapshot));
        }
    }

    /// The series as a result document has them.
    pub fn into_document(self) -> document::Seconds {
        let (starts_s, lengths_s) = self.seconds.intervals().iter().map(|(s, l)| (seconds(*s), seconds(*l))).unzip();
        document::Seconds {
            starts_s,
            lengths_s,
            scenarios_start_s: seconds(self.scenarios.0),
            scenarios_end_s: seconds(self.scenarios.1),
            series: self.seconds.into_series().into_iter().map(document::Series::from).collect(),
        }
    }
}

/// To the tenth of a millisecond, which is more than a cut is exact.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 1e4
}
