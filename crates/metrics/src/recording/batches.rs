//! Every sample in the order in which a worker added it, for whoever needs each of them: outputs.
//!
//! A sample is a moment and a value beside the number of its series; the samples of a request are one record. So
//! writing one down costs about what copying it costs, and tags are told once for each series, not for each sample.
//! Metrics and tags of the numbers come in the first `Batch` that uses them.
//!
//! A note is what samples carry besides tags and what no series is made of: k6's metadata. It is a word of the records
//! that have one; its text comes in the batch, because there may be ever new ones.
//!
//! Memory is bounded by `FULL`: then, and whenever the recorder is emptied, a batch goes to whoever asked for it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::naming::metric::MetricId;

/// Words that are handed over at once: 64 KiB, some seven hundred requests.
const FULL: usize = 8 << 10;

/// Takes the batches of one recorder.
pub type TakeBatch = Box<dyn FnMut(Batch)>;

/// Names and values that samples carry besides their tags, sorted by name.
pub type Note = Arc<[(Arc<str>, Arc<str>)]>;

/// A series as another thread may know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesTags {
    /// Its metric.
    pub metric: MetricId,
    /// Its tags, sorted by key.
    pub tags: Arc<[(Arc<str>, Arc<str>)]>,
}

/// Samples of one recorder, in order.
#[derive(Debug, Default)]
pub struct Batch {
    /// The series that were made since the batch before, numbered on from its own.
    pub series: Vec<SeriesTags>,
    /// Series that get their samples together, made since the batch before, numbered on: the numbers of their members.
    pub bundles: Vec<Box<[u32]>>,
    /// The notes of its records, by their numbers.
    pub notes: Vec<Note>,
    words: Vec<u64>,
    samples: u64,
    /// Bytes of the notes.
    noted: usize,
}

/// Samples of one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<'a> {
    /// What the values belong to.
    pub of: RecordOf,
    /// Nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// The number of their note in the batch.
    pub note: Option<u32>,
    values: &'a [u64],
}

/// The series of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOf {
    /// The one with this number.
    Series(u32),
    /// Those of the bundle with this number, one value each.
    Bundle(u32),
}

/// In a record's first word: it belongs to a bundle. Below it the number of values, and in the lower half the number of
/// the series or bundle.
const OF_BUNDLE: u64 = 1 << 63;
/// The same: its third word is the number of a note.
const NOTED: u64 = 1 << 62;

impl Record<'_> {
    /// Its values; times in ms, data in bytes. Those that are not finite are no samples.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        self.values.iter().map(|word| f64::from_bits(*word))
    }
}

impl Batch {
    /// Its samples, in the order in which they were added.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        let mut rest = &self.words[..];
        std::iter::from_fn(move || {
            let [head, at_ns, ..] = *rest else { return None };
            let count = ((head & !(OF_BUNDLE | NOTED)) >> 32) as usize;
            let number = head as u32;
            let note = (head & NOTED != 0).then(|| rest[2] as u32);
            let first = 2 + usize::from(note.is_some());
            let (record, behind) = rest.split_at(first + count);
            rest = behind;
            let of = if head & OF_BUNDLE == 0 { RecordOf::Series(number) } else { RecordOf::Bundle(number) };
            Some(Record { of, at_ns, note, values: &record[first..] })
        })
    }

    /// How many samples it has.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Bytes of memory that its samples take.
    pub fn size(&self) -> usize {
        self.words.capacity() * size_of::<u64>() + self.noted
    }

    /// What its series are, without the samples.
    pub fn without_samples(&self) -> Batch {
        Batch { series: self.series.clone(), bundles: self.bundles.clone(), ..Batch::default() }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.series.is_empty() && self.bundles.is_empty()
    }
}

/// Where a recorder writes its samples down.
pub(crate) struct Batcher {
    words: Vec<u64>,
    samples: u64,
    /// What samples carry now.
    note: Option<Note>,
    notes: Vec<Note>,
    /// Numbers of the notes of this batch, which keeps them where they are.
    numbers: HashMap<*const (Arc<str>, Arc<str>), u32>,
    /// Series and bundles that were told.
    told: (usize, usize),
    take: TakeBatch,
}

impl Batcher {
    pub(crate) fn new(take: TakeBatch) -> Self {
        let (notes, numbers) = Default::default();
        Batcher { words: Vec::new(), samples: 0, note: None, notes, numbers, told: (0, 0), take }
    }

    /// What the samples carry that come from now on.
    pub(crate) fn annotate(&mut self, note: Option<Note>) {
        self.note = note;
    }

    /// The number of the present note.
    fn number(&mut self) -> Option<u32> {
        let note = self.note.as_ref()?;
        let next = self.notes.len() as u32;
        let number = *self.numbers.entry(note.as_ptr()).or_insert(next);
        if number == next {
            self.notes.push(note.clone());
        }
        Some(number)
    }

    /// Writes a record down; whether it is time to hand over.
    pub(crate) fn add(&mut self, of: RecordOf, values: &[f64], at_ns: u64) -> bool {
        debug_assert!(values.len() < 1 << 30, "a number of values has no room in a record's first word");
        let count = (values.len() as u64) << 32;
        let head = match of {
            RecordOf::Series(number) => count | u64::from(number),
            RecordOf::Bundle(number) => OF_BUNDLE | count | u64::from(number),
        };
        if self.words.capacity() == 0 {
            self.words.reserve_exact(FULL + 64);
        }
        match self.number() {
            None => self.words.extend([head, at_ns]),
            Some(note) => self.words.extend([head | NOTED, at_ns, u64::from(note)]),
        }
        self.words.extend(values.iter().map(|value| value.to_bits()));
        self.samples += values.len() as u64;
        self.words.len() >= FULL
    }

    /// Hands over what was written down. `series` and `bundles` give those of all the recorder's from a number on.
    pub(crate) fn hand_over(
        &mut self,
        series: impl FnOnce(usize) -> Vec<SeriesTags>,
        bundles: impl FnOnce(usize) -> Vec<Box<[u32]>>,
    ) {
        self.numbers.clear();
        let notes = std::mem::take(&mut self.notes);
        let mut batch = Batch {
            series: series(self.told.0),
            bundles: bundles(self.told.1),
            noted: notes.iter().map(size).sum(),
            notes,
            words: std::mem::take(&mut self.words),
            samples: std::mem::take(&mut self.samples),
        };
        debug_assert_eq!(
            batch.records().map(|record| record.values.len() as u64).sum::<u64>(),
            batch.samples,
            "the records hold each sample"
        );
        debug_assert!(
            batch.records().all(|record| record.note.is_none_or(|note| (note as usize) < batch.notes.len())),
            "the batch has the notes of its records"
        );
        self.told.0 += batch.series.len();
        self.told.1 += batch.bundles.len();
        // A quiet second must not hold what a busy one needs.
        if batch.words.len() < FULL / 2 {
            batch.words.shrink_to_fit();
        }
        if !batch.is_empty() {
            (self.take)(batch);
        }
    }
}

/// Bytes of memory of a note, about.
fn size(note: &Note) -> usize {
    note.iter().map(|(name, value)| size_of::<(Arc<str>, Arc<str>)>() + name.len() + value.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naming::builtin;
    use crate::{Recorder, Registry, TagSet};
    use std::cell::RefCell;
    use std::rc::Rc;

    fn tapped() -> (Recorder, Rc<RefCell<Vec<Batch>>>) {
        let recorder = Recorder::new(Registry::new());
        let batches: Rc<RefCell<Vec<Batch>>> = Rc::default();
        let taken = batches.clone();
        recorder.set_batches(Box::new(move |batch| taken.borrow_mut().push(batch)));
        (recorder, batches)
    }

    fn told(batch: &Batch) -> Vec<(RecordOf, u64, Vec<f64>)> {
        batch.records().map(|record| (record.of, record.at_ns, record.values().collect())).collect()
    }

    #[test]
    fn samples_come_in_order_and_series_are_told_once() {
        let (recorder, batches) = tapped();
        let tags = |url| TagSet::new([("url", url)]);
        let a = recorder.series(builtin::HTTP_REQS, &tags("/a"));
        let b = recorder.series(builtin::HTTP_REQ_DURATION, &tags("/a"));
        let both = recorder.bundle(&[a, b]);
        recorder.add(a, 1.0, 5);
        recorder.add_bundle(both, &[1.0, 2.5], 6);
        recorder.take();
        let c = recorder.series(builtin::HTTP_REQS, &tags("/c"));
        recorder.add(c, 3.0, 7);
        recorder.take();
        recorder.take();
        let batches = batches.borrow();
        assert_eq!(batches.len(), 2, "an empty one is not handed over");
        let expected = [(RecordOf::Series(0), 5, vec![1.0]), (RecordOf::Bundle(0), 6, vec![1.0, 2.5])];
        assert_eq!(told(&batches[0]), expected);
        assert_eq!((batches[0].samples(), batches[0].bundles.clone()), (3, vec![Box::from([0, 1])]));
        let series = |batch: &Batch| -> Vec<(MetricId, String)> {
            batch.series.iter().map(|s| (s.metric, s.tags[0].1.to_string())).collect()
        };
        assert_eq!(series(&batches[0])[1], (builtin::HTTP_REQ_DURATION, "/a".to_owned()));
        assert_eq!(series(&batches[1]), [(builtin::HTTP_REQS, "/c".to_owned())]);
        assert_eq!(told(&batches[1]), [(RecordOf::Series(2), 7, vec![3.0])]);
    }

    #[test]
    fn a_full_journal_is_handed_over_before_the_recorder_is_emptied() {
        let (recorder, batches) = tapped();
        let series = recorder.series(builtin::ITERATIONS, &TagSet::empty());
        let records = (FULL / 3) as u64 + 1;
        (0..records).for_each(|at| recorder.add(series, 1.0, at));
        assert_eq!((batches.borrow().len(), batches.borrow()[0].samples()), (1, records));
        recorder.add(series, 1.0, records);
        recorder.take();
        assert_eq!(batches.borrow()[1].samples(), 1);
        assert!(batches.borrow()[1].series.is_empty());
    }

    #[test]
    fn samples_carry_the_note_of_their_time_in_each_batch() {
        let (recorder, batches) = tapped();
        let series = recorder.series(builtin::ITERATIONS, &TagSet::empty());
        let note = |value: &str| -> Note { Arc::from([(Arc::from("iter"), Arc::from(value))]) };
        let (first, second) = (note("1"), note("2"));
        for (note, at) in [(Some(&first), 0), (None, 1), (Some(&second), 2), (Some(&first), 3)] {
            recorder.annotate(|| note.cloned());
            recorder.add_bundle(recorder.bundle(&[series]), &[1.0], at);
        }
        recorder.take();
        recorder.add(series, 1.0, 4);
        recorder.take();
        let told = |batch: &Batch| -> Vec<(u64, Option<String>, usize)> {
            let value = |number: u32| batch.notes[number as usize][0].1.to_string();
            batch.records().map(|record| (record.at_ns, record.note.map(value), record.values().count())).collect()
        };
        let one = |at, note: Option<&str>| (at, note.map(str::to_owned), 1);
        let batches = batches.borrow();
        assert_eq!(told(&batches[0]), [one(0, Some("1")), one(1, None), one(2, Some("2")), one(3, Some("1"))]);
        assert_eq!((batches[0].notes.len(), told(&batches[1])), (2, vec![one(4, Some("1"))]));
        assert!(batches[0].size() > batches[0].words.capacity() * 8, "notes take memory, too");
        assert!(batches[0].without_samples().notes.is_empty());
    }

    #[test]
    fn a_batch_without_samples_still_tells_its_series() {
        let (recorder, batches) = tapped();
        let series = recorder.series(builtin::ITERATIONS, &TagSet::empty());
        recorder.add(series, 1.0, 0);
        recorder.take();
        let without = batches.borrow()[0].without_samples();
        assert_eq!((without.series.len(), without.samples(), without.records().count()), (1, 0, 0));
        assert!(!without.is_empty());
        assert_eq!(without.size(), 0);
        recorder.add_bundle(recorder.bundle(&[series]), &[1.0], 1);
        recorder.take();
        let without = batches.borrow()[1].without_samples();
        assert_eq!((without.series.len(), without.bundles.len(), without.samples()), (0, 1, 0));
        assert!(!without.is_empty(), "what a bundle is stays known");
    }
}
