//! Inputs to begin with: the examples of a subject, the files of the repository, and what earlier runs kept.
//!
//! Files lie in a folder for each subject: below `corpus` here, and below target/fuzz/corpus, where guided runs leave
//! what reached new code, and every run what it found. Keys and certificates of the repository were made for this and
//! are used nowhere else.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use super::subjects::Subject;

/// Kept files of a subject that a run begins with: enough to be worth it, few enough to be tried each time.
const MOST: usize = 2_000;

/// What runs leave behind.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz")
}

/// The files of the repository for a subject; the folder may be missing.
pub fn seeds_of(subject: &Subject) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(subject.name)
}

/// Where the kept inputs of a subject lie.
pub fn kept_of(subject: &Subject) -> PathBuf {
    folder().join("corpus").join(subject.name)
}

/// All inputs to begin with, in the same order on each run with the same files.
pub fn examples(subject: &Subject) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = subject.examples.iter().map(|example| example.as_bytes().to_vec()).collect();
    for place in [seeds_of(subject), kept_of(subject)] {
        let mut paths: Vec<PathBuf> = fs::read_dir(place).into_iter().flatten().flatten().map(|e| e.path()).collect();
        paths.sort();
        all.extend(paths.iter().take(MOST).filter_map(|path| fs::read(path).ok()));
    }
    all
}

/// Keeps an input that was found, under a name made of its bytes. Gives its path.
pub fn keep(subject: &Subject, input: &[u8]) -> Result<PathBuf, String> {
    let place = kept_of(subject);
    fs::create_dir_all(&place).map_err(|error| format!("cannot make {}: {error}", place.display()))?;
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let path = place.join(format!("found-{:016x}", hasher.finish()));
    fs::write(&path, input).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

/// The beginning of an input, for people.
pub fn shown(input: &[u8]) -> String {
    input.escape_ascii().to_string().chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all;

    #[test]
    fn the_files_of_the_repository_are_small_and_belong_to_subjects() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        let mut total = 0;
        for folder in fs::read_dir(root).unwrap().flatten() {
            let name = folder.file_name().into_string().unwrap();
            assert!(all().any(|subject| subject.name == name), "corpus/{name} belongs to no subject");
            for file in fs::read_dir(folder.path()).unwrap().flatten() {
                let bytes = file.metadata().unwrap().len();
                assert!(bytes <= 20_000, "{} has {bytes} bytes, expected at most 20000", file.path().display());
                total += bytes;
            }
        }
        assert!(total <= 200_000, "the files have {total} bytes together, expected at most 200000");
    }

    #[test]
    fn no_subject_breaks_a_promise_on_what_it_begins_with() {
        for subject in all() {
            let mut check = (subject.start)().unwrap_or_else(|why| panic!("{}: {why}", subject.name));
            let seeds = fs::read_dir(seeds_of(subject)).into_iter().flatten().flatten();
            let seeds = seeds.map(|file| fs::read(file.path()).unwrap());
            for input in subject.examples.iter().map(|example| example.as_bytes().to_vec()).chain(seeds) {
                check(&input).unwrap_or_else(|why| panic!("{}: {why}: {}", subject.name, shown(&input)));
            }
        }
    }
}
