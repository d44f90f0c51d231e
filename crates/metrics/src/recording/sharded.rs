//! A table of things that are cheaper to keep than to make again, which never stands still for long.
//!
//! A hash table that doubles moves all its entries at once: with the tags of 57,344 series that took 35 ms, in which a
//! worker does nothing else. Here entries are dealt over many small tables by their hash, which each entry keeps: a
//! table that doubles, or is emptied because it has reached its share of the limit, is a small one.
//!
//! Two keys with the same 64 bits push each other out. That is allowed: what is not found is made again.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};

/// Small tables, a power of two.
const SHARDS: usize = 64;
/// Where in a hash the number of the small table is: a table takes its places from the lowest bits and its marks from
/// the highest.
const SHIFT: u32 = 32;

/// The small tables, and what makes hashes.
pub struct Sharded<K, V, S = RandomState> {
    hasher: S,
    shards: Vec<HashMap<u64, (K, V), BuildHasherDefault<AsIs>>>,
}

impl<K, V, S: Default> Default for Sharded<K, V, S> {
    fn default() -> Self {
        Sharded { hasher: S::default(), shards: Vec::new() }
    }
}

impl<K: Hash + Eq, V, S: BuildHasher> Sharded<K, V, S> {
    /// What is kept under this key.
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let hash = self.hasher.hash_one(key);
        let (known, value) = self.shards.get(place(hash))?.get(&hash)?;
        (known.borrow() == key).then_some(value)
    }

    /// Keeps a value. `most`: about so many are kept, if it is given; then some of the others are forgotten.
    pub fn insert(&mut self, key: K, value: V, most: Option<usize>) {
        if self.shards.is_empty() {
            self.shards.resize_with(SHARDS, HashMap::default);
        }
        let hash = self.hasher.hash_one(&key);
        let shard = &mut self.shards[place(hash)];
        if most.is_some_and(|most| shard.len() >= (most / SHARDS).max(1)) {
            shard.clear();
        }
        shard.insert(hash, (key, value));
    }

    /// How many are kept.
    pub fn kept(&self) -> usize {
        self.shards.iter().map(HashMap::len).sum()
    }
}

fn place(hash: u64) -> usize {
    (hash >> SHIFT) as usize % SHARDS
}

/// The hash of what is a hash already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64; this is a bug")
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found() {
        let mut table: Sharded<String, i32> = Sharded::default();
        assert_eq!(table.get("a"), None);
        (0..5000).for_each(|n| table.insert(format!("/users/{n}"), n, None));
        assert!((0..5000).all(|n| table.get(format!("/users/{n}").as_str()) == Some(&n)));
        assert_eq!((table.kept(), table.get("/users/5000")), (5000, None));
        table.insert("/users/7".to_owned(), 70, None);
        assert_eq!((table.kept(), table.get("/users/7")), (5000, Some(&70)));
    }

    #[test]
    fn a_limit_makes_room_in_one_small_table_at_a_time() {
        let mut table: Sharded<u64, ()> = Sharded::default();
        let (mut before, mut lost) = (0, 0);
        for n in 0..20_000_u64 {
            table.insert(n, (), Some(6400));
            lost = lost.max((before + 1_usize).saturating_sub(table.kept()));
            before = table.kept();
            assert!(table.get(&n).is_some());
        }
        assert!(table.kept() <= 6400, "{}", table.kept());
        assert!(lost > 0 && lost <= 6400 / SHARDS, "{lost} at once");
    }

    #[test]
    fn entries_are_dealt_evenly() {
        let mut table: Sharded<u64, ()> = Sharded::default();
        (0..64_000_u64).for_each(|n| table.insert(n, (), None));
        let fullest = table.shards.iter().map(HashMap::len).max().unwrap_or_default();
        assert!(fullest < 1300, "1000 each, {fullest} in the fullest");
    }
}
