//! Requests by kind over time: coarse histograms of stretches of the run, and when each kind and each error was first
//! and last seen. What a report needs to make its tables anew for a stretch that somebody chose.
//!
//! A block is one interval at first; when there are too many, every two neighbours become one. Buckets differ by a
//! sixteenth of an octave, so a percentile of a stretch is within 2.2 % of the exact one: the tables of the whole run
//! do not come from here. Memory has a bound: kinds × blocks × the spread of their durations.
//!
//! `add` only reads the snapshots; it runs where those are merged, on no worker.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use crate::errors::ErrorKind;
use crate::recording::snapshot::Snapshot;
use crate::requests::RequestKind;
use crate::sink::{Sink, SinkKey};
use crate::trend::Trend;

/// Blocks, at most.
const MOST: usize = 120;
/// Buckets of an octave.
const OCTAVE: f64 = 16.0;
/// Of durations that took no time.
pub(crate) const LOWEST: i32 = -400;

/// The bucket of a duration in ms. Bucket 0 begins at 1 ms.
fn coarse_bucket(ms: f64) -> i32 {
    if ms > 0.0 { ((ms.log2() * OCTAVE).floor() as i32).max(LOWEST) } else { LOWEST }
}

/// Samples by coarse bucket.
pub type Coarse = BTreeMap<i32, u64>;

/// Kinds of requests block by block.
pub struct RequestBlocks {
    blocks: Vec<RequestBlock>,
    /// Intervals that a block takes.
    each: u32,
    seen: HashMap<Arc<SinkKey>, Span>,
}

/// One block.
pub struct RequestBlock {
    /// When it begins.
    pub from: Duration,
    /// When it ends.
    pub to: Duration,
    intervals: u32,
    rows: HashMap<Arc<SinkKey>, Coarse>,
}

/// The intervals in which something was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Start of the first.
    pub first: Duration,
    /// End of the last.
    pub last: Duration,
}

impl Default for RequestBlocks {
    fn default() -> Self {
        RequestBlocks { blocks: Vec::new(), each: 1, seen: HashMap::new() }
    }
}

impl RequestBlocks {
    /// Adds an interval, from `from` to `to` of the run's clock, and what came in during it.
    pub fn add(&mut self, from: Duration, to: Duration, snapshots: &[Snapshot]) {
        debug_assert!(from <= to, "{from:?} to {to:?}");
        debug_assert!(self.blocks.last().is_none_or(|last| last.from <= from), "intervals come in order");
        let mut rows: HashMap<Arc<SinkKey>, Coarse> = HashMap::new();
        for (key, sink) in snapshots.iter().flat_map(|snapshot| &snapshot.sinks) {
            match (&**key, sink) {
                (SinkKey::Request(_), Sink::Trend(trend)) => {
                    add_coarse(rows.entry(key.clone()).or_default(), trend);
                }
                (SinkKey::Error(_), _) => {}
                _ => continue,
            }
            if sink.samples() > 0 {
                self.seen.entry(key.clone()).or_insert(Span { first: from, last: to }).last = to;
            }
        }
        let block = RequestBlock { from, to, intervals: 1, rows };
        match self.blocks.last_mut().filter(|last| last.intervals < self.each) {
            Some(last) => last.join(block),
            None => self.blocks.push(block),
        }
        if self.blocks.len() > MOST {
            self.halve();
        }
        debug_assert!(self.blocks.len() <= MOST, "{} blocks", self.blocks.len());
    }

    /// The blocks in their order.
    pub fn blocks(&self) -> &[RequestBlock] {
        &self.blocks
    }

    /// When requests of a kind were seen.
    pub fn span_of_request(&self, kind: &RequestKind) -> Option<Span> {
        self.seen.get(&SinkKey::Request(kind.clone())).copied()
    }

    /// When an error was seen.
    pub fn span_of_error(&self, kind: &ErrorKind) -> Option<Span> {
        self.seen.get(&SinkKey::Error(kind.clone())).copied()
    }

    fn halve(&mut self) {
        self.each *= 2;
        let mut old = std::mem::take(&mut self.blocks).into_iter();
        while let Some(mut block) = old.next() {
            old.next().into_iter().for_each(|next| block.join(next));
            self.blocks.push(block);
        }
    }
}

impl RequestBlock {
    /// The kinds of which there were requests in it.
    pub fn rows(&self) -> impl Iterator<Item = (&RequestKind, &Coarse)> {
        self.rows.iter().filter_map(|(key, coarse)| match &**key {
            SinkKey::Request(kind) => Some((kind, coarse)),
            _ => None,
        })
    }

    fn join(&mut self, next: RequestBlock) {
        self.to = next.to;
        self.intervals += next.intervals;
        for (key, coarse) in next.rows {
            let own = self.rows.entry(key).or_default();
            coarse.into_iter().for_each(|(bucket, count)| *own.entry(bucket).or_default() += count);
        }
    }
}

fn add_coarse(coarse: &mut Coarse, trend: &Trend) {
    for (mean, count) in trend.buckets() {
        *coarse.entry(coarse_bucket(mean)).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naming::builtin;
    use crate::{Recorder, Registry, TagSet};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn buckets_are_sixteenths_of_octaves() {
        assert_eq!([1.0, 1.04, 1.05, 2.0, 0.5, 0.0, 1e-300].map(coarse_bucket), [0, 0, 1, 16, -16, LOWEST, LOWEST]);
    }

    #[test]
    fn the_middle_of_a_bucket_is_near_all_that_is_in_it() {
        for ms in [0.01, 1.0, 3.7, 250.0, 60_000.0] {
            let told = ((f64::from(coarse_bucket(ms)) + 0.5) / OCTAVE).exp2();
            assert!((told / ms - 1.0).abs() < 0.0222, "{ms} is told as {told}");
        }
    }

    #[test]
    fn a_long_run_has_few_blocks_and_all_requests() {
        let recorder = Recorder::new(Registry::new());
        let kind = |status| RequestKind { method: "GET".into(), status, ..RequestKind::default() };
        let mut blocks = RequestBlocks::default();
        for second in 0..1000_u32 {
            let status = if second == 700 { 503 } else { 200 };
            let of = recorder.series_of_request(builtin::HTTP_REQ_DURATION, &TagSet::empty(), &kind(status));
            recorder.add(of, f64::from(second), 0);
            recorder.count_error(&ErrorKind::Status { status, expected: false });
            blocks.add(second * SECOND, (second + 1) * SECOND, &[recorder.take()]);
        }
        assert!(blocks.blocks().len() <= MOST);
        let counts = blocks.blocks().iter().flat_map(RequestBlock::rows).flat_map(|(_, coarse)| coarse.values());
        assert_eq!(counts.sum::<u64>(), 1000);
        assert_eq!(blocks.blocks().last().map(|block| block.to), Some(1000 * SECOND));
        let once = Some(Span { first: 700 * SECOND, last: 701 * SECOND });
        assert_eq!(blocks.span_of_request(&kind(503)), once);
        assert_eq!(blocks.span_of_error(&ErrorKind::Status { status: 503, expected: false }), once);
        assert_eq!(blocks.span_of_request(&kind(404)), None);
        let whole = Some(Span { first: Duration::ZERO, last: 1000 * SECOND });
        assert_eq!(blocks.span_of_request(&kind(200)), whole);
    }
}
