//! `onrush run --agents`: a run whose workers are other processes.
//!
//! The coordinator loads the script, runs `setup()` and `teardown()`, judges thresholds and makes the summary as ever;
//! in place of the engine there is a `Fleet`, which tells the same events: users made, started, a tick a second, an
//! outcome. What agents measured comes in as seconds (`members`), and a second is passed on when every agent that is
//! not lost has brought it.

mod changing;
mod children;
mod messages;
mod open;
pub mod pack;
mod state;

use std::sync::mpsc::Receiver;
use std::time::Duration;

use engine::clock::{Clock, Origin, RealClock};
use engine::{Event, Outcome, RunConfig, StopCause, Tick};
use fleet::drive::{Command, CoordinatorThread};
use journal::{AgentsReport, Cause, EndedBy, EndedLoad, Members, PartEnd, PartOutcome};
use script::log::Level;

use crate::api::LoadRequest;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;

pub use open::start;

use crate::commands::run::drive::progress::Elsewhere;
use changing::Changes;
use children::Children;
use messages::MessageFiles;
use pack::PackedTest;
use state::{FleetState, StateFile};

/// What agents and coordinator have to agree on: the program, and what it writes to others of its kind.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "/journal-7");

/// How often the coordinator looks whether the test was stopped.
const LOOK: Duration = Duration::from_millis(20);

/// A moment of the machine's monotonic clock, by the run's clock.
pub fn own_time(origin: &Origin, at: fleet::Ns) -> Duration {
    Duration::from_nanos(at).saturating_sub(origin.kernel())
}

/// Agents at work, or about to be.
pub struct Fleet<'a> {
    /// None where nobody is left to talk to.
    thread: Option<CoordinatorThread>,
    children: Children,
    members: Members,
    /// How many there are.
    agents: u32,
    changes: Changes,
    log: &'a Logger,
    aborts_on_loss: bool,
    is_stopped: bool,
    /// By the run's clock.
    start: Option<Duration>,
    /// What a coordinator that was killed had written down.
    resumed: Option<FleetState>,
    /// What `setup()` returned for a coordinator that was killed before the test began.
    handed: Option<Option<String>>,
    /// The load that one has measured to its end: nothing is left to run.
    ended: Option<EndedLoad>,
    /// What this one has.
    state: Option<StateFile>,
    /// Received messages, where they are kept.
    messages: Option<MessageFiles>,
    /// Why the load ended early.
    cause: Option<EndedBy>,
    /// The archive stays until the last agent has it.
    _test: PackedTest,
}

impl Elsewhere for Fleet<'_> {
    fn run(
        &mut self,
        config: &RunConfig,
        setup: &dyn Fn() -> Option<String>,
        events: &mut dyn FnMut(Event),
    ) -> Result<Outcome, Failure> {
        let clock = RealClock::new(config.origin);
        if self.ended.is_some() {
            return Ok(self.go_to_the_end(config));
        }
        if self.resumed.is_some() {
            self.go_on(config, events);
        }
        loop {
            if config.stopper.is_stopped() && !std::mem::replace(&mut self.is_stopped, true) {
                self.tell(Command::Stop(Vec::new()));
            }
            self.answer_requests(config);
            let Some(event) = self.event(LOOK) else {
                self.look_at_children(config)?;
                continue;
            };
            match event {
                fleet::Event::AllPrepared => {
                    events(Event::Made);
                    if !config.stopper.is_stopped() {
                        let data = self.setup_data(setup);
                        self.tell(Command::HandOut(data));
                    }
                }
                fleet::Event::Starting { at, bound, .. } => {
                    let start = own_time(&config.origin, at);
                    self.start = Some(start);
                    self.members.bound = Duration::from_nanos(bound);
                    config.state.set_started(start);
                    events(Event::Started(start));
                }
                fleet::Event::Closed { number } => {
                    // What is behind the seconds has no time.
                    if let Some(start) = self.start.filter(|_| number <= self.members.last_second) {
                        events(Event::Tick(self.tick(clock.now(), start, number, false)));
                    }
                }
                fleet::Event::Over => break,
                other => self.take(other, config)?,
            }
        }
        if let Some(start) = self.start {
            events(Event::Tick(self.tick(clock.now(), start, u64::MAX, true)));
        }
        self.changes.close();
        self.note_missed_changes();
        self.cause = EndedBy::of(&config.stopper);
        Ok(self.outcome(config))
    }

    fn follow(&mut self, requests: Receiver<LoadRequest>) {
        self.changes.follow(requests);
    }

    fn begun_before(&self) -> Option<&Option<String>> {
        self.resumed.as_ref().and_then(|state| state.setup.as_ref()).or(self.handed.as_ref())
    }

    fn load_before(&self) -> Option<&EndedLoad> {
        self.ended.as_ref()
    }

    fn finish(&mut self, journal: Option<u64>) -> AgentsReport {
        if self.ended.is_none() {
            self.members.messages = self.messages.take().map(|messages| messages.merge(&self.members, self.log));
            let measured = self.start.zip(journal);
            self.ended = measured.map(|(start, journal)| self.members.ended_load(start, journal, self.cause.clone()));
        }
        self.keep_ended();
        self.thread.take().into_iter().for_each(CoordinatorThread::finish);
        std::mem::take(&mut self.children).finish();
        self.ended.iter_mut().for_each(|ended| ended.is_let_go = true);
        self.keep_ended();
        self.members.report()
    }

    fn torn_down(&self, journal: Option<u64>) {
        if let Some(((file, ended), journal)) = self.state.as_ref().zip(self.ended.as_ref()).zip(journal) {
            file.write_ended(&EndedLoad { journal, is_torn_down: true, ..ended.clone() });
        }
    }

    fn close(&self) {
        self.state.iter().for_each(StateFile::remove);
    }
}

impl Fleet<'_> {
    fn tell(&self, command: Command) {
        if let Some(thread) = &self.thread {
            thread.tell(command);
        }
    }

    fn event(&self, within: Duration) -> Option<fleet::Event> {
        self.thread.as_ref()?.event(within)
    }

    /// Before the agents go, and when they have gone.
    fn keep_ended(&self) {
        if let Some((file, ended)) = self.state.as_ref().zip(self.ended.as_ref()) {
            file.write_ended(ended);
        }
    }

    /// Everything had been measured before this process was: what remains is the end of the run.
    fn go_to_the_end(&mut self, config: &RunConfig) -> Outcome {
        self.changes.close();
        self.restore_changes(config);
        if let Some(ended) = &self.ended {
            ended.go_on(&mut self.members, &config.state, &config.stopper);
            self.start = Some(ended.started);
        }
        let text = "the load of this test has ended already: Onrush does what follows it and waits for no agent";
        self.log.write(Level::Warning, text, &[]);
        self.outcome(config)
    }

    /// What `setup()` returns. It runs once for a test: agents may have heard of it from a coordinator that was killed.
    fn setup_data(&mut self, setup: &dyn Fn() -> Option<String>) -> Option<String> {
        if let Some(handed) = self.handed.take() {
            return handed;
        }
        let data = setup();
        if let Some(file) = &self.state
            && let Ok(Some(state)) = file.read()
        {
            // Without it `setup()` runs again under another coordinator.
            let _ = file.write(&FleetState { setup: Some(data.clone()), ..state });
        }
        data
    }

    /// The test has begun before this process was: the run's clock counts from its start.
    fn go_on(&mut self, config: &RunConfig, events: &mut dyn FnMut(Event)) {
        let start = Duration::ZERO;
        self.restore_changes(config);
        events(Event::Made);
        self.start = Some(start);
        self.members.bound = Duration::from_nanos(self.resumed.as_ref().map_or(0, |state| state.bound));
        config.state.set_started(start);
        events(Event::Started(start));
        self.log.write(
            Level::Warning,
            "going on with a test that had begun; its agents send again what they have",
            &[],
        );
    }

    fn take(&mut self, event: fleet::Event, config: &RunConfig) -> Result<(), Failure> {
        let (log, is_running) = (self.log, self.start.is_some());
        match event {
            fleet::Event::Joined { index, name } => {
                self.members.of(index).name = name;
                if self.children.is_empty() {
                    log.write(Level::Info, &format!("{} has joined", self.members.title(index)), &[]);
                }
            }
            fleet::Event::TurnedAway { name, why } => {
                log.write(Level::Warning, &format!("{name} was turned away: {why}"), &[]);
            }
            fleet::Event::Unable { index, why, code, .. } => {
                let text = format!("{}: {why}", self.members.title(index));
                if !is_running {
                    return Err(Failure::new(ExitCode::of_script(code), text));
                }
                self.lose(index, why, config);
            }
            // Agents of this machine read the same clock, and leave it as it is.
            fleet::Event::Apart(apart) if self.children.is_empty() => self.members.apart = Duration::from_nanos(apart),
            fleet::Event::Started { index, late } => self.members.started(index, Duration::from_nanos(late)),
            fleet::Event::Changed { index, number, late } => self.note_change(index, number, late),
            fleet::Event::Frame { index, number, content } => {
                if let Err(why) = self.members.take(index, number, &content, &config.state) {
                    self.lose(index, format!("its second {number} cannot be read: {why}"), config);
                }
            }
            fleet::Event::Said { index, level, text } => {
                let level = [Level::Error, Level::Warning].into_iter().find(|known| *known as u8 == level);
                let text = format!("{}: {text}", self.members.title(index));
                log.write(level.unwrap_or(Level::Info), &text, &[]);
            }
            fleet::Event::Missed { index, what, .. } => {
                log.write(Level::Warning, &format!("{}: {what}", self.members.title(index)), &[]);
            }
            fleet::Event::Lost { index, what, .. } if is_running => self.lose(index, what, config),
            fleet::Event::Lost { index, name, what } => {
                let who = if name.is_empty() { String::new() } else { format!("{}: ", self.members.title(index)) };
                let text = format!("{who}{what}; the test has not begun, because all its agents have to be there");
                return Err(Failure::new(ExitCode::AgentsLost, text));
            }
            fleet::Event::Back { index, after, .. } => {
                let what = format!("nothing was heard of it for {:.1} s; it is back", after as f64 / 1e9);
                log.write(Level::Warning, &format!("{}: {what}", self.members.title(index)), &[]);
                if is_running {
                    self.members.silent(index, what);
                }
            }
            outage @ (fleet::Event::Unreachable { .. } | fleet::Event::Reachable { .. }) => self.tell_outage(outage),
            fleet::Event::Ended { index, outcome } => self.end(index, &outcome, config),
            _ => {}
        }
        Ok(())
    }

    fn tell_outage(&self, event: fleet::Event) {
        let text = match event {
            fleet::Event::Unreachable { why } => {
                format!("{why}; agents go on by themselves, and what they measure comes when it is back")
            }
            fleet::Event::Reachable { after } => {
                format!("messages can be exchanged again, after {:.1} s", after as f64 / 1e9)
            }
            _ => return,
        };
        self.log.write(Level::Warning, &text, &[]);
    }

    fn lose(&mut self, index: u32, why: String, config: &RunConfig) {
        let then = if self.aborts_on_loss { "the test ends (--on-loss abort)" } else { "the test goes on, INVALID" };
        let text = format!("{} is lost: {why}; {then}", self.members.title(index));
        self.log.write(Level::Error, &text, &[]);
        self.members.lose(index, why, &config.state);
        if self.aborts_on_loss {
            config.stopper.stop(StopCause::Requested);
        }
    }

    /// A part is over. One that ended by itself ends the test when its script wanted that, and else leaves a hole in
    /// it.
    fn end(&mut self, index: u32, outcome: &[u8], config: &RunConfig) {
        let end = match PartEnd::read(outcome) {
            Ok(end) => end,
            Err(why) => return self.lose(index, format!("its last words are {why}"), config),
        };
        let cause = end.cause.clone();
        self.members.ended(index, end, &config.state);
        match cause {
            Some(Cause::Script(text)) => config.stopper.stop(StopCause::Script(text)),
            Some(Cause::Signal(name)) if !config.stopper.is_stopped() => {
                self.lose(index, format!("it was ended by {name}"), config);
            }
            _ => {}
        }
    }

    /// What all agents brought up to this second.
    fn tick(&mut self, now: Duration, start: Duration, number: u64, is_last: bool) -> Tick {
        let (reached, snapshots) = self.members.pass_on(number);
        let last = || self.members.outcomes().map(|part| part.ended).max();
        let elapsed = if is_last { last().unwrap_or_default() } else { Duration::from_secs(number) };
        // Of a test that has begun before this process the run's clock does not tell how far it is.
        let now = if self.resumed.is_some() { start + elapsed } else { now };
        Tick { now, cut: start + reached, elapsed, snapshots, is_last, lately: engine::Health::default() }
    }

    /// Before the start an agent that ends is one that will never join.
    fn look_at_children(&mut self, config: &RunConfig) -> Result<(), Failure> {
        if self.start.is_some() || config.stopper.is_stopped() {
            return Ok(());
        }
        match self.children.ended() {
            Some((index, status)) => {
                // What it said of itself may still be on its way.
                while let Some(event) = self.event(Duration::from_millis(200)) {
                    self.take(event, config)?;
                }
                let text = format!("agent {index} has ended before the start ({status}): its own message is above");
                Err(Failure::new(ExitCode::AgentsLost, text))
            }
            None => Ok(()),
        }
    }

    fn outcome(&self, config: &RunConfig) -> Outcome {
        let start = self.start.unwrap_or_default();
        let last = |of: fn(&PartOutcome) -> Duration| self.members.outcomes().map(of).max().unwrap_or_default();
        let ended = last(|part| part.ended);
        Outcome {
            stopped: config.stopper.cause().cloned(),
            started: self.start,
            ended: start + ended,
            loaded_until: start + last(|part| part.loaded_until),
            health: self.members.health(config.state.counts(), config.state.arrivals(), ended),
            lost_users: self.members.outcomes().map(|part| part.lost_users).sum(),
            stuck_workers: Vec::new(),
        }
    }
}
