//! What time it is on another machine, and how sure that is.
//!
//! A message there and back, dated at both ends, tells the other clock's lead: half of what the two ways differ by is
//! the error, so it is never more than half of the time that both took together. Of many such sights the best is kept:
//! the one whose bound is least, with what the clocks may have run apart since.

use crate::Ns;

/// How fast two clocks may run apart: 100 parts in a million, twice what crystals do.
const APART_PER_MILLION: u64 = 100;
/// Readings are whole nanoseconds and a reading takes some time.
const GRAIN: Ns = 200;
/// As many are kept: an older one is of no use once it is this far behind.
const KEPT: usize = 64;

/// How another machine's clock stands to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lead {
    /// What it shows more than ours does.
    pub ns: i64,
    /// The truth is no further away than this.
    pub bound: Ns,
}

#[derive(Clone, Copy, Debug)]
struct Sight {
    lead: Lead,
    /// By our clock.
    at: Ns,
}

/// Sights of one clock.
#[derive(Clone, Debug, Default)]
pub struct Sights(Vec<Sight>);

impl Sights {
    /// A message that left here at `sent`, was there from `received` to `answered` by the other clock, and was back at
    /// `returned`. One whose dates contradict each other says nothing.
    pub fn add(&mut self, sent: Ns, received: Ns, answered: Ns, returned: Ns) {
        let (Some(here), Some(there)) = (returned.checked_sub(sent), answered.checked_sub(received)) else { return };
        let Some(on_the_way) = (here + GRAIN).checked_sub(there) else { return };
        let ways = [i128::from(received) - i128::from(sent), i128::from(answered) - i128::from(returned)];
        let Ok(ns) = i64::try_from((ways[0] + ways[1]) / 2) else { return };
        let bound = on_the_way.div_ceil(2) + GRAIN + drift(here);
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push(Sight { lead: Lead { ns, bound }, at: returned });
        debug_assert!(self.0.len() <= KEPT, "{} sights", self.0.len());
    }

    /// What is known for a moment of our clock; none without a sight.
    pub fn lead(&self, at: Ns) -> Option<Lead> {
        let aged = |sight: &Sight| Lead { bound: sight.lead.bound + drift(at.abs_diff(sight.at)), ..sight.lead };
        self.0.iter().map(aged).min_by_key(|lead| lead.bound)
    }
}

impl Lead {
    /// A moment of our clock, by the other one.
    pub fn there(&self, at: Ns) -> Ns {
        at.saturating_add_signed(self.ns)
    }
}

fn drift(time: Ns) -> Ns {
    time.div_ceil(1_000_000 / APART_PER_MILLION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_is_within_the_bound_and_the_best_sight_counts() {
        let mut sights = Sights::default();
        assert_eq!(sights.lead(0), None);
        // The other clock leads by 1,000,000; 400 there, 40,000 back.
        sights.add(5_000, 1_005_400, 1_006_000, 46_000);
        let first = sights.lead(46_000).unwrap();
        assert!(first.ns.abs_diff(1_000_000) <= first.bound && first.bound < 21_000, "{first:?}");
        sights.add(100_000, 1_100_300, 1_100_900, 101_200);
        let best = sights.lead(101_200).unwrap();
        assert!(best.ns.abs_diff(1_000_000) <= best.bound && best.bound < 1_000, "{best:?}");
        assert_eq!(best.there(7), 7 + best.ns as u64);
        let later = sights.lead(101_200 + 1_000_000_000).unwrap();
        assert_eq!(later.bound, best.bound + 100_000, "clocks run apart");
    }

    #[test]
    fn dates_that_contradict_each_other_say_nothing() {
        let mut sights = Sights::default();
        sights.add(10, 5, 4, 20);
        sights.add(20, 5, 6, 10);
        sights.add(0, 0, 1_000_000, 10);
        assert_eq!(sights.lead(0), None);
    }
}
