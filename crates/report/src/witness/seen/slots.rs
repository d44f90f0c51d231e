//! Arrivals and answers over time, in bounded memory: counts for each 128th of a second, wider once there are many.
//!
//! Every doubling keeps borders that divide a second, so the rows of a series and the accounts of several workers fit
//! together whatever their widths. From the counts follow the stalls: times in which requests waited and none was
//! answered.

use super::document::{Quiet, SeenSeries, Stall};

/// Slots before they become twice as wide: at first 93 s.
const MOST: usize = 12_000;
/// Nanoseconds of the first slots: a 128th of a second.
const FIRST_NS: u64 = 7_812_500;
/// A shorter time without an answer or an arrival is ordinary.
const SHORTEST_S: f64 = 0.1;
/// A stall is longer than this many usual answers.
const USUAL_ANSWERS: f64 = 5.0;
/// The load pauses when it does not arrive for this many usual gaps.
const USUAL_GAPS: f64 = 20.0;
/// Stalls and pauses that are listed, the longest.
const LISTED: usize = 20;

/// What happened within a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CountSlot {
    pub arrivals: u32,
    pub answers: u32,
    pub abandoned: u32,
    /// The longest time of an answer that left in it, in microseconds.
    pub slowest_us: u32,
}

impl CountSlot {
    fn add(&mut self, other: &CountSlot) {
        self.arrivals += other.arrivals;
        self.answers += other.answers;
        self.abandoned += other.abandoned;
        self.slowest_us = self.slowest_us.max(other.slowest_us);
    }
}

/// Slots from a beginning on.
#[derive(Clone, Debug)]
pub struct Slots {
    width_ns: u64,
    slots: Vec<CountSlot>,
}

impl Default for Slots {
    fn default() -> Slots {
        Slots { width_ns: FIRST_NS, slots: Vec::new() }
    }
}

impl Slots {
    /// The slot at so many nanoseconds since the beginning.
    pub fn at(&mut self, ns: u64) -> &mut CountSlot {
        while ns / self.width_ns >= MOST as u64 {
            self.widen();
        }
        let index = (ns / self.width_ns) as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, CountSlot::default());
        }
        &mut self.slots[index]
    }

    fn widen(&mut self) {
        self.width_ns *= 2;
        self.slots = self
            .slots
            .chunks(2)
            .map(|pair| {
                let mut both = pair[0];
                pair[1..].iter().for_each(|second| both.add(second));
                both
            })
            .collect();
    }

    /// Adds the counts of another worker.
    pub fn merge(&mut self, mut other: Slots) {
        while self.width_ns < other.width_ns {
            self.widen();
        }
        while other.width_ns < self.width_ns {
            other.widen();
        }
        if self.slots.len() < other.slots.len() {
            self.slots.resize(other.slots.len(), CountSlot::default());
        }
        self.slots.iter_mut().zip(&other.slots).for_each(|(slot, other)| slot.add(other));
    }

    /// Seconds of a slot.
    pub fn width_s(&self) -> f64 {
        self.width_ns as f64 / 1e9
    }

    /// Requests that had no answer and no hope of one before so many seconds.
    pub fn abandoned_before(&self, end_s: f64) -> u64 {
        let before = (end_s / self.width_s()).max(0.0) as usize;
        self.slots.iter().take(before).map(|slot| u64::from(slot.abandoned)).sum()
    }

    /// By seconds, or by slots where these are wider.
    pub fn series(&self) -> SeenSeries {
        let of_step = (1_000_000_000 / self.width_ns).max(1) as usize;
        let mut series = SeenSeries { step_s: of_step as f64 * self.width_s(), ..SeenSeries::default() };
        for slots in self.slots.chunks(of_step) {
            let mut all = CountSlot::default();
            slots.iter().for_each(|slot| all.add(slot));
            series.arrivals.push(all.arrivals.into());
            series.answers.push(all.answers.into());
            series.abandoned.push(all.abandoned.into());
            series.slowest_ms.push(f64::from(all.slowest_us) / 1e3);
        }
        series
    }

    /// The longest times in which requests waited and none was answered; `usual_ms` is what an answer takes.
    pub fn stalls(&self, usual_ms: f64) -> Vec<Stall> {
        let shortest_s = SHORTEST_S.max(USUAL_ANSWERS * usual_ms / 1e3);
        let mut found: Vec<Stall> = Vec::new();
        let mut waiting: i64 = 0;
        let mut open: Option<Stall> = None;
        for (index, slot) in self.slots.iter().enumerate() {
            let is_still = slot.answers == 0 && (waiting > 0 || slot.arrivals > 0);
            waiting += i64::from(slot.arrivals) - i64::from(slot.answers) - i64::from(slot.abandoned);
            if !is_still {
                found.extend(open.take());
                continue;
            }
            let stall = open.get_or_insert(Stall { from_s: index as f64 * self.width_s(), ..Stall::default() });
            stall.length_s += self.width_s();
            stall.arrivals += u64::from(slot.arrivals);
            stall.waiting = stall.waiting.max(u64::try_from(waiting).unwrap_or(0));
        }
        found.extend(open);
        found.retain(|stall| stall.length_s >= shortest_s && stall.waiting > 0);
        self.expect(&mut found);
        longest(found, |stall| stall.length_s, |stall| stall.from_s)
    }

    /// How many requests would have arrived in each stall at the pace outside of them.
    fn expect(&self, stalls: &mut [Stall]) {
        let is_within =
            |at_s: f64| stalls.iter().any(|stall| (stall.from_s..stall.from_s + stall.length_s).contains(&at_s));
        let (mut slots, mut arrivals) = (0, 0);
        for (index, slot) in self.slots.iter().enumerate().skip_while(|(_, slot)| slot.arrivals == 0) {
            if !is_within((index as f64 + 0.5) * self.width_s()) {
                slots += 1;
                arrivals += u64::from(slot.arrivals);
            }
        }
        let pace = if slots == 0 { 0.0 } else { arrivals as f64 / (f64::from(slots) * self.width_s()) };
        stalls.iter_mut().for_each(|stall| stall.expected = (pace * stall.length_s).round() as u64);
    }

    /// The longest times between the first and the last arrival in which no request came although none waited.
    pub fn quiet(&self) -> Vec<Quiet> {
        let arrived = |slot: &CountSlot| slot.arrivals > 0;
        let (Some(first), Some(last)) = (self.slots.iter().position(arrived), self.slots.iter().rposition(arrived))
        else {
            return Vec::new();
        };
        let total: u64 = self.slots.iter().map(|slot| u64::from(slot.arrivals)).sum();
        let usual_gap_s = (last - first + 1) as f64 * self.width_s() / total as f64;
        let shortest_s = SHORTEST_S.max(USUAL_GAPS * usual_gap_s);
        let (mut found, mut waiting): (Vec<Quiet>, i64) = (Vec::new(), 0);
        let mut open: Option<Quiet> = None;
        for (index, slot) in self.slots.iter().enumerate().take(last + 1) {
            let was_waiting = waiting > 0;
            waiting += i64::from(slot.arrivals) - i64::from(slot.answers) - i64::from(slot.abandoned);
            if index < first || was_waiting || slot.arrivals > 0 || slot.answers > 0 {
                found.extend(open.take());
                continue;
            }
            let quiet = open.get_or_insert(Quiet { from_s: index as f64 * self.width_s(), length_s: 0.0 });
            quiet.length_s += self.width_s();
        }
        found.retain(|quiet| quiet.length_s >= shortest_s);
        longest(found, |quiet| quiet.length_s, |quiet| quiet.from_s)
    }
}

/// The longest of them, in order of time.
fn longest<T>(mut all: Vec<T>, length: impl Fn(&T) -> f64, from: impl Fn(&T) -> f64) -> Vec<T> {
    all.sort_by(|one, other| length(other).total_cmp(&length(one)));
    all.truncate(LISTED);
    all.sort_by(|one, other| from(one).total_cmp(&from(other)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A request each 10 ms for 10 s, answered after 1 ms, but for a second in which the target stands still and, with
    /// `open`, requests go on arriving.
    fn with_a_stall(open: bool) -> Slots {
        let mut slots = Slots::default();
        for n in 0..1000_u64 {
            let at = n * 10 * MS;
            let stands = (4_000..5_000).contains(&(at / MS));
            if !stands {
                slots.at(at).arrivals += 1;
                slots.at(at + MS).answers += 1;
            } else if open || at == 4_000 * MS {
                slots.at(at).arrivals += 1;
                slots.at(5_001 * MS).answers += 1;
            }
        }
        slots
    }

    #[test]
    fn a_stall_is_found_with_who_waited_and_who_would_have() {
        for (open, arrivals) in [(false, 1), (true, 100)] {
            let stalls = with_a_stall(open).stalls(1.0);
            let [stall] = &stalls[..] else { panic!("{stalls:?}") };
            assert!((stall.from_s - 4.0).abs() < 0.02 && (stall.length_s - 1.0).abs() < 0.02, "{stall:?}");
            assert!(stall.arrivals.abs_diff(arrivals) <= 1 && stall.waiting.abs_diff(arrivals) <= 1, "{stall:?}");
            assert!(stall.expected.abs_diff(100) <= 2, "{stall:?}");
        }
        // Where each answer takes as long, it is no stall.
        assert_eq!(with_a_stall(false).stalls(400.0), []);
    }

    #[test]
    fn a_load_that_pauses_by_itself_is_quiet_and_not_a_stall() {
        let mut slots = Slots::default();
        for n in (0..1000_u64).filter(|n| !(400..450).contains(n)) {
            slots.at(n * 10 * MS).arrivals += 1;
            slots.at(n * 10 * MS + MS).answers += 1;
        }
        assert_eq!(slots.stalls(1.0), []);
        let quiet = slots.quiet();
        assert!(quiet.len() == 1 && (quiet[0].length_s - 0.5).abs() < 0.02, "{quiet:?}");
    }

    #[test]
    fn memory_ends_where_slots_widen_and_no_count_is_lost() {
        let mut long = Slots::default();
        (0..10_000_u64).for_each(|n| long.at(n * 1000 * MS).arrivals += 1);
        assert!(long.slots.len() <= MOST);
        let mut short = Slots::default();
        short.at(0).arrivals = 5;
        short.at(7_777 * MS).slowest_us = 9;
        short.merge(long);
        let series = short.series();
        assert_eq!(series.arrivals.iter().sum::<u64>(), 10_005);
        assert_eq!((series.step_s, series.arrivals[0], series.slowest_ms[7]), (1.0, 6, 0.009));
    }
}
