//! A coordinator and agents over a backing, and what they have seen.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use onrush_fleet::backing::{Hub, Line};
use onrush_fleet::coordinator::Coordinator;
use onrush_fleet::drive::{AgentThread, Command, CoordinatorThread, Local};
use onrush_fleet::{Agent, AgentEvent, Archive, Credentials, Event, Identity, RunId, Setup, Token, clock};

/// Whatever is waited for comes within this time, even on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// What time it was when the machine's clock showed nothing.
pub const EPOCH: u64 = 1_700_000_000_000_000_000;
/// What `setup()` returns here.
pub const DATA: &str = "{\"a\":[1,2]}";

/// An end of a backing that is being opened.
pub type Opening<H> = Pin<Box<dyn Future<Output = Result<H, String>> + Send>>;

/// A way for messages, and the programs that it needs.
pub trait Backing: Sized {
    /// The coordinator's end.
    type Hub: Hub;
    /// An agent's end.
    type Line: Line;
    /// Whether a short cut goes unnoticed, because requests are tried again.
    const RETRIES: bool = false;
    /// How long a cut takes.
    const OUTAGE: Duration = Duration::ZERO;
    /// As many agents are served at once on a small machine that is busy.
    const CROWD: u32 = 50;
    /// Makes it ready; the error says what is missing on this machine.
    fn make() -> Result<Self, String>;
    /// Opens the coordinator's end.
    fn hub(&self, credentials: &Credentials, archive: &[u8]) -> Opening<Self::Hub>;
    /// An agent's end; the coordinator's is open.
    fn line(&self, token: &Token) -> Self::Line;
    /// Breaks every connection that there is; new ones can be made.
    fn cut(&self);
    /// The same, for so long.
    fn cut_for(&self, _: Duration) {
        self.cut();
    }
}

/// A coordinator at work.
pub struct Fleet {
    pub thread: CoordinatorThread,
    pub credentials: Credentials,
    pub archive: Vec<u8>,
    pub seen: Vec<Event>,
}

impl Fleet {
    pub fn start<B: Backing>(backing: &B, agents: u32) -> Fleet {
        let credentials = Credentials::make().expect("credentials");
        // Four pieces and a bit.
        let archive: Vec<u8> = (0..(1_u32 << 20) + 77).map(|at| (at % 251) as u8).collect();
        let setup = Setup {
            run: RunId(7),
            agents,
            version: String::from("test"),
            secret: credentials.secret.clone(),
            archive: Archive { hash: [9; 32], size: archive.len() as u64 },
            settings: b"settings".to_vec(),
            patience: 60_000_000_000,
            epoch: EPOCH,
        };
        let whole = archive.clone();
        let read = move |offset: u64, most: usize| {
            let from = offset as usize;
            Ok(whole[from..whole.len().min(from + most)].to_vec())
        };
        let coordinator = Coordinator::new(setup, Box::new(read), clock::now());
        let opening = backing.hub(&credentials, &archive);
        let thread = CoordinatorThread::start(coordinator, async move || opening.await, Box::new(|_| ()));
        Fleet { thread: thread.expect("a coordinator"), credentials, archive, seen: Vec::new() }
    }

    /// Goes on until this happens; hands out the data of `setup()` in passing.
    pub fn until(&mut self, what: impl Fn(&Event) -> bool) -> Event {
        let end = Instant::now() + PATIENCE;
        loop {
            let rest = end.saturating_duration_since(Instant::now());
            let event = self.thread.event(rest).unwrap_or_else(|| panic!("nothing more came: {}", self.shown()));
            if event == Event::AllPrepared {
                self.thread.tell(Command::HandOut(Some(DATA.to_owned())));
            }
            self.seen.push(event.clone());
            if what(&event) {
                return event;
            }
        }
    }

    fn shown(&self) -> String {
        let is_frame = |event: &&Event| !matches!(event, Event::Frame { .. } | Event::Closed { .. });
        self.seen.iter().filter(is_frame).map(|event| format!("\n  {event:?}")).collect()
    }

    /// The frames of an agent, as they were passed on.
    pub fn frames(&self, of: u32) -> Vec<(u64, Vec<u8>)> {
        let frame = |event: &Event| match event {
            Event::Frame { index, number, content } if *index == of => Some((*number, content.clone())),
            _ => None,
        };
        self.seen.iter().filter_map(frame).collect()
    }
}

/// Frames in memory.
#[derive(Clone, Default)]
pub struct Kept(Arc<Mutex<Vec<Vec<u8>>>>);

impl Kept {
    fn frame(&self, number: u64) -> Option<Vec<u8>> {
        self.0.lock().expect("no panics").get(number as usize - 1).cloned()
    }
}

/// What a frame holds, so that a wrong one is seen.
pub fn content(index: u32, number: u64) -> Vec<u8> {
    format!("frame {number} of agent {index}").repeat(40).into_bytes()
}

/// An agent, by its program's side.
pub struct Joined {
    pub thread: AgentThread,
    pub events: Receiver<AgentEvent>,
    kept: Kept,
    pub index: u32,
}

/// What an agent has learned on its way.
#[derive(Debug, Default)]
pub struct Seen {
    pub archive: Vec<u8>,
    pub index: u32,
    pub setup: Option<Option<String>>,
    pub start: Option<(u64, u64)>,
    /// Moments of the own clock, and what time it was.
    pub clocks: Vec<(u64, u64)>,
    pub stop: Option<Vec<u8>>,
}

impl Joined {
    pub fn start(line: impl Line, token: &Token, index: Option<u32>) -> Joined {
        let incarnation = onrush_fleet::token::random_number().expect("a number");
        let (version, name) = (String::from("test"), format!("agent-{index:?}"));
        let identity = Identity { version, secret: token.secret.clone(), name, index, incarnation };
        let kept = Kept::default();
        let agent = Agent::new(identity);
        let sent = kept.clone();
        let frames = Box::new(move |number| sent.frame(number));
        let started = AgentThread::start(agent, line, frames, (PATIENCE / 2, PATIENCE / 2));
        let (thread, events) = started.expect("a thread");
        Joined { thread, events, kept, index: 0 }
    }

    pub fn next(&self) -> AgentEvent {
        self.events.recv_timeout(PATIENCE).expect("an event in time")
    }

    pub fn close_frame(&self, number: u64) {
        self.kept.0.lock().expect("no panics").push(content(self.index, number));
        self.thread.tell(Local::Closed);
    }

    /// From the welcome to the start, as an agent's program does it; then so many frames, `every` so often; then to the
    /// end.
    pub fn play(mut self, frames: u64, every: Duration) -> Seen {
        let mut seen = Seen::default();
        loop {
            match self.next() {
                AgentEvent::Seated { place, settings, .. } => {
                    assert_eq!(settings, b"settings");
                    (seen.index, self.index) = (place.index, place.index);
                }
                AgentEvent::Piece(content) => seen.archive.extend(content),
                AgentEvent::ArchiveEnds => self.thread.tell(Local::Prepared(3)),
                AgentEvent::Setup(data) => seen.setup = Some(data),
                AgentEvent::Start { at, bound } => {
                    seen.start = Some((at, bound));
                    std::thread::sleep(clock::until(at));
                    self.thread.tell(Local::Started(clock::now().saturating_sub(at)));
                    for number in 1..=frames {
                        std::thread::sleep(every);
                        // A line of the log must not hold up what is measured.
                        self.thread.tell(Local::Said(3, format!("a line before frame {number}")));
                        self.close_frame(number);
                    }
                    self.thread.tell(Local::Ended(format!("end of {}", self.index).into_bytes()));
                }
                AgentEvent::Clock { at, wall } => seen.clocks.push((at, wall)),
                AgentEvent::Meet { .. } | AgentEvent::Change { .. } => panic!("users do not meet, the load stays"),
                AgentEvent::Stop(cause) => seen.stop = Some(cause),
                AgentEvent::Refused(why) => panic!("it was refused: {why}"),
                AgentEvent::Dismissed => {
                    self.thread.finish();
                    return seen;
                }
            }
        }
    }
}

/// Agents that play their parts.
pub fn agents<B: Backing>(
    backing: &B,
    fleet: &Fleet,
    count: u32,
    (frames, every): (u64, Duration),
) -> Vec<JoinHandle<Seen>> {
    let token = fleet.credentials.token();
    let start = |index| {
        let joined = Joined::start(backing.line(&token), &token, Some(index));
        std::thread::spawn(move || joined.play(frames, every))
    };
    (0..count).map(start).collect()
}
