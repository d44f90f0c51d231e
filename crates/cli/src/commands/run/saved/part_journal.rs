//! The journal of a part of a test: each second of it has its number, from the start of the scenarios on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use metrics::{Registry, Snapshot};
use script::secrets::Secrets;

use crate::commands::run::saved::frames;
use crate::commands::run::saved::journal::{FILE_NAME, Head, Journal, TestPart};

/// What is shorter is no second of its own.
const SHORTEST_SECOND: Duration = Duration::from_millis(20);

/// Name of the journal of an earlier life.
const EARLIER: &str = "journal.before.frames";

/// A tick, by the start of the scenarios.
pub struct PartTick<'a> {
    /// How long they run.
    pub elapsed: Duration,
    /// Until when the samples are whole.
    pub cut: Duration,
    /// Whether nothing follows.
    pub is_last: bool,
    /// The samples.
    pub snapshots: &'a [Snapshot],
}

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
    path: PathBuf,
    /// Bytes so far.
    bytes: u64,
    /// Seconds that are closed.
    closed: u64,
    /// Until when there are intervals.
    reached: Duration,
}

impl PartJournal {
    /// Begins one in this directory. One that an earlier life of the part has left there is kept beside it.
    pub fn begin(dir: &Path, head: Head, part: TestPart, registry: Arc<Registry>, secrets: Arc<Secrets>) -> Self {
        let head = Head { part: Some(part), ..head };
        let path = dir.join(FILE_NAME);
        // Most often there is none, and a link is somebody's wish.
        if std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
            let _ = std::fs::rename(&path, dir.join(EARLIER));
        }
        let journal = Journal::begin(dir, &head, registry, secrets);
        let bytes = std::fs::metadata(&path).map_or(0, |found| found.len());
        PartJournal { journal, path, bytes, closed: 0, reached: Duration::ZERO }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds what a tick brought.
    pub fn add(&mut self, tick: &PartTick<'_>) -> ClosedSecond {
        let number = match tick.is_last {
            // The last one of a test that ends with a second belongs to that second.
            true => tick.elapsed.saturating_sub(SHORTEST_SECOND).as_secs() + 1,
            false => tick.elapsed.as_secs(),
        };
        // Seconds that passed without a tick count, so that numbers and seconds agree.
        let number = number.max(self.closed + 1);
        let skipped = number - 1 - self.closed;
        let end = tick.cut.max(self.reached);
        let interval = self.journal.add_second(number, (self.reached, end), (Duration::ZERO, end), tick.snapshots);
        let problem = self.journal.problem();
        let at = self.journal.is_written().then_some(self.bytes);
        self.bytes += frames::HEAD_BYTES as u64 + interval.len() as u64;
        (self.closed, self.reached) = (number, end);
        ClosedSecond { skipped, interval, at, problem }
    }

    /// Adds how the part ended.
    pub fn end(&mut self, end: Vec<u8>) {
        self.journal.end(end);
    }
}
