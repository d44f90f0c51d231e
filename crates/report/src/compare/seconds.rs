//! Runs too few to be compared by pairs, compared by their seconds: which seconds stand beside each other, and what a
//! measure is in a block of them.
//!
//! Of several pairs the mean over the runs of A is beside that over the runs of B.
//!
//! A block's rate is its sum over its time, its share its passes over its total, its percentile the mean of its
//! seconds' own, weighted by their samples. A percentile of a second takes enough samples in it; with fewer there is no
//! answer, and the reason is said. The statistics are `crate::stats::within`.

use std::ops::Range;

use super::evidence::Pair;
use super::measure::{ComparedValue, Source, Stat};
use crate::document::{Column, Counts, Document, Points, Series};
use crate::options::TrendStat;
use crate::stats::within::{FEWEST_SECONDS, blocks, warm_up};

/// A shorter interval is what was left of the last second.
const WHOLE_SECOND: f64 = 0.5;
/// What an interval may begin before the scenarios do: times are rounded.
const ROUNDING_S: f64 = 0.01;

/// Some runs of A and as many of B, second by second.
#[derive(Debug)]
pub struct FewRuns<'a> {
    a: Vec<Timeline<'a>>,
    b: Vec<Timeline<'a>>,
    blocks: Vec<Range<usize>>,
}

/// How many seconds an answer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecondsUsed {
    /// Runs of each side.
    pub runs: usize,
    /// Of each run.
    pub seconds: usize,
    /// Left out at the start.
    pub warm_up: usize,
}

/// The seconds of a run's scenarios.
#[derive(Debug)]
struct Timeline<'a> {
    document: &'a Document,
    /// Their places in the document's columns.
    at: Vec<usize>,
}

impl<'a> FewRuns<'a> {
    /// The seconds that all runs have; the reason when there are too few.
    pub fn new(pairs: &[Pair<'a>]) -> Result<FewRuns<'a>, String> {
        let (a, b): (Vec<_>, Vec<_>) = pairs.iter().map(|pair| (Timeline::new(pair.a), Timeline::new(pair.b))).unzip();
        let all = || a.iter().chain(&b);
        let seconds = all().map(|run| run.at.len()).min().unwrap_or(0);
        let blocks = blocks(seconds).ok_or_else(|| match all().all(Timeline::has_seconds) {
            false => String::from("the results hold no seconds, as those of a matrix do not"),
            true => {
                format!("with so few runs an answer takes {FEWEST_SECONDS} seconds of each, and there are {seconds}")
            }
        })?;
        Ok(FewRuns { a, b, blocks })
    }

    /// How many seconds are compared.
    pub fn used(&self) -> SecondsUsed {
        let seconds = self.blocks.last().map_or(0, |block| block.end);
        SecondsUsed { runs: self.a.len(), seconds, warm_up: warm_up(seconds) }
    }

    /// A's and B's figure of each block; the reason when there is none.
    pub fn by_block(&self, measure: &ComparedValue) -> Result<Vec<(f64, f64)>, String> {
        let Source::Metric { stat, .. } = &measure.source else {
            return Err(format!("{measure} is not kept by the second"));
        };
        if let Some(samples) = fewest_samples(stat) {
            let runs = self.a.iter().chain(&self.b);
            let found = runs.map(|run| run.samples(measure)).min().unwrap_or(0);
            if found < samples {
                return Err(format!("takes {samples} samples in a second, and there are about {found}"));
            }
        }
        let figures = self.blocks.iter().map(|block| self.figures(measure, stat, block.clone()));
        figures.collect::<Option<_>>().ok_or_else(|| match has_column(stat) {
            true => String::from("some blocks of seconds have no samples of it"),
            false => String::from("the seconds of a result keep min, avg, max, p(50), p(90), p(95) and p(99) only"),
        })
    }

    /// A's and B's figure of each second that has both, without the warm-up.
    pub fn by_second(&self, measure: &ComparedValue) -> Vec<(f64, f64)> {
        let Source::Metric { stat, .. } = &measure.source else { return Vec::new() };
        let used = self.used();
        (used.warm_up..used.seconds).filter_map(|second| self.figures(measure, stat, second..second + 1)).collect()
    }

    fn figures(&self, measure: &ComparedValue, stat: &Stat, seconds: Range<usize>) -> Option<(f64, f64)> {
        let mean = |runs: &[Timeline<'_>]| {
            let figures = runs.iter().map(|run| run.figure(measure, stat, seconds.clone()));
            Some(figures.sum::<Option<f64>>()? / runs.len() as f64)
        };
        Some((mean(&self.a)?, mean(&self.b)?))
    }
}

impl<'a> Timeline<'a> {
    fn new(document: &'a Document) -> Self {
        let seconds = &document.seconds;
        let (from, to) = (seconds.scenarios_start_s, seconds.scenarios_end_s);
        let is_inside = |start: f64| start >= from - ROUNDING_S && (to <= from || start < to);
        let intervals = seconds.starts_s.iter().zip(&seconds.lengths_s).enumerate();
        let whole = intervals.filter(|(_, (start, length))| is_inside(**start) && **length >= WHOLE_SECOND);
        Timeline { document, at: whole.map(|(at, _)| at).collect() }
    }

    fn has_seconds(&self) -> bool {
        !self.document.seconds.starts_s.is_empty()
    }

    fn series(&self, measure: &ComparedValue) -> Option<&'a Series> {
        self.document.series_of(measure.metric(self.document)?)
    }

    /// Samples of a Trend in a usual second: the median.
    fn samples(&self, measure: &ComparedValue) -> u64 {
        let Some(Points::Trend { count, .. }) = self.series(measure).map(|series| &series.points) else { return 0 };
        let mut counts: Vec<u64> = self.at.iter().map(|at| count[*at].unwrap_or(0)).collect();
        counts.sort_unstable();
        counts.get(counts.len() / 2).copied().unwrap_or(0)
    }

    /// The figure of these seconds.
    fn figure(&self, measure: &ComparedValue, stat: &Stat, seconds: Range<usize>) -> Option<f64> {
        let at = &self.at[seconds];
        let length: f64 = at.iter().map(|at| self.document.seconds.lengths_s[*at]).sum();
        let whole: f64 = self.at.iter().map(|at| self.document.seconds.lengths_s[*at]).sum();
        let Some(series) = self.series(measure) else {
            // A counter that nothing was added to.
            return matches!(stat, Stat::PerSecond | Stat::Sum).then_some(0.0);
        };
        match (&series.points, stat) {
            (Points::Counter { sum }, Stat::PerSecond) => Some(total(sum, at) / length),
            // As if the whole run had gone on like these seconds.
            (Points::Counter { sum }, Stat::Sum) => Some(total(sum, at) / length * whole),
            (Points::Rate { passes, total }, Stat::Share) => {
                let (passes, total) = (counted(passes, at), counted(total, at));
                (total > 0.0).then(|| passes / total)
            }
            (Points::Gauge { last }, Stat::Last) => {
                let known: Vec<f64> = at.iter().filter_map(|at| last[*at]).collect();
                (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
            }
            (Points::Trend { count, .. }, Stat::Trend(TrendStat::Count)) => Some(counted(count, at) / length * whole),
            (points @ Points::Trend { count, .. }, Stat::Trend(stat)) => weighted(column(points, stat)?, count, at),
            _ => None,
        }
    }
}

fn total(column: &Column, at: &[usize]) -> f64 {
    at.iter().filter_map(|at| column[*at]).sum()
}

fn counted(column: &Counts, at: &[usize]) -> f64 {
    at.iter().filter_map(|at| column[*at]).sum::<u64>() as f64
}

/// The mean of the seconds' figures, each with the weight of its samples.
fn weighted(column: &Column, count: &Counts, at: &[usize]) -> Option<f64> {
    let known = at.iter().filter_map(|at| Some((column[*at]?, count[*at]? as f64)));
    let (sum, samples) = known.fold((0.0, 0.0), |(sum, all), (value, samples)| (sum + value * samples, all + samples));
    (samples > 0.0).then(|| sum / samples)
}

fn column<'a>(points: &'a Points, stat: &TrendStat) -> Option<&'a Column> {
    let Points::Trend { avg, min, max, p50, p90, p95, p99, .. } = points else { return None };
    match stat {
        TrendStat::Avg => Some(avg),
        TrendStat::Min => Some(min),
        TrendStat::Max => Some(max),
        TrendStat::Med => Some(p50),
        TrendStat::Percentile { percent, .. } => {
            let kept = [(50.0, p50), (90.0, p90), (95.0, p95), (99.0, p99)];
            kept.into_iter().find(|(kept, _)| kept == percent).map(|(_, column)| column)
        }
        TrendStat::Count => None,
    }
}

fn has_column(stat: &Stat) -> bool {
    match stat {
        Stat::Trend(TrendStat::Percentile { percent, .. }) => [50.0, 90.0, 95.0, 99.0].contains(percent),
        _ => true,
    }
}

/// How many samples a second needs for a percentile of its own.
fn fewest_samples(stat: &Stat) -> Option<u64> {
    match stat {
        Stat::Trend(TrendStat::Med) => Some(2),
        Stat::Trend(TrendStat::Percentile { percent, .. }) => {
            Some((100.0 / (100.0 - percent).max(0.01)).round() as u64)
        }
        _ => None,
    }
}
