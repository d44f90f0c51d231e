//! Journals of agents that nobody coordinated: which of them are parts of one test, and what they come to together.
//!
//! What is no part is refused with its folder. A part that is not whole makes the result INVALID, and counts all the
//! same.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::health::{ArrivalCounts, WorkerHealth};
use engine::scenario::Scenarios;
use engine::segment::Stripes;
use engine::state::Counts;
use engine::{Cause as Doubt, Finding, Health, Judgement, Plan, RunState, Severity, Tick, Verdict};
use metrics::builtin;
use onrush_journal::{Cause, FILE_NAME, JournalHead, MergedParts, PartCounts, PartEnd, Record, TestPart, all, join};
use report::document::AgentLoad;

use crate::agent::{Agent, START, end, part};
use crate::support::{SECOND, folder, head};

const MS: Duration = Duration::from_millis(1);

/// A folder of its own for each, in one of this name.
fn dirs(name: &str, count: usize) -> Vec<PathBuf> {
    let dir = folder(name);
    let made = |index: usize| {
        let own = dir.join(index.to_string());
        std::fs::create_dir(&own).expect("made");
        own
    };
    (0..count).map(made).collect()
}

fn joined(dirs: &[PathBuf]) -> Result<MergedParts, String> {
    join(all(dirs)?)
}

fn refused(dirs: &[PathBuf]) -> String {
    joined(dirs).err().expect("they are no parts of one test")
}

/// A part of one second that ended.
fn agent(dir: &Path, part: TestPart) {
    let mut agent = Agent::begin_as(dir, head(), part);
    agent.tick(SECOND, 1);
    agent.end(SECOND);
}

fn losses(parts: &MergedParts) -> Vec<Option<&str>> {
    parts.agents.figures.iter().map(|agent| agent.lost.as_deref()).collect()
}

#[test]
fn journals_of_different_tests_are_refused() {
    let dirs = dirs("different", 2);
    let both = format!("{} and {}", dirs[0].display(), dirs[1].display());
    agent(&dirs[0], part(0, 2));
    agent(&dirs[1], TestPart { run: String::from("other"), ..part(1, 2) });
    let runs = "run run of 2 agents, and run other of 2 agents";
    assert_eq!(refused(&dirs), format!("{both} are of different tests: {runs}"));
    agent(&dirs[1], part(1, 3));
    let runs = "run run of 2 agents, and run run of 3 agents";
    assert_eq!(refused(&dirs), format!("{both} are of different tests: {runs}"));
    agent(&dirs[1], part(0, 2));
    assert_eq!(refused(&dirs), format!("{both} are both of agent 0: give one of them"));
    agent(&dirs[1], part(1, 2));
    assert_eq!(joined(&dirs).map(|parts| parts.test.results.count("iterations")), Ok(2));
}

#[test]
fn a_part_has_a_number_among_the_others() {
    let dirs = dirs("numbers", 1);
    let path = dirs[0].join(FILE_NAME).display().to_string();
    for (index, of, found) in [(2, 2, "2 of 2"), (3, 2, "3 of 2"), (0, (1 << 20) + 1, "0 of 1048577")] {
        agent(&dirs[0], part(index, of));
        assert_eq!(refused(&dirs), format!("{path}: found agent {found}, expected 0 to 1048576"));
    }
    let mut journal = onrush_journal::Journal::begin(
        &dirs[0],
        &head(),
        metrics::Registry::new(),
        Box::new(onrush_journal::NoSecrets),
    );
    journal.end(Vec::new());
    assert_eq!(
        refused(&dirs),
        format!("{path}: found the journal of a whole run, expected that of an agent: give it alone")
    );
}

#[test]
fn folders_without_a_journal_are_left_out_and_their_parts_are_missing() {
    let mut dirs = dirs("missing", 3);
    agent(&dirs[0], part(1, 3));
    dirs.push(dirs[0].join("there is none"));
    assert_eq!(all(&dirs).map(|found| found.len()), Ok(1));
    let parts = joined(&dirs).expect("a part");
    let missing = Some("its journal is missing");
    assert_eq!(losses(&parts), [missing, None, missing]);
    assert_eq!(parts.agents.verdict, Verdict::Invalid);
    assert_eq!(parts.members.title(1), "agent 1 (agent-1)");
}

#[test]
fn parts_without_an_interval_come_to_nothing() {
    let dirs = dirs("empty", 2);
    for (index, dir) in dirs.iter().enumerate() {
        Agent::begin(dir, index as u32, 2).end(SECOND);
    }
    let both = format!("{}, {}", dirs[0].display(), dirs[1].display());
    assert_eq!(refused(&dirs), format!("{both}: no journal has an interval: the test ended early"));
}

#[test]
fn a_second_that_was_before_ends_a_part() {
    let dirs = dirs("again", 2);
    agent(&dirs[1], part(1, 2));
    for again in [1, 2] {
        let mut own = Agent::begin(&dirs[0], 0, 2);
        own.tick(SECOND, 1);
        own.tick(2 * SECOND, 2);
        own.end(2 * SECOND);
        let path = dirs[0].join(FILE_NAME);
        let bytes = std::fs::read(&path).expect("read");
        let mut frames = frames(&bytes);
        frames.truncate(3);
        frames.push(frames[again]);
        std::fs::write(&path, frames.concat()).expect("written");
        let parts = joined(&dirs).expect("parts of one test");
        let lost = "interval 3 of the journal is damaged and ends it: its second has no number, or one that was before";
        assert_eq!(losses(&parts), [Some(lost), None]);
        assert_eq!(parts.test.results.count("iterations"), 4);
    }
}

/// The frames of a journal, each with its head.
fn frames(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut frames, mut rest) = (Vec::new(), bytes);
    while let Some((length, _)) = rest.split_first_chunk::<4>() {
        let (frame, behind) = rest.split_at(8 + u32::from_le_bytes(*length) as usize);
        frames.push(frame);
        rest = behind;
    }
    frames
}

#[test]
fn a_part_that_a_signal_ended_is_not_whole() {
    let dirs = dirs("signal", 3);
    let causes = [Some(Cause::Signal(String::from("SIGTERM"))), Some(Cause::Script(String::from("enough"))), None];
    for (index, cause) in causes.into_iter().enumerate() {
        let mut own = Agent::begin(&dirs[index], index as u32, 3);
        own.tick(SECOND, 1);
        let end = PartEnd { cause, verdict: Verdict::Trusted, ..end(SECOND, SECOND, &RunState::default()) };
        own.journal.end(end.to_bytes());
    }
    let parts = joined(&dirs).expect("parts of one test");
    assert_eq!(losses(&parts), [Some("it was ended by SIGTERM"), None, None]);
    assert_eq!(parts.agents.verdict, Verdict::Invalid);
}

#[test]
fn an_end_that_cannot_be_read_is_told() {
    let dirs = dirs("bad-end", 1);
    let mut own = Agent::begin(&dirs[0], 0, 1);
    own.tick(SECOND, 1);
    own.journal.end(vec![]);
    let parts = joined(&dirs).expect("it has an interval");
    let lost =
        "interval 2 of the journal is damaged and ends it: a message that Hit the end of buffer, expected more data";
    assert_eq!(losses(&parts), [Some(lost)]);
}

#[test]
fn the_whole_lasts_as_long_as_its_last_part() {
    let dirs = dirs("lasts", 2);
    for (index, (loaded, ended)) in [(1500, 1900), (1200, 2500)].into_iter().enumerate() {
        let mut own = Agent::begin(&dirs[index], index as u32, 2);
        (1..=3).for_each(|second| own.tick(second * SECOND, 1));
        own.journal.end(end(loaded * MS, ended * MS, &RunState::default()).to_bytes());
    }
    let parts = joined(&dirs).expect("parts of one test");
    assert_eq!((parts.test.results.duration, parts.test.duration), (1500 * MS, 2500 * MS));
    assert_eq!(parts.health.wall, 2500 * MS);
    // Of a part that is lost, only the seconds of its journal tell how long it was.
    let mut own = Agent::begin(&dirs[1], 1, 2);
    (1..=3).for_each(|second| own.tick(second * SECOND, 1));
    let parts = joined(&dirs).expect("parts of one test");
    assert_eq!((parts.test.results.duration, parts.test.duration), (3 * SECOND, 3 * SECOND));
}

/// A state of two scenarios with these counts.
fn counted(counts: [Counts; 2]) -> Arc<RunState> {
    let plan = serde_json::json!({
        "a": { "executor": "constant-vus", "vus": 1, "duration": "10s" },
        "b": { "executor": "constant-vus", "vus": 1, "duration": "10s" },
    });
    let plan = Scenarios::from_json(&plan).expect("a plan");
    let state = Plan::new(&plan, &Stripes::whole(), 1).expect("a plan").state();
    state.set_counts(0, 2, &counts.map(|counts| (counts, Duration::ZERO)));
    state
}

#[test]
fn counts_of_all_parts_add_up_and_the_slowest_rate_speaks_for_all() {
    let dirs = dirs("counts", 3);
    let counts = |n: u64| Counts { started: n + 3, completed: n, interrupted: 1, dropped: 2 * n, active: 9 };
    let arrivals = [
        ArrivalCounts { started: 10, dropped: 1, behind: SECOND, lasts: 9 * SECOND },
        ArrivalCounts { started: 20, dropped: 2, behind: SECOND, lasts: 4 * SECOND },
        ArrivalCounts { started: 40, dropped: 4, behind: Duration::ZERO, lasts: 4 * SECOND },
    ];
    for (index, (arrivals, n)) in arrivals.into_iter().zip([100, 200, 400]).enumerate() {
        let mut own = Agent::begin(&dirs[index], index as u32, 3);
        own.tick(SECOND, 1);
        let mut end = end(SECOND, SECOND, &counted([counts(n), counts(n + 50)]));
        let workers = vec![WorkerHealth { cpu_share: 0.25, ..WorkerHealth::default() }];
        end.outcome.health = Health { workers, arrivals, process_cores: 0.5, ..Health::default() };
        own.journal.end(end.to_bytes());
    }
    let health = joined(&dirs).expect("parts of one test").health;
    let all = Counts { started: 1568, completed: 1550, interrupted: 6, dropped: 3100, active: 0 };
    assert_eq!((health.counts, health.workers.len(), health.process_cores), (all, 3, 1.5));
    assert_eq!(health.arrivals, ArrivalCounts { started: 70, dropped: 7, behind: SECOND, lasts: 4 * SECOND });
}

#[test]
fn parts_that_nobody_started_at_one_instant_tell_how_far_apart_they_began() {
    let dirs = dirs("alone", 3);
    let alone = |index: u32, at: &str, is_on_its_own| {
        let head = JournalHead { started_at: at.to_owned(), ..head() };
        let bound_ns = 1_000_000 * u64::from(index);
        let mut own =
            Agent::begin_as(&dirs[index as usize], head, TestPart { is_on_its_own, bound_ns, ..part(index, 3) });
        own.tick(SECOND, 1);
        own.end(SECOND);
    };
    let apart = || {
        let parts = joined(&dirs).expect("parts of one test");
        (parts.members.began_apart, parts.members.bound)
    };
    alone(0, "2026-01-01T00:00:01.25Z", true);
    alone(1, "2026-01-01T00:00:00.5Z", true);
    alone(2, "2026-01-01T00:00:01Z", true);
    assert_eq!(apart(), (Some(750 * MS), 2 * MS));
    alone(0, "2026-01-01T00:00:01.25Z", false);
    assert_eq!(apart(), (Some(500 * MS), 2 * MS), "of those who began alone");
    alone(1, "2026-01-01T00:00:00.5Z", false);
    alone(2, "2026-01-01T00:00:01Z", false);
    assert_eq!(apart(), (None, 2 * MS));
}

#[test]
fn users_of_a_part_that_is_lost_are_gone_and_those_of_one_that_ended_are_not() {
    let most = |name: &str, ends: bool| {
        let dirs = dirs(name, 2);
        for (index, seconds) in [(0, 3_u32), (1, 1)] {
            let mut own = Agent::begin(&dirs[index], index as u32, 2);
            for second in 1..=seconds {
                let users = own.recorder.series(builtin::VUS_MAX, &metrics::TagSet::empty());
                own.recorder.add(users, 5.0, u64::from(second));
                own.tick(second * SECOND, 1);
            }
            if index == 0 || ends {
                own.end(seconds * SECOND);
            }
        }
        let parts = joined(&dirs).expect("parts of one test");
        match parts.test.results.metric("vus_max").map(|metric| metric.value.clone()) {
            Some(metrics::results::Value::Gauge { value, min, max }) => (value, min, max),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(most("users-ended", true), (10.0, 10.0, 10.0));
    assert_eq!(most("users-lost", false), (5.0, 5.0, 10.0));
}

#[test]
fn seconds_have_numbers_also_where_a_part_stood_still() {
    let dirs = dirs("still", 1);
    let mut own = Agent::begin(&dirs[0], 0, 1);
    let mut add = |now: Duration, cut: Duration, is_last| {
        let (now, cut, elapsed, lately) = (START + now, START + cut, now, Health::default());
        let closed = own.journal.add(&Tick { now, cut, elapsed, snapshots: Vec::new(), is_last, lately });
        let Ok(Record::Interval(entry)) = Record::read(&closed.interval) else { panic!("it is an interval") };
        let (from, to) = entry.times.interval();
        let length = std::fs::metadata(dirs[0].join(FILE_NAME)).expect("it is there").len();
        let begin = closed.at.expect("it is written");
        assert_eq!((begin + 8 + closed.interval.len() as u64, closed.problem), (length, None));
        (closed.skipped, entry.second, from, to)
    };
    assert_eq!(add(1010 * MS, SECOND, false), (0, Some(1), Duration::ZERO, SECOND));
    assert_eq!(add(4020 * MS, 4 * SECOND, false), (2, Some(4), SECOND, 4 * SECOND));
    assert_eq!(add(4900 * MS, 3 * SECOND, false), (0, Some(5), 4 * SECOND, 4 * SECOND), "a number more, no time back");
    assert_eq!(
        add(7019 * MS, 7 * SECOND, true),
        (1, Some(7), 4 * SECOND, 7 * SECOND),
        "it belongs to the second before"
    );
    let mut other = Agent::begin(&dirs[0], 0, 1);
    let (now, cut) = (START + 1020 * MS, START + 1020 * MS);
    let tick = Tick { now, cut, elapsed: SECOND, snapshots: Vec::new(), is_last: true, lately: Health::default() };
    assert_eq!(other.journal.add(&tick).skipped, 1, "20 ms are a second of their own");
}

#[test]
fn a_journal_of_an_earlier_life_is_kept() {
    let dirs = dirs("life", 1);
    agent(&dirs[0], part(0, 1));
    let first = std::fs::read(dirs[0].join(FILE_NAME)).expect("read");
    let second = Agent::begin(&dirs[0], 0, 1);
    assert_eq!(second.journal.path(), dirs[0].join(FILE_NAME));
    assert_eq!(std::fs::read(dirs[0].join("journal.before.frames")).expect("it is kept"), first);
}

#[test]
fn a_part_is_judged_by_itself() {
    let dirs = dirs("judged", 1);
    agent(&dirs[0], part(0, 1));
    let results = joined(&dirs).expect("a part").test.results;
    let text = || String::from("busy");
    let finding =
        Finding { cause: Doubt::Cpu, severity: Severity::Suspect, figure: text(), text: text(), advice: text() };
    let judgement = Judgement { verdict: Verdict::Suspect, findings: vec![finding.clone()], basis: text() };
    let mut own = end(SECOND, 2 * SECOND, &RunState::default());
    own.outcome.live = PartCounts { initialised: 3, ..PartCounts::default() };
    let judged = PartEnd::read(&own.judged(&judgement, &results).to_bytes()).expect("what was written");
    assert_eq!((judged.verdict, judged.findings), (Verdict::Suspect, vec![finding]));
    assert_eq!(judged.load, Some(AgentLoad::of(&results)));
    assert_eq!(judged.load.map(|load| load.iterations), Some(1));
    assert_eq!((judged.outcome.live.initialised, judged.allowed_cores), (3, 2));
    assert_eq!((judged.outcome.loaded_until, judged.outcome.ended), (SECOND, 2 * SECOND));
}
