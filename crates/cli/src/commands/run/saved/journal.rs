//! The journal of a saved run: each interval's samples, appended as it closes, for a run that does not come to its end.
//!
//! A process that is killed, or a disk that fills up, takes the result with it, which is written last. The journal then
//! is what `onrush report` makes the result of (`rebuild.rs`). It goes when the result is there.
//!
//! A file of frames (`frames.rs`): the head as JSON, then one an interval, in postcard's format: times are whole
//! nanoseconds, so most numbers take a byte or two. A frame is written in one piece and carries a checksum, so that a
//! cut or damaged one is known. A journal that cannot be written is said once, and the run goes on.
//!
//! Each agent of a fleet has one, too (`part_journal.rs`). Its head says of which part of which run it is, its
//! intervals have the number of their second, and the last frame tells how the part ended: without it the part is not
//! whole (`fleet/parts.rs`).

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use metrics::{Registry, Shard, ShardWriter, Snapshot};
use report::document::Environment;
use script::secrets::Secrets;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::commands::run::saved::frames;

/// Name of the journal in the directory of the result.
pub const FILE_NAME: &str = "journal.frames";

/// Its name when the result is there and the coordinator of a fleet is not done yet: another one may have to end the
/// run.
pub const ENDED_NAME: &str = "fleet.frames";

/// What the head says that it is.
pub const KIND: &str = "onrush-journal";

/// Of the frames; another number is refused.
pub const SCHEMA: u64 = 5;

/// The first frame: what of a result is known when the run begins.
#[derive(Debug, Serialize, Deserialize)]
pub struct Head {
    /// `KIND`.
    pub kind: String,
    /// `SCHEMA`.
    pub schema: u64,
    /// When the run's clock started, RFC 3339.
    pub started_at: String,
    /// As given on the command line, its secrets masked.
    pub script: String,
    /// `--label`, likewise.
    pub labels: BTreeMap<String, String>,
    /// What was in effect, likewise.
    pub options: Value,
    /// The machine.
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
    /// Of how many.
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
    /// An interval.
    Interval(JournalEntry),
    /// How an agent's part ended, as `PartEnd` is sent: the last frame.
    End(#[serde(with = "serde_bytes")] Vec<u8>),
}

/// An interval, and what came in during it.
#[derive(Debug, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Which second of the test, from 1 on: of an agent, because all agents count from the instant at which they start.
    pub second: Option<u64>,
    /// Start and end of the interval, by the run's clock.
    pub interval_ns: (u64, u64),
    /// Start and end of the scenarios so far.
    pub scenarios_ns: (u64, u64),
    /// The samples.
    pub samples: Shard,
}

/// A journal that is being written.
pub struct Journal {
    path: PathBuf,
    writer: ShardWriter,
    secrets: Arc<Secrets>,
    file: io::Result<File>,
    is_told: bool,
}

impl Journal {
    /// Begins one in this directory, in place of an older one.
    pub fn begin(dir: &Path, head: &Head, registry: Arc<Registry>, secrets: Arc<Secrets>) -> Journal {
        let path = dir.join(FILE_NAME);
        let file = OpenOptions::new().create(true).write(true).truncate(true).open(&path);
        let text = serde_json::to_value(head).map(|head| secrets.redactor().json(head).to_string());
        let mut journal = Journal { path, writer: ShardWriter::new(registry), secrets, file, is_told: false };
        journal.append(text.expect("plain data").as_bytes());
        journal
    }

    /// Adds an interval.
    pub fn add(&mut self, interval: (Duration, Duration), scenarios: (Duration, Duration), snapshots: &[Snapshot]) {
        self.add_interval(None, interval, scenarios, snapshots);
    }

    /// The same for a part's second of this number; returns what was appended, which goes to a coordinator, too.
    pub fn add_second(
        &mut self,
        second: u64,
        interval: (Duration, Duration),
        scenarios: (Duration, Duration),
        snapshots: &[Snapshot],
    ) -> Vec<u8> {
        self.add_interval(Some(second), interval, scenarios, snapshots)
    }

    fn add_interval(
        &mut self,
        second: Option<u64>,
        interval: (Duration, Duration),
        scenarios: (Duration, Duration),
        snapshots: &[Snapshot],
    ) -> Vec<u8> {
        let ns = |(from, to): (Duration, Duration)| (from.as_nanos() as u64, to.as_nanos() as u64);
        let mut samples = self.writer.shard(snapshots);
        let redactor = self.secrets.redactor();
        if redactor.is_needed() {
            samples.each_text(|text| *text = redactor.text(text).into_owned());
        }
        let entry = JournalEntry { second, interval_ns: ns(interval), scenarios_ns: ns(scenarios), samples };
        self.append_record(&Record::Interval(entry))
    }

    /// Adds how the part ended.
    pub fn end(&mut self, end: Vec<u8>) {
        self.append_record(&Record::End(end));
    }

    fn append_record(&mut self, record: &Record) -> Vec<u8> {
        let content = postcard::to_allocvec(record).expect("plain data");
        self.append(&content);
        content
    }

    /// Whether it is written so far.
    pub fn is_written(&self) -> bool {
        self.file.is_ok()
    }

    /// So many bytes are on the disk; none where it is not written.
    pub fn settle(&self) -> Option<u64> {
        let file = self.file.as_ref().ok()?;
        file.sync_data().and_then(|()| file.metadata()).ok().map(|metadata| metadata.len())
    }

    /// Why it is not written, said once.
    pub fn problem(&mut self) -> Option<String> {
        let error = self.file.as_ref().err().filter(|_| !self.is_told)?;
        let path = self.path.display();
        let text = format!("cannot write {path}: {error}; the run goes on, and is lost if the process is killed");
        self.is_told = true;
        Some(text)
    }

    fn append(&mut self, content: &[u8]) {
        let Ok(file) = &mut self.file else { return };
        if let Err(error) = frames::write(file, content) {
            self.file = Err(error);
        }
    }
}

impl JournalEntry {
    /// Its start and end, by the run's clock.
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

fn times((from, to): (u64, u64)) -> (Duration, Duration) {
    (Duration::from_nanos(from), Duration::from_nanos(to))
}

impl Record {
    /// Of a frame's content.
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
