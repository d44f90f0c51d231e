//! An agent as a state machine: orders, what its engine does, and lost connections go in; reports and events come out.
//!
//! Once it has started it needs nobody: its part follows from its index, and each second is kept before it is sent. A
//! connection that breaks is made anew; the agent then says again how far it is, and the coordinator from which second
//! on it wants to hear.

use std::collections::VecDeque;

use crate::message::{Archive, Arrival, Hello, Order, PROTOCOL, Report, RunId};
use crate::token::Secret;
use crate::{Ns, message};

/// Frames that are under way and not yet safe: more would only lie in the connection's buffers.
const WINDOW: u64 = 16;

/// Who an agent is.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Of the program.
    pub version: String,
    /// What entitles it to join.
    pub secret: Secret,
    /// What it is called.
    pub name: String,
    /// The part it wants; none: any.
    pub index: Option<u32>,
    /// This life.
    pub incarnation: u64,
}

/// Its place in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The run.
    pub run: RunId,
    /// Which part.
    pub index: u32,
    /// Of how many.
    pub of: u32,
}

/// What the agent's program learns.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// It has a seat.
    Seated {
        /// Which.
        place: Place,
        /// What it will run.
        archive: Archive,
        /// How, as the program writes it.
        settings: Vec<u8>,
    },
    /// The next piece of the archive.
    Piece(Vec<u8>),
    /// The archive is whole: to be checked, and the test to be prepared.
    ArchiveEnds,
    /// What `setup()` returned, as JSON.
    Setup(Option<String>),
    /// The scenarios begin then, by this machine's clock.
    Start {
        /// The moment.
        at: Ns,
        /// How far the clocks may be from what is believed.
        bound: Ns,
    },
    /// What time it is for the whole test.
    Clock {
        /// At this moment of this machine's clock
        at: Ns,
        /// it is so many nanoseconds after 1970.
        wall: Ns,
    },
    /// A meeting of virtual users begins.
    Meet {
        /// Which.
        meeting: String,
        /// Then, by this machine's clock.
        at: Ns,
        /// So many have come.
        came: u64,
        /// So many have not.
        missing: u64,
    },
    /// The load changes, as the program writes it; the number is told when the change is followed.
    Change {
        /// Which change, from 1 on.
        number: u64,
        /// From when on, and to what.
        content: Vec<u8>,
    },
    /// The test ends early.
    Stop(Vec<u8>),
    /// It cannot take part, and why.
    Refused(String),
    /// Everything is with the coordinator.
    Dismissed,
}

/// Gives a closed frame by its number, from 1 on; none when it cannot be read any more.
pub type Frames = Box<dyn FnMut(u64) -> Option<Vec<u8>> + Send>;

/// How far the agent is, as it tells whoever coordinates.
#[derive(Clone, Debug, Default)]
struct Progress {
    users: Option<u64>,
    has_setup: bool,
    late: Option<Ns>,
    /// Users that wait at meetings.
    arrivals: Vec<Arrival>,
    /// Changes of the load that it follows, and how late it heard of each.
    changes: Vec<(u64, Ns)>,
    outcome: Option<Vec<u8>>,
    refusal: Option<(String, u8)>,
}

/// An agent.
pub struct Agent {
    identity: Identity,
    place: Option<Place>,
    is_online: bool,
    /// How much of the archive is here, and how much there is.
    archive: (u64, u64),
    progress: Progress,
    start: Option<Ns>,
    /// The last change of the load that was passed on.
    change: u64,
    is_stopped: bool,
    /// Frames that are closed.
    closed: u64,
    /// The last one sent by this connection.
    sent: u64,
    /// The last one that is safe.
    taken: u64,
    has_said_the_end: bool,
    reports: VecDeque<Report>,
    events: VecDeque<AgentEvent>,
}

impl Agent {
    /// One that has not joined yet.
    pub fn new(identity: Identity) -> Agent {
        Agent {
            identity,
            place: None,
            is_online: false,
            archive: (0, 0),
            progress: Progress::default(),
            start: None,
            change: 0,
            is_stopped: false,
            closed: 0,
            sent: 0,
            taken: 0,
            has_said_the_end: false,
            reports: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// What is to be sent.
    pub fn next_report(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }

    /// What has happened.
    pub fn next_event(&mut self) -> Option<AgentEvent> {
        self.events.pop_front()
    }

    /// Its place, once it has one.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// There is a connection.
    pub fn connected(&mut self) {
        let Identity { version, secret, name, index, incarnation } = self.identity.clone();
        let seat = self.place.as_ref().map(|place| (place.run, place.index));
        let hello = Hello { protocol: PROTOCOL, version, secret, name, index, incarnation, seat };
        self.reports.clear();
        self.reports.push_back(Report::Hello(hello));
        self.is_online = false;
    }

    /// The connection is gone; what was not sent will be asked for again.
    pub fn disconnected(&mut self) {
        self.is_online = false;
        self.reports.clear();
    }

    /// An order has come, at this moment of our clock.
    pub fn take(&mut self, order: Order, now: Ns) {
        match order {
            Order::Welcome { run, index, of, archive, settings, from } => {
                self.welcome(Place { run, index, of }, archive, settings, from);
            }
            Order::Refuse { why } => {
                let why = format!("the coordinator has turned this agent away: {why}");
                self.events.push_back(AgentEvent::Refused(why));
            }
            Order::Piece { offset, content } => self.piece(offset, content),
            // The moment of sending is set when it is sent.
            Order::Ping { number } => self.reports.push_front(Report::Pong { number, received: now, sent: now }),
            Order::Setup { data } => {
                if !self.progress.has_setup {
                    self.progress.has_setup = true;
                    self.events.push_back(AgentEvent::Setup(data));
                }
                self.say(Report::HasSetup);
            }
            Order::Start { at, bound } => {
                // Told twice after a connection broke: the first one counts.
                if self.start.is_none() && self.progress.has_setup {
                    self.start = Some(at);
                    self.events.push_back(AgentEvent::Start { at, bound });
                }
            }
            Order::Clock { at, wall } => self.events.push_back(AgentEvent::Clock { at, wall }),
            Order::Meet { meeting, at, came, missing } => {
                self.progress.arrivals.retain(|arrival| arrival.meeting != meeting);
                self.events.push_back(AgentEvent::Meet { meeting, at, came, missing });
            }
            Order::Change { number, content } => {
                // Those between are on their way again, if there are some: it has been away.
                if number == self.change + 1 {
                    self.change = number;
                    self.events.push_back(AgentEvent::Change { number, content });
                }
            }
            Order::Stop { cause } => {
                if !std::mem::replace(&mut self.is_stopped, true) {
                    self.events.push_back(AgentEvent::Stop(cause));
                }
            }
            Order::Taken { through } => self.taken = self.taken.max(through.min(self.closed)),
            Order::Dismissed => self.events.push_back(AgentEvent::Dismissed),
        }
    }

    /// The test is loaded and the virtual users are made.
    pub fn prepared(&mut self, users: u64) {
        assert!(self.progress.users.is_none(), "users are made once");
        self.progress.users = Some(users);
        self.say(Report::Prepared { users });
    }

    /// The test cannot run here.
    pub fn refuse(&mut self, why: String, code: u8) {
        self.progress.refusal = Some((why.clone(), code));
        self.say(Report::Refused { why, code });
    }

    /// The scenarios have begun, so long after the instant.
    pub fn started(&mut self, late: Ns) {
        assert!(
            self.start.is_some() && self.progress.late.is_none(),
            "scenarios begin once, and not before their instant"
        );
        self.progress.late = Some(late);
        self.say(Report::Started { late });
    }

    /// A virtual user has come to a meeting.
    pub fn arrives(&mut self, arrival: Arrival) {
        self.progress.arrivals.push(arrival.clone());
        self.say(Report::Arrives(arrival));
    }

    /// It follows a change of the load, of which it heard so long after the moment from which it holds.
    pub fn changed(&mut self, number: u64, late: Ns) {
        self.progress.changes.push((number, late));
        self.say(Report::Changed { number, late });
    }

    /// The next frame is kept and may be sent.
    pub fn closed_frame(&mut self) {
        assert!(self.progress.outcome.is_none(), "no frame is closed after the end");
        self.closed += 1;
    }

    /// Something for the coordinator's log.
    pub fn log(&mut self, level: u8, text: String) {
        self.say(Report::Said { level, text });
    }

    /// Its part is over; all frames are closed.
    pub fn ended(&mut self, outcome: Vec<u8>) {
        assert!(self.progress.outcome.is_none(), "a part ends once");
        self.progress.outcome = Some(outcome);
    }

    /// Makes reports of the frames that may go out now, and behind the last one says that it is over.
    pub fn send_frames(&mut self, frames: &mut dyn FnMut(u64) -> Option<Vec<u8>>) {
        while self.is_online && self.sent < self.closed && self.sent < self.taken + WINDOW {
            let Some(content) = frames(self.sent + 1) else { return };
            self.sent += 1;
            self.reports.push_back(Report::Frame { number: self.sent, content });
        }
        if self.is_online
            && self.sent == self.closed
            && !self.has_said_the_end
            && let Some(outcome) = self.progress.outcome.clone()
        {
            self.has_said_the_end = true;
            self.reports.push_back(Report::Ended { frames: self.closed, outcome });
        }
    }

    fn say(&mut self, report: Report) {
        if self.is_online {
            self.reports.push_back(report);
        }
    }

    fn welcome(&mut self, place: Place, archive: Archive, settings: Vec<u8>, from: u64) {
        self.is_online = true;
        (self.sent, self.taken) = (from - 1, from - 1);
        self.has_said_the_end = false;
        if self.place.is_none() {
            self.place = Some(place.clone());
            self.archive = (0, archive.size);
            self.events.push_back(AgentEvent::Seated { place, archive, settings });
        }
        if self.archive.0 < self.archive.1 {
            self.reports.push_back(Report::Wants { offset: self.archive.0 });
        }
        let Progress { users, has_setup, late, refusal, arrivals, changes, .. } = self.progress.clone();
        self.reports.extend(refusal.map(|(why, code)| Report::Refused { why, code }));
        self.reports.extend(users.map(|users| Report::Prepared { users }));
        self.reports.extend(has_setup.then_some(Report::HasSetup));
        self.reports.extend(late.map(|late| Report::Started { late }));
        self.reports.extend(arrivals.into_iter().map(Report::Arrives));
        self.reports.extend(changes.into_iter().map(|(number, late)| Report::Changed { number, late }));
    }

    fn piece(&mut self, offset: u64, content: Vec<u8>) {
        let (here, size) = self.archive;
        // One that was asked for twice.
        if offset != here || content.is_empty() {
            return;
        }
        self.archive.0 += content.len() as u64;
        self.events.push_back(AgentEvent::Piece(content));
        match self.archive.0 < size {
            true => self.say(Report::Wants { offset: self.archive.0 }),
            false => self.events.push_back(AgentEvent::ArchiveEnds),
        }
    }
}

/// A report as it leaves: an answer to a ping is dated now.
pub fn seal(report: &mut Report, now: Ns) -> Vec<u8> {
    if let Report::Pong { sent, .. } = report {
        *sent = now;
    }
    message::encode(report)
}
