//! The per-second series of a saved run: which samples belong to which interval.
//!
//! Setup and teardown have an interval of their own, so that series add up to the totals. Times are those of the
//! engine's clock; intervals count from the start of the run's clock, which is when the virtual users were made.
//!
//! A journal keeps the same samples on the disk. While it has all of them they are left to it, and read back at the
//! end: a test of days takes no more memory than one of minutes. It has not all of them when the disk is full, and not
//! as they are when a secret was taken out.

use std::sync::Arc;
use std::time::Duration;

use engine::health::WorkerHealth;
use engine::scenario::Scenario;
use engine::{Health, LoadChange, Tick};
use metrics::builtin;
use metrics::results::TrendValue;
use metrics::{Blocks, ErrorKind, Registry, RequestBlocks, Seconds, ShardReader, Snapshot};
use report::document::{self, GeneratorSeconds, PercentileFigure, Steadiness, StretchFigures, TargetSeconds};
use report::steadiness;

use crate::planned_starts::planned_starts;
use crate::plateau::plateau;
use crate::record::IntervalTimes;
use crate::writer::Journal;

/// A run over time.
#[derive(Default)]
pub struct OverTime {
    /// All series of it.
    pub seconds: document::Seconds,
    /// Whether they were steady.
    pub steadiness: Option<Steadiness>,
    /// The requests by kind.
    pub requests: Option<RequestBlocks>,
    /// How the generator fared.
    pub generator: Option<GeneratorSeconds>,
    /// When the scenarios started, by the run's clock.
    pub began: Duration,
    /// Why some series have gaps that the run had not.
    pub problem: Option<String>,
}

/// How the generator fared in an interval.
struct Fared {
    cores: f64,
    busiest_share: f64,
    lag_p99_ms: f64,
    target: Option<TargetSecond>,
}

/// What the target used in a second or two, where it is on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TargetSecond {
    /// CPU, in cores.
    pub cores: f64,
    /// Share of the time that its busiest thread ran.
    pub busiest_thread: Option<f64>,
    /// Share of the time that this thread waited for a core.
    pub waited: Option<f64>,
}

/// Intervals and what came in during each.
pub struct Timeline {
    registry: Arc<Registry>,
    seconds: Seconds,
    /// The intervals behind those of all columns, which only the journal has.
    in_journal: Vec<(Duration, Duration)>,
    /// Why some of these could not be read back.
    problem: Option<String>,
    blocks: Blocks,
    /// Where a result is kept, requests by kind.
    requests: Option<RequestBlocks>,
    /// How the generator fared, an entry an interval.
    fared: Vec<Option<Fared>>,
    /// What intervals are left to as they close.
    journal: Option<Journal>,
    /// Changes of the load that the journal has.
    kept_changes: usize,
    /// When the run's clock started.
    began: Duration,
    /// Up to where there are intervals, by the run's clock.
    reached: Duration,
    scenarios: (Duration, Duration),
}

impl Timeline {
    /// Nothing yet, for all series or, where nobody keeps them, for those that tell how steady the run was.
    pub fn new(registry: Arc<Registry>, is_kept: bool) -> Self {
        let of_steadiness = vec![
            builtin::HTTP_REQ_DURATION,
            builtin::HTTP_REQS,
            builtin::GRPC_REQ_DURATION,
            builtin::ITERATION_DURATION,
            builtin::ITERATIONS,
            builtin::VUS,
        ];
        let own = Arc::clone(&registry);
        let seconds = if is_kept { Seconds::new(own) } else { Seconds::only(own, of_steadiness) };
        Timeline {
            registry,
            seconds,
            in_journal: Vec::new(),
            problem: None,
            blocks: Blocks::default(),
            requests: is_kept.then(RequestBlocks::default),
            fared: Vec::new(),
            journal: None,
            kept_changes: 0,
            began: Duration::ZERO,
            reached: Duration::ZERO,
            scenarios: Default::default(),
        }
    }

    /// The virtual users are made: the run's clock starts.
    pub fn begin(&mut self, began: Duration) {
        self.began = began;
    }

    /// Leaves each interval from now on to a journal, as long as that has all of it.
    pub fn keep(&mut self, journal: Journal) {
        self.journal = Some(journal);
    }

    /// Leaves what clients have changed of the load by now to the journal.
    pub fn keep_changes(&mut self, all: &[LoadChange]) {
        let Some(journal) = &mut self.journal else { return };
        for change in all.iter().skip(self.kept_changes) {
            journal.change(change);
        }
        self.kept_changes = all.len();
    }

    /// Why the journal is not written, said once.
    pub fn journal_problem(&mut self) -> Option<String> {
        self.journal.as_mut()?.problem()
    }

    /// So many bytes of the journal are on the disk; none where none is written.
    pub fn journal_length(&self) -> Option<u64> {
        self.journal.as_ref()?.settle()
    }

    /// Takes in an interval of a journal.
    pub fn restore(&mut self, times: IntervalTimes, samples: &[Snapshot]) {
        let (from, to) = times.interval();
        self.scenarios = times.scenarios();
        self.gather(from, to, samples);
        self.close(to);
    }

    /// Keeps what came in during an interval.
    fn gather(&mut self, from: Duration, to: Duration, samples: &[Snapshot]) {
        self.seconds.add(from, to, samples);
        self.blocks.add(from, to, samples);
        self.requests.iter_mut().for_each(|requests| requests.add(from, to, samples));
    }

    /// An interval is kept, in memory or in the journal.
    fn close(&mut self, to: Duration) {
        self.fared.push(None);
        self.reached = to;
        let intervals = self.seconds.intervals().len() + self.in_journal.len();
        assert_eq!(self.fared.len(), intervals, "each interval has its place in every column");
    }

    /// The scenarios start at this time of the engine's clock.
    pub fn start(&mut self, start: Duration) {
        self.reached = start.saturating_sub(self.began);
        self.scenarios = (self.reached, self.reached);
    }

    /// A second of the scenarios, and what the target used, where that is known.
    pub fn tick(&mut self, tick: &Tick, target: Option<TargetSecond>) {
        let is_empty = tick.snapshots.iter().all(Snapshot::is_empty);
        let cut = tick.cut.saturating_sub(self.began);
        // What a stuck worker left behind comes after the last cut; the moment of handing over is all that is known of
        // it.
        let end = if cut > self.reached { cut } else { tick.now.saturating_sub(self.began).max(self.reached) };
        if end > self.reached || !is_empty {
            self.scenarios.1 = end;
            self.add(end, &tick.snapshots);
            if let Some(fared) = self.fared.last_mut() {
                *fared = Fared::of(&tick.lately, target);
            }
        }
        self.scenarios.1 = self.reached;
    }

    /// The interval that ends now.
    fn add(&mut self, end: Duration, snapshots: &[Snapshot]) {
        let (from, to) = (self.reached, end);
        // A journal that is not written costs nothing more.
        let journal = self.journal.as_mut().filter(|journal| journal.is_written());
        let is_in_journal = journal.is_some_and(|journal| {
            journal.add(None, IntervalTimes::new((from, to), self.scenarios), snapshots);
            journal.is_complete()
        });
        if is_in_journal {
            self.in_journal.push((from, to));
        } else {
            self.read_back();
            self.gather(from, to, snapshots);
        }
        self.close(to);
    }

    /// Takes what only the journal has into memory: at the end, or when it can no longer be written, or not all of it.
    fn read_back(&mut self) {
        let intervals = std::mem::take(&mut self.in_journal);
        if intervals.is_empty() {
            return;
        }
        let journal = self.journal.take().expect("it has these intervals");
        let mut left = intervals.iter();
        let read = read_intervals(&journal, &Arc::clone(&self.registry), |samples| {
            let interval = left.next();
            interval.into_iter().for_each(|(from, to)| self.gather(*from, *to, std::slice::from_ref(&samples)));
        });
        self.journal = Some(journal);
        let missing = left.len();
        left.for_each(|(from, to)| self.gather(*from, *to, &[]));
        if missing > 0 {
            let (of, why) = (intervals.len(), read.err().unwrap_or_else(|| "it ends before them".to_owned()));
            let text = format!("charts over time lack {missing} of {of} intervals, which the journal had: {why}");
            self.problem.get_or_insert(text);
        }
    }

    /// What setup or teardown recorded, and how long it took.
    pub fn aside(&mut self, took: Duration, snapshot: &Snapshot) {
        if !snapshot.is_empty() {
            self.add(self.reached + took, std::slice::from_ref(snapshot));
        }
    }

    /// When the scenarios started and when they ended, by the run's clock.
    pub fn scenarios(&self) -> (Duration, Duration) {
        self.scenarios
    }

    /// How long the scenarios have run.
    pub fn load(&self) -> Duration {
        self.scenarios.1.saturating_sub(self.scenarios.0)
    }

    /// The series as a result document has them, and how steady the run was at a plateau of its plan. `of_target`: what
    /// the target is called whose cores the ticks told.
    pub fn finish<'a>(mut self, planned: impl Iterator<Item = &'a Scenario>, of_target: Option<&str>) -> OverTime {
        self.read_back();
        let planned: Vec<&Scenario> = planned.collect();
        let plateau = plateau(planned.iter().copied());
        let (began, blocks) = (self.scenarios.0, self.blocks);
        let generator = self.requests.is_some().then(|| GeneratorSeconds {
            target: of_target.and_then(|name| target(name, &self.fared)),
            ..fared(&self.fared, &self.seconds, began, &planned)
        });
        let seconds = into_document(self.seconds, self.scenarios);
        let mut steadiness = plateau.and_then(|plateau| steadiness::find(&seconds, plateau));
        if let Some(steadiness) = &mut steadiness {
            let stretch = steadiness.steady.filter(|_| steadiness.stretches.len() > 1);
            steadiness.figures = stretch.and_then(|at| figures(&blocks, began, &steadiness.stretches[at]));
        }
        let generator = generator.filter(|generator| !generator.is_empty());
        OverTime { seconds, steadiness, requests: self.requests, generator, began, problem: self.problem }
    }
}

impl OverTime {
    /// First and last second in which an error was seen, from the start of the scenarios.
    pub fn times_of_error(&self, kind: &ErrorKind) -> Option<(f64, f64)> {
        let span = self.requests.as_ref()?.span_of_error(kind)?;
        Some(document::since(span, self.began))
    }
}

impl Fared {
    /// None of a coordinator, whose agents look at themselves.
    fn of(lately: &Health, target: Option<TargetSecond>) -> Option<Fared> {
        let worst = |of: fn(&WorkerHealth) -> f64| lately.workers.iter().map(of).reduce(f64::max);
        Some(Fared {
            cores: lately.process_cores,
            busiest_share: worst(|worker| worker.cpu_share)?,
            lag_p99_ms: worst(|worker| worker.lag_p99_ms)?,
            target,
        })
    }
}

/// Each interval of a journal that is whole, in order. The error says why there are no more.
fn read_intervals(journal: &Journal, registry: &Arc<Registry>, mut take: impl FnMut(Snapshot)) -> Result<(), String> {
    let mut reader = journal.read_back()?;
    let mut shards = ShardReader::into_registry(Arc::clone(registry), 0);
    while let Some(entry) = reader.next_interval()? {
        take(shards.snapshot(entry.samples).map_err(|what| reader.damage(&what))?);
    }
    Ok(())
}

/// The columns of the generator, with what the plan asked for.
fn fared(fared: &[Option<Fared>], gathered: &Seconds, began: Duration, scenarios: &[&Scenario]) -> GeneratorSeconds {
    let column =
        |of: fn(&Fared) -> f64| fared.iter().map(|fared| fared.as_ref().map(|fared| digits(of(fared)))).collect();
    let planned = |(start, length): &(Duration, Duration)| {
        let from = start.checked_sub(began)?;
        let sum = planned_starts(scenarios, from, from + *length)?;
        Some(digits(sum / length.as_secs_f64().max(1e-3)))
    };
    GeneratorSeconds {
        cores: column(|fared| fared.cores),
        busiest_share: column(|fared| fared.busiest_share),
        lag_p99_ms: column(|fared| fared.lag_p99_ms),
        planned_per_second: gathered.intervals().iter().map(planned).collect(),
        target: None,
    }
}

/// The target's columns; none where nothing was measured.
fn target(name: &str, fared: &[Option<Fared>]) -> Option<TargetSeconds> {
    let column = |of: fn(TargetSecond) -> Option<f64>| {
        let figure = |fared: &Option<Fared>| fared.as_ref().and_then(|fared| of(fared.target?)).map(digits);
        fared.iter().map(figure).collect()
    };
    let target = TargetSeconds {
        name: name.to_owned(),
        cores: column(|target| Some(target.cores)),
        busiest_thread: known(column(|target| target.busiest_thread)),
        waited: known(column(|target| target.waited)),
    };
    target.mean().is_some().then_some(target)
}

/// Nothing where the kernel told nothing.
fn known(column: document::Column) -> document::Column {
    if column.iter().all(Option::is_none) { Vec::new() } else { column }
}

/// To four digits: what a chart shows.
fn digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

fn into_document(gathered: Seconds, scenarios: (Duration, Duration)) -> document::Seconds {
    let (starts_s, lengths_s) = gathered.intervals().iter().map(|(s, l)| (seconds(*s), seconds(*l))).unzip();
    document::Seconds {
        starts_s,
        lengths_s,
        scenarios_start_s: seconds(scenarios.0),
        scenarios_end_s: seconds(scenarios.1),
        series: gathered.into_series().into_iter().map(document::Series::from).collect(),
    }
}

/// What was measured in a stretch, whose times count from when the scenarios began.
fn figures(blocks: &Blocks, began: Duration, stretch: &document::Stretch) -> Option<StretchFigures> {
    /// Edges of a stretch are rounded to tenths, and seconds are cut when a worker wakes.
    const SLACK: Duration = Duration::from_millis(300);
    let at = |time_s: f64| began + Duration::from_secs_f64(time_s);
    let (from, to, trend) = blocks.within(at(stretch.from_s).saturating_sub(SLACK), at(stretch.to_s) + SLACK)?;
    let (trend, length) = (TrendValue::from(trend), (to - from).as_secs_f64());
    let percentiles = [50.0, 90.0, 95.0, 99.0].into_iter();
    Some(StretchFigures {
        from_s: seconds(from.saturating_sub(began)),
        to_s: seconds(to.saturating_sub(began)),
        samples: trend.count(),
        per_second: trend.count() as f64 / length,
        avg: trend.avg(),
        max: trend.max(),
        percentiles: percentiles.filter_map(|percent| PercentileFigure::of(&trend, percent)).collect(),
    })
}

/// To the tenth of a millisecond, which is more than a cut is exact.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use metrics::{Recorder, TagSet};
    use serde_json::json;

    use super::*;
    use crate::record::{JournalHead, KIND, SCHEMA};
    use crate::writer::NoSecrets;

    #[test]
    fn a_disk_that_is_full_in_the_middle_costs_no_second() {
        let registry = Registry::new();
        let recorder = Recorder::new(registry.clone());
        let mut timeline = Timeline::new(registry.clone(), true);
        let second = |timeline: &mut Timeline, at: u64| {
            recorder.add(recorder.series(builtin::ITERATIONS, &TagSet::empty()), at as f64, 0);
            timeline.add(Duration::from_secs(at), &[recorder.take()]);
        };
        second(&mut timeline, 1);
        let dir = std::env::temp_dir().join(format!("onrush-timeline-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let head = JournalHead {
            kind: KIND.to_owned(),
            schema: SCHEMA,
            started_at: String::new(),
            script: String::new(),
            labels: Default::default(),
            options: json!({}),
            environment: Default::default(),
            part: None,
        };
        timeline.keep(Journal::begin(&dir, &head, registry, Box::new(NoSecrets)));
        (2..=3).for_each(|at| second(&mut timeline, at));
        assert_eq!((timeline.seconds.intervals().len(), timeline.in_journal.len()), (1, 2));
        timeline.journal.as_mut().unwrap().break_disk();
        (4..=5).for_each(|at| second(&mut timeline, at));
        assert!(timeline.journal_problem().is_some());
        assert_eq!((timeline.seconds.intervals().len(), timeline.in_journal.len()), (5, 0));
        let over_time = timeline.finish(std::iter::empty(), None);
        let sums = document::Points::Counter { sum: [1.0, 2.0, 3.0, 4.0, 5.0].map(Some).to_vec() };
        assert_eq!(over_time.seconds.series[0].points, sums);
        assert_eq!(over_time.problem, None);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
