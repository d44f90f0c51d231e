//! The journal of a part of a test: each second of it has its number, from the start of the scenarios on.
//!
//! Seconds that passed without a tick count, so that numbers and seconds of all parts agree. An earlier life's journal
//! is kept beside it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::{LoadChange, Tick};
use metrics::Registry;

use crate::frames;
use crate::record::{FILE_NAME, IntervalTimes, JournalHead, TestPart};
use crate::writer::{Journal, Redact};

/// What is shorter is no second of its own.
const SHORTEST_SECOND: Duration = Duration::from_millis(20);

/// Name of the journal of an earlier life.
const EARLIER: &str = "journal.before.frames";

/// A second that is in the journal.
pub struct ClosedSecond {
    /// Seconds before it in which the part stood still: they have numbers, and no intervals.
    pub skipped: u64,
    /// The interval as it was written.
    pub interval: Vec<u8>,
    /// The byte of the journal at which it begins; none: it could not be written.
    pub at: Option<u64>,
    /// Why the journal is not written, once.
    pub problem: Option<String>,
}

/// A part's journal that is being written.
pub struct PartJournal {
    journal: Journal,
    /// When the scenarios started, by the run's clock.
    start: Duration,
    /// How long it is so far.
    bytes: u64,
    /// Seconds that are closed.
    closed: u64,
    /// Changes of the load that it has.
    changes: usize,
    /// Until when there are intervals, from the start on.
    reached: Duration,
}

impl PartJournal {
    /// Begins one in this directory. One that an earlier life of the part has left there is kept beside it.
    pub fn begin(
        dir: &Path,
        head: JournalHead,
        part: TestPart,
        registry: Arc<Registry>,
        secrets: Box<dyn Redact>,
    ) -> Self {
        let head = JournalHead { part: Some(part), ..head };
        let path = dir.join(FILE_NAME);
        // Most often there is none, and a link is somebody's wish.
        if std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
            let _ = std::fs::rename(&path, dir.join(EARLIER));
        }
        let journal = Journal::begin(dir, &head, registry, secrets);
        let bytes = std::fs::metadata(&path).map_or(0, |found| found.len());
        PartJournal { journal, start: Duration::ZERO, bytes, closed: 0, changes: 0, reached: Duration::ZERO }
    }

    /// The scenarios start at this time of the run's clock.
    pub fn start(&mut self, start: Duration) {
        self.start = start;
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.journal.path()
    }

    /// Adds what a tick brought.
    pub fn add(&mut self, tick: &Tick) -> ClosedSecond {
        let elapsed = tick.now.saturating_sub(self.start);
        let number = match tick.is_last {
            // The last one of a test that ends with a second belongs to that second.
            true => elapsed.saturating_sub(SHORTEST_SECOND).as_secs() + 1,
            false => elapsed.as_secs(),
        };
        let number = number.max(self.closed + 1);
        let skipped = number - 1 - self.closed;
        let end = tick.cut.saturating_sub(self.start).max(self.reached);
        let times = IntervalTimes::new((self.reached, end), (Duration::ZERO, end));
        let interval = self.journal.add(Some(number), times, &tick.snapshots);
        let problem = self.journal.problem();
        let at = self.journal.is_written().then_some(self.bytes);
        self.bytes += frames::HEAD_BYTES as u64 + interval.len() as u64;
        (self.closed, self.reached) = (number, end);
        ClosedSecond { skipped, interval, at, problem }
    }

    /// Adds what clients have changed of the load by now.
    pub fn keep_changes(&mut self, all: &[LoadChange]) {
        for change in all.iter().skip(self.changes) {
            self.bytes += (frames::HEAD_BYTES + self.journal.change(change)) as u64;
        }
        self.changes = all.len();
    }

    /// Adds how the part ended, as it is sent.
    pub fn end(&mut self, end: Vec<u8>) {
        self.journal.end(end);
    }
}
