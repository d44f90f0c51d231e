//! What a sample touches: the cell of its series, which a recorder empties once a second.
//!
//! No lock, no hashing, no allocation, and one cell however many sinks the sample feeds. Series that get their samples
//! together, as those of a request do, are a bundle: what is 0 of it costs a comparison, and what is always the same
//! costs nothing until the recorder is emptied.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::naming::metric::{Kind, MetricId};
use crate::naming::tags::TagSet;
use crate::recording::batches::SeriesTags;
use crate::recording::cell::Cell;
use crate::sink::Sink;

/// A metric together with one tag set, resolved by the `Recorder` that made it and valid for that one only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Series {
    /// The cell of the sinks that it feeds.
    cell: u32,
    /// Position of its entry; the top bit tells that it is a gauge's.
    entry: u32,
}

/// Series that get a sample each at the same moments, tied by the `Recorder` that made them and valid for that one
/// only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundle(u32);

/// A series of a bundle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Member {
    /// Each of its samples is measured.
    Measured(Series),
    /// Its samples are all the same; not of a Trend.
    Constant(Series, f64),
}

impl Series {
    /// The position of its entry.
    pub(crate) fn number(self) -> u32 {
        self.entry & !GAUGE
    }

    /// Whether all of its samples are kept with their moment.
    pub(crate) fn is_gauge(self) -> bool {
        self.entry & GAUGE != 0
    }
}

impl Bundle {
    /// Its position among the bundles.
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

impl Member {
    pub(crate) fn series(self) -> Series {
        let (Member::Measured(series) | Member::Constant(series, _)) = self;
        series
    }

    /// What two members differ in.
    pub(crate) fn key(self) -> (Series, Option<u64>) {
        match self {
            Member::Measured(series) => (series, None),
            Member::Constant(series, value) => (series, Some(value.to_bits())),
        }
    }
}

/// In `Series::entry`.
const GAUGE: u32 = 1 << 31;

/// What `add` touches, and where it goes once a second.
#[derive(Default)]
pub(crate) struct Store {
    cells: Vec<Cell>,
    bundles: Vec<Bundled>,
    pub(crate) entries: Vec<Entry>,
    /// The sinks of each cell.
    feeds: Vec<Box<[u32]>>,
    /// The cells by their sinks.
    by_sinks: HashMap<Box<[u32]>, u32>,
    sinks: Vec<Sink>,
}

/// The series of a bundle since it was last settled.
struct Bundled {
    /// Samples of each series.
    times: u64,
    /// The cells of those that are measured.
    measured: Box<[u32]>,
    members: Box<[Member]>,
}

impl Bundled {
    /// Counts a sample of each series; the cells of the measured ones.
    #[inline(always)]
    fn begin<const N: usize>(&mut self) -> &[u32; N] {
        self.times += 1;
        (&*self.measured).try_into().expect("a value for each series")
    }
}

/// One resolved series.
pub(crate) struct Entry {
    pub(crate) metric: MetricId,
    pub(crate) tags: TagSet,
}

impl Store {
    /// Another sink; its number.
    pub(crate) fn push_sink(&mut self, kind: Kind) -> u32 {
        self.sinks.push(Sink::new(kind));
        self.sinks.len() as u32 - 1
    }

    /// How many sinks there are.
    pub(crate) fn sink_count(&self) -> usize {
        self.sinks.len()
    }

    /// Another series; the first of its sinks is the total of its metric.
    pub(crate) fn push(&mut self, metric: MetricId, sinks: &[u32], tags: &TagSet) -> Series {
        debug_assert!(!sinks.is_empty(), "a series feeds the total of its metric at least");
        let kind = self.sinks[sinks[0] as usize].kind();
        let known = self.by_sinks.get(sinks).copied();
        let cell = known.unwrap_or_else(|| {
            self.cells.push(Cell::new(kind));
            self.feeds.push(sinks.into());
            let cell = self.cells.len() as u32 - 1;
            self.by_sinks.insert(sinks.into(), cell);
            cell
        });
        debug_assert_eq!(self.cells.len(), self.feeds.len(), "each cell feeds sinks");
        debug_assert!(self.feeds[cell as usize].iter().all(|sink| (*sink as usize) < self.sinks.len()));
        self.entries.push(Entry { metric, tags: tags.clone() });
        let entry = self.entries.len() as u32 - 1;
        debug_assert!(entry < GAUGE, "the top bit of an entry's number is free");
        Series { cell, entry: if kind == Kind::Gauge { entry | GAUGE } else { entry } }
    }

    /// All sinks that a series feeds.
    pub(crate) fn sinks(&self, series: Series) -> &[u32] {
        &self.feeds[series.cell as usize]
    }

    pub(crate) fn entry(&self, series: Series) -> &Entry {
        &self.entries[series.number() as usize]
    }

    pub(crate) fn push_bundle(&mut self, members: &[Member]) -> Bundle {
        debug_assert!(
            members.iter().all(|member| (member.series().cell as usize) < self.cells.len()),
            "a bundle ties series of this recorder"
        );
        let measured = members.iter().filter_map(|member| match member {
            Member::Measured(series) => Some(series.cell),
            Member::Constant(..) => None,
        });
        self.bundles.push(Bundled { times: 0, measured: measured.collect(), members: members.into() });
        Bundle(self.bundles.len() as u32 - 1)
    }

    /// The samples of a bundle in its order, each with its series, of which these were measured.
    pub(crate) fn samples_of(&self, bundle: Bundle, measured: &[f64]) -> impl Iterator<Item = (Series, f64)> {
        let mut measured = measured.iter();
        self.bundles[bundle.0 as usize].members.iter().map(move |member| match member {
            Member::Measured(series) => (*series, *measured.next().expect("a value for each series")),
            Member::Constant(series, value) => (*series, *value),
        })
    }

    /// Adds a sample to each series of a bundle, of which these are measured; how many were not finite.
    #[inline]
    pub(crate) fn add_bundle(&mut self, bundle: Bundle, values: &[f64]) -> u64 {
        let Store { bundles, cells, .. } = self;
        let bundled = &mut bundles[bundle.0 as usize];
        debug_assert_eq!(bundled.measured.len(), values.len(), "a value for each series");
        bundled.times += 1;
        let mut refused = 0;
        for (cell, value) in bundled.measured.iter().zip(values) {
            if *value == 0.0 {
                continue;
            }
            if value.is_finite() {
                cells[*cell as usize].add_other(*value);
            } else {
                refused += 1;
                cells[*cell as usize].refuse();
            }
        }
        refused
    }

    /// The same with durations in nanoseconds.
    #[inline(always)]
    pub(crate) fn add_durations<const N: usize>(&mut self, bundle: Bundle, durations: &[u64; N]) {
        let Store { bundles, cells, .. } = self;
        // Two arrays of one length have no need of `zip`, which was a call here.
        for (at, cell) in bundles[bundle.0 as usize].begin::<N>().iter().enumerate() {
            if durations[at] != 0 {
                cells[*cell as usize].add_above_zero(ms(durations[at]));
            }
        }
    }

    /// The same with whole numbers.
    #[inline(always)]
    pub(crate) fn add_counts<const N: usize>(&mut self, bundle: Bundle, counts: &[u64; N]) {
        let Store { bundles, cells, .. } = self;
        for (at, cell) in bundles[bundle.0 as usize].begin::<N>().iter().enumerate() {
            cells[*cell as usize].add_whole(counts[at]);
        }
    }

    /// Brings everything that was added to the sinks that it feeds.
    pub(crate) fn settle(&mut self) {
        let Store { bundles, cells, feeds, sinks, .. } = self;
        for bundled in bundles.iter_mut().filter(|bundled| bundled.times > 0) {
            let times = std::mem::take(&mut bundled.times);
            for member in &bundled.members {
                let cell = &mut cells[member.series().cell as usize];
                match member {
                    Member::Measured(_) => cell.count(times),
                    Member::Constant(_, value) => cell.add_often(*value, times),
                }
            }
        }
        for (cell, feeds) in cells.iter_mut().zip(feeds) {
            let Some(taken) = cell.take() else { continue };
            let (total, others) = feeds.split_first().expect("every series feeds the total of its metric");
            others.iter().for_each(|sink| sinks[*sink as usize].merge_from(&taken));
            sinks[*total as usize].merge(taken);
        }
    }

    /// What the sinks hold, by their numbers; they are empty then.
    pub(crate) fn take_sinks(&mut self) -> impl Iterator<Item = (usize, Sink)> {
        let used = self.sinks.iter_mut().enumerate().filter(|(_, sink)| sink.is_used());
        used.map(|(number, sink)| {
            let empty = Sink::new(sink.kind());
            (number, std::mem::replace(sink, empty))
        })
    }

    /// Metric and tags of the series from this number on.
    pub(crate) fn series_from(&self, number: usize) -> Vec<SeriesTags> {
        let tags = |tags: &TagSet| -> Arc<[(Arc<str>, Arc<str>)]> {
            tags.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        self.entries[number..]
            .iter()
            .map(|entry| SeriesTags { metric: entry.metric, tags: tags(&entry.tags) })
            .collect()
    }

    /// The members of the bundles from this number on.
    pub(crate) fn bundles_from(&self, number: usize) -> Vec<Box<[u32]>> {
        let members = |bundle: &Bundled| bundle.members.iter().map(|member| member.series().number()).collect();
        self.bundles[number..].iter().map(members).collect()
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, series: Series, value: f64, at_ns: u64) {
        if series.is_gauge() {
            self.add_to_sinks(series, value, at_ns);
        } else {
            self.cells[series.cell as usize].add(value);
        }
    }

    // Not inlined: gauges are rare, and `add` is inlined where samples are made.
    #[inline(never)]
    fn add_to_sinks(&mut self, series: Series, value: f64, at_ns: u64) {
        let Store { feeds, sinks, .. } = self;
        feeds[series.cell as usize].iter().for_each(|sink| sinks[*sink as usize].add(value, at_ns));
    }

    /// Adds a value to a single sink.
    pub(crate) fn add_to(&mut self, sink: u32, value: f64) {
        self.sinks[sink as usize].add(value, 0);
    }

    /// Adds values of a Trend that were never measured.
    pub(crate) fn add_censored(&mut self, series: Series, count: u64) {
        let Store { feeds, sinks, .. } = self;
        feeds[series.cell as usize].iter().for_each(|sink| sinks[*sink as usize].add_censored(count));
    }
}

/// A duration in nanoseconds; five hundred years at most.
#[inline(always)]
pub fn ns(duration: Duration) -> u64 {
    // `as_nanos` reckons with 128 bits.
    duration.as_secs() * 1_000_000_000 + u64::from(duration.subsec_nanos())
}

/// Nanoseconds in milliseconds: the `f64` next to them.
#[inline(always)]
pub fn ms(ns: u64) -> f64 {
    // No clock counts beyond an `i64`, whose conversion is one instruction.
    ns as i64 as f64 / 1e6
}
