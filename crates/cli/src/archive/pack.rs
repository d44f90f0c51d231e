//! Writing an archive: its parts in the order in which k6 writes them, and what is written is what was read when init
//! code ran, but for the content of data files, which is read now.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tar::{Builder, EntryType, Header};

use super::{METADATA, Metadata, ROOTS, SCRIPT};
use crate::called_as::K6_VERSION;

/// What goes into an archive.
pub struct Packed<'a> {
    /// The name of the script: `file:///path/test.js`.
    pub entry: &'a str,
    /// Names and texts of all modules, that of the script included.
    pub modules: Vec<(String, String)>,
    /// Files that init code opened: by which path, and where they are.
    pub files: Vec<(PathBuf, PathBuf)>,
    /// As options are shown.
    pub options: Value,
    /// Variables of the script; none when they are not to be packed.
    pub env: Option<BTreeMap<String, String>>,
}

/// A part of an archive.
enum Content {
    Text(String),
    File(PathBuf),
    Script,
}

/// When an archive says that it was written.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Writes an archive, whose parts are dated so many seconds after the epoch.
pub fn pack(packed: Packed<'_>, now: u64, to: impl Write) -> io::Result<()> {
    let mut parts: BTreeMap<String, Content> = BTreeMap::new();
    for (path, place) in packed.files {
        parts.insert(format!("file{}", path.display()), Content::File(place));
    }
    let mut script = String::new();
    for (name, text) in packed.modules {
        let part = match name == packed.entry {
            true => {
                script = text;
                Content::Script
            }
            false => Content::Text(text),
        };
        if let Some(path) = path_of(&name) {
            parts.insert(path, part);
        }
    }
    let folder = Path::new(packed.entry.strip_prefix("file://").unwrap_or("/")).parent().unwrap_or(Path::new("/"));
    let metadata = Metadata {
        kind: String::from("js"),
        options: packed.options,
        filename: packed.entry.to_owned(),
        pwd: format!("file://{}", folder.display()),
        env: packed.env,
        compatibility_mode: String::from("extended"),
        k6_version: String::from(K6_VERSION),
        goos: std::env::consts::OS.to_owned(),
        dependencies: BTreeMap::from([(String::from("k6"), String::from("*"))]),
    };
    let mut tar = Builder::new(to);
    let mut metadata = serde_json::to_vec_pretty(&metadata)?;
    metadata.push(b'\n');
    tar.append_data(&mut header(EntryType::Regular, metadata.len(), now), METADATA, &*metadata)?;
    tar.append_data(&mut header(EntryType::Regular, script.len(), now), SCRIPT, script.as_bytes())?;
    for folder in folders(parts.keys()) {
        tar.append_data(&mut header(EntryType::Directory, 0, now), folder, io::empty())?;
    }
    for (path, part) in parts {
        match part {
            Content::Text(text) => {
                tar.append_data(&mut header(EntryType::Regular, text.len(), now), path, text.as_bytes())?;
            }
            Content::File(place) => {
                let file = File::open(place)?;
                let size = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
                // A file that grew meanwhile is cut, one that shrank fails.
                let mut content = io::Read::take(file, size as u64);
                tar.append_data(&mut header(EntryType::Regular, size, now), path, &mut content)?;
            }
            Content::Script => tar.append_link(&mut header(EntryType::Link, 0, now), path, SCRIPT)?,
        }
    }
    tar.into_inner()?.flush()
}

/// `file:///a/b.js` is in `file/a/b.js`.
fn path_of(module: &str) -> Option<String> {
    let (folder, rest) = ROOTS.iter().find_map(|(folder, scheme)| Some((folder, module.strip_prefix(scheme)?)))?;
    Some(format!("{folder}{rest}"))
}

fn header(kind: EntryType, size: usize, now: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(if kind == EntryType::Directory { 0o755 } else { 0o644 });
    header.set_size(size as u64);
    header.set_mtime(now);
    header
}

/// All folders above these paths, outer ones first.
fn folders<'a>(paths: impl Iterator<Item = &'a String>) -> BTreeSet<PathBuf> {
    let above = |path: &'a String| Path::new(path).ancestors().skip(1).filter(|folder| *folder != Path::new(""));
    paths.flat_map(above).map(Path::to_path_buf).collect()
}
