//! What the journal of a run comes to that did not come to its end; `parts.rs` does the same with those of many agents.
//!
//! It has what was measured up to the last whole interval: totals, series, thresholds, errors. What is found out at the
//! end is not in it: how the generator fared, and what teardown did. A damaged frame ends the reading, and is told.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::scenario::Scenarios;
use engine::{LoadChange, load_change};
use metrics::results::{MetricResult, Results};
use metrics::threshold::Moment;
use metrics::{Aggregate, Registry, ShardReader, Snapshot, ThresholdSpecs, Thresholds};
use report::TrendStat;

use crate::reader::JournalReader;
use crate::record::{IntervalTimes, JournalEntry, JournalHead, Record};
use crate::timeline::{OverTime, Timeline};

/// What the journals of a test come to.
pub struct MergedTest {
    /// What was run, and where.
    pub head: JournalHead,
    /// The statistics of Trends that it shows.
    pub stats: Vec<TrendStat>,
    /// What was measured.
    pub results: Results,
    /// Parts of metrics that only reports show.
    pub details: Vec<MetricResult>,
    /// The series of it.
    pub over_time: OverTime,
    /// How long it ran.
    pub duration: Duration,
    /// Whether a threshold does not hold.
    pub is_crossed: bool,
    /// What clients changed of the load.
    pub load_changes: Vec<LoadChange>,
}

/// What a journal of a run in one process comes to, and what of it is damaged.
pub fn rebuild(head: JournalHead, mut journal: JournalReader) -> Result<(MergedTest, Option<String>), String> {
    let mut reader = ShardReader::default();
    let mut merge = Merge::new(&head, reader.registry());
    let mut reached = Duration::ZERO;
    let mut add = |JournalEntry { times, samples, .. }: JournalEntry| {
        let samples = reader.snapshot(samples)?;
        merge.add(times, vec![samples], times.is_load())?;
        (_, reached) = times.interval();
        Ok(())
    };
    let damage = loop {
        let added = match journal.next_interval() {
            Ok(None) => break None,
            Ok(Some(entry)) => add(entry).map_err(|what: String| journal.damage(&what)),
            Err(damage) => Err(damage),
        };
        if let Err(damage) = added {
            break Some(damage);
        }
    };
    let load = merge.timeline.load();
    let test = merge.finish(head, load, reached, journal.changes().to_vec()).map(|test| (test, damage));
    test.ok_or_else(|| journal.problem("it has no interval: the run was over before its first second was".to_owned()))
}

/// What `setup()` measured and how long it took, as the journal of a process that was killed has it; none where it
/// measured nothing. For a registry of another process that goes on with that run.
pub fn setup_of(dir: &Path, registry: &Arc<Registry>) -> Result<Option<(Duration, Snapshot)>, String> {
    let Some((_, mut journal)) = JournalReader::open(dir)? else {
        return Err(format!("{} has no journal", dir.display()));
    };
    let Some(Record::Interval(entry)) = journal.next_record()? else { return Ok(None) };
    if entry.times.is_load() {
        return Ok(None);
    }
    let (from, to) = entry.times.interval();
    let samples = ShardReader::into_registry(Arc::clone(registry), 0).snapshot(entry.samples);
    samples.map(|samples| Some((to.saturating_sub(from), samples))).map_err(|what| journal.damage(&what))
}

/// A test as far as its journals have been read.
pub(crate) struct Merge {
    registry: Arc<Registry>,
    specs: ThresholdSpecs,
    /// Made with the first interval, which brings the metrics that thresholds are about.
    aggregate: Option<Aggregate>,
    pub(crate) timeline: Timeline,
}

impl Merge {
    /// Nothing yet, of a test that this head is of.
    pub(crate) fn new(head: &JournalHead, registry: &Arc<Registry>) -> Merge {
        let specs = head.options.get("thresholds").cloned().and_then(|specs| serde_json::from_value(specs).ok());
        Merge {
            registry: registry.clone(),
            specs: specs.unwrap_or_default(),
            aggregate: None,
            timeline: Timeline::new(registry.clone(), true),
        }
    }

    /// Adds an interval, of the load or beside it. The error says which threshold has no metric.
    pub(crate) fn add(&mut self, times: IntervalTimes, samples: Vec<Snapshot>, is_load: bool) -> Result<(), String> {
        let totals = match &mut self.aggregate {
            Some(totals) => totals,
            None => {
                let thresholds = Thresholds::resolve(&self.specs, &self.registry).map_err(|error| error.to_string())?;
                self.aggregate.insert(Aggregate::new(self.registry.clone(), thresholds))
            }
        };
        self.timeline.restore(times, &samples);
        for snapshot in samples {
            if is_load { totals.merge(snapshot) } else { totals.merge_aside(snapshot) }
        }
        Ok(())
    }

    /// All of it; none where there was no interval.
    pub(crate) fn finish(
        self,
        head: JournalHead,
        load: Duration,
        duration: Duration,
        load_changes: Vec<LoadChange>,
    ) -> Option<MergedTest> {
        let mut aggregate = self.aggregate?;
        let is_crossed = !aggregate.judge(load, Moment::End).crossed.is_empty();
        let planned = head.options.get("scenarios").and_then(|scenarios| Scenarios::from_json(scenarios).ok());
        let planned = planned.map(|planned| load_change::as_run(&planned, &load_changes));
        Some(MergedTest {
            stats: report::trend_stats_of(&head.options).unwrap_or_else(TrendStat::defaults),
            results: aggregate.results(load, false),
            details: aggregate.details(load),
            over_time: self.timeline.finish(planned.iter().flat_map(Scenarios::iter), None),
            head,
            duration,
            is_crossed,
            load_changes,
        })
    }
}
