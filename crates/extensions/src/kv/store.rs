//! Where values are kept: in memory, or in a file. Each call is atomic among all users.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::disk::Disk;

/// A failure as the script gets it: an `Error` of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvError {
    /// As in the extension.
    pub name: &'static str,
    /// What failed, and what was found.
    pub text: String,
}

impl KvError {
    /// A failure.
    pub fn new(name: &'static str, text: impl Into<String>) -> KvError {
        KvError { name, text: text.into() }
    }
}

/// What a call gives.
pub type KvOutcome<T> = Result<T, KvError>;

/// A key and its value's text.
pub type Entry = (String, Arc<str>);

/// What becomes of a value.
pub enum Change {
    /// It stays.
    Keep,
    /// It is this from now on.
    Set(Arc<str>),
    /// It goes.
    Remove,
}

/// Values by key, in the order of the keys.
pub enum Store {
    /// They end with the run.
    Memory(Memory),
    /// They are in a file.
    Disk(Disk),
}

impl Store {
    /// Whether a call may wait for a disk.
    pub fn blocks(&self) -> bool {
        !matches!(self, Store::Memory(_))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> KvOutcome<Option<Arc<str>>> {
        match self {
            Store::Memory(memory) => Ok(memory.lock().get(key).cloned()),
            Store::Disk(disk) => disk.get(key),
        }
    }

    /// Looks at the value of a key and decides what becomes of it; nobody else changes it meanwhile.
    pub fn update<R>(
        &self,
        key: &str,
        decide: impl FnOnce(Option<&Arc<str>>) -> KvOutcome<(Change, R)>,
    ) -> KvOutcome<R> {
        match self {
            Store::Memory(memory) => {
                let mut entries = memory.lock();
                let (change, result) = decide(entries.get(key))?;
                match change {
                    Change::Keep => {}
                    Change::Set(value) => drop(entries.insert(key.to_owned(), value)),
                    Change::Remove => drop(entries.remove(key)),
                }
                Ok(result)
            }
            Store::Disk(disk) => disk.update(key, decide),
        }
    }

    /// Those whose keys begin so and come after this one, at most so many.
    pub fn entries(&self, prefix: &str, after: Option<&str>, limit: usize) -> KvOutcome<Vec<Entry>> {
        match self {
            Store::Memory(memory) => {
                let entries = memory.lock();
                let from = entries.range::<str, _>((start(prefix, after), Bound::Unbounded));
                let found = from.take_while(|(key, _)| key.starts_with(prefix)).take(limit);
                let found: Vec<Entry> = found.map(|(key, value)| (key.clone(), Arc::clone(value))).collect();
                debug_assert!(found.len() <= limit && found.is_sorted(), "{} of {limit} entries", found.len());
                Ok(found)
            }
            Store::Disk(disk) => disk.entries(prefix, after, limit),
        }
    }

    /// How many keys begin so.
    pub fn count(&self, prefix: &str) -> KvOutcome<usize> {
        match self {
            Store::Memory(memory) => Ok(memory.count(&memory.lock(), prefix)),
            Store::Disk(disk) => disk.count(prefix),
        }
    }

    /// One of those whose keys begin so, each as likely; it goes if `removes`.
    pub fn random(&self, prefix: &str, removes: bool) -> KvOutcome<Option<Entry>> {
        match self {
            Store::Memory(memory) => {
                let mut entries = memory.lock();
                let count = memory.count(&entries, prefix);
                if count == 0 {
                    return Ok(None);
                }
                let from = entries.range::<str, _>((start(prefix, None), Bound::Unbounded));
                let found = from.map(|(key, value)| (key.clone(), Arc::clone(value))).nth(fastrand::usize(..count));
                debug_assert!(found.as_ref().is_some_and(|(key, _)| key.starts_with(prefix)), "one of {count} with it");
                if let Some((key, _)) = found.as_ref().filter(|_| removes) {
                    entries.remove(key);
                }
                Ok(found)
            }
            Store::Disk(disk) => disk.random(prefix, removes),
        }
    }

    /// Removes all.
    pub fn clear(&self) -> KvOutcome<()> {
        match self {
            Store::Memory(memory) => {
                memory.lock().clear();
                Ok(())
            }
            Store::Disk(disk) => disk.clear(),
        }
    }
}

/// Where keys that begin so and come after this one begin.
pub fn start<'a>(prefix: &'a str, after: Option<&'a str>) -> Bound<&'a str> {
    after.filter(|after| *after >= prefix).map_or(Bound::Included(prefix), Bound::Excluded)
}

/// Values in memory.
#[derive(Default)]
pub struct Memory(Mutex<BTreeMap<String, Arc<str>>>);

impl Memory {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<str>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, entries: &BTreeMap<String, Arc<str>>, prefix: &str) -> usize {
        if prefix.is_empty() {
            return entries.len();
        }
        let from = entries.range::<str, _>((start(prefix, None), Bound::Unbounded));
        from.take_while(|(key, _)| key.starts_with(prefix)).count()
    }
}
