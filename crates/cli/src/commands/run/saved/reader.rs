//! Reads a journal: its head at once, then record by record. A damaged frame ends the reading, and is told.

use std::fs::File;
use std::io::{BufReader, Read, Take};
use std::path::{Path, PathBuf};

use crate::commands::run::saved::frames;
use crate::commands::run::saved::journal::{ENDED_NAME, FILE_NAME, Head, KIND, Record, SCHEMA};

/// A journal that has been opened.
pub struct JournalReader {
    path: PathBuf,
    file: BufReader<Take<File>>,
    /// How many records were read.
    records: u64,
}

impl JournalReader {
    /// That of a directory; `None` when there is none.
    pub fn open(dir: &Path) -> Result<Option<(Head, JournalReader)>, String> {
        Self::open_file(dir.join(FILE_NAME), u64::MAX)
    }

    /// The first so many bytes of that of a coordinator that was killed after the load, where it is by now.
    pub fn open_ended(dir: &Path, length: u64) -> Result<Option<(Head, JournalReader)>, String> {
        let [path, aside] = [FILE_NAME, ENDED_NAME].map(|name| dir.join(name));
        let path = if path.exists() { path } else { aside };
        let found = std::fs::metadata(&path).map_or(length, |metadata| metadata.len());
        match found < length {
            true => Err(format!("{} is cut: found {found} bytes, expected {length}", path.display())),
            false => Self::open_file(path, length),
        }
    }

    fn open_file(path: PathBuf, length: u64) -> Result<Option<(Head, JournalReader)>, String> {
        let file = match File::open(&path) {
            Ok(file) => file.take(length),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
        };
        let mut reader = JournalReader { path, file: BufReader::new(file), records: 0 };
        let first = frames::read(&mut reader.file).map(Option::unwrap_or_default);
        let head = first.and_then(|first| serde_json::from_slice::<Head>(&first).map_err(|error| error.to_string()));
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

    /// The next record; `None` at the end of the file. The error says what of it is damaged: nothing follows.
    pub fn next(&mut self) -> Result<Option<Record>, String> {
        self.records += 1;
        match frames::read(&mut self.file) {
            Ok(None) => Ok(None),
            Ok(Some(frame)) => Record::read(&frame).map(Some).map_err(|what| self.damage(&what)),
            Err(what) => Err(self.damage(&what)),
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
