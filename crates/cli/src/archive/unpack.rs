//! Unpacking an archive: into a folder of its own, whatever its entries are called.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use tar::{Archive, Entry, EntryType};

use super::{METADATA, Metadata, ROOTS, SCRIPT};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::process::private_folder::PrivateFolder;

/// Where tar files say that they are one.
const MAGIC: (u64, &[u8]) = (257, b"ustar");

/// `metadata.json` at most: it holds options and variables.
const MOST_METADATA: u64 = 16 << 20;

/// An archive, unpacked.
pub struct Unpacked {
    /// Its `metadata.json`; what is null in the options is left out.
    pub metadata: Metadata,
    /// The modules of https addresses, by address.
    pub remote: BTreeMap<String, String>,
    folder: PrivateFolder,
}

impl Unpacked {
    /// The name of the script: `file:///path/test.js`.
    pub fn entry(&self) -> &str {
        &self.metadata.filename
    }

    /// The folder that has its files, each at its own path below.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("file")
    }
}

/// Whether a file is a tar file, by its content. False for one that cannot be read.
pub fn is_archive(path: &Path) -> bool {
    let magic = |mut file: File| {
        let mut found = [0; MAGIC.1.len()];
        file.seek(SeekFrom::Start(MAGIC.0)).and_then(|_| file.read_exact(&mut found)).map(|()| found)
    };
    fs::metadata(path).is_ok_and(|found| found.is_file())
        && File::open(path).and_then(magic).is_ok_and(|found| found == MAGIC.1)
}

/// Unpacks an archive. Nothing is written outside of a folder that only this user can enter.
pub fn unpack(path: &Path) -> Result<Unpacked, Failure> {
    let fail = |why: String| Failure::new(ExitCode::Generic, format!("the archive {}: {why}", path.display()));
    let file = File::open(path).map_err(|error| fail(error.to_string()))?;
    let folder = PrivateFolder::make().map_err(|error| fail(format!("cannot make a folder for its files: {error}")))?;
    let mut reading = Unpacking { folder: folder.path(), metadata: None, script: None, remote: BTreeMap::new() };
    let mut archive = Archive::new(file);
    let entries = archive.entries().map_err(|error| fail(damaged(&error)))?;
    for entry in entries {
        reading.take(entry.map_err(|error| fail(damaged(&error)))?).map_err(&fail)?;
    }
    let Unpacking { metadata, script, remote, .. } = reading;
    let text = metadata.ok_or_else(|| fail(missing(METADATA)))?;
    let mut metadata: Metadata =
        serde_json::from_slice(&text).map_err(|error| fail(format!("its {METADATA} cannot be read: {error}")))?;
    metadata.options = without_nulls(metadata.options);
    let entry = metadata.filename.strip_prefix("file:///").ok_or_else(|| {
        fail(format!(
            "its {METADATA} calls the script '{}', expected a name like file:///path/test.js",
            metadata.filename
        ))
    })?;
    let place = inside(Path::new(entry)).map(|entry| folder.path().join("file").join(entry)).map_err(&fail)?;
    let script = script.ok_or_else(|| fail(missing(SCRIPT)))?;
    let written = place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&place, script));
    written.map_err(|error| fail(format!("cannot unpack the script: {error}")))?;
    Ok(Unpacked { metadata, remote, folder })
}

/// What has been read so far.
struct Unpacking<'a> {
    folder: &'a Path,
    metadata: Option<Vec<u8>>,
    script: Option<Vec<u8>>,
    remote: BTreeMap<String, String>,
}

impl Unpacking<'_> {
    fn take(&mut self, mut entry: Entry<'_, File>) -> Result<(), String> {
        let path = entry.path().map_err(|error| damaged(&error))?.into_owned();
        let path = inside(&path)?;
        let name = path.to_str().ok_or_else(|| format!("the name of its entry {} is not UTF-8", path.display()))?;
        match entry.header().entry_type() {
            EntryType::Directory => return Ok(()),
            // The script, at its own place.
            EntryType::Link if entry.link_name().is_ok_and(|to| to.is_some_and(|to| to == Path::new(SCRIPT))) => {
                return Ok(());
            }
            EntryType::Regular => {}
            other => return Err(format!("its entry {name} is of the kind {other:?}, expected files and folders")),
        }
        if name == METADATA {
            let mut text = Vec::new();
            entry.by_ref().take(MOST_METADATA).read_to_end(&mut text).map_err(|error| damaged(&error))?;
            self.metadata = Some(text);
        } else if name == SCRIPT {
            self.script = Some(content(&mut entry)?);
        } else if let Some(rest) = name.strip_prefix(ROOTS[1].0) {
            let text = String::from_utf8(content(&mut entry)?);
            let text = text.map_err(|_| format!("its entry {name} is not UTF-8 text, expected a module"))?;
            self.remote.insert(format!("{}{rest}", ROOTS[1].1), text);
        } else if name.starts_with(ROOTS[0].0) {
            let place = self.folder.join(&path);
            let made = place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| File::create(&place));
            let mut file = made.map_err(|error| format!("cannot unpack {name}: {error}"))?;
            io::copy(&mut entry, &mut file).map_err(|error| format!("cannot unpack {name}: {}", damaged(&error)))?;
        } else {
            return Err(format!(
                "it has an entry {name}, expected {METADATA}, {SCRIPT}, and files in file/ and https/"
            ));
        }
        Ok(())
    }
}

fn content(entry: &mut Entry<'_, File>) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    entry.read_to_end(&mut content).map_err(|error| damaged(&error))?;
    Ok(content)
}

/// A path that stays where it is put.
fn inside(path: &Path) -> Result<PathBuf, String> {
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    match is_plain {
        true => Ok(path.components().filter(|part| matches!(part, Component::Normal(_))).collect()),
        false => Err(format!("its entry {} leads out of it, expected a path below file/ or https/", path.display())),
    }
}

fn damaged(error: &io::Error) -> String {
    // What is no archive at all would be quoted in it.
    let why = error.to_string();
    let is_readable = why.len() <= 80 && why.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let why = if is_readable { format!(" ({why})") } else { String::new() };
    format!("it is damaged or was cut off{why}; make it again with `onrush archive`")
}

fn missing(part: &str) -> String {
    format!("it has no {part}, expected what `onrush archive` or `k6 archive` writes")
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| (name, without_nulls(value)));
            let kept = fields.filter(|(_, value)| !value.is_null() && value.as_object().is_none_or(|o| !o.is_empty()));
            Value::Object(kept.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
