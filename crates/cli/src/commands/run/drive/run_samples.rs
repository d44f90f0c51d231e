//! The samples of a run: those so far, those over time, and where VU 0 (`setup()`, `teardown()`) records its own.
//!
//! What VU 0 measures counts in the totals and is in the series over time, but has a place outside of the load there.

use std::rc::Rc;
use std::time::Duration;

use metrics::{Aggregate, Recorder, ShardReader, Snapshot};

use crate::commands::run::saved::journal::JournalEntry;
use crate::commands::run::saved::timeline::Timeline;

/// All samples of a run, from `setup()` to the end of `teardown()`.
pub struct RunSamples {
    /// All of them so far.
    pub aggregate: Aggregate,
    /// Where VU 0 records.
    pub recorder: Rc<Recorder>,
    /// The series over time; none once they are taken.
    pub timeline: Option<Timeline>,
}

impl RunSamples {
    /// Adds what VU 0 measured, and how long that took.
    pub fn add_aside(&mut self, took: Duration, snapshot: Snapshot) {
        self.timeline.iter_mut().for_each(|timeline| timeline.aside(took, &snapshot));
        self.aggregate.merge_aside(snapshot);
    }

    /// The same of what it has recorded until now.
    pub fn add_recorded(&mut self, took: Duration) {
        let snapshot = self.recorder.take();
        self.add_aside(took, snapshot);
    }

    /// Adds an interval of a journal; the message when its samples cannot be read.
    pub fn add_interval(&mut self, entry: JournalEntry, reader: &mut ShardReader) -> Result<(), String> {
        let (interval, scenarios, is_load) = (entry.interval(), entry.scenarios(), entry.is_load());
        let samples = reader.snapshot(entry.samples)?;
        let timeline = self.timeline.iter_mut();
        timeline.for_each(|timeline| timeline.restore(interval, scenarios, std::slice::from_ref(&samples)));
        match is_load {
            true => self.aggregate.merge(samples),
            false => self.aggregate.merge_aside(samples),
        }
        Ok(())
    }
}
