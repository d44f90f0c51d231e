//! The simulated world: one queue of what happens next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Case;
use super::links::{Direction, Links};
use super::nodes::{SimulatedAgent, SimulatedClock, VERSION};
use crate::agent::{AgentEvent, seal};
use crate::coordinator::{BegunTest, Coordinator, Event, Link, Setup};
use crate::message::{Archive, Order, Report, RunId, decode, encode};
use crate::token::Secret;
use crate::{Ns, SECOND};

pub(super) const MS: Ns = 1_000_000;
/// A run that takes longer than this does not end.
const LONGEST: Ns = 400 * SECOND;
const ARCHIVE_BYTES: u64 = 600_000;
/// How long agents are waited for.
const PATIENCE: Ns = 20 * SECOND;

/// What came of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Whether the last coordinator came to an end.
    pub is_over: bool,
    /// What the last coordinator passed on: whose, which, what.
    pub frames: Vec<(u32, u64, Vec<u8>)>,
    /// The numbers it closed, in order.
    pub closed: Vec<u64>,
    /// Agents that were lost and did not come back, and how many times one was lost at all.
    pub lost: Vec<u32>,
    /// Losses, those that were made good included.
    pub losses: usize,
    /// The agents that ended, in order.
    pub ended: Vec<u32>,
    /// The agreed instant in true time.
    pub start: Option<Ns>,
    /// All lives of agents: number, life, starts, when it started in true time, the bound it was told, frames it kept,
    /// whether it lives, whether it ended.
    pub lives: Vec<LifeEnd>,
    /// How many times somebody was turned away.
    pub turned_away: usize,
    /// Clocks whose truth was outside of the bound.
    pub wrong_leads: usize,
    /// Leads that were looked at.
    pub leads: usize,
    /// An agent could not take part.
    pub unable: usize,
    /// When a change of the load was ordered, in true time: the first one is number 1.
    pub changes: Vec<Ns>,
    /// Changes that agents are known to follow: whose, which, heard in time or not.
    pub followed: Vec<(u32, u64)>,
}

/// How one life of an agent ended.
#[derive(Debug)]
pub struct LifeEnd {
    /// Which agent.
    pub number: usize,
    /// Which life.
    pub life: u64,
    /// How many times it began.
    pub starts: u32,
    /// When, in true time.
    pub started: Option<Ns>,
    /// How far off the clocks were said to be.
    pub bound: Ns,
    /// Frames it kept.
    pub kept: u64,
    /// Whether it came to the end of its plan.
    pub has_ended: bool,
    /// Whether it heard that nothing more is wanted.
    pub is_dismissed: bool,
    /// The changes of the load that it heard of, in order.
    pub changes: Vec<u64>,
    /// When it came to the end of its plan, in true time.
    pub ended: Ns,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Happens {
    Up(Link, Vec<u8>),
    Down(Link, Vec<u8>),
    HubNotices(Link),
    AgentNotices(usize, u64, Link),
    Connect(usize, u64),
    Prepared(usize, u64),
    Begins(usize, u64),
    Frame(usize, u64),
    Born(usize),
    Tick,
    SetupDone,
    Change,
    Mishap(usize),
    CoordinatorBorn,
}

/// Everything, at one moment.
pub struct World {
    case: Case,
    pub(super) random: fastrand::Rng,
    pub(super) now: Ns,
    sequence: u64,
    queue: BinaryHeap<Reverse<(Ns, u64, Happens)>>,
    pub(super) links: Links,
    pub(super) agents: Vec<SimulatedAgent>,
    past: Vec<LifeEnd>,
    pub(super) coordinator: Option<Coordinator>,
    pub(super) clock: SimulatedClock,
    pub(super) setup: Setup,
    /// What a coordinator writes down: what `setup()` returned, when the scenarios start, how the load changes.
    pub(super) kept: Option<BegunTest>,
    pub(super) outcome: Outcome,
    lives: u64,
}

pub(super) fn read_archive() -> crate::coordinator::ReadArchive {
    Box::new(|offset, most| Ok(vec![7; (ARCHIVE_BYTES - offset).min(most as u64) as usize]))
}

impl World {
    /// At its beginning.
    pub fn new(case: &Case) -> World {
        let mut random = fastrand::Rng::with_seed(case.seed ^ 0x9e37_79b9);
        let secret: Secret = decode(&[9; 16]).unwrap_or_else(|_| unreachable!("bug: sixteen bytes"));
        let setup = Setup {
            run: RunId(case.seed),
            agents: case.agents as u32,
            version: VERSION.to_owned(),
            secret,
            archive: Archive { hash: [1; 32], size: ARCHIVE_BYTES },
            settings: Vec::new(),
            patience: PATIENCE,
            epoch: 0,
        };
        let clock = SimulatedClock::random(&mut random);
        let mut world = World {
            case: case.clone(),
            now: SECOND,
            sequence: 0,
            queue: BinaryHeap::new(),
            links: Links::default(),
            agents: Vec::new(),
            past: Vec::new(),
            coordinator: Some(Coordinator::new(setup.clone(), read_archive(), clock.reads(SECOND))),
            clock,
            setup,
            kept: None,
            outcome: Outcome::default(),
            lives: 0,
            random,
        };
        for number in 0..case.agents {
            let clock = SimulatedClock::random(&mut world.random);
            let agent = world.live(number, clock);
            world.agents.push(agent);
        }
        for (at, (ms, _)) in case.mishaps.iter().enumerate() {
            world.later(ms * MS, Happens::Mishap(at));
        }
        case.changes.iter().for_each(|ms| world.later(ms * MS, Happens::Change));
        world.later(0, Happens::Tick);
        world
    }

    /// Until it is over.
    pub fn run(mut self) -> Outcome {
        while let Some(Reverse((at, _, what))) = self.queue.pop() {
            if at > LONGEST || self.outcome.is_over && self.now + 3 * SECOND < at {
                break;
            }
            self.now = self.now.max(at);
            self.happen(what);
        }
        let agents = std::mem::take(&mut self.agents);
        agents.into_iter().enumerate().for_each(|(number, agent)| self.bury(number, agent));
        self.outcome.lives = self.past;
        self.outcome
    }

    pub(super) fn later(&mut self, after: Ns, what: Happens) {
        self.at(self.now + after, what);
    }

    fn at(&mut self, at: Ns, what: Happens) {
        self.sequence += 1;
        self.queue.push(Reverse((at, self.sequence, what)));
    }

    fn live(&mut self, number: usize, clock: SimulatedClock) -> SimulatedAgent {
        self.lives += 1;
        let life = self.lives;
        let after = self.random.u64(0..800 * MS);
        self.later(after, Happens::Connect(number, life));
        SimulatedAgent::new(number, life, clock, self.setup.secret.clone())
    }

    fn bury(&mut self, number: usize, agent: SimulatedAgent) {
        let SimulatedAgent { life, starts, started, bound, kept, has_ended, is_dismissed, changes, ended, .. } = agent;
        let (started, kept) = (started.map(|(at, _)| at), kept.0.len() as u64);
        self.past.push(LifeEnd { number, life, starts, started, bound, kept, has_ended, is_dismissed, changes, ended });
    }

    fn is_living(&self, number: usize, life: u64) -> bool {
        self.agents[number].life == life && self.agents[number].is_alive
    }

    /// What concerns an agent that stands still waits until it does not.
    fn frozen(&self, what: &Happens) -> Option<Ns> {
        let number = match what {
            Happens::Down(link, _) => self.links.agent(*link)?,
            Happens::AgentNotices(number, ..)
            | Happens::Connect(number, _)
            | Happens::Prepared(number, _)
            | Happens::Begins(number, _)
            | Happens::Frame(number, _) => *number,
            _ => return None,
        };
        Some(self.agents[number].frozen_until).filter(|until| *until > self.now)
    }

    fn happen(&mut self, what: Happens) {
        if let Some(until) = self.frozen(&what) {
            return self.at(until, what);
        }
        match what {
            Happens::Up(link, bytes) if self.links.is_whole(link) => self.up(link, &bytes),
            Happens::Down(link, bytes) if self.links.is_whole(link) => self.down(link, &bytes),
            Happens::Up(..) | Happens::Down(..) => {}
            Happens::HubNotices(link) => {
                let now = self.clock.reads(self.now);
                self.coordinator.iter_mut().for_each(|coordinator| coordinator.left(link, now));
                self.run_coordinator();
            }
            Happens::AgentNotices(number, life, link) => self.agent_notices(number, life, link),
            Happens::Connect(number, life) => self.connect(number, life),
            Happens::Prepared(number, life) if self.is_living(number, life) => {
                self.agents[number].machine.prepared(10);
                self.run_agent(number);
            }
            Happens::Begins(number, life) if self.is_living(number, life) => self.begin(number),
            Happens::Frame(number, life) if self.is_living(number, life) => self.close_frame(number),
            Happens::Prepared(..) | Happens::Begins(..) | Happens::Frame(..) => {}
            Happens::Born(number) => {
                let clock = self.agents[number].clock;
                let agent = self.live(number, clock);
                let old = std::mem::replace(&mut self.agents[number], agent);
                self.bury(number, old);
            }
            Happens::Tick => {
                let now = self.clock.reads(self.now);
                self.coordinator.iter_mut().for_each(|coordinator| coordinator.tick(now));
                self.run_coordinator();
                self.later(50 * MS, Happens::Tick);
            }
            Happens::SetupDone => {
                let data = Some(String::from("{}"));
                self.coordinator.iter_mut().for_each(|coordinator| coordinator.hand_out(data.clone()));
                self.run_coordinator();
            }
            Happens::Change => {
                let content = self.now.to_le_bytes().to_vec();
                self.coordinator.iter_mut().for_each(|coordinator| coordinator.change(content.clone()));
                self.run_coordinator();
            }
            Happens::Mishap(at) => self.go_wrong(self.case.mishaps[at].1.clone()),
            Happens::CoordinatorBorn => self.coordinator_born(),
        }
    }

    fn up(&mut self, link: Link, bytes: &[u8]) {
        let now = self.clock.reads(self.now);
        let Some(coordinator) = &mut self.coordinator else { return };
        let report: Report = decode(bytes).unwrap_or_else(|error| unreachable!("bug: {error}"));
        coordinator.take(link, report, now);
        self.look_at_leads();
        self.run_coordinator();
    }

    fn down(&mut self, link: Link, bytes: &[u8]) {
        let Some(number) = self.links.agent(link) else { return };
        let now = self.agents[number].clock.reads(self.now);
        if self.agents[number].link == Some(link) && self.agents[number].is_alive {
            let order: Order = decode(bytes).unwrap_or_else(|error| unreachable!("bug: {error}"));
            self.agents[number].machine.take(order, now);
            self.run_agent(number);
        }
    }

    /// Whether what is believed of clocks is true.
    fn look_at_leads(&mut self) {
        let now = self.clock.reads(self.now);
        let Some(coordinator) = &self.coordinator else { return };
        for (index, lead) in coordinator.leads(now) {
            let there = self.agents[index as usize].clock.reads(self.now);
            let is_true = lead.there(now).abs_diff(there) <= lead.bound;
            self.outcome.leads += 1;
            self.outcome.wrong_leads += usize::from(!is_true);
        }
    }

    fn run_coordinator(&mut self) {
        loop {
            // What has to outlive the coordinator is written down before anybody hears of it.
            while let Some(event) = self.coordinator.as_mut().and_then(Coordinator::next_event) {
                self.take_event(event);
            }
            let Some((link, order)) = self.coordinator.as_mut().and_then(Coordinator::next_order) else { break };
            self.send(link, Direction::Down, encode(&order));
        }
        while let Some(link) = self.coordinator.as_mut().and_then(Coordinator::next_closing) {
            self.break_link(link);
        }
    }

    pub(super) fn send(&mut self, link: Link, direction: Direction, bytes: Vec<u8>) {
        if let Some(at) = self.links.arrival(link, direction, self.now, &mut self.random) {
            let what = if direction == Direction::Up { Happens::Up(link, bytes) } else { Happens::Down(link, bytes) };
            self.at(at, what);
        }
    }

    fn take_event(&mut self, event: Event) {
        let outcome = &mut self.outcome;
        match event {
            Event::AllPrepared => {
                let after = self.random.u64(0..300 * MS);
                self.later(after, Happens::SetupDone);
            }
            Event::Starting { at, .. } => {
                let data = Some(String::from("{}"));
                self.kept = Some(BegunTest { data, started: at, changes: Vec::new() });
                outcome.start = Some(self.clock.when(at));
            }
            Event::Ordered { content, .. } => {
                outcome.changes.push(self.now);
                self.kept.iter_mut().for_each(|kept| kept.changes.push(content.clone()));
            }
            Event::Changed { index, number, .. } => outcome.followed.push((index, number)),
            Event::Frame { index, number, content } => outcome.frames.push((index, number, content)),
            Event::Closed { number } => outcome.closed.push(number),
            Event::Lost { index, .. } => {
                outcome.losses += 1;
                outcome.lost.push(index);
                if self.kept.is_none() {
                    // Without all its agents the test cannot begin.
                    self.coordinator.iter_mut().for_each(|coordinator| coordinator.stop(Vec::new()));
                }
            }
            Event::Back { index, .. } => outcome.lost.retain(|lost| *lost != index),
            Event::Ended { index, .. } => {
                outcome.lost.retain(|lost| *lost != index);
                outcome.ended.push(index);
            }
            Event::TurnedAway { .. } => outcome.turned_away += 1,
            Event::Unable { .. } => outcome.unable += 1,
            Event::Over => {
                outcome.is_over = true;
                self.coordinator.iter_mut().for_each(Coordinator::dismiss);
            }
            _ => {}
        }
    }

    fn run_agent(&mut self, number: usize) {
        loop {
            let agent = &mut self.agents[number];
            agent.machine.send_frames(&mut |number| agent.kept.frame(number));
            if let Some(event) = agent.machine.next_event() {
                self.take_agent_event(number, event);
                continue;
            }
            let Some(mut report) = agent.machine.next_report() else { return };
            let bytes = seal(&mut report, agent.clock.reads(self.now));
            if let Some(link) = agent.link {
                self.send(link, Direction::Up, bytes);
            }
        }
    }

    fn take_agent_event(&mut self, number: usize, event: AgentEvent) {
        let life = self.agents[number].life;
        match event {
            AgentEvent::ArchiveEnds => {
                let after = self.random.u64(10 * MS..1_500 * MS);
                self.later(after, Happens::Prepared(number, life));
            }
            AgentEvent::Start { at, bound } => {
                let agent = &mut self.agents[number];
                agent.bound = bound;
                agent.started = Some((0, at));
                let when = agent.clock.when(at).max(self.now);
                self.at(when, Happens::Begins(number, life));
            }
            AgentEvent::Change { number: change, .. } => {
                let agent = &mut self.agents[number];
                agent.changes.push(change);
                agent.machine.changed(change, 0);
            }
            AgentEvent::Stop(_) => {
                let agent = &mut self.agents[number];
                agent.has_ended = true;
                agent.machine.ended(agent.life.to_le_bytes().to_vec());
            }
            AgentEvent::Refused(_) => self.agents[number].is_alive = false,
            AgentEvent::Dismissed => self.agents[number].is_dismissed = true,
            _ => {}
        }
    }

    fn begin(&mut self, number: usize) {
        let (now, lasts) = (self.now, self.case.lasts_ms * MS);
        let agent = &mut self.agents[number];
        let Some((_, start)) = agent.started else { return };
        agent.started = Some((now, start));
        agent.starts += 1;
        let late = agent.clock.reads(now).saturating_sub(start);
        agent.machine.started(late);
        let (at, life) = (agent.clock.when(start + lasts.min(SECOND)), agent.life);
        self.at(at.max(now), Happens::Frame(number, life));
        self.run_agent(number);
    }

    fn close_frame(&mut self, number: usize) {
        let lasts = self.case.lasts_ms * MS;
        let agent = &mut self.agents[number];
        if agent.has_ended {
            return;
        }
        let (next, life) = (agent.close_frame(number, lasts), agent.life);
        agent.ended = self.now;
        if let Some(at) = next {
            self.at(at.max(self.now), Happens::Frame(number, life));
        }
        self.run_agent(number);
    }

    fn connect(&mut self, number: usize, life: u64) {
        if !self.is_living(number, life) || self.agents[number].link.is_some() || self.agents[number].is_dismissed {
            return;
        }
        if self.coordinator.is_none() || self.links.partitioned_until > self.now {
            let after = self.random.u64(50 * MS..1_000 * MS);
            return self.later(after, Happens::Connect(number, life));
        }
        let link = self.links.open(number, &mut self.random);
        self.agents[number].link = Some(link);
        self.agents[number].machine.connected();
        self.run_agent(number);
    }

    fn agent_notices(&mut self, number: usize, life: u64, link: Link) {
        if self.is_living(number, life) && self.agents[number].link == Some(link) {
            self.agents[number].link = None;
            self.agents[number].machine.disconnected();
            let after = self.random.u64(10 * MS..500 * MS);
            self.later(after, Happens::Connect(number, life));
        }
    }
}
