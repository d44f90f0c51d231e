//! A result of a run that did not come to its end, made of its journal.
//!
//! It has what was measured up to the last whole interval: totals, series, thresholds, errors. What is found out at the
//! end is not in it: how the generator fared, and what teardown did. A damaged frame ends the reading, and is told.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use engine::scenario::Scenarios;
use metrics::threshold::Moment;
use metrics::{Aggregate, ShardReader, ThresholdSpecs, Thresholds};
use report::TrendStat;
use report::document::{Document, Exit, Generator};
use wire::mask::Mask;

use super::frames;
use super::journal::{FILE_NAME, Head, JournalEntry, KIND, SCHEMA};
use super::plateau::plateau;
use super::save::{self, Facts};
use super::timeline::Timeline;
use crate::exit_code::ExitCode;

/// The result of the journal in a directory; `None` when there is none.
pub fn rebuild(dir: &Path) -> Result<Option<Document>, String> {
    let path = dir.join(FILE_NAME);
    let problem = |what: String| format!("{}: {what}", path.display());
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    let mut file = BufReader::new(file);
    let first = frames::read(&mut file).map(Option::unwrap_or_default);
    let head = first.and_then(|first| serde_json::from_slice::<Head>(&first).map_err(|error| error.to_string()));
    let head =
        head.map_err(|why| problem(format!("it does not begin as the journal of a run with --save does: {why}")))?;
    if head.kind != KIND || head.schema != SCHEMA {
        let found = format!("found {} of schema {}", head.kind, head.schema);
        return Err(problem(format!("{found}, expected {KIND} of schema {SCHEMA}: use the Onrush that wrote it")));
    }
    let mut run = Rebuilt::new(&head);
    for interval in 1.. {
        let added = match frames::read(&mut file) {
            Ok(None) => break,
            Ok(Some(frame)) => run.add(&frame),
            Err(what) => Err(what),
        };
        if let Err(what) = added {
            run.damage = Some(format!("interval {interval} of the journal is damaged and ends it: {what}"));
            break;
        }
    }
    run.finish(head).map(Some).map_err(problem)
}

/// A run as far as its journal has been read.
struct Rebuilt {
    reader: ShardReader,
    specs: ThresholdSpecs,
    /// Made with the first interval, which brings the metrics that thresholds are about.
    aggregate: Option<Aggregate>,
    timeline: Timeline,
    reached: Duration,
    damage: Option<String>,
}

impl Rebuilt {
    fn new(head: &Head) -> Rebuilt {
        let reader = ShardReader::default();
        let specs = head.options.get("thresholds").cloned().and_then(|specs| serde_json::from_value(specs).ok());
        Rebuilt {
            timeline: Timeline::new(reader.registry().clone(), true),
            reader,
            specs: specs.unwrap_or_default(),
            aggregate: None,
            reached: Duration::ZERO,
            damage: None,
        }
    }

    fn add(&mut self, frame: &[u8]) -> Result<(), String> {
        let entry: JournalEntry = postcard::from_bytes(frame).map_err(|error| error.to_string())?;
        let snapshot = self.reader.snapshot(entry.samples)?;
        let registry = self.reader.registry();
        if self.aggregate.is_none() {
            let thresholds = Thresholds::resolve(&self.specs, registry).map_err(|error| error.to_string())?;
            self.aggregate = Some(Aggregate::new(registry.clone(), thresholds));
        }
        let times = |(from, to): (u64, u64)| (Duration::from_nanos(from), Duration::from_nanos(to));
        let interval = times(entry.interval_ns);
        let scenarios = times(entry.scenarios_ns);
        self.timeline.restore(interval, scenarios, &snapshot);
        self.reached = interval.1;
        if let Some(aggregate) = &mut self.aggregate {
            // An interval of setup was there before the scenarios were, one of teardown begins when they are over.
            let is_load = interval.0 < scenarios.1;
            if is_load { aggregate.merge(snapshot) } else { aggregate.merge_aside(snapshot) }
        }
        Ok(())
    }

    fn finish(self, head: Head) -> Result<Document, String> {
        let Some(mut aggregate) = self.aggregate else {
            return Err("it has no interval: the run was over before its first second was".to_owned());
        };
        let load = self.timeline.load();
        let verdict = aggregate.judge(load, Moment::End);
        let code = if verdict.crossed.is_empty() { ExitCode::Generic } else { ExitCode::ThresholdsFailed };
        let results = aggregate.results(load, false);
        let scenarios = head.options.get("scenarios").and_then(|scenarios| Scenarios::from_json(scenarios).ok());
        let plateau = plateau(scenarios.iter().flat_map(Scenarios::iter));
        let (seconds, steadiness) = self.timeline.finish(plateau);
        let stats = report::trend_stats_of(&head.options).unwrap_or_else(TrendStat::defaults);
        let ended = format!("the run did not come to its end; rebuilt from its journal of {:?}", self.reached);
        let notes = [Some(ended.clone()), self.damage].into_iter().flatten().collect();
        let facts = Facts {
            script: &head.script,
            labels: &head.labels,
            started_at: head.started_at,
            duration: self.reached,
            options: head.options,
            results: &results,
            stats: &stats,
            details: aggregate.details(load),
            seconds,
            steadiness,
            generator: Generator { too_short: true, notes, ..Generator::default() },
            environment: head.environment,
            messages: None,
            code,
            reason: None,
            mask: &Mask::standard(),
        };
        let exit = Exit { code: code as u8, reason: Some(ended) };
        Ok(Document { exit, ..save::document(facts) })
    }
}
