//! Writes a journal: each interval's samples, appended as it closes, for a run that does not come to its end.
//!
//! A process that is killed, or a disk that fills up, takes the result with it, which is written last. The journal then
//! is what `onrush report` makes the result of (`merge.rs`). A journal that cannot be written is said once, and the run
//! goes on.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::LoadChange;
use metrics::{Registry, Shard, ShardWriter, Snapshot};
use serde_json::Value;

use crate::frames;
use crate::reader::JournalReader;
use crate::record::{FILE_NAME, IntervalTimes, JournalEntry, JournalHead, Record};

/// Takes secrets out of what goes into a journal. They are a script's, of which this crate knows nothing.
pub trait Redact {
    /// The head without them.
    fn json(&self, head: Value) -> Value;
    /// Takes them out of the samples of an interval; whether there was one.
    fn samples(&self, samples: &mut Shard) -> bool;
}

/// For samples that have no secrets: those of a simulation, and of tests.
pub struct NoSecrets;

impl Redact for NoSecrets {
    fn json(&self, head: Value) -> Value {
        head
    }

    fn samples(&self, _: &mut Shard) -> bool {
        false
    }
}

/// A journal that is being written.
pub struct Journal {
    path: PathBuf,
    writer: ShardWriter,
    secrets: Box<dyn Redact>,
    file: io::Result<File>,
    /// Bytes of the frames that are whole.
    length: u64,
    /// Whether a secret was taken out of the samples.
    has_redacted: bool,
    is_told: bool,
}

impl Journal {
    /// Begins one in this directory, in place of an older one.
    pub fn begin(dir: &Path, head: &JournalHead, registry: Arc<Registry>, secrets: Box<dyn Redact>) -> Journal {
        let path = dir.join(FILE_NAME);
        let file = OpenOptions::new().create(true).write(true).truncate(true).open(&path);
        let text = serde_json::to_value(head).map(|head| secrets.json(head).to_string());
        let writer = ShardWriter::new(registry);
        let mut journal = Journal { path, writer, secrets, file, length: 0, has_redacted: false, is_told: false };
        journal.write(text.expect("plain data").as_bytes());
        journal
    }

    /// Adds an interval. `second`: its number, of a part. Returns what was appended, which goes to a coordinator, too.
    pub fn add(&mut self, second: Option<u64>, times: IntervalTimes, snapshots: &[Snapshot]) -> Vec<u8> {
        let mut samples = self.writer.shard(snapshots);
        self.has_redacted |= self.secrets.samples(&mut samples);
        self.append(&Record::Interval(JournalEntry { second, times, samples }))
    }

    /// Adds how the part ended.
    pub fn end(&mut self, end: Vec<u8>) {
        self.append(&Record::End(end));
    }

    /// Adds a change of the load; how many bytes it has.
    pub fn change(&mut self, change: &LoadChange) -> usize {
        self.append(&Record::Change(change.clone())).len()
    }

    fn append(&mut self, record: &Record) -> Vec<u8> {
        let content = postcard::to_allocvec(record).expect("plain data");
        self.write(&content);
        content
    }

    fn write(&mut self, content: &[u8]) {
        let Ok(file) = &mut self.file else { return };
        match frames::write(file, content) {
            Ok(bytes) => self.length += bytes,
            Err(error) => self.file = Err(error),
        }
    }

    /// A reader of the frames that are whole, which a journal has even if a later one could not be written.
    pub(crate) fn read_back(&self) -> Result<JournalReader, String> {
        let found = JournalReader::open_file(self.path.clone(), self.length)?;
        found.map(|(_, reader)| reader).ok_or_else(|| format!("{} was removed while the test ran", self.path.display()))
    }

    /// Nothing can be written from now on.
    #[cfg(test)]
    pub(crate) fn break_disk(&mut self) {
        self.file = File::open(&self.path);
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
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

    /// Whether it has every interval so far, as it was given: what is on the disk need not stay in memory.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_written() && !self.has_redacted
    }

    /// Why it is not written, said once.
    pub fn problem(&mut self) -> Option<String> {
        let error = self.file.as_ref().err().filter(|_| !self.is_told)?;
        let path = self.path.display();
        let text = format!("cannot write {path}: {error}; the run goes on, and is lost if the process is killed");
        self.is_told = true;
        Some(text)
    }
}
