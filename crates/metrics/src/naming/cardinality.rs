//! How many distinct time series a run makes, and which tag makes them: estimated in constant memory.
//!
//! Counting distinct values exactly would need memory for each of them, which is what has to be warned about. A
//! HyperLogLog sketch (Flajolet et al. 2007) keeps 1 KiB for any number, errs by about 3 %, and two of them merge into
//! the sketch of the union, so that workers count for themselves. Looked at only when a recorder meets a series that it
//! does not know, never for each sample.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::naming::metric::MetricId;
use crate::naming::tags::TagSet;

/// Registers of a sketch, a power of two: the standard error is 1.04 / sqrt(1024) = 3.3 %.
const REGISTERS: usize = 1024;
/// Tags that are distinguished; if a script invents tag names too, the others count together.
const TAGS: usize = 64;
/// k6 suggests the same limit.
pub const SUGGESTED_SERIES: u64 = 100_000;

/// An estimate of how many distinct hashes were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sketch(Box<[u8; REGISTERS]>);

impl Default for Sketch {
    fn default() -> Self {
        Sketch(Box::new([0; REGISTERS]))
    }
}

impl Sketch {
    /// Whether the hash changed anything.
    fn insert(&mut self, hash: u64) -> bool {
        let register = &mut self.0[hash as usize % REGISTERS];
        // The position of the first set bit among those that did not choose the register.
        let rank = ((hash / REGISTERS as u64) | (1 << (64 - REGISTERS.ilog2()))).trailing_zeros() as u8 + 1;
        debug_assert!(u32::from(rank) <= 65 - REGISTERS.ilog2(), "a hash has no bit {rank}");
        let is_news = rank > *register;
        *register = rank.max(*register);
        is_news
    }

    fn merge(&mut self, other: &Sketch) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(own, other)| *own = (*own).max(*other));
    }

    fn estimate(&self) -> u64 {
        let count = REGISTERS as f64;
        let sum: f64 = self.0.iter().map(|rank| 0.5_f64.powi(i32::from(*rank))).sum();
        let raw = 0.7213 / (1.0 + 1.079 / count) * count * count / sum;
        let empty = self.0.iter().filter(|rank| **rank == 0).count();
        // Few values leave registers empty, and how many are is the better witness then.
        let linear = || count * (count / empty as f64).ln();
        (if raw <= 2.5 * count && empty > 0 { linear() } else { raw }).round() as u64
    }
}

/// The distinct series, and the distinct values of each tag.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cardinality {
    series: Sketch,
    tags: BTreeMap<Arc<str>, Sketch>,
}

impl Cardinality {
    /// Counts a series; whether that changed anything.
    pub(crate) fn insert(&mut self, metric: MetricId, tags: &TagSet) -> bool {
        let mut is_news = self.series.insert(hash(&(metric, tags)));
        for (name, value) in tags.iter() {
            if !self.tags.contains_key(name) && self.tags.len() < TAGS {
                self.tags.insert(name.clone(), Sketch::default());
            }
            if let Some(sketch) = self.tags.get_mut(name) {
                is_news |= sketch.insert(hash(value));
            }
        }
        is_news
    }

    /// Adds what another worker saw.
    pub(crate) fn merge(&mut self, other: &Cardinality) {
        self.series.merge(&other.series);
        for (name, sketch) in &other.tags {
            self.tags.entry(name.clone()).or_default().merge(sketch);
        }
    }

    /// Distinct series, about.
    pub(crate) fn series(&self) -> u64 {
        self.series.estimate()
    }

    /// What to tell the user about this many series: which tag it is, and what to do.
    pub(crate) fn warning(&self, series: u64) -> String {
        let most = self.tags.iter().map(|(name, sketch)| (sketch.estimate(), name)).max();
        let culprit =
            most.map_or_else(String::new, |(values, name)| format!("; tag '{name}' has about {values} values"));
        format!(
            "the test has made about {series} unique time series, more than the suggested limit of \
             {SUGGESTED_SERIES}{culprit}: keep \
             ids out of tag values, and give requests whose URLs differ one name (`tags: {{ name: … }}` or http.url`…`)"
        )
    }
}

/// The same on every worker, which the hasher of a map is not. Its low bits are as good as its high ones.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_near_and_merge_as_sets_do() {
        for count in [0_u64, 1, 10, 1_000, 3_000, 100_000] {
            let (mut even, mut odd) = (Sketch::default(), Sketch::default());
            for n in 0..count {
                if n % 3 != 1 {
                    even.insert(hash(&n))
                } else {
                    false
                };
                if n % 2 == 1 {
                    odd.insert(hash(&n))
                } else {
                    false
                };
                if n % 3 == 1 {
                    odd.insert(hash(&n))
                } else {
                    false
                };
            }
            even.merge(&odd);
            let found = even.estimate();
            // Four standard errors; the hash is fixed, so the outcome is too.
            assert!(found.abs_diff(count) as f64 <= 0.13 * count as f64, "{found} for {count}");
        }
    }

    #[test]
    fn the_growing_tag_is_named() {
        let mut seen = Cardinality::default();
        for id in 0..5_000 {
            let id = id.to_string();
            seen.insert(MetricId(0), &TagSet::new([("id", id.as_str()), ("method", "GET")]));
        }
        assert!(!seen.insert(MetricId(0), &TagSet::new([("id", "77"), ("method", "GET")])), "it was there before");
        let warning = seen.warning(seen.series());
        assert!(warning.contains("tag 'id' has about "), "{warning}");
    }
    /// Worked out by hand from the formula, at both sides of where the number of empty registers is the better witness.
    #[test]
    fn estimates_follow_the_formula() {
        let sketch = |empty: usize, rank: u8| {
            let mut sketch = Sketch(Box::new([rank; REGISTERS]));
            sketch.0[..empty].fill(0);
            sketch.estimate()
        };
        assert_eq!((sketch(0, 5), sketch(1, 5), sketch(512, 3)), (23_611, 22_917, 710));
    }

    #[test]
    fn it_says_whether_anything_was_new() {
        let mut seen = Cardinality::default();
        let mut insert = |metric, tags: &[(&'static str, &'static str)]| {
            seen.insert(MetricId(metric), &TagSet::new(tags.iter().copied()))
        };
        assert!(insert(0, &[("a", "1")]));
        assert!(!insert(0, &[("a", "1")]));
        assert!(insert(1, &[("a", "1")]), "a new series of known values");
        assert!(insert(0, &[("a", "2"), ("b", "1")]), "new values, and a new tag");
    }

    #[test]
    fn what_two_workers_saw_is_put_together() {
        let see = |seen: &mut Cardinality, tag: &'static str, count: u32| {
            for id in 0..count {
                seen.insert(MetricId(0), &TagSet::new([(tag, id.to_string())]));
            }
        };
        let (mut one, mut other, mut both) = (Cardinality::default(), Cardinality::default(), Cardinality::default());
        see(&mut one, "a", 5);
        see(&mut other, "b", 20);
        see(&mut both, "a", 5);
        see(&mut both, "b", 20);
        assert_ne!(one.series, both.series);
        one.merge(&other);
        assert_eq!((one.series, one.tags), (both.series, both.tags));
    }

    #[test]
    fn tags_beyond_the_limit_are_not_told_apart() {
        let mut seen = Cardinality::default();
        for name in 0..TAGS + 1 {
            seen.insert(MetricId(0), &TagSet::new([(format!("tag{name:02}"), "x")]));
        }
        assert_eq!(seen.tags.len(), TAGS);
    }

    #[test]
    fn a_register_holds_the_highest_first_bit() {
        let ranks = |hashes: &[u64]| {
            let mut sketch = Sketch::default();
            let news: Vec<bool> = hashes.iter().map(|hash| sketch.insert(*hash)).collect();
            (sketch.0[5], news)
        };
        assert_eq!(ranks(&[5 + (1 << 10)]), (1, vec![true]));
        assert_eq!(ranks(&[5 + (1 << 13), 5 + (1 << 11), 5 + (1 << 13)]), (4, vec![true, false, false]));
        assert_eq!(ranks(&[5]), (55, vec![true]), "none of the 54 bits is set");
    }

    /// 2.5 values a register, to the last bit: 295 registers are empty, the others are what is left of the sum.
    #[test]
    fn at_the_border_the_empty_registers_decide() {
        let mut left = 295.133_494_608_708_25_f64 - 295.0;
        let mut ranks = vec![0; 295];
        for rank in 1..=44_u8 {
            let share = 0.5_f64.powi(i32::from(rank));
            if left >= share {
                left -= share;
                ranks.push(rank);
            }
        }
        assert_eq!(left, 0.0);
        // So high that they are lost in the sum.
        ranks.resize(REGISTERS, 255);
        let sketch = Sketch(Box::new(ranks.try_into().expect("one for each register")));
        assert_eq!(sketch.estimate(), 1274, "1024 × ln(1024 / 295), and not 2560");
    }
}
