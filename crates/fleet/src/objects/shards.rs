//! What the parts of a test measured, as objects of a store: for parts that have no coordinator, to be merged later.
//!
//! Below the store's prefix lies a folder for each part and life of it. The objects in it, in order, are its journal:
//!
//! ```text
//! 00003-of-00050/INCARNATION/0000000001
//! ```

use std::collections::BTreeMap;

use super::access::Problem;
use super::store::StorePlace;

/// A store with what parts have measured.
#[derive(Clone, Debug)]
pub struct ShardStore(StorePlace);

/// A part that was found, or that is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShardPart {
    /// Which, from 0 on.
    pub index: u32,
    /// Of how many.
    pub of: u32,
    /// This life of it.
    pub incarnation: u64,
}

impl ShardPart {
    fn folder(&self) -> String {
        format!("{:05}-of-{:05}/{:016x}", self.index, self.of, self.incarnation)
    }

    /// The part and the number of a name that is one of ours.
    fn read(name: &str) -> Option<(ShardPart, u64)> {
        let mut parts = name.split('/');
        let (index, of) = parts.next()?.split_once("-of-")?;
        let incarnation = u64::from_str_radix(parts.next()?, 16).ok()?;
        let part = ShardPart { index: index.parse().ok()?, of: of.parse().ok()?, incarnation };
        let number = parts.next()?.parse().ok()?;
        parts.next().is_none().then_some((part, number))
    }
}

impl ShardStore {
    /// The place that a URL names, as for `StorePlace`.
    pub fn open(url: &str) -> Result<ShardStore, String> {
        StorePlace::open(url).map(ShardStore)
    }

    /// Adds the next piece of a part, for as long as the store may come back. Pieces are numbered from 1 on.
    pub async fn add(&self, part: &ShardPart, number: u64, piece: Vec<u8>) -> Result<(), String> {
        let name = format!("{}/{number:010}", part.folder());
        self.0.create_in_time(&name, piece).await.map_err(|problem| problem.text(&name))
    }

    /// The parts that are there, each with how many pieces.
    pub async fn parts(&self) -> Result<BTreeMap<ShardPart, u64>, String> {
        let mut parts: BTreeMap<ShardPart, u64> = BTreeMap::new();
        let names = self.0.list("").await.map_err(|problem| problem.text(self.0.shown()))?;
        for (part, number) in names.iter().filter_map(|name| ShardPart::read(name)) {
            let last = parts.entry(part).or_default();
            *last = number.max(*last);
        }
        Ok(parts)
    }

    /// A part's journal; without its end where a piece is missing.
    pub async fn read(&self, part: &ShardPart, pieces: u64) -> Result<Vec<u8>, String> {
        let mut journal = Vec::new();
        for number in 1..=pieces {
            let name = format!("{}/{number:010}", part.folder());
            match self.0.read(&name).await {
                Ok(piece) => journal.extend(piece),
                Err(Problem::Missing) => break,
                Err(problem) => return Err(problem.text(&name)),
            }
        }
        Ok(journal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_part_and_number() {
        let part = ShardPart { index: 3, of: 50, incarnation: u64::MAX };
        let name = format!("{}/{:010}", part.folder(), 12);
        assert_eq!(name, "00003-of-00050/ffffffffffffffff/0000000012");
        assert_eq!(ShardPart::read(&name), Some((part, 12)));
        for other in ["", "hubs/1", "3-of-x/1/1", "00003-of-00050/ff/1/2", "00003-of-00050/zz/1"] {
            assert_eq!(ShardPart::read(other), None, "{other}");
        }
    }
}
