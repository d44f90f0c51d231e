//! A result of a run that did not come to its end, made of its journal.
//!
//! It has what was measured up to the last whole interval: totals, series, thresholds, errors. What is found out at the
//! end is not in it: how the generator fared, and what teardown did. A damaged frame ends the reading, and is told.
//! Journals of agents: `fleet/parts.rs`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::scenario::Scenarios;
use metrics::threshold::Moment;
use metrics::{Aggregate, Registry, ShardReader, Snapshot, ThresholdSpecs, Thresholds};
use report::TrendStat;
use report::document::{Document, Exit, Generator};
use wire::mask::Mask;

use crate::commands::run::saved::journal::{Head, JournalEntry, Record};
use crate::commands::run::saved::reader::JournalReader;
use crate::commands::run::saved::save::{self, Facts, Figures, TestFacts};
use crate::commands::run::saved::timeline::Timeline;
use crate::exit_code::ExitCode;

/// The result of a journal of a run in one process.
pub fn rebuild(head: Head, mut journal: JournalReader) -> Result<Document, String> {
    let mut run = Rebuilt::new(&head);
    loop {
        let added = match journal.next() {
            Ok(None) => break,
            Ok(Some(Record::Interval(entry))) => run.add(entry).map_err(|what| journal.damage(&what)),
            Ok(Some(Record::End(_))) => Err(journal.damage("it ends as that of an agent does")),
            Err(damage) => Err(damage),
        };
        if let Err(damage) = added {
            run.damage = Some(damage);
            break;
        }
    }
    run.finish(head).map_err(|what| journal.problem(what))
}

/// What `setup()` measured and how long it took, as the journal of a process that was killed has it; none where it
/// measured nothing. For a registry of another process that goes on with that run.
pub fn setup_of(dir: &Path, registry: &Arc<Registry>) -> Result<Option<(Duration, Snapshot)>, String> {
    let Some((_, mut journal)) = JournalReader::open(dir)? else {
        return Err(format!("{} has no journal", dir.display()));
    };
    let Some(Record::Interval(entry)) = journal.next()? else { return Ok(None) };
    if entry.is_load() {
        return Ok(None);
    }
    let (from, to) = entry.interval();
    let samples = ShardReader::into_registry(Arc::clone(registry), 0).snapshot(entry.samples);
    samples.map(|samples| Some((to.saturating_sub(from), samples))).map_err(|what| journal.damage(&what))
}

/// The thresholds that were in effect.
pub fn threshold_specs(head: &Head) -> ThresholdSpecs {
    let specs = head.options.get("thresholds").cloned().and_then(|specs| serde_json::from_value(specs).ok());
    specs.unwrap_or_default()
}

/// What was planned.
pub fn planned_scenarios(head: &Head) -> Option<Scenarios> {
    head.options.get("scenarios").and_then(|scenarios| Scenarios::from_json(scenarios).ok())
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
        Rebuilt {
            timeline: Timeline::new(reader.registry().clone(), true),
            reader,
            specs: threshold_specs(head),
            aggregate: None,
            reached: Duration::ZERO,
            damage: None,
        }
    }

    fn add(&mut self, entry: JournalEntry) -> Result<(), String> {
        let (interval, scenarios, is_load) = (entry.interval(), entry.scenarios(), entry.is_load());
        let snapshot = self.reader.snapshot(entry.samples)?;
        let registry = self.reader.registry();
        if self.aggregate.is_none() {
            let thresholds = Thresholds::resolve(&self.specs, registry).map_err(|error| error.to_string())?;
            self.aggregate = Some(Aggregate::new(registry.clone(), thresholds));
        }
        self.timeline.restore(interval, scenarios, std::slice::from_ref(&snapshot));
        self.reached = interval.1;
        if let Some(aggregate) = &mut self.aggregate {
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
        let over_time = self.timeline.finish(planned_scenarios(&head).iter().flat_map(Scenarios::iter));
        let stats = report::trend_stats_of(&head.options).unwrap_or_else(TrendStat::defaults);
        let ended = format!("the run did not come to its end; rebuilt from its journal of {:?}", self.reached);
        let notes = [Some(ended.clone()), self.damage].into_iter().flatten().collect();
        let mask = Mask::standard();
        let facts = Facts {
            test: TestFacts::of_journal(&head, &stats, &mask),
            duration: self.reached,
            figures: Figures { results: &results, details: aggregate.details(load), over_time },
            generator: Generator { too_short: true, notes, ..Generator::default() },
            environment: head.environment.clone(),
            messages: None,
            code,
            reason: None,
        };
        let exit = Exit { code: code as u8, reason: Some(ended) };
        Ok(Document { exit, ..save::document(facts) })
    }
}
