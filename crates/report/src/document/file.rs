//! A result document as a file: written whole or not at all, read with errors that say what to do.
//!
//! Writing goes to a temporary name beside the file and is then renamed, so that a reader never sees half of a result,
//! nor an old one mixed with a new one. What is read may come from anywhere: it is checked before anybody reckons with
//! it.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Document, KIND, SCHEMA, check_schema};
use crate::input;

/// Name of the document in its directory.
pub const FILE_NAME: &str = "result.json";

/// The file that a path means: itself, or `result.json` in a directory.
pub fn path_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() }
}

/// Reads a result: a directory that `--save` made, or a `result.json`.
pub fn read(path: impl AsRef<Path>) -> Result<Document, ReadError> {
    let path = path_of(path.as_ref());
    let bytes = input::bytes(&path).map_err(|error| ReadError::Unreadable { path: path.clone(), error })?;
    parse(&path, &bytes)
}

pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Document, ReadError> {
    let path = || path.to_owned();
    // Kind and schema first: what is wrong with another version's fields would only confuse.
    let head: Head = serde_json::from_slice(bytes).map_err(|error| ReadError::Malformed { path: path(), error })?;
    match head.kind {
        Some(kind) if kind == KIND => {}
        found => return Err(ReadError::NotAResult { path: path(), found }),
    }
    check_schema(head.schema).map_err(|what| ReadError::OtherSchema { path: path(), what })?;
    let mut document: Document =
        serde_json::from_slice(bytes).map_err(|error| ReadError::Malformed { path: path(), error })?;
    document.schema = SCHEMA;
    match contradiction(&document) {
        Some(what) => Err(ReadError::Contradiction { path: path(), what }),
        None => Ok(document),
    }
}

/// The first fields of a document of any schema.
#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
    schema: Option<u64>,
}

fn contradiction(document: &Document) -> Option<String> {
    let of_scenarios = document.scenarios.iter().flat_map(|scenario| &scenario.metrics);
    let histograms =
        document.metrics.iter().chain(of_scenarios).filter_map(|metric| Some((metric, metric.histogram()?)));
    let mut histograms = histograms;
    let odd = histograms.find(|(_, histogram)| histogram.checked_trend().is_none());
    if let Some((metric, _)) = odd {
        return Some(format!("the buckets of {} do not agree with its count, sum, min and max", metric.key()));
    }
    let of_generator = || document.generator_seconds.as_ref()?.contradiction(document.seconds.starts_s.len());
    document.seconds.contradiction().or_else(of_generator).or_else(|| document.requests.contradiction())
}

impl Document {
    /// Writes `result.json` into this directory, which must be there. The file is whole or, on an error, as it was
    /// before.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        let (path, half) = (dir.join(FILE_NAME), dir.join(format!(".{FILE_NAME}.{}", std::process::id())));
        let written = self.write_to(&half).and_then(|()| std::fs::rename(&half, &path));
        if written.is_err() {
            // The first error is the one to tell of.
            let _ = std::fs::remove_file(&half);
        }
        written
    }

    fn write_to(&self, path: &Path) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        serde_json::to_writer(&mut file, self)?;
        file.write_all(b"\n")?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

/// Why a result cannot be read.
#[derive(Debug)]
pub enum ReadError {
    /// The file cannot be opened or read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Not JSON, or not the fields of a result.
    Malformed {
        /// The file.
        path: PathBuf,
        /// What was found where.
        error: serde_json::Error,
    },
    /// JSON of another kind.
    NotAResult {
        /// The file.
        path: PathBuf,
        /// Its `kind`, when it has one.
        found: Option<String>,
    },
    /// A result of another schema.
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// Which one, and which can be read.
        what: String,
    },
    /// Numbers that cannot be those of one run.
    Contradiction {
        /// The file.
        path: PathBuf,
        /// What contradicts what.
        what: String,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Unreadable { path, error } if error.kind() == io::ErrorKind::NotFound => write!(
                f,
                "no result at {}: expected a directory written by 'onrush run --save', or its {FILE_NAME}",
                path.display()
            ),
            ReadError::Unreadable { path, error } => write!(f, "cannot read the result {}: {error}", path.display()),
            ReadError::Malformed { path, error } => {
                write!(f, "{}:{}:{}: not a result document: {error}", path.display(), error.line(), error.column())
            }
            ReadError::NotAResult { path, found } => {
                let found = found.as_ref().map_or("no kind".to_owned(), |kind| format!("kind '{kind}'"));
                write!(f, "{}: found {found}, expected a result document of kind '{KIND}'", path.display())
            }
            ReadError::OtherSchema { path, what } => write!(f, "{}: {what}, or run the test again", path.display()),
            ReadError::Contradiction { path, what } => {
                write!(f, "{}: {what}; the file was changed or damaged, run the test again", path.display())
            }
        }
    }
}

impl std::error::Error for ReadError {}
