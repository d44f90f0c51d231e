//! Equal lines of a log told once, and then by their number: a script that throws in every iteration fills no disk.
//!
//! The first line of a kind is written as it is. While more come, a short line tells how many there are, after a
//! second, two more, four more, up to one a minute; the last such line has the total. Pure: the time is an argument,
//! lines are handed to the caller.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use script::log::{Level, Record};
use units::show::grouped;

/// Kinds told apart. A script whose every error is another one folds nothing, and must not fill the memory either.
const MOST: usize = 1000;
/// Until the first number is shown, and what that grows to.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// A line that stands for many.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// How grave.
    pub level: Level,
    /// The text and, behind it, how often it came.
    pub message: String,
    /// As of each of the lines.
    pub fields: Vec<(String, String)>,
}

struct Kind {
    entry: Entry,
    count: u64,
    told: u64,
    due: Instant,
    pause: Duration,
}

/// The kinds of lines so far.
#[derive(Default)]
pub struct Folds {
    kinds: HashMap<u64, Kind>,
}

impl Folds {
    /// Counts a line. Whether to write it as it is; due numbers go to `tell`.
    pub fn note(&mut self, record: &Record<'_>, now: Instant, tell: &mut dyn FnMut(&Entry)) -> bool {
        let mut hasher = DefaultHasher::new();
        (record.level.as_str(), record.message, record.fields).hash(&mut hasher);
        let key = hasher.finish();
        if let Some(kind) = self.kinds.get_mut(&key) {
            kind.count += 1;
            kind.tell_if_due(now, tell);
            return false;
        }
        if self.kinds.len() >= MOST {
            self.close(tell);
        }
        self.kinds.insert(key, Kind::new(record, now));
        true
    }

    /// Tells the numbers that are due.
    pub fn look(&mut self, now: Instant, tell: &mut dyn FnMut(&Entry)) {
        self.kinds.values_mut().for_each(|kind| kind.tell_if_due(now, tell));
    }

    /// Tells the totals that were not told yet, and begins again.
    pub fn close(&mut self, tell: &mut dyn FnMut(&Entry)) {
        let mut kinds: Vec<Kind> = std::mem::take(&mut self.kinds).into_values().collect();
        kinds.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.entry.message.cmp(&b.entry.message)));
        kinds.iter_mut().for_each(|kind| kind.tell(tell));
    }
}

impl Kind {
    fn new(record: &Record<'_>, now: Instant) -> Self {
        // An exception's first line says what, its second where.
        let mut lines = record.message.lines().map(str::trim).filter(|line| !line.is_empty());
        let message = [lines.next(), lines.next()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let fields = record.fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let entry = Entry { level: record.level, message, fields };
        Kind { entry, count: 1, told: 1, due: now + PAUSES.0, pause: PAUSES.0 }
    }

    fn tell_if_due(&mut self, now: Instant, tell: &mut dyn FnMut(&Entry)) {
        if now >= self.due && self.count > self.told {
            self.pause = (self.pause * 2).min(PAUSES.1);
            self.due = now + self.pause;
            self.tell(tell);
        }
    }

    fn tell(&mut self, tell: &mut dyn FnMut(&Entry)) {
        if self.count > self.told {
            self.told = self.count;
            let message = format!("{} × {}", self.entry.message, grouped(self.count));
            tell(&Entry { message, ..self.entry.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(message: &str) -> Record<'_> {
        Record { level: Level::Error, message, fields: &[("source", "stacktrace")] }
    }

    #[test]
    fn the_first_is_written_and_the_others_are_numbers() {
        let (mut folds, start) = (Folds::default(), Instant::now());
        let mut told = Vec::new();
        for ms in 0..8000 {
            let now = start + Duration::from_millis(ms);
            let is_first = folds.note(&record("Error: a\n\tat x.js:1:2\n\tat y.js:3:4\n"), now, &mut |entry| {
                told.push(format!("{ms} {}", entry.message));
            });
            assert_eq!(is_first, ms == 0);
        }
        assert!(folds.note(&record("Error: b\n\tat x.js:1:2\n"), start, &mut |_| unreachable!("nothing is due")));
        folds.close(&mut |entry| told.push(format!("end {}", entry.message)));
        let at = "Error: a at x.js:1:2 ×";
        let expected =
            ["1000", "3000", "7000"].map(|ms| format!("{ms} {at} {}", grouped(ms.parse::<u64>().unwrap() + 1)));
        assert_eq!(told, [&expected[..], &[format!("end {at} 8,000")]].concat());
    }

    #[test]
    fn a_number_is_told_also_when_no_more_come() {
        let (mut folds, start) = (Folds::default(), Instant::now());
        let mut told = Vec::new();
        let firsts = (0..3).filter(|_| folds.note(&record("x"), start, &mut |_| unreachable!("too early"))).count();
        assert_eq!(firsts, 1);
        (0..5).for_each(|s| folds.look(start + Duration::from_secs(s), &mut |entry| told.push(entry.message.clone())));
        folds.close(&mut |entry| told.push(entry.message.clone()));
        assert_eq!(told, ["x × 3"]);
    }

    #[test]
    fn errors_that_are_all_different_stay_so_in_bounded_memory() {
        let (mut folds, now) = (Folds::default(), Instant::now());
        let mut told = 0;
        for number in 0..5 * MOST {
            assert!(folds.note(&record(&format!("error {number}")), now, &mut |_| told += 1));
        }
        assert!(folds.kinds.len() <= MOST && told == 0);
    }
}
