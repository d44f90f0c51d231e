//! Reads a journal: its head at once, then record by record. A damaged frame ends the reading, and is told.
//!
//! Changes of the load are kept aside: who reads measures need not know of them.

use std::fs::File;
use std::io::{BufReader, Read, Take};
use std::path::{Path, PathBuf};

use engine::LoadChange;

use crate::frames;
use crate::record::{ENDED_NAME, FILE_NAME, JournalEntry, JournalHead, KIND, Record, SCHEMA};

/// A journal that has been opened.
pub struct JournalReader {
    path: PathBuf,
    file: BufReader<Take<File>>,
    /// How many records were read.
    records: u64,
    /// Those of them that change the load.
    changes: Vec<LoadChange>,
}

impl JournalReader {
    /// That of a directory; `None` when there is none.
    pub fn open(dir: &Path) -> Result<Option<(JournalHead, JournalReader)>, String> {
        Self::open_file(dir.join(FILE_NAME), u64::MAX)
    }

    /// The first so many bytes of that of a coordinator that was killed after the load, where it is by now.
    pub fn open_ended(dir: &Path, length: u64) -> Result<Option<(JournalHead, JournalReader)>, String> {
        let [path, aside] = [FILE_NAME, ENDED_NAME].map(|name| dir.join(name));
        let path = if path.exists() { path } else { aside };
        let found = std::fs::metadata(&path).map_or(length, |metadata| metadata.len());
        match found < length {
            true => Err(format!("{} is cut: found {found} bytes, expected {length}", path.display())),
            false => Self::open_file(path, length),
        }
    }

    /// The first so many bytes of this file.
    pub(crate) fn open_file(path: PathBuf, length: u64) -> Result<Option<(JournalHead, JournalReader)>, String> {
        let file = match File::open(&path) {
            Ok(file) => file.take(length),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
        };
        let mut reader = JournalReader { path, file: BufReader::new(file), records: 0, changes: Vec::new() };
        let first = match frames::read(&mut reader.file) {
            Ok(None) => {
                return Err(reader.problem(String::from("it is empty: the run ended before it had written anything")));
            }
            Ok(Some(first)) => Ok(first),
            Err(error) => Err(error),
        };
        let head =
            first.and_then(|first| serde_json::from_slice::<JournalHead>(&first).map_err(|error| error.to_string()));
        let head = head.map_err(|why| {
            reader.problem(format!("it does not begin as the journal of a run with --save does: {why}"))
        })?;
        if head.kind != KIND || head.schema != SCHEMA {
            let found = format!("found {} of schema {}", head.kind, head.schema);
            let text = format!("{found}, expected {KIND} of schema {SCHEMA}: use the Onrush that wrote it");
            return Err(reader.problem(text));
        }
        Ok(Some((head, reader)))
    }

    /// The content of the next frame; `None` at the end of the file. The error says what of it is damaged: nothing
    /// follows.
    pub fn next_frame(&mut self) -> Result<Option<Vec<u8>>, String> {
        self.records += 1;
        frames::read(&mut self.file).map_err(|what| self.damage(&what))
    }

    /// The same as a record of what was measured; changes of the load are kept.
    pub(crate) fn next_record(&mut self) -> Result<Option<Record>, String> {
        loop {
            let frame = self.next_frame()?;
            match frame.map(|frame| Record::read(&frame)).transpose().map_err(|what| self.damage(&what))? {
                Some(Record::Change(change)) => {
                    self.records -= 1;
                    self.changes.push(change);
                }
                record => return Ok(record),
            }
        }
    }

    /// What clients changed of the load, as far as it was read.
    pub fn changes(&self) -> &[LoadChange] {
        &self.changes
    }

    /// The same of a journal that is no agent's, and has no end.
    pub fn next_interval(&mut self) -> Result<Option<JournalEntry>, String> {
        match self.next_record()? {
            None => Ok(None),
            Some(Record::Interval(entry)) => Ok(Some(entry)),
            Some(_) => Err(self.damage("it ends as that of an agent does")),
        }
    }

    /// Something is wrong with the last record.
    pub fn damage(&self, what: &str) -> String {
        format!("interval {} of the journal is damaged and ends it: {what}", self.records)
    }

    /// Something is wrong with the file.
    pub fn problem(&self, what: String) -> String {
        format!("{}: {what}", self.path.display())
    }
}
