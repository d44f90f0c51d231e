//! What a sample touches: the cells of its series, which a recorder empties once a second.
//!
//! No lock, no hashing, no allocation, and for a series that feeds nothing but its metric's total no look at its entry
//! either.

use crate::metric::{Kind, MetricId};
use crate::sink::Sink;
use crate::tags::TagSet;

/// A metric together with one tag set, resolved by the `Recorder` that made it and valid for that one only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// Its metric's total, which every series feeds. Here, so that a sample which feeds nothing else needs no entry.
    pub(crate) first: u32,
    /// Position of its entry; the top bit tells that it feeds more.
    entry: u32,
}

/// In `Series::entry`.
const MORE: u32 = 1 << 31;

/// What `add` touches.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) entries: Vec<Entry>,
    pub(crate) cells: Vec<Cell>,
}

/// One resolved series.
pub(crate) struct Entry {
    /// The sinks beyond the first.
    more: Box<[u32]>,
    pub(crate) metric: MetricId,
    pub(crate) tags: TagSet,
}

/// A sink while it is filled. Most samples of a request are 0 (nothing to look up, connect or shake hands for; not
/// failed): they cost an increment here, and join the sink when it is handed over.
pub(crate) struct Cell {
    zeros: u64,
    sink: Sink,
}

impl Store {
    pub(crate) fn push(&mut self, metric: MetricId, sinks: &[u32], tags: &TagSet) -> Series {
        let (first, more) = sinks.split_first().expect("every series feeds the total of its metric");
        self.entries.push(Entry { more: more.into(), metric, tags: tags.clone() });
        let entry = self.entries.len() as u32 - 1;
        Series { first: *first, entry: if more.is_empty() { entry } else { entry | MORE } }
    }

    /// All sinks that a series feeds.
    pub(crate) fn sinks(&self, series: Series) -> impl Iterator<Item = u32> {
        std::iter::once(series.first).chain(self.entry(series).more.iter().copied())
    }

    pub(crate) fn entry(&self, series: Series) -> &Entry {
        &self.entries[(series.entry & !MORE) as usize]
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, series: Series, value: f64, at_ns: u64) {
        self.cells[series.first as usize].add(value, at_ns);
        if series.entry & MORE != 0 {
            self.add_to_more(series, value, at_ns);
        }
    }

    // Not inlined: the compiler would prepare every sample for this loop.
    #[inline(never)]
    fn add_to_more(&mut self, series: Series, value: f64, at_ns: u64) {
        for sink in &self.entries[(series.entry & !MORE) as usize].more {
            self.cells[*sink as usize].add(value, at_ns);
        }
    }
}

impl Cell {
    pub(crate) fn new(kind: Kind) -> Self {
        Cell { zeros: 0, sink: Sink::new(kind) }
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, value: f64, at_ns: u64) {
        match &mut self.sink {
            // A gauge wants to know when.
            Sink::Gauge { .. } => self.add_rarely(value, at_ns),
            _ if value == 0.0 => self.zeros += 1,
            Sink::Trend(trend) => trend.add_other(value),
            Sink::Counter { sum, samples } => {
                *sum += value;
                *samples += 1;
            }
            Sink::Rate { .. } => self.add_rarely(value, at_ns),
        }
    }

    #[inline(never)]
    fn add_rarely(&mut self, value: f64, at_ns: u64) {
        self.sink.add(value, at_ns);
    }

    pub(crate) fn is_used(&self) -> bool {
        self.zeros > 0 || self.sink.samples() > 0
    }

    pub(crate) fn take(&mut self) -> Sink {
        let empty = self.sink.emptied();
        let mut sink = std::mem::replace(&mut self.sink, empty);
        sink.add_zeros(std::mem::take(&mut self.zeros));
        sink
    }
}
