//! A layer: an archive of files, packed. Files have no date and no owner of this machine, so that the same files make
//! the same layer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::layout::digest;

/// What a path of a layer is.
enum Entry {
    File(u32, Vec<u8>),
    Link(String),
    Folder(u32, u32),
}

/// Files by their paths, which have no slash in front.
#[derive(Default)]
pub(crate) struct Layer {
    entries: BTreeMap<String, Entry>,
}

/// A layer as it is stored.
pub(crate) struct Packed {
    /// The archive, by gzip.
    pub(crate) bytes: Vec<u8>,
    /// Of the archive before it was packed.
    pub(crate) diff_id: String,
}

impl Layer {
    /// A file with this content.
    pub(crate) fn file(&mut self, path: &str, mode: u32, content: impl Into<Vec<u8>>) {
        self.entries.insert(path.to_owned(), Entry::File(mode, content.into()));
    }

    /// What a file of this machine holds; links are followed.
    pub(crate) fn copy(&mut self, from: &Path, path: &str, mode: u32) -> Result<(), String> {
        let content = fs::read(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
        self.file(path, mode, content);
        Ok(())
    }

    /// A symbolic link.
    pub(crate) fn link(&mut self, path: &str, to: &str) {
        self.entries.insert(path.to_owned(), Entry::Link(to.to_owned()));
    }

    /// A folder that belongs to a user.
    pub(crate) fn folder(&mut self, path: &str, mode: u32, owner: u32) {
        self.entries.insert(path.to_owned(), Entry::Folder(mode, owner));
    }

    /// Bytes of all files.
    pub(crate) fn size(&self) -> usize {
        let sizes =
            self.entries.values().map(|entry| if let Entry::File(_, content) = entry { content.len() } else { 0 });
        sizes.sum()
    }

    /// The archive, each folder before what is in it.
    pub(crate) fn pack(mut self) -> Result<Packed, String> {
        let paths: Vec<String> = self.entries.keys().cloned().collect();
        let above: BTreeSet<String> = paths.iter().flat_map(|path| folders_above(path)).collect();
        for folder in above {
            self.entries.entry(folder).or_insert(Entry::Folder(0o755, 0));
        }
        let packed = || -> std::io::Result<Packed> {
            let mut builder = Builder::new(Vec::new());
            for (path, entry) in &self.entries {
                add(&mut builder, path, entry)?;
            }
            let archive = builder.into_inner()?;
            let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
            gzip.write_all(&archive)?;
            Ok(Packed { bytes: gzip.finish()?, diff_id: digest(&archive) })
        };
        packed().map_err(|error| format!("cannot pack a layer: {error}"))
    }
}

fn folders_above(path: &str) -> impl Iterator<Item = String> {
    path.match_indices('/').map(|(end, _)| path[..end].to_owned())
}

fn add(builder: &mut Builder<Vec<u8>>, path: &str, entry: &Entry) -> std::io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    match entry {
        Entry::File(mode, content) => {
            header.set_mode(*mode);
            header.set_size(content.len() as u64);
            builder.append_data(&mut header, path, content.as_slice())
        }
        Entry::Link(to) => {
            header.set_entry_type(EntryType::Symlink);
            header.set_mode(0o777);
            builder.append_link(&mut header, path, to)
        }
        Entry::Folder(mode, owner) => {
            header.set_entry_type(EntryType::Directory);
            header.set_mode(*mode);
            header.set_uid((*owner).into());
            header.set_gid((*owner).into());
            builder.append_data(&mut header, format!("{path}/"), std::io::empty())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_what_is_in_them_and_the_same_files_make_the_same_bytes() {
        let layer = || {
            let mut layer = Layer::default();
            layer.link("usr/bin/k6", "onrush");
            layer.file("usr/bin/onrush", 0o755, "program");
            layer.folder("tmp", 0o1777, 7);
            layer.pack().unwrap()
        };
        let packed = layer();
        assert_eq!(packed.bytes, layer().bytes);
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.bytes.as_slice()));
        let entries = archive.entries().unwrap().map(Result::unwrap);
        let seen: Vec<_> = entries
            .map(|entry| {
                let header = entry.header();
                let path = entry.path().unwrap().display().to_string();
                (path, header.mode().unwrap(), header.uid().unwrap(), header.mtime().unwrap())
            })
            .collect();
        let expected = [
            ("tmp/", 0o1777, 7),
            ("usr/", 0o755, 0),
            ("usr/bin/", 0o755, 0),
            ("usr/bin/k6", 0o777, 0),
            ("usr/bin/onrush", 0o755, 0),
        ];
        assert_eq!(seen, expected.map(|(path, mode, owner)| (path.to_owned(), mode, owner, 0)));
    }
}
