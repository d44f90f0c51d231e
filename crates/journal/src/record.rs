//! What a journal has: a head, as JSON, then a record for each interval, in postcard's format.
//!
//! Times are whole nanoseconds, so that most numbers take a byte or two. The journal of an agent says in its head of
//! which part of which run it is, its intervals have the number of their second, and its last record says how the part
//! ended: without it the part is not whole.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use engine::LoadChange;
use metrics::Shard;
use report::document::Environment;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Name of the journal in the directory of the result.
pub const FILE_NAME: &str = "journal.frames";

/// Its name when the result is there and the coordinator of a fleet is not done yet: another one may have to end the
/// run.
pub(crate) const ENDED_NAME: &str = "fleet.frames";

/// What the head says that it is.
pub const KIND: &str = "onrush-journal";

/// Version of the frames: another number is refused.
pub const SCHEMA: u64 = 6;

/// The first frame: what of a result is known when the run begins.
#[derive(Debug, Serialize, Deserialize)]
pub struct JournalHead {
    /// What the file is: [`KIND`].
    pub kind: String,
    /// Of which version: [`SCHEMA`].
    pub schema: u64,
    /// When the run's clock started, RFC 3339.
    pub started_at: String,
    /// As given on the command line, its secrets masked.
    pub script: String,
    /// Those of `--label`, likewise.
    pub labels: BTreeMap<String, String>,
    /// What was in effect, likewise.
    pub options: Value,
    /// The machine of this process.
    pub environment: Environment,
    /// The part of a test that an agent ran; none where one process ran it all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<TestPart>,
}

/// Which part of which test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestPart {
    /// Of the run; its agents have the same.
    pub run: String,
    /// Which part, from 0 on.
    pub index: u32,
    /// How many parts there are.
    pub of: u32,
    /// What the agent is called: machine and process.
    pub name: String,
    /// This life of it: one that was started again has another.
    pub incarnation: u64,
    /// How far its clock may have been from the coordinator's at the start.
    pub bound_ns: u64,
    /// Whether it had no coordinator and began when it was told to by others: at the head's `started_at`.
    #[serde(default)]
    pub is_on_its_own: bool,
}

/// A further frame.
#[derive(Debug, Serialize, Deserialize)]
pub enum Record {
    /// An interval and its samples.
    Interval(JournalEntry),
    /// How an agent's part ended, as `PartEnd` is sent: the last frame.
    End(#[serde(with = "serde_bytes")] Vec<u8>),
    /// What a client changed of the load, before the interval in which it was.
    Change(LoadChange),
}

/// An interval, and what came in during it.
#[derive(Debug, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Which second of the test, from 1 on: of an agent, because all agents count from the instant at which they start.
    pub second: Option<u64>,
    /// When it was.
    pub times: IntervalTimes,
    /// What was measured.
    pub samples: Shard,
}

/// When an interval was, by the run's clock. It is written field by field, as if its fields stood in the entry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalTimes {
    interval_ns: (u64, u64),
    /// Of the scenarios so far.
    scenarios_ns: (u64, u64),
}

impl IntervalTimes {
    /// Start and end of the interval, and of the scenarios so far.
    pub fn new(interval: (Duration, Duration), scenarios: (Duration, Duration)) -> IntervalTimes {
        assert!(interval.0 <= interval.1, "an interval ends after its start: {interval:?}");
        assert!(scenarios.0 <= scenarios.1, "scenarios end after their start: {scenarios:?}");
        let ns = |(from, to): (Duration, Duration)| (from.as_nanos() as u64, to.as_nanos() as u64);
        IntervalTimes { interval_ns: ns(interval), scenarios_ns: ns(scenarios) }
    }

    /// Its start and end.
    pub fn interval(&self) -> (Duration, Duration) {
        times(self.interval_ns)
    }

    /// The scenarios' start and end so far.
    pub fn scenarios(&self) -> (Duration, Duration) {
        times(self.scenarios_ns)
    }

    /// Whether the scenarios ran: an interval of setup was there before they were, one of teardown begins when they
    /// are over.
    pub fn is_load(&self) -> bool {
        self.interval_ns.0 < self.scenarios_ns.1
    }
}

fn times(ns: (u64, u64)) -> (Duration, Duration) {
    (Duration::from_nanos(ns.0), Duration::from_nanos(ns.1))
}

impl Record {
    /// Reads a frame's content.
    pub fn read(content: &[u8]) -> Result<Record, String> {
        postcard::from_bytes(content).map_err(|error| error.to_string())
    }
}

/// Removes the journal of a run whose result is there.
pub fn remove(dir: &Path) {
    // None was made, or somebody else has removed it: all the same.
    let _ = std::fs::remove_file(dir.join(FILE_NAME));
}

/// Keeps the journal of a run whose result is there for another coordinator, out of the way of `onrush report`.
pub fn set_aside(dir: &Path) {
    let _ = std::fs::rename(dir.join(FILE_NAME), dir.join(ENDED_NAME));
}

/// Removes one that was kept.
pub fn remove_set_aside(dir: &Path) {
    let _ = std::fs::remove_file(dir.join(ENDED_NAME));
}
