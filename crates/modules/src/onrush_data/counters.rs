//! How many rows of a name the users of a process have taken, and which row of the whole test the next one is.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use engine::segment::Stripes;

/// The counters of the process by name.
#[derive(Default)]
pub(super) struct RowCounters(Mutex<HashMap<String, Arc<RowCounter>>>);

/// Rows of one name.
#[derive(Default)]
pub(super) struct RowCounter {
    rows: u64,
    taken: AtomicU64,
    stripes: OnceLock<Stripes>,
}

impl RowCounters {
    /// The counter of a name, which all users of the process share; the error is how many rows it has.
    pub(super) fn named(&self, name: &str, rows: u64) -> Result<Arc<RowCounter>, u64> {
        let mut counters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || Arc::new(RowCounter { rows, ..RowCounter::default() });
        let counter = counters.entry(name.to_owned()).or_insert_with(made);
        if counter.rows == rows { Ok(Arc::clone(counter)) } else { Err(counter.rows) }
    }
}

impl RowCounter {
    /// The next row that is this process's; none when all of them are taken.
    pub(super) fn take(&self, stripes: impl FnOnce() -> Stripes) -> Option<u64> {
        let stripes = self.stripes.get_or_init(stripes);
        let own = stripes.scale(self.rows);
        // Counted so far and no further: a test that goes on asking does not turn the counter over.
        let next = |taken: u64| (taken < own).then_some(taken + 1);
        let taken = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()?;
        Some(stripes.unscale(taken))
    }

    /// How many of its rows are not taken.
    pub(super) fn left(&self, stripes: impl FnOnce() -> Stripes) -> u64 {
        self.stripes.get_or_init(stripes).scale(self.rows) - self.taken.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use engine::segment::{Segment, Sequence};

    use super::*;

    #[test]
    fn the_rows_of_all_parts_are_those_of_the_test() {
        for (rows, parts) in [(0, "0,1"), (7, "0,1"), (7, "0,1/3,2/3,1"), (100, "0,1/7,1/2,1"), (2, "0,1/3,2/3,1")] {
            let sequence = Sequence::parse(parts).expect("a sequence");
            let borders: Vec<&str> = parts.split(',').collect();
            let mut taken = Vec::new();
            for pair in borders.windows(2) {
                let segment = Segment::parse(&pair.join(":")).expect("a segment");
                let stripes = || Stripes::new(Some(segment), Some(&sequence)).expect("stripes");
                let counter = RowCounters::default().named("a", rows).expect("new");
                let own = counter.left(stripes);
                let before = taken.len();
                taken.extend(std::iter::from_fn(|| counter.take(stripes)));
                assert_eq!(((taken.len() - before) as u64, counter.left(stripes)), (own, 0));
            }
            taken.sort_unstable();
            assert_eq!(taken, (0..rows).collect::<Vec<_>>(), "{rows} rows in {parts}");
        }
    }

    #[test]
    fn a_name_has_one_counter() {
        let counters = RowCounters::default();
        let [one, same] = [0, 0].map(|_| counters.named("a", 3).expect("the same"));
        assert!(Arc::ptr_eq(&one, &same));
        assert_eq!(counters.named("a", 4).err(), Some(3));
        let whole = Stripes::whole;
        assert_eq!(
            [one.take(whole), same.take(whole), one.take(whole), same.take(whole)],
            [Some(0), Some(1), Some(2), None]
        );
    }
}
