//! Samples put together by series, for receivers that want the state of a series now and then, not each sample: what is
//! sent follows the number of series, whatever the rate of requests.
//!
//! Everything counts from the beginning of the test, so a report that was lost is made up for by the next one.

use std::sync::Arc;

use metrics::batches::SeriesTags;
use metrics::registry::Definition;
use metrics::{Kind, Registry, Trend};
use rustc_hash::FxHashMap;

use crate::catalog::Take;

/// The series of a run and what came in for each.
pub(crate) struct Tally {
    registry: Arc<Registry>,
    /// Which row a series of the catalog feeds. Tags without a value are none to these receivers.
    rows_of: Vec<u32>,
    rows: Vec<Row>,
    known: FxHashMap<SeriesKey, u32>,
}

type SeriesKey = (u32, Vec<(Arc<str>, Arc<str>)>);

/// One series.
pub(crate) struct Row {
    /// Its metric.
    pub(crate) metric: Definition,
    /// Its tags, those without a value left out; sorted.
    pub(crate) tags: Vec<(Arc<str>, Arc<str>)>,
    /// All samples so far.
    pub(crate) state: State,
    /// When the first and the last one came, in nanoseconds since the Unix epoch.
    pub(crate) first_ns: u64,
    pub(crate) last_ns: u64,
    /// Whether one came since the row was reported.
    pub(crate) is_fresh: bool,
}

/// Samples put together.
pub(crate) enum State {
    Counter(f64),
    Gauge(f64),
    Rate { passes: u64, total: u64 },
    Trend(Box<Trend>),
}

impl Tally {
    pub(crate) fn new(registry: Arc<Registry>) -> Tally {
        Tally { registry, rows_of: Vec::new(), rows: Vec::new(), known: FxHashMap::default() }
    }

    /// All rows, in the order in which they came.
    pub(crate) fn rows(&mut self) -> impl Iterator<Item = (usize, &mut Row)> {
        self.rows.iter_mut().enumerate()
    }
}

impl Take for Tally {
    fn meet(&mut self, series: &SeriesTags) {
        let tags: Vec<_> = series.tags.iter().filter(|(_, value)| !value.is_empty()).cloned().collect();
        let next = self.rows.len() as u32;
        let row = *self.known.entry((series.metric.0, tags.clone())).or_insert(next);
        if row == next {
            let metric = self.registry.definition(series.metric);
            let state = match metric.kind {
                Kind::Counter => State::Counter(0.0),
                Kind::Gauge => State::Gauge(0.0),
                Kind::Rate => State::Rate { passes: 0, total: 0 },
                Kind::Trend => State::Trend(Box::default()),
            };
            self.rows.push(Row { metric, tags, state, first_ns: u64::MAX, last_ns: 0, is_fresh: false });
        }
        self.rows_of.push(row);
    }

    fn sample(&mut self, series: u32, at_ns: u64, value: f64) {
        let row = &mut self.rows[self.rows_of[series as usize] as usize];
        match &mut row.state {
            State::Counter(sum) => *sum += value,
            State::Gauge(last) if at_ns >= row.last_ns => *last = value,
            State::Gauge(_) => {}
            State::Rate { passes, total } => {
                *passes += u64::from(value != 0.0);
                *total += 1;
            }
            State::Trend(trend) => trend.add(value),
        }
        row.first_ns = row.first_ns.min(at_ns);
        row.last_ns = row.last_ns.max(at_ns);
        row.is_fresh = true;
    }
}
