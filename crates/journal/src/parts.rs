//! One result of the journals of many agents, without their coordinator: what it would have come to.
//!
//! Each second is put together by its number, because all agents count from the same instant. A part that is missing,
//! or whose journal has no end, makes the result INVALID. What only the coordinator knows is not in it: what `setup()`
//! and `teardown()` measured, and whether somebody ended the test.

use std::path::PathBuf;
use std::time::Duration;

use engine::Health;
use engine::health::ArrivalCounts;
use engine::state::Counts;
use metrics::Registry;
use units::date::rfc3339_ns;

use crate::agents_report::AgentsReport;
use crate::members::Members;
use crate::merge::{Merge, MergedTest};
use crate::part::{Cause, PartEnd, PartOutcome};
use crate::reader::JournalReader;
use crate::record::{IntervalTimes, JournalEntry, JournalHead, Record, TestPart};

/// Agents of a test; so much is not allocated because a number is damaged.
const MOST: u32 = 1 << 20;

/// A journal that was given, and where it is.
pub type GivenJournal = (PathBuf, JournalHead, JournalReader);

/// The journals of these directories; one without is left out.
pub fn all(dirs: &[PathBuf]) -> Result<Vec<GivenJournal>, String> {
    let open = |dir: &PathBuf| Ok(JournalReader::open(dir)?.map(|(head, journal)| (dir.clone(), head, journal)));
    let found: Result<Vec<_>, String> = dirs.iter().filter(|dir| dir.is_dir()).map(open).collect();
    Ok(found?.into_iter().flatten().collect())
}

/// What the parts of a test come to.
pub struct MergedParts {
    /// The test as one.
    pub test: MergedTest,
    /// How each part ended.
    pub members: Members,
    /// The same for a result.
    pub agents: AgentsReport,
    /// All workers of all agents.
    pub health: Health,
}

/// What these journals come to; the error says why they are no parts of one test.
pub fn join(given: Vec<GivenJournal>) -> Result<MergedParts, String> {
    let mut parts = OpenPart::all(given)?;
    assert!(!parts.is_empty(), "there are parts to join");
    assert!(parts.windows(2).all(|pair| pair[0].part.index < pair[1].part.index), "each part once, in order");
    let registry = Registry::new();
    let mut merge = Merge::new(&parts[0].head, &registry);
    let mut members = Members::new(parts[0].part.of, &registry);
    let (mut reached, mut last) = (Duration::ZERO, 0);
    loop {
        parts.iter_mut().for_each(OpenPart::advance);
        let next = parts.iter().filter_map(|part| part.next.as_ref().map(|(number, _)| *number)).min();
        let Some(number) = next else { break };
        assert!(number > last, "seconds are joined in order: {last}, then {number}");
        last = number;
        parts.iter_mut().for_each(|part| part.give(number, &mut members));
        let (end, samples) = members.pass_on(number);
        let end = end.max(reached);
        merge.add(IntervalTimes::new((reached, end), (Duration::ZERO, end)), samples, true)?;
        reached = end;
    }
    finish(merge, members, parts, reached)
}

/// A part of a test while its journal is read.
struct OpenPart {
    dir: PathBuf,
    head: JournalHead,
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
        match self.journal.next_record() {
            Ok(Some(Record::Interval(entry))) => match entry.second.filter(|number| *number > self.number) {
                Some(number) => {
                    self.number = number;
                    self.next = Some((number, entry));
                }
                None => self.lost = Some(self.journal.damage("its second has no number, or one that was before")),
            },
            Ok(Some(Record::End(end))) => match PartEnd::read(&end) {
                Ok(end) => self.close(end),
                Err(why) => self.lost = Some(self.journal.damage(&why)),
            },
            Ok(Some(Record::Change(_))) => unreachable!("bug: the reader keeps changes"),
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

    /// Its second of this number, if it has one.
    fn give(&mut self, number: u64, members: &mut Members) {
        let index = self.part.index;
        if self.lost.is_some() && self.next.is_none() {
            members.forget_users(index);
        }
        if let Some((_, entry)) = self.next.take_if(|(next, _)| *next == number)
            && let Err(why) = members.add(index, number, entry)
        {
            self.lost = Some(self.journal.damage(&why));
        }
    }
}

fn finish(
    merge: Merge,
    mut members: Members,
    mut parts: Vec<OpenPart>,
    reached: Duration,
) -> Result<MergedParts, String> {
    let whose: Vec<String> = parts.iter().map(|part| part.dir.display().to_string()).collect();
    know(&mut members, &mut parts);
    let agents = members.report();
    let latest = |of: fn(&PartOutcome) -> Duration| {
        let ends = members.outcomes().map(of).max().unwrap_or_default();
        if !agents.has_lost() { ends } else { ends.max(reached) }
    };
    let (load, duration) = (latest(|part| part.loaded_until), latest(|part| part.ended));
    // All agents follow the same changes; one that ended early may lack the last.
    let changes = parts.iter().map(|part| part.journal.changes()).max_by_key(|changes| changes.len());
    let changes = changes.unwrap_or_default().to_vec();
    let mut head = parts.swap_remove(0).head;
    // The test is whole again.
    if let Some(options) = head.options.as_object_mut() {
        options.retain(|name, _| !name.starts_with("executionSegment"));
    }
    let test = merge.finish(head, load, duration, changes);
    let test = test.ok_or_else(|| format!("{}: no journal has an interval: the test ended early", whose.join(", ")))?;
    let health = health(&members, duration);
    Ok(MergedParts { test, members, agents, health })
}

/// Who was there, and how each fared.
fn know(members: &mut Members, parts: &mut [OpenPart]) {
    members.began_apart = began_apart(parts);
    (0..parts[0].part.of).for_each(|index| members.of(index).lost = Some(String::from("its journal is missing")));
    for part in parts {
        members.bound = members.bound.max(Duration::from_nanos(part.part.bound_ns));
        let member = members.of(part.part.index);
        member.name.clone_from(&part.part.name);
        (member.end, member.lost) = (part.end.take(), part.lost.take());
    }
}

/// How far apart parts began that nobody started at one instant, by the clocks of their machines; none: somebody did.
fn began_apart(parts: &[OpenPart]) -> Option<Duration> {
    let alone = parts.iter().filter(|part| part.part.is_on_its_own);
    let starts: Vec<i128> = alone.filter_map(|part| rfc3339_ns(&part.head.started_at)).collect();
    let apart = starts.iter().max()? - starts.iter().min()?;
    Some(Duration::from_nanos(u64::try_from(apart).unwrap_or_default()))
}

/// All workers of all agents, and what all of them counted.
fn health(members: &Members, wall: Duration) -> Health {
    let (mut counts, mut arrivals) = (Counts::default(), ArrivalCounts::default());
    for part in members.outcomes() {
        for (own, _) in &part.live.scenarios {
            (counts.started, counts.completed) = (counts.started + own.started, counts.completed + own.completed);
            (counts.interrupted, counts.dropped) = (counts.interrupted + own.interrupted, counts.dropped + own.dropped);
        }
        let (all, own) = (arrivals, part.health.arrivals);
        let worse = if all.lasts.is_zero() || own.achieved_share() < all.achieved_share() { own } else { all };
        let (started, dropped) = (all.started + own.started, all.dropped + own.dropped);
        arrivals = ArrivalCounts { started, dropped, ..worse };
    }
    members.health(counts, arrivals, wall)
}
