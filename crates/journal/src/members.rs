//! What the coordinator knows of its agents: what they measured, how they fared, who is missing.
//!
//! Seconds come in any order of agents. A second is passed on once, with what every agent has brought of it; who is
//! late is in the next one. Without a coordinator `parts.rs` plays its role.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use engine::health::ArrivalCounts;
use engine::state::Counts;
use engine::{Cause as Doubt, Finding, Health, RunState, Severity, Verdict};
use metrics::{AgentUsers, Registry, SecondOfAgents, ShardReader, Snapshot};
use report::document::{AgentFigures, MessageLogs};
use units::show::{percent, time};

use crate::agents_report::{AgentsReport, named_of_all};
use crate::ended_load::{EndedBy, EndedLoad, EndedMember};
use crate::part::{PartCounts, PartEnd, PartOutcome};
use crate::record::{JournalEntry, Record};
use crate::second::{AgentFrame, AgentSecond, decode};

/// One agent of a test.
pub struct FleetMember {
    /// What it is called.
    pub name: String,
    reader: ShardReader,
    late: Duration,
    live: PartCounts,
    /// How its part ended.
    pub end: Option<PartEnd>,
    /// Why its samples are not all here.
    pub lost: Option<String>,
    /// Times it was silent.
    silences: Vec<String>,
}

/// All agents of a run.
pub struct Members {
    all: Vec<FleetMember>,
    /// Samples that came in and are not passed on yet, by second, and until when they reach.
    pending: BTreeMap<u64, (Duration, SecondOfAgents)>,
    registry: Arc<Registry>,
    users: AgentUsers,
    passed_on: u64,
    /// Frames up to this one are seconds.
    pub last_second: u64,
    /// What became of received messages, where they are kept.
    pub messages: Option<(MessageLogs, bool)>,
    /// No clock was further off at the start.
    pub bound: Duration,
    /// Stamps of two agents may be so far apart for the same instant.
    pub apart: Duration,
    /// How far apart they began, where nobody coordinated them.
    pub began_apart: Option<Duration>,
}

impl Members {
    /// So many, none of which has come yet.
    pub fn new(agents: u32, registry: &Arc<Registry>) -> Members {
        let member = |index| FleetMember {
            name: format!("agent {index}"),
            reader: ShardReader::into_registry(registry.clone(), index),
            late: Duration::ZERO,
            live: PartCounts::default(),
            end: None,
            lost: None,
            silences: Vec::new(),
        };
        let all = (0..agents).map(member).collect();
        let (pending, users) = Default::default();
        Members {
            all,
            pending,
            registry: registry.clone(),
            users,
            passed_on: 0,
            last_second: 0,
            messages: None,
            bound: Duration::ZERO,
            apart: Duration::ZERO,
            began_apart: None,
        }
    }

    /// One of them, by its index.
    pub fn of(&mut self, index: u32) -> &mut FleetMember {
        &mut self.all[index as usize]
    }

    /// How it is named in lines for people.
    pub fn title(&self, index: u32) -> String {
        format!("agent {index} ({})", self.all[index as usize].name)
    }

    /// It began so long after the instant.
    pub fn started(&mut self, index: u32, late: Duration) {
        self.of(index).late = late;
    }

    /// A second has come. The error says what of it cannot be.
    pub fn take(&mut self, index: u32, number: u64, content: &[u8], state: &RunState) -> Result<(), String> {
        let AgentFrame::Second(AgentSecond { live, interval }) = decode(content)? else {
            // It was written when it came.
            return Ok(());
        };
        self.last_second = self.last_second.max(number);
        state.set_counts(index as usize, live.initialised, &live.scenarios);
        self.of(index).live = live;
        if interval.is_empty() {
            return Ok(());
        }
        match Record::read(&interval)? {
            Record::Interval(entry) => self.add(index, number, entry),
            _ => Err(String::from("it is no interval of a journal")),
        }
    }

    /// An interval has been read. The error says what of its samples cannot be.
    pub(crate) fn add(&mut self, index: u32, number: u64, entry: JournalEntry) -> Result<(), String> {
        let (_, end) = entry.times.interval();
        let samples = self.of(index).reader.read(entry.samples)?;
        // Of an agent that was lost and came back: its second was passed on without it.
        let number = number.max(self.passed_on + 1);
        let pending = self.pending.entry(number);
        let (reached, second) = pending.or_insert_with(|| (end, SecondOfAgents::new(self.registry.clone())));
        *reached = end.max(*reached);
        second.add(index, samples);
        Ok(())
    }

    /// The samples of all seconds up to this one, and until when they reach.
    pub fn pass_on(&mut self, through: u64) -> (Duration, Vec<Snapshot>) {
        self.passed_on = self.passed_on.max(through);
        let (mut end, mut snapshots) = (Duration::ZERO, Vec::new());
        while let Some(pending) = self.pending.first_entry().filter(|second| *second.key() <= through) {
            let (reached, second) = pending.remove();
            end = end.max(reached);
            snapshots.push(second.into_snapshot(&mut self.users));
        }
        let left = self.pending.keys().next();
        assert!(left.is_none_or(|number| *number > self.passed_on), "second {left:?} comes too late");
        (end, snapshots)
    }

    /// Its part is over.
    pub fn ended(&mut self, index: u32, end: PartEnd, state: &RunState) {
        let live = &end.outcome.live;
        state.set_counts(index as usize, live.initialised, &live.scenarios);
        let member = self.of(index);
        member.lost = None;
        member.end = Some(end);
    }

    /// It is lost: nobody knows of its users any more.
    pub fn lose(&mut self, index: u32, why: String, state: &RunState) {
        self.forget_users(index);
        let member = self.of(index);
        member.lost = Some(why);
        member.live.scenarios.iter_mut().for_each(|(counts, _)| counts.active = 0);
        state.set_counts(index as usize, member.live.initialised, &member.live.scenarios);
    }

    /// Nobody knows of its users any more.
    pub(crate) fn forget_users(&mut self, index: u32) {
        self.users.lose(index);
    }

    /// It was silent and is back.
    pub fn silent(&mut self, index: u32, what: String) {
        let member = self.of(index);
        member.lost = None;
        member.silences.push(what);
    }

    /// The result says this of it.
    pub fn note(&mut self, index: u32, what: String) {
        self.of(index).silences.push(what);
    }

    /// How all of them ended.
    pub fn ends(&self) -> impl Iterator<Item = &PartEnd> {
        self.all.iter().filter_map(|member| member.end.as_ref())
    }

    /// What each that has ended counted.
    pub fn outcomes(&self) -> impl Iterator<Item = &PartOutcome> {
        self.ends().map(|end| &end.outcome)
    }

    /// All that is known when everything is here, for another coordinator.
    pub fn ended_load(&self, started: Duration, journal: u64, cause: Option<EndedBy>) -> EndedLoad {
        let member = |member: &FleetMember| EndedMember {
            name: member.name.clone(),
            late: member.late,
            end: member.end.clone(),
            lost: member.lost.clone(),
            silences: member.silences.clone(),
        };
        let members = self.all.iter().map(member).collect();
        let (is_let_go, is_torn_down) = (false, false);
        let (bound, apart) = (self.bound, self.apart);
        let messages = self.messages.clone();
        EndedLoad { journal, started, members, bound, apart, cause, messages, is_let_go, is_torn_down }
    }

    /// The same from a coordinator that was killed.
    pub fn restore(&mut self, ended: &EndedLoad, state: &RunState) {
        (self.bound, self.apart) = (ended.bound, ended.apart);
        self.messages.clone_from(&ended.messages);
        for (index, was) in ended.members.iter().enumerate().take(self.all.len()) {
            if let Some(end) = was.end.clone() {
                self.ended(index as u32, end, state);
            }
            let member = &mut self.all[index];
            (member.name, member.late) = (was.name.clone(), was.late);
            (member.lost, member.silences) = (was.lost.clone(), was.silences.clone());
        }
    }

    /// All workers of all agents, with these counts of all iterations.
    pub fn health(&self, counts: Counts, arrivals: ArrivalCounts, wall: Duration) -> Health {
        let workers = self.outcomes().flat_map(|part| part.health.workers.iter().cloned()).collect();
        let process_cores = self.outcomes().map(|part| part.health.process_cores).sum();
        Health { workers, counts, arrivals, process_cores, wall }
    }

    /// All that the end of the run has to say of them.
    pub fn report(&self) -> AgentsReport {
        AgentsReport {
            verdict: self.verdict(),
            basis: self.basis(),
            findings: self.findings(),
            notes: self.notes(),
            figures: self.figures(),
            start_bound_ms: self.bound.as_secs_f64() * 1e3,
            stamps_apart_ms: Some(self.apart.as_secs_f64() * 1e3).filter(|apart| *apart > 0.0),
            is_marked_failed: self.ends().any(|end| end.is_marked_failed),
            traces: named_of_all(self.ends().flat_map(|end| end.traces.iter().cloned())),
            messages: self.messages.clone(),
        }
    }

    /// The worst verdict of any agent.
    fn verdict(&self) -> Verdict {
        let worst = self.ends().map(|end| end.verdict).max().unwrap_or(Verdict::NotJudged);
        if self.lost().next().is_some() { Verdict::Invalid } else { worst }
    }

    /// What they found about themselves, each cause with the names of those that have it, and who is lost.
    fn findings(&self) -> Vec<Finding> {
        let mut found: BTreeMap<(Doubt, Severity), Vec<(usize, &Finding)>> = BTreeMap::new();
        for (index, member) in self.all.iter().enumerate() {
            for finding in member.end.iter().flat_map(|end| &end.findings) {
                found.entry((finding.cause, finding.severity)).or_default().push((index, finding));
            }
        }
        let all = self.all.len();
        let together = |((cause, severity), found): ((Doubt, Severity), Vec<(usize, &Finding)>)| {
            let (first, finding) = found[0];
            let rest = match found.len() {
                1 => String::new(),
                more => format!(" (so it was at {more} of {all} agents)"),
            };
            Finding {
                cause,
                severity,
                figure: format!("agent {first}: {}", finding.figure),
                text: format!("agent {first}: {}{rest}", finding.text),
                advice: finding.advice.clone(),
            }
        };
        self.loss().into_iter().chain(found.into_iter().map(together)).collect()
    }

    /// Those whose samples are not all here.
    fn lost(&self) -> impl Iterator<Item = (usize, &str)> {
        self.all.iter().enumerate().filter_map(|(index, member)| Some((index, member.lost.as_deref()?)))
    }

    fn loss(&self) -> Option<Finding> {
        let lost: Vec<String> =
            self.lost().map(|(index, why)| format!("{}: {why}", self.title(index as u32))).collect();
        let all = self.all.len();
        (!lost.is_empty()).then(|| Finding {
            cause: Doubt::AgentsLost,
            severity: Severity::Invalid,
            figure: format!("{} of {all} agents", lost.len()),
            text: format!(
                "{} of {all} agents were lost, and with them a part of the load: {}",
                lost.len(),
                lost.join("; ")
            ),
            advice: String::from("look into the log of that agent's machine, and run the test again"),
        })
    }

    fn basis(&self) -> String {
        let workers = || self.outcomes().flat_map(|part| &part.health.workers);
        let busiest = workers().map(|worker| worker.cpu_share).fold(0.0, f64::max);
        let late = workers().map(|worker| worker.lag_p99_ms).fold(0.0, f64::max);
        let (all, busiest) = (self.all.len(), percent(busiest, 0));
        format!("{all} agents, the busiest worker of any {busiest} of a core, event loop {} late (p99)", time(late))
    }

    /// Lines for the summary.
    fn notes(&self) -> Vec<String> {
        let all = self.all.len();
        let late = self.outcomes().map(|part| part.awake_late).max().unwrap_or_default().max(self.latest());
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let start = match self.began_apart {
            Some(apart) => {
                format!("{all} parts began within {} of each other, by the clocks of their machines", time(ms(apart)))
            }
            None => format!(
                "{all} agents began within {} of the agreed instant, their clocks known within {}",
                time(ms(late)),
                time(ms(self.bound))
            ),
        };
        let silences = self.all.iter().enumerate();
        let silences = silences.flat_map(|(index, member)| {
            member.silences.iter().map(move |what| format!("{}: {what}", self.title(index as u32)))
        });
        let is_delay = |metric: &str| self.registry.find(metric).is_some();
        let stamps = (!self.apart.is_zero() && is_delay("message_delay")).then(|| {
            format!(
                "message delays between agents are exact to {}: so well their clocks are known",
                time(ms(self.apart))
            )
        });
        let unknown = (self.began_apart.is_some() && all > 1 && is_delay("message_delay")).then(|| {
            String::from(
                "message delays between machines are the difference of clocks that nothing compared here: those of \
                 one machine are exact, and agents of a fleet know their clocks",
            )
        });
        std::iter::once(start).chain(stamps).chain(unknown).chain(silences).collect()
    }

    fn latest(&self) -> Duration {
        self.all.iter().map(|member| member.late).max().unwrap_or_default()
    }

    /// As a result document has them.
    fn figures(&self) -> Vec<AgentFigures> {
        let figures = |(index, member): (usize, &FleetMember)| AgentFigures {
            index: index as u32,
            name: member.name.clone(),
            start_late_ms: member.end.as_ref().map(|end| (end.outcome.awake_late + member.late).as_secs_f64() * 1e3),
            process_cores: member.end.as_ref().map_or(0.0, |end| end.outcome.health.process_cores),
            allowed_cores: member.end.as_ref().map(|end| end.allowed_cores),
            clock_bound_ms: member.end.as_ref().and_then(|end| end.clock_bound).map(|bound| bound.as_secs_f64() * 1e3),
            lost: member.lost.clone(),
            load: member.end.as_ref().and_then(|end| end.load.clone()),
        };
        self.all.iter().enumerate().map(figures).collect()
    }
}
