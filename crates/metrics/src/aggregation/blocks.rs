//! The distribution of what users wait for, over time: whole histograms of a few stretches of the run.
//!
//! Percentiles of a stretch cannot be had from those of its seconds. So the histograms of the main Trend are kept, each
//! of an interval at first; when there are too many, every two neighbours become one. Memory has a bound, and a stretch
//! of a long run begins and ends where a block does.
//!
//! `add` only reads the snapshots; it runs where those are merged, on no worker.

use std::time::Duration;

use crate::naming::builtin;
use crate::naming::metric::MetricId;
use crate::recording::snapshot::Snapshot;
use crate::sink::{Scope, Sink, SinkKey};
use crate::trend::Trend;
use crate::trend::exact::ExactTrend;

/// Blocks, at most.
const MOST: usize = 128;
/// What users wait for: the first of these that has samples.
const MAIN: [MetricId; 3] = [builtin::HTTP_REQ_DURATION, builtin::GRPC_REQ_DURATION, builtin::ITERATION_DURATION];

/// Histograms of one Trend, block by block.
pub struct Blocks {
    metric: Option<MetricId>,
    blocks: Vec<Block>,
    /// Intervals that a block takes.
    each: u32,
}

impl Default for Blocks {
    fn default() -> Self {
        Blocks { metric: None, blocks: Vec::new(), each: 1 }
    }
}

struct Block {
    from: Duration,
    to: Duration,
    intervals: u32,
    /// As documents of other processes have it: a fifth of a histogram that grows.
    samples: ExactTrend,
}

impl Blocks {
    /// Adds an interval, from `from` to `to` of the run's clock, and what came in during it.
    pub fn add(&mut self, from: Duration, to: Duration, snapshots: &[Snapshot]) {
        debug_assert!(from <= to, "{from:?} to {to:?}");
        debug_assert!(self.blocks.last().is_none_or(|last| last.from <= from), "intervals come in order");
        let has = |metric: &MetricId| trends(snapshots, *metric).any(|trend| trend.count() > 0);
        if self.metric.is_none() {
            self.metric = MAIN.into_iter().find(has);
        }
        let Some(metric) = self.metric else { return };
        let samples = trends(snapshots, metric).fold(Trend::default(), merged);
        let block = Block { from, to, intervals: 1, samples: ExactTrend::from(&samples) };
        match self.blocks.pop_if(|last| last.intervals < self.each) {
            Some(last) => self.blocks.push(last.joined(block)),
            None => self.blocks.push(block),
        }
        if self.blocks.len() > MOST {
            self.halve();
        }
        debug_assert!(self.blocks.len() <= MOST, "{} blocks", self.blocks.len());
    }

    /// All samples of the blocks that lie within these times, and from when to when they are; none without a block.
    pub fn within(&self, from: Duration, to: Duration) -> Option<(Duration, Duration, Trend)> {
        let inside = || self.blocks.iter().filter(|block| from <= block.from && block.to <= to);
        let (first, last) = (inside().next()?, inside().next_back()?);
        let trends = inside().filter_map(|block| block.samples.clone().into_trend());
        Some((first.from, last.to, trends.fold(Trend::default(), |all, trend| merged(all, &trend))))
    }

    fn halve(&mut self) {
        self.each *= 2;
        let mut old = std::mem::take(&mut self.blocks).into_iter();
        while let Some(block) = old.next() {
            self.blocks.push(match old.next() {
                Some(next) => block.joined(next),
                None => block,
            });
        }
    }
}

impl Block {
    fn joined(self, next: Block) -> Block {
        let both = [self.samples, next.samples].into_iter().filter_map(ExactTrend::into_trend);
        let samples = ExactTrend::from(&both.fold(Trend::default(), |all, trend| merged(all, &trend)));
        Block { from: self.from, to: next.to, intervals: self.intervals + next.intervals, samples }
    }
}

fn merged(mut all: Trend, trend: &Trend) -> Trend {
    all.merge(trend);
    all
}

/// All samples of a metric, worker by worker.
fn trends(snapshots: &[Snapshot], metric: MetricId) -> impl Iterator<Item = &Trend> {
    snapshots.iter().flat_map(|snapshot| &snapshot.sinks).filter_map(move |(key, sink)| match (&**key, sink) {
        (SinkKey::Metric(id, Scope { scenario: None, group: None }), Sink::Trend(trend)) if *id == metric => {
            Some(&**trend)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::naming::tags::TagSet;
    use crate::recording::recorder::Recorder;
    use crate::registry::Registry;

    const SECOND: Duration = Duration::from_secs(1);

    fn filled(seconds: u32) -> Blocks {
        let recorder = Recorder::new(Registry::new());
        let mut blocks = Blocks::default();
        for second in 0..seconds {
            for metric in [builtin::ITERATION_DURATION, builtin::HTTP_REQ_DURATION] {
                recorder.add(recorder.series(metric, &TagSet::empty()), f64::from(second + 1), 0);
            }
            blocks.add(second * SECOND, (second + 1) * SECOND, &[recorder.take()]);
        }
        blocks
    }

    #[test]
    fn a_stretch_has_the_samples_of_its_seconds() {
        let blocks = filled(60);
        assert_eq!(blocks.metric, Some(builtin::HTTP_REQ_DURATION), "requests are what users wait for");
        let (from, to, trend) = blocks.within(10 * SECOND, 20 * SECOND).expect("blocks");
        assert_eq!((from, to, trend.count()), (10 * SECOND, 20 * SECOND, 10));
        assert_eq!((trend.min(), trend.max(), trend.sum()), (11.0, 20.0, 155.0));
        assert!(blocks.within(10 * SECOND + SECOND / 2, 11 * SECOND).is_none());
        assert!(Blocks::default().within(SECOND, 2 * SECOND).is_none());
    }

    #[test]
    fn a_trend_without_a_sample_is_nothing_that_users_wait_for() {
        let recorder = Recorder::new(Registry::new());
        recorder.add(recorder.series(builtin::ITERATION_DURATION, &TagSet::empty()), 3.0, 0);
        let mut snapshot = recorder.take();
        let key = Arc::new(SinkKey::Metric(builtin::HTTP_REQ_DURATION, Scope { scenario: None, group: None }));
        snapshot.sinks.insert(0, (key, Sink::Trend(Box::default())));
        let mut blocks = Blocks::default();
        blocks.add(Duration::ZERO, SECOND, &[snapshot]);
        assert_eq!(blocks.metric, Some(builtin::ITERATION_DURATION));
    }

    #[test]
    fn a_long_run_has_few_blocks_and_all_samples() {
        let blocks = filled(1000);
        assert!(blocks.blocks.len() <= MOST, "{}", blocks.blocks.len());
        let (from, to, all) = blocks.within(Duration::ZERO, 1000 * SECOND).expect("blocks");
        assert_eq!((from, to, all.count(), all.sum()), (Duration::ZERO, 1000 * SECOND, 1000, 500_500.0));
        let (from, to, some) = blocks.within(100 * SECOND, 900 * SECOND).expect("blocks");
        assert!(from >= 100 * SECOND && to <= 900 * SECOND && to - from > 780 * SECOND, "{from:?} {to:?}");
        assert_eq!(some.count(), (to - from).as_secs());
    }
}
