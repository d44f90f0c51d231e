//! What a sample touches: the cells of its series, which a recorder empties once a second.
//!
//! No lock, no hashing, no allocation, and for a series that feeds nothing but its metric's total no look at its entry
//! either. Series that get their samples together, as those of a request do, are a bundle: what is 0 of it costs a
//! comparison.

use std::sync::Arc;

use crate::batches::SeriesTags;
use crate::metric::{Kind, MetricId};
use crate::sink::Sink;
use crate::tags::TagSet;

/// A metric together with one tag set, resolved by the `Recorder` that made it and valid for that one only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Series {
    /// Its metric's total, which every series feeds. Here, so that a sample which feeds nothing else needs no entry.
    pub(crate) first: u32,
    /// Position of its entry; the top bit tells that it feeds more.
    entry: u32,
}

/// Series that get a sample each at the same moments, tied by the `Recorder` that made them and valid for that one
/// only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundle(u32);

impl Series {
    /// The position of its entry.
    pub(crate) fn number(self) -> u32 {
        self.entry & !MORE
    }
}

impl Bundle {
    /// Its position among the bundles.
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// In `Series::entry`.
const MORE: u32 = 1 << 31;

/// What `add` touches.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) entries: Vec<Entry>,
    pub(crate) cells: Vec<Cell>,
    bundles: Vec<Bundled>,
}

/// The series of a bundle since its zeros were last settled.
struct Bundled {
    /// Samples of each series.
    times: u64,
    members: Box<[Member]>,
}

/// A series of a bundle, and how many of its samples were not 0.
struct Member {
    series: Series,
    others: u64,
}

/// One resolved series.
pub(crate) struct Entry {
    /// The sinks beyond the first.
    more: Box<[u32]>,
    pub(crate) metric: MetricId,
    pub(crate) tags: TagSet,
}

/// A sink while it is filled. Most samples of a request are 0 (nothing to look up, connect or shake hands for; not
/// failed): they cost an increment here, and join the sink when it is handed over. So it is with a Counter's sample
/// that is the same as the one before: a sum that shall be exact has questions to ask of each value.
pub(crate) struct Cell {
    zeros: u64,
    /// What a Counter got last.
    value: f64,
    /// How often in a row; not in the sink yet.
    times: u64,
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
        &self.entries[series.number() as usize]
    }

    pub(crate) fn push_bundle(&mut self, series: &[Series]) -> Bundle {
        let members = series.iter().map(|series| Member { series: *series, others: 0 }).collect();
        self.bundles.push(Bundled { times: 0, members });
        Bundle(self.bundles.len() as u32 - 1)
    }

    /// The series of a bundle, in the order given.
    pub(crate) fn series_of(&self, bundle: Bundle) -> impl Iterator<Item = Series> {
        self.bundles[bundle.0 as usize].members.iter().map(|member| member.series)
    }

    /// Adds a sample to each series of a bundle without gauges; how many were not finite.
    #[inline]
    pub(crate) fn add_bundle(&mut self, bundle: Bundle, values: &[f64]) -> u64 {
        let Store { bundles, cells, entries } = self;
        let bundled = &mut bundles[bundle.0 as usize];
        debug_assert_eq!(bundled.members.len(), values.len(), "a value for each series");
        bundled.times += 1;
        let mut refused = 0;
        for (member, value) in bundled.members.iter_mut().zip(values) {
            if *value == 0.0 {
                continue;
            }
            member.others += 1;
            if !value.is_finite() {
                refused += 1;
                continue;
            }
            cells[member.series.first as usize].add_other(*value);
            if member.series.entry & MORE != 0 {
                let more = &entries[(member.series.entry & !MORE) as usize].more;
                more.iter().for_each(|sink| cells[*sink as usize].add_other(*value));
            }
        }
        refused
    }

    /// Counts the samples of bundles that were 0.
    pub(crate) fn settle_zeros(&mut self) {
        let Store { bundles, cells, entries } = self;
        for bundled in bundles.iter_mut().filter(|bundled| bundled.times > 0) {
            let times = std::mem::take(&mut bundled.times);
            for member in &mut bundled.members {
                let zeros = times - std::mem::take(&mut member.others);
                let more = &entries[(member.series.entry & !MORE) as usize].more;
                for sink in std::iter::once(&member.series.first).chain(more) {
                    cells[*sink as usize].zeros += zeros;
                }
            }
        }
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
        let members = |bundle: &Bundled| bundle.members.iter().map(|member| member.series.number()).collect();
        self.bundles[number..].iter().map(members).collect()
    }

    /// Whether all samples of a series are kept with their moment.
    pub(crate) fn is_gauge(&self, series: Series) -> bool {
        matches!(self.cells[series.first as usize].sink, Sink::Gauge { .. })
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
        Cell { zeros: 0, value: 0.0, times: 0, sink: Sink::new(kind) }
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, value: f64, at_ns: u64) {
        match &mut self.sink {
            // A gauge wants to know when.
            Sink::Gauge { .. } => self.add_rarely(value, at_ns),
            _ if value == 0.0 => self.zeros += 1,
            _ => self.add_other(value),
        }
    }

    /// Adds a value that is not 0, to what is no gauge.
    #[inline(always)]
    fn add_other(&mut self, value: f64) {
        match &mut self.sink {
            Sink::Trend(trend) => trend.add_other(value),
            Sink::Counter { .. } if value == self.value => self.times += 1,
            Sink::Counter { .. } => self.add_another(value),
            _ => self.add_rarely(value, 0),
        }
    }

    #[inline(never)]
    fn add_another(&mut self, value: f64) {
        let before = std::mem::replace(&mut self.value, value);
        self.sink.add_times(before, std::mem::replace(&mut self.times, 1));
    }

    #[inline(never)]
    fn add_rarely(&mut self, value: f64, at_ns: u64) {
        self.sink.add(value, at_ns);
    }

    pub(crate) fn is_used(&self) -> bool {
        self.zeros > 0 || self.times > 0 || self.sink.is_used()
    }

    /// Adds values of a Trend that were never measured.
    pub(crate) fn add_censored(&mut self, count: u64) {
        self.sink.add_censored(count);
    }

    pub(crate) fn take(&mut self) -> Sink {
        self.sink.add_times(self.value, std::mem::take(&mut self.times));
        let empty = self.sink.emptied();
        let mut sink = std::mem::replace(&mut self.sink, empty);
        sink.add_zeros(std::mem::take(&mut self.zeros));
        sink
    }
}
