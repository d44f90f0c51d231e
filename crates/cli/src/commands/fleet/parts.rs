//! One result of the journals of many agents, without their coordinator: what it would have come to.
//!
//! Each second is put together by its number, because all agents count from the same instant. A part that is missing,
//! or whose journal has no end, makes the result INVALID. What only the coordinator knows is not in it: what `setup()`
//! and `teardown()` measured, and whether somebody ended the test.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::Health;
use engine::health::ArrivalCounts;
use engine::scenario::Scenarios;
use fleet::message;
use metrics::threshold::Moment;
use metrics::{AgentUsers, Aggregate, Registry, SecondOfAgents, ShardReader, ThresholdSpecs, Thresholds};
use report::TrendStat;
use report::document::{AgentFigures, Document, Generator};
use units::date::rfc3339_ns;
use wire::mask::Mask;

use super::members::Members;
use crate::commands::run::facts::agents_report::AgentsReport;
use crate::commands::run::facts::generator::{Circumstances, Judged};
use crate::commands::run::saved::journal::{Head, JournalEntry, Record, TestPart};
use crate::commands::run::saved::part::{Cause, PartEnd, PartOutcome};
use crate::commands::run::saved::reader::JournalReader;
use crate::commands::run::saved::rebuild::{planned_scenarios, threshold_specs};
use crate::commands::run::saved::save::{self, Facts, Figures, TestFacts};
use crate::commands::run::saved::timeline::Timeline;
use crate::exit_code::ExitCode;

/// Agents of a test; so much is not allocated because a number is damaged.
const MOST: u32 = 1 << 20;

/// A journal that was given, and where it is.
pub type GivenJournal = (PathBuf, Head, JournalReader);

/// The journals of these directories; one without is left out.
pub fn all(dirs: &[PathBuf]) -> Result<Vec<GivenJournal>, String> {
    let open = |dir: &PathBuf| Ok(JournalReader::open(dir)?.map(|(head, journal)| (dir.clone(), head, journal)));
    let found: Result<Vec<_>, String> = dirs.iter().filter(|dir| dir.is_dir()).map(open).collect();
    Ok(found?.into_iter().flatten().collect())
}

/// The result of these journals, and a line that says whose they are.
pub fn join(given: Vec<GivenJournal>) -> Result<(Document, String), String> {
    let parts = OpenPart::all(given)?;
    let mut whole = Whole::new(&parts[0].head);
    let parts = whole.read(parts)?;
    whole.finish(parts)
}

/// A part of a test while its journal is read.
struct OpenPart {
    dir: PathBuf,
    head: Head,
    part: TestPart,
    journal: JournalReader,
    /// The next second that is not in the whole yet.
    next: Option<(u64, JournalEntry)>,
    /// The last one that was read.
    number: u64,
    end: Option<PartEnd>,
    /// Why it is not whole.
    lost: Option<String>,
}

impl OpenPart {
    /// All that were given, by index; the error says why they are no parts of one test.
    fn all(given: Vec<GivenJournal>) -> Result<Vec<OpenPart>, String> {
        let mut parts: Vec<OpenPart> = given.into_iter().map(OpenPart::new).collect::<Result<_, String>>()?;
        parts.sort_by_key(|part| part.part.index);
        for pair in parts.windows(2) {
            let [one, other] = pair else { continue };
            let both = format!("{} and {}", one.dir.display(), other.dir.display());
            if (&one.part.run, one.part.of) != (&other.part.run, other.part.of) {
                let (one, other) = (&one.part, &other.part);
                let (one, other) = (format!("{} of {}", one.run, one.of), format!("{} of {}", other.run, other.of));
                return Err(format!("{both} are of different tests: run {one} agents, and run {other} agents"));
            }
            if one.part.index == other.part.index {
                return Err(format!("{both} are both of agent {}: give one of them", one.part.index));
            }
        }
        Ok(parts)
    }

    fn new((dir, head, journal): GivenJournal) -> Result<OpenPart, String> {
        let Some(part) = head.part.clone() else {
            let text = "found the journal of a whole run, expected that of an agent: give it alone";
            return Err(journal.problem(text.to_owned()));
        };
        if part.index >= part.of || part.of > MOST {
            return Err(journal.problem(format!("found agent {} of {}, expected 0 to {MOST}", part.index, part.of)));
        }
        let (next, end, lost) = Default::default();
        Ok(OpenPart { dir, head, part, journal, next, number: 0, end, lost })
    }

    /// Reads on until there is a second, or nothing more.
    fn advance(&mut self) {
        if self.next.is_some() || self.end.is_some() || self.lost.is_some() {
            return;
        }
        match self.journal.next() {
            Ok(Some(Record::Interval(entry))) => match entry.second.filter(|number| *number > self.number) {
                Some(number) => {
                    self.number = number;
                    self.next = Some((number, entry));
                }
                None => self.lost = Some(self.journal.damage("its second has no number, or one that was before")),
            },
            Ok(Some(Record::End(end))) => match message::decode::<PartEnd>(&end) {
                Ok(end) => self.close(end),
                Err(why) => self.lost = Some(self.journal.damage(&why)),
            },
            Ok(None) => self.lost = Some(format!("its journal ends early, after second {}", self.number)),
            Err(damage) => self.lost = Some(damage),
        }
    }

    fn close(&mut self, end: PartEnd) {
        if let Some(Cause::Signal(name)) = &end.cause {
            self.lost = Some(format!("it was ended by {name}"));
        }
        self.end = Some(end);
    }
}

/// What the parts come to.
struct Whole {
    registry: Arc<Registry>,
    readers: BTreeMap<u32, ShardReader>,
    specs: ThresholdSpecs,
    /// Made with the first second, which brings the metrics that thresholds are about.
    aggregate: Option<Aggregate>,
    timeline: Timeline,
    users: AgentUsers,
    reached: Duration,
}

impl Whole {
    fn new(head: &Head) -> Whole {
        let registry = Registry::new();
        Whole {
            timeline: Timeline::new(registry.clone(), true),
            readers: BTreeMap::new(),
            specs: threshold_specs(head),
            aggregate: None,
            users: AgentUsers::default(),
            reached: Duration::ZERO,
            registry,
        }
    }

    /// Second by second, all that there is.
    fn read(&mut self, mut parts: Vec<OpenPart>) -> Result<Vec<OpenPart>, String> {
        loop {
            parts.iter_mut().for_each(OpenPart::advance);
            let Some(number) = parts.iter().filter_map(|part| part.next.as_ref().map(|(number, _)| *number)).min()
            else {
                return Ok(parts);
            };
            self.second(number, &mut parts)?;
        }
    }

    fn second(&mut self, number: u64, parts: &mut [OpenPart]) -> Result<(), String> {
        let (mut all, mut end) = (SecondOfAgents::new(self.registry.clone()), self.reached);
        for part in parts.iter_mut() {
            if part.lost.is_some() && part.next.is_none() {
                self.users.lose(part.part.index);
            }
            let Some((_, entry)) = part.next.take_if(|(next, _)| *next == number) else { continue };
            let index = part.part.index;
            let registry = &self.registry;
            let reader = self.readers.entry(index);
            let reader = reader.or_insert_with(|| ShardReader::into_registry(registry.clone(), index));
            let (_, closed) = entry.interval();
            match reader.read(entry.samples) {
                Ok(samples) => all.add(index, samples),
                Err(why) => {
                    part.lost = Some(part.journal.damage(&why));
                    continue;
                }
            }
            end = end.max(closed);
        }
        let samples = all.into_snapshot(&mut self.users);
        self.timeline.restore((self.reached, end), (Duration::ZERO, end), std::slice::from_ref(&samples));
        self.reached = end;
        let aggregate = match &mut self.aggregate {
            Some(aggregate) => aggregate,
            None => {
                let thresholds = Thresholds::resolve(&self.specs, &self.registry).map_err(|error| error.to_string())?;
                self.aggregate.insert(Aggregate::new(self.registry.clone(), thresholds))
            }
        };
        aggregate.merge(samples);
        Ok(())
    }

    fn finish(self, mut parts: Vec<OpenPart>) -> Result<(Document, String), String> {
        let Some(mut aggregate) = self.aggregate else {
            let whose: Vec<String> = parts.iter().map(|part| part.dir.display().to_string()).collect();
            return Err(format!("{}: no journal has an interval: the test ended early", whose.join(", ")));
        };
        let members = members(&mut parts, &self.registry);
        let agents = members.report();
        let latest = |of: fn(&PartOutcome) -> Duration| {
            let ends = members.outcomes().map(of).max().unwrap_or_default();
            if !agents.has_lost() { ends } else { ends.max(self.reached) }
        };
        let (load, duration) = (latest(|part| part.loaded_until), latest(|part| part.ended));
        let verdict = aggregate.judge(load, Moment::End);
        let results = aggregate.results(load, false);
        let mut head = parts.swap_remove(0).head;
        // The test is whole again.
        if let Some(options) = head.options.as_object_mut() {
            options.retain(|name, _| !name.starts_with("executionSegment"));
        }
        let over_time = self.timeline.finish(planned_scenarios(&head).iter().flat_map(Scenarios::iter));
        let stats = report::trend_stats_of(&head.options).unwrap_or_else(TrendStat::defaults);
        let code = exit_code(&members, &agents, !verdict.crossed.is_empty());
        let health = health(&members, duration);
        // Agents have judged themselves: here remain counts and samples of all together.
        let of_all = Health { workers: Vec::new(), process_cores: 0.0, ..health.clone() };
        let judged = Judged::new(&of_all, &stats, &results, &Circumstances::default());
        let judged = judged.and(&agents);
        let whose = whose(&agents.figures);
        let notes = [whose.clone()].into_iter().chain(agents.notes);
        let generator = Generator {
            agents: agents.figures,
            start_bound_ms: Some(agents.start_bound_ms),
            stamps_apart_ms: agents.stamps_apart_ms,
            ..judged.document(&health, notes)
        };
        let mask = Mask::standard();
        let facts = Facts {
            test: TestFacts::of_journal(&head, &stats, &mask),
            duration,
            figures: Figures { results: &results, details: aggregate.details(load), over_time },
            generator,
            environment: head.environment.clone(),
            messages: None,
            code,
            reason: None,
        };
        Ok((save::document(facts), whose))
    }
}

/// Who was there, and how each fared.
fn members(parts: &mut [OpenPart], registry: &Arc<Registry>) -> Members {
    let all = parts[0].part.of;
    let mut members = Members::new(all, registry);
    members.began_apart = began_apart(parts);
    (0..all).for_each(|index| members.of(index).lost = Some(String::from("its journal is missing")));
    for part in parts {
        members.bound = members.bound.max(Duration::from_nanos(part.part.bound_ns));
        let member = members.of(part.part.index);
        member.name.clone_from(&part.part.name);
        (member.end, member.lost) = (part.end.take(), part.lost.take());
    }
    members
}

/// How far apart parts began that nobody started at one instant, by the clocks of their machines; none: somebody did.
fn began_apart(parts: &[OpenPart]) -> Option<Duration> {
    let alone = parts.iter().filter(|part| part.part.is_on_its_own);
    let starts: Vec<i128> = alone.filter_map(|part| rfc3339_ns(&part.head.started_at)).collect();
    let apart = starts.iter().max()? - starts.iter().min()?;
    Some(Duration::from_nanos(u64::try_from(apart).unwrap_or_default()))
}

/// Whose journals these are, for people.
fn whose(agents: &[AgentFigures]) -> String {
    /// More names than this help nobody; the result has all.
    const NAMED: usize = 16;
    let there = agents.iter().filter(|agent| agent.lost.is_none());
    let names: Vec<String> = there.map(|agent| format!("{} ({})", agent.index, agent.name)).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "made of the whole journals of {} of {} agents: {}{more}; what setup() and teardown() measured is not in them",
        names.len(),
        agents.len(),
        names[..names.len().min(NAMED)].join(", ")
    )
}

/// All workers of all agents.
fn health(members: &Members, wall: Duration) -> Health {
    let mut health = Health { wall, ..Health::default() };
    for part in members.outcomes() {
        health.workers.extend(part.health.workers.iter().cloned());
        health.process_cores += part.health.process_cores;
        for (counts, _) in &part.live.scenarios {
            let all = &mut health.counts;
            (all.started, all.completed) = (all.started + counts.started, all.completed + counts.completed);
            (all.interrupted, all.dropped) = (all.interrupted + counts.interrupted, all.dropped + counts.dropped);
        }
        let (all, own) = (health.arrivals, part.health.arrivals);
        let worse = if all.lasts.is_zero() || own.achieved_share() < all.achieved_share() { own } else { all };
        let (started, dropped) = (all.started + own.started, all.dropped + own.dropped);
        health.arrivals = ArrivalCounts { started, dropped, ..worse };
    }
    health
}

/// How the run ended, as far as its agents know.
fn exit_code(members: &Members, agents: &AgentsReport, is_crossed: bool) -> ExitCode {
    match () {
        () if members.ends().any(|end| matches!(end.cause, Some(Cause::Script(_)))) => ExitCode::ScriptAborted,
        () if agents.is_marked_failed => ExitCode::MarkedFailed,
        () if is_crossed => ExitCode::ThresholdsFailed,
        () if members.outcomes().any(|part| part.lost_users + part.stuck_workers > 0) => ExitCode::UserStuck,
        () if agents.has_lost() => ExitCode::AgentsLost,
        () => ExitCode::Ok,
    }
}
