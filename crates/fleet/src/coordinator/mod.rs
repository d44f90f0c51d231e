//! The coordinator as a state machine: reports, lost connections and moments go in, orders and events come out.
//!
//! From the first agent to the last frame: seats are taken (`seating`), every agent fetches the archive and makes its
//! users, the caller runs `setup()`, its data goes out, all clocks are sighted once more, and all agents get one
//! instant to start at (`starting`). From then on frames are what tells that an agent lives (`losses`); those of an
//! agent are passed on in order, and a number is closed when every agent that is not lost has brought it.
//!
//! Whatever a connection does, an agent that comes back in the same life says again how far it is, and gets what it has
//! missed; so every report may come twice, and none is counted twice.

mod changes;
mod event;
mod frames;
mod losses;
mod meetings;
mod outage;
mod outbox;
mod seat;
mod seating;
mod starting;

use std::collections::HashMap;

use crate::message::{Archive, Order, Report, RunId};
use crate::token::Secret;
use crate::{Ns, SECOND};
pub use event::Event;
use meetings::Meetings;
pub use outage::OUTAGE_PATIENCE;
pub use outbox::Link;
use outbox::Outbox;
use seat::{Seat, Stage};

/// A piece of the archive.
const PIECE: usize = 256 << 10;

/// What a coordinator begins with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The run.
    pub run: RunId,
    /// So many agents take part.
    pub agents: u32,
    /// Of the program; others are refused.
    pub version: String,
    /// What entitles to join.
    pub secret: Secret,
    /// What they run.
    pub archive: Archive,
    /// How they run it, as the program writes it.
    pub settings: Vec<u8>,
    /// How long all agents may take to come, and one that is gone before the start to come back.
    pub patience: Ns,
    /// What time it was when the coordinator's clock showed nothing, in nanoseconds after 1970.
    pub epoch: Ns,
}

/// What another coordinator has written down of a test that it had begun.
#[derive(Clone, Debug, Default)]
pub struct BegunTest {
    /// What `setup()` had returned.
    pub data: Option<String>,
    /// When the scenarios began.
    pub started: Ns,
    /// Changes of the load, in order.
    pub changes: Vec<Vec<u8>>,
}

/// How far the test is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Agents join and prepare.
    Gathering,
    /// All are prepared; `setup()` runs.
    SettingUp,
    /// What it returned goes out.
    HandingOut,
    /// Clocks are sighted for the start.
    Sighting,
    /// It starts or has started at this moment.
    Running(Ns),
    /// Nothing more can come.
    Over,
}

/// The coordinator of a run.
pub struct Coordinator {
    setup: Setup,
    phase: Phase,
    seats: Vec<Option<Seat>>,
    links: HashMap<Link, u32>,
    /// Known once `setup()` has run.
    data: Option<Option<String>>,
    /// The last number that was closed.
    closed: u64,
    began: Ns,
    meetings: Meetings,
    /// Of the load, in order, as the program has written them.
    changes: Vec<Vec<u8>>,
    end: TestEnd,
    /// Since when messages cannot be read or written.
    outage_since: Option<Ns>,
    /// The most that stamps of two agents were said to be apart.
    apart: Ns,
    outbox: Outbox,
    read_archive: ReadArchive,
}

/// How the test comes to its end.
#[derive(Default)]
struct TestEnd {
    /// Why it ends early, as the program has written it.
    stop: Option<Vec<u8>>,
    /// When the last agent ended while others were lost.
    waiting_since: Option<Ns>,
    /// Whether agents are let go, also those that come later.
    is_dismissed: bool,
    /// Whether agents may not know yet that another coordinator had everything.
    is_heir: bool,
}

/// Reads the archive: so many bytes from there on.
pub type ReadArchive = Box<dyn FnMut(u64, usize) -> Result<Vec<u8>, String> + Send>;

impl Coordinator {
    /// One that waits for its agents.
    pub fn new(setup: Setup, read_archive: ReadArchive, now: Ns) -> Coordinator {
        Coordinator {
            seats: (0..setup.agents).map(|_| None).collect(),
            setup,
            phase: Phase::Gathering,
            links: HashMap::new(),
            data: None,
            closed: 0,
            began: now,
            meetings: Meetings::default(),
            changes: Vec::new(),
            end: TestEnd::default(),
            outage_since: None,
            apart: 0,
            outbox: Outbox::default(),
            read_archive,
        }
    }

    /// One that goes on where another was killed, with what that has written down. It gets every frame anew from its
    /// agents.
    pub fn resumed(setup: Setup, read_archive: ReadArchive, begun: BegunTest, now: Ns) -> Coordinator {
        let mut resumed = Coordinator::new(setup, read_archive, now);
        resumed.data = Some(begun.data);
        resumed.phase = Phase::Running(begun.started);
        resumed.changes = begun.changes;
        resumed
    }

    /// One that follows another which had everything and was killed before all agents knew: it lets them go.
    pub fn letting_go(setup: Setup, read_archive: ReadArchive, now: Ns) -> Coordinator {
        let mut ended = Coordinator::new(setup, read_archive, now);
        ended.phase = Phase::Over;
        (ended.end.is_dismissed, ended.end.is_heir) = (true, true);
        ended
    }

    /// What is to be sent.
    pub fn next_order(&mut self) -> Option<(Link, Order)> {
        self.outbox.orders.pop_front()
    }

    /// A connection to be closed, once there are no orders any more.
    pub fn next_closing(&mut self) -> Option<Link> {
        self.outbox.closing.pop()
    }

    /// What has happened.
    pub fn next_event(&mut self) -> Option<Event> {
        self.outbox.next_event()
    }

    /// A connection is gone.
    pub fn left(&mut self, link: Link, now: Ns) {
        let Some(index) = self.links.remove(&link) else { return };
        let is_running = matches!(self.phase, Phase::Running(_));
        let Some(seat) = &mut self.seats[index as usize] else { return };
        debug_assert_eq!(seat.link, Some(link), "a seat knows its connection");
        seat.link = None;
        seat.gone_since = Some(now);
        if seat.stage < Stage::Ended && self.phase != Phase::Over {
            let then = if is_running { "" } else { "; it is waited for" };
            let what = format!("its connection is gone{then}");
            self.outbox.tell(Event::Missed { index, name: seat.name.clone(), what });
        }
    }

    /// A report has come, at this moment of our clock.
    pub fn take(&mut self, link: Link, report: Report, now: Ns) {
        if let Report::Hello(hello) = report {
            return self.greet(link, hello, now);
        }
        let Some(index) = self.links.get(&link).copied() else {
            return self.outbox.refuse(link, "somebody", "it has not said who it is");
        };
        self.seats[index as usize].iter_mut().for_each(|seat| seat.spoke = now);
        match report {
            Report::Hello(_) => {}
            Report::Pong { number, received, sent } => self.sight(index, number, (received, sent), now),
            Report::Wants { offset } => self.send_piece(link, offset),
            Report::Prepared { users } => self.prepared(index, users, now),
            Report::Refused { why, code } => self.unable(index, why, code),
            Report::HasSetup => self.has_setup(index, now),
            Report::Started { late } => self.started(index, late),
            Report::Frame { number, content } => self.frame(index, number, content, now),
            Report::Arrives(arrival) => self.arrives(index, arrival, now),
            Report::Changed { number, late } => self.changed(index, number, late),
            Report::Said { level, text } => self.outbox.tell(Event::Said { index, level, text }),
            Report::Ended { frames, outcome } => self.ended(index, frames, outcome, now),
        }
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Ns) {
        if self.is_cut_off(now) {
            return self.begin_meetings(now);
        }
        self.close_dead_links(now);
        self.ping_again(now);
        match self.phase {
            Phase::Gathering | Phase::SettingUp | Phase::HandingOut | Phase::Sighting => self.miss(now),
            Phase::Running(start) => self.look_for_losses(start, now),
            Phase::Over => {}
        }
        self.begin_meetings(now);
        self.look_whether_it_is_over(now);
    }

    /// Ends the test early, with a cause that the program has written.
    pub fn stop(&mut self, cause: Vec<u8>) {
        if self.end.stop.is_none() {
            self.order_all(&Order::Stop { cause: cause.clone() });
            self.end.stop = Some(cause);
        }
    }

    /// Lets all agents go.
    pub fn dismiss(&mut self) {
        self.order_all(&Order::Dismissed);
        self.phase = Phase::Over;
        self.end.is_dismissed = true;
    }

    /// Whether somebody whose part is here may come back for its dismissal: its connection broke just now.
    pub fn owes_a_dismissal(&self) -> bool {
        let is_owed = |seat: &Option<Seat>| match seat {
            Some(seat) => seat.is_owed && seat.link.is_none(),
            None => self.end.is_heir,
        };
        self.seats.iter().any(is_owed)
    }

    /// Whether every agent that has a seat is there.
    pub fn joined(&self) -> u32 {
        self.seats.iter().flatten().filter(|seat| seat.link.is_some()).count() as u32
    }

    /// The leads of all clocks, with their bounds, as they are at this moment of ours.
    pub fn leads(&self, at: Ns) -> impl Iterator<Item = (u32, crate::sight::Lead)> {
        (0..).zip(&self.seats).filter_map(move |(index, seat)| Some((index, seat.as_ref()?.sights.lead(at)?)))
    }

    fn order_all(&mut self, order: &Order) {
        self.outbox.orders.extend(self.seats.iter().flatten().filter_map(|seat| Some((seat.link?, order.clone()))));
    }

    fn order(&mut self, index: u32, order: Order) {
        if let Some(link) = self.seats[index as usize].as_ref().and_then(|seat| seat.link) {
            self.outbox.order(link, order);
        }
    }

    fn unable(&mut self, index: u32, why: String, code: u8) {
        let Some(seat) = self.seats[index as usize].as_mut() else { return };
        seat.stage = Stage::Ended;
        self.outbox.tell(Event::Unable { index, name: seat.name.clone(), why, code });
    }

    fn send_piece(&mut self, link: Link, offset: u64) {
        if offset < self.setup.archive.size {
            match (self.read_archive)(offset, PIECE) {
                Ok(content) => self.outbox.order(link, Order::Piece { offset, content }),
                Err(why) => self.outbox.refuse(link, "an agent", &format!("the archive cannot be read: {why}")),
            }
        }
    }

    fn frame(&mut self, index: u32, number: u64, content: Vec<u8>, now: Ns) {
        let Phase::Running(start) = self.phase else { return };
        let Some(seat) = self.seats[index as usize].as_mut() else { return };
        let silent_since = seat.heard.max(start);
        seat.heard = now;
        let was_missing = [std::mem::take(&mut seat.is_lost), std::mem::take(&mut seat.is_suspect)];
        if was_missing.contains(&true) {
            let after = now.saturating_sub(silent_since);
            self.outbox.tell(Event::Back { index, name: seat.name.clone(), after });
            self.end.waiting_since = None;
        }
        seat.frames.add(number, content);
        while let Some((number, content)) = seat.frames.pop() {
            self.outbox.tell(Event::Frame { index, number, content });
        }
        let through = seat.frames.through();
        self.order(index, Order::Taken { through });
        self.look_whether_it_ended(index);
        self.close_numbers();
    }

    fn ended(&mut self, index: u32, frames: u64, outcome: Vec<u8>, now: Ns) {
        let Some(seat) = self.seats[index as usize].as_mut() else { return };
        seat.heard = now;
        if seat.stage < Stage::Ended {
            seat.frames.finish(frames, outcome);
        }
        self.look_whether_it_ended(index);
        self.close_numbers();
        self.look_whether_it_is_over(now);
    }

    /// An agent has ended when its last frame is here.
    fn look_whether_it_ended(&mut self, index: u32) {
        let Some(seat) = self.seats[index as usize].as_mut() else { return };
        if let Some(outcome) = seat.frames.take_end() {
            (seat.stage, seat.is_owed) = (Stage::Ended, true);
            self.outbox.tell(Event::Ended { index, outcome });
        }
    }

    /// Passes on which numbers all agents have brought that still bring some.
    fn close_numbers(&mut self) {
        let furthest = self.seats.iter().flatten().map(|seat| seat.frames.through()).max().unwrap_or(0);
        let is_brought = |number: u64| {
            let brought = |seat: &Seat| seat.frames.through() >= number || seat.is_lost || seat.stage == Stage::Ended;
            self.seats.iter().all(|seat| seat.as_ref().is_some_and(brought))
        };
        while self.closed < furthest && is_brought(self.closed + 1) {
            self.closed += 1;
            self.outbox.tell(Event::Closed { number: self.closed });
        }
    }
}

/// Seconds with a tenth, as people read them.
fn seconds(time: Ns) -> String {
    format!("{:.1} s", time as f64 / SECOND as f64)
}
