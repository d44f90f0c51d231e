//! A part while it runs: seconds into the journal and to the coordinator, its own judgement at the end.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use ::outputs::Outputs;
use engine::clock::{Clock, RealClock};
use engine::{Event, Outcome, RunConfig, StopCause, Stopper, Tick};
use fleet::AgentEvent;
use fleet::drive::{AgentThread, Local};
use journal::{Cause, FrameStore, JournalHead, LoadOrder, LoggedMessages, PartCounts, PartEnd, PartJournal};
use metrics::Aggregate;
use metrics::results::Results;
use metrics::threshold::Moment as Judged;
use modules::together::Meetings;
use script::log::Level;

use super::AgentTest;
use crate::commands::fleet::own_time;
use crate::commands::run::drive::generator_watch::GeneratorWatch;
use crate::commands::run::end::traces;
use crate::commands::run::facts::generator::{self, Circumstances};
use crate::commands::run::saved::save;
use crate::commands::run::start::outputs;
use crate::exit_code::ExitCode;
use crate::process::{descriptors, machine};
use crate::secrets::hiding;

/// Where orders come from, and who hears of the last one.
pub type Waiting = Option<(Receiver<AgentEvent>, Sender<Result<(), String>>)>;

/// What the event handler changes.
pub struct RunningPart<'a> {
    test: &'a AgentTest<'a>,
    config: RunConfig,
    link: &'a AgentThread,
    frames: FrameStore,
    dir: &'a Path,
    aggregate: Aggregate,
    journal: Option<PartJournal>,
    is_started: bool,
    generator: GeneratorWatch,
    /// How far its clock may be from the coordinator's.
    bound: Option<Duration>,
    is_smoke: bool,
    /// Whether the coordinator has started this agent, and shows what it says.
    pub is_local: bool,
}

impl<'a> RunningPart<'a> {
    pub fn new(
        test: &'a AgentTest<'a>,
        config: RunConfig,
        (link, frames, dir): (&'a AgentThread, FrameStore, &'a Path),
        aggregate: Aggregate,
    ) -> RunningPart<'a> {
        let state = &config.state;
        let is_smoke = test.received.of == 1 && state.scenarios().len() == 1 && state.scenario_iterations(0) == Some(1);
        let mut generator = GeneratorWatch::new();
        // A part that never starts is judged, too: from here on.
        generator.machine = Some(machine::Moment::now());
        RunningPart {
            test,
            config,
            link,
            frames,
            dir,
            aggregate,
            journal: None,
            is_started: false,
            generator,
            bound: None,
            is_smoke,
            is_local: false,
        }
    }

    pub fn take(&mut self, event: Event, waiting: &mut Waiting) {
        match event {
            Event::Making { .. } => {}
            Event::Made => self.wait_for_start(waiting),
            Event::Started(start) => {
                self.is_started = true;
                self.journal.iter_mut().for_each(|journal| journal.start(start));
                self.generator.start(start, self.is_smoke);
                let agreed = self.config.start_at.get().copied().unwrap_or(start);
                let late = start.saturating_sub(agreed).as_nanos() as u64;
                self.link.tell(Local::Started(late));
            }
            Event::Tick(tick) => self.tick(tick),
            Event::Lost(text) => self.say(Level::Error, &text),
            Event::Warning(text) => self.say(Level::Warning, &text),
        }
    }

    /// To the coordinator's log, and to one's own where the two are not the same terminal.
    fn say(&self, level: Level, text: &str) {
        if !self.is_local {
            self.test.log.write(level, text, &[]);
        }
        self.link.tell(Local::Said(level as u8, text.to_owned()));
    }

    /// The users are made: from here on the coordinator says how it goes on.
    fn wait_for_start(&mut self, waiting: &mut Waiting) {
        let Some((events, ended)) = waiting.take() else { return };
        self.link.tell(Local::Prepared(self.config.state.vus_initialised()));
        let stopper = self.test.stopper;
        let follow_change = self.follow_changes();
        let mut bound_ns = 0;
        while !stopper.is_stopped() {
            match events.recv_timeout(Duration::from_millis(50)) {
                Ok(AgentEvent::Setup(Some(data))) => self.test.script.program.set_setup_data(Some(&data)),
                Ok(AgentEvent::Start { at, bound }) => {
                    bound_ns = bound;
                    let _told_twice = self.config.start_at.set(own_time(&self.config.origin, at));
                    break;
                }
                Ok(AgentEvent::Clock { at, wall }) => self.set_clock(at, wall),
                Ok(AgentEvent::Change { number, content }) => follow_change(number, &content),
                Ok(AgentEvent::Stop(_)) => stopper.stop(StopCause::Requested),
                Ok(AgentEvent::Refused(why)) => {
                    let _ = ended.send(Err(why));
                    return stopper.stop(StopCause::Requested);
                }
                Ok(AgentEvent::Dismissed) => {
                    let _ = ended.send(Ok(()));
                    return stopper.stop(StopCause::Requested);
                }
                Ok(_) | Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => stopper.stop(StopCause::Requested),
            }
        }
        self.bound = Some(Duration::from_nanos(bound_ns));
        let test = self.test;
        let options = test.script.program.options();
        let head = save::journal_head(test.flags, &options, &crate::log::rfc3339_ms_now());
        let script = test.script.program.entry();
        let script = script.strip_prefix("file://").unwrap_or(script).to_owned();
        let (head, part) = (JournalHead { script, ..head }, test.part(bound_ns));
        let secrets = hiding(&test.flags.test.secrets);
        let journal = PartJournal::begin(self.dir, head, part, self.config.registry.clone(), secrets);
        self.frames.in_journal(journal.path());
        self.journal = Some(journal);
        let (meetings, origin) = (test.script.program.process_state::<Meetings>(), self.config.origin);
        let clock = test.script.program.clock();
        let is_local = self.is_local;
        let follow = move |event: AgentEvent| match event {
            AgentEvent::Meet { meeting, at, came, missing } => {
                meetings.begin(&meeting, own_time(&origin, at), came, missing);
            }
            AgentEvent::Clock { at, wall } if !is_local => clock.set(ahead(at, wall)),
            AgentEvent::Change { number, content } => follow_change(number, &content),
            _ => {}
        };
        listen(events, stopper.clone(), ended, follow);
    }

    /// Takes over changes of the load, and says how late each came.
    fn follow_changes(&self) -> impl Fn(u64, &[u8]) + Send + use<> {
        let (config, tell) = (self.config.clone(), self.link.teller());
        let (agents, per_user) = (self.test.received.of, self.test.flags.descriptors_per_vu());
        let (state, origin, start) = (config.state, config.origin, config.start_at);
        move |number, content| {
            let applied = LoadOrder::read(content).and_then(|order| {
                order.apply(&state, agents)?;
                let users = order.wish.users.max(order.wish.most).unwrap_or(0).div_ceil(agents.into());
                descriptors::check(users, per_user).map_err(|failure| failure.message)?;
                Ok(order.at)
            });
            let at = match applied {
                Ok(at) => at,
                Err(why) => {
                    return tell(Local::Said(Level::Error as u8, format!("change {number} of the load: {why}")));
                }
            };
            let elapsed = start.get().map(|start| RealClock::new(origin).now().saturating_sub(*start));
            let late = elapsed.unwrap_or_default().saturating_sub(at);
            tell(Local::Changed(number, late.as_nanos() as u64));
        }
    }

    /// Stamps of this agent's users are by the coordinator's clock. One on the same machine reads it anyway.
    fn set_clock(&self, at: fleet::Ns, wall: fleet::Ns) {
        if !self.is_local {
            self.test.script.program.clock().set(ahead(at, wall));
        }
    }

    fn tick(&mut self, tick: Tick) {
        let said = self.generator.look(&tick, &self.test.script.program);
        let said = said.filter(|_| !self.test.flags.verdict.accept_late);
        said.iter().for_each(|text| self.say(Level::Warning, text));
        if !self.is_started {
            return;
        }
        // Into the journal first.
        self.journal.iter_mut().for_each(|journal| journal.keep_changes(&self.config.state.load_changes()));
        if let Some(second) = self.journal.as_mut().map(|journal| journal.add(&tick)) {
            second.problem.iter().for_each(|text| self.say(Level::Warning, text));
            self.tell_closed(self.frames.add(&PartCounts::of(&self.config.state), second));
        }
        tick.snapshots.into_iter().for_each(|snapshot| self.aggregate.merge(snapshot));
        let warnings: Vec<String> = self.aggregate.warnings().collect();
        for warning in warnings {
            self.say(Level::Warning, &warning);
        }
        self.test.log.look();
    }

    fn tell_closed(&self, frames: u64) {
        (0..frames).for_each(|_| self.link.tell(Local::Closed));
    }

    /// Its last words, and the exit code of the agent.
    pub fn finish(mut self, outcome: Outcome, outputs: Outputs) -> ExitCode {
        let of_outputs = outputs.finish();
        of_outputs.iter().for_each(|line| self.say(Level::Warning, line));
        // The coordinator names those of all.
        let traces = traces::named(&self.test.script.program);
        if !self.is_local {
            traces::tell(&traces, self.test.log);
        }
        for worker in &outcome.stuck_workers {
            let text = format!("worker {worker} did not end: a script is stuck in native code");
            self.say(Level::Error, &text);
        }
        let (judged, results) = self.judge(&outcome, &of_outputs);
        let stopper = self.test.stopper;
        let messages = self.send_messages();
        let end = PartEnd {
            messages,
            traces,
            clock_bound: self.bound,
            cause: Cause::own(stopper),
            is_marked_failed: self.test.script.program.marked_failed(),
            ..PartEnd::of(&outcome, &self.config.state, machine::allowed_cores()).judged(judged.judgement(), &results)
        };
        let encoded = end.to_bytes();
        self.journal.iter_mut().for_each(|journal| journal.end(encoded.clone()));
        self.link.tell(Local::Ended(encoded));
        match end.cause {
            Some(Cause::Signal(_)) => ExitCode::Signal,
            _ => ExitCode::Ok,
        }
    }

    /// The files of messages follow the last second.
    fn send_messages(&self) -> Option<LoggedMessages> {
        let (logs, is_whole) = self.test.messages.as_ref()?.finish();
        for file in &logs.files {
            self.tell_closed(self.frames.add_messages(self.dir.join(file)));
        }
        Some(LoggedMessages { written: logs.written, dropped: logs.dropped, is_whole })
    }

    fn judge(&mut self, outcome: &Outcome, of_outputs: &[String]) -> (generator::Judged, Results) {
        let program = &self.test.script.program;
        let load = outcome.started.map_or(Duration::ZERO, |start| outcome.loaded_until.saturating_sub(start));
        self.aggregate.judge(load, Judged::End);
        let results = self.aggregate.results(load, false);
        let end = machine::Moment::now();
        let around = Circumstances {
            is_smoke: self.is_smoke,
            clock_step_ms: self.generator.clock_step_ms(),
            unstamped: program.unstamped(),
            is_target_here: program.is_target_here(),
            allowed_cores: machine::allowed_cores(),
            machine: machine::Meanwhile::between(self.generator.machine.as_ref().unwrap_or(&end), &end),
            accept_late: self.test.flags.verdict.accept_late,
            lost: outputs::losses(of_outputs).collect(),
            ..Circumstances::default()
        };
        // Whether there are enough samples for a percentile is for the whole test to say.
        let judged = generator::Judged::new(&outcome.health, &[], &results, &around);
        (judged, results)
    }
}

/// How much the test's time is ahead of this machine's, when it is `wall` at this moment of the monotonic clock.
fn ahead(at: fleet::Ns, wall: fleet::Ns) -> i64 {
    let own_epoch = wire::wall_ns().saturating_sub(fleet::clock::now());
    i64::try_from(i128::from(wall) - i128::from(own_epoch) - i128::from(at)).unwrap_or(0)
}

/// Hears orders beside the running test, until the last one. `follow` does what they want of the test.
pub fn listen(
    events: Receiver<AgentEvent>,
    stopper: Stopper,
    ended: Sender<Result<(), String>>,
    follow: impl Fn(AgentEvent) + Send + 'static,
) {
    let hear = move || {
        let last = loop {
            match events.recv() {
                Ok(AgentEvent::Stop(_)) => stopper.stop(StopCause::Requested),
                Ok(AgentEvent::Refused(why)) => break Err(why),
                Ok(AgentEvent::Dismissed) => break Ok(()),
                Ok(event) => follow(event),
                Err(_) => break Err(String::from("the connection's thread has ended")),
            }
        };
        // A coordinator that lets its agents go early wants them to stop.
        stopper.stop(StopCause::Requested);
        let _ = ended.send(last);
    };
    // Without the thread nobody says the last word; the channel closes and the agent ends.
    let _ = std::thread::Builder::new().name(String::from("orders")).spawn(hear);
}
