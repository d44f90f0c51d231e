//! The journal of a saved run: each interval's samples, appended as it closes, for a run that does not come to its end.
//!
//! A process that is killed, or a disk that fills up, takes the result with it, which is written last. The journal then
//! is what `onrush report` makes the result of (`rebuild.rs`). It goes when the result is there.
//!
//! Lines of JSON: the head, then one an interval. A line is written in one piece, so that only the last one can be cut.
//! A journal that cannot be written is said once, and the run goes on.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use metrics::{Registry, Shard, ShardWriter, Snapshot};
use report::document::Environment;
use script::secrets::Secrets;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Name of the journal in the directory of the result.
pub const FILE_NAME: &str = "journal.jsonl";

/// What the first line says that it is.
pub const KIND: &str = "onrush-journal";

/// Of the lines; another number is refused.
pub const SCHEMA: u64 = 1;

/// The first line: what of a result is known when the run begins.
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
}

/// A further line: an interval, and what came in during it.
#[derive(Debug, Serialize, Deserialize)]
pub struct JournalLine {
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
        let mut journal = Journal { path, writer: ShardWriter::new(registry), secrets, file, is_told: false };
        journal.append(head);
        journal
    }

    /// Adds an interval.
    pub fn add(&mut self, interval: (Duration, Duration), scenarios: (Duration, Duration), snapshots: &[Snapshot]) {
        let ns = |(from, to): (Duration, Duration)| (from.as_nanos() as u64, to.as_nanos() as u64);
        let samples = self.writer.shard(snapshots);
        self.append(&JournalLine { interval_ns: ns(interval), scenarios_ns: ns(scenarios), samples });
    }

    /// Why it is not written, said once.
    pub fn problem(&mut self) -> Option<String> {
        let error = self.file.as_ref().err().filter(|_| !self.is_told)?;
        let path = self.path.display();
        let text = format!("cannot write {path}: {error}; the run goes on, and is lost if the process is killed");
        self.is_told = true;
        Some(text)
    }

    fn append(&mut self, line: &impl Serialize) {
        let Ok(file) = &mut self.file else { return };
        let redactor = self.secrets.redactor();
        let mut text = match redactor.is_needed() {
            false => serde_json::to_vec(line),
            true => serde_json::to_value(line).and_then(|value| serde_json::to_vec(&redactor.json(value))),
        }
        .expect("plain data");
        text.push(b'\n');
        if let Err(error) = file.write_all(&text) {
            self.file = Err(error);
        }
    }
}

/// Removes the journal of a run whose result is there.
pub fn remove(dir: &Path) {
    // None was made, or somebody else has removed it: all the same.
    let _ = std::fs::remove_file(dir.join(FILE_NAME));
}
