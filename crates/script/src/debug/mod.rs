//! A debugger of scripts: what the adapter of an editor asks, and what users tell it. Users of all threads share one.
//!
//! The modules of a program that has one are compiled with calls before their statements (`loader/instrument.rs`). Each
//! call asks here whether to stop (`stops`). One user at a time is stopped: it waits, as for a response, and does what
//! it is asked meanwhile; the others run on. A program without a debugger has no such calls, and nothing else of this
//! either.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::loader::instrument::{Language, instrument};
pub use crate::loader::site::{Position, Scope, ScopeKind, Site, SiteTable};
use crate::loader::{resolve, transpile};

/// How long init code, `setup()` and the like may take while somebody looks at them.
pub const TIME_LIMIT: Duration = Duration::from_secs(30 * 24 * 3600);

/// A breakpoint as the adapter wants it.
#[derive(Clone, Debug)]
pub struct WantedBreakpoint {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; none for the first statement of the line.
    pub column: Option<u32>,
    /// It stops only where this is true.
    pub condition: Option<String>,
}

/// What a stopped user does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// Runs until something else stops it.
    On,
    /// Stops at the next statement of the same call, or of one around.
    Over,
    /// Stops at the next statement of any function.
    In,
    /// Stops behind the end of the function.
    Out,
}

/// What is asked of a stopped user.
#[derive(Clone, Debug)]
pub enum Inspection {
    /// The value of a text, in the scope of this frame.
    Value {
        /// Frame, from the innermost.
        frame: usize,
        /// An expression, or statements.
        text: String,
    },
    /// The values of these names there.
    Names {
        /// Frame, from the innermost.
        frame: usize,
        /// Names that the frame sees.
        names: Vec<String>,
    },
    /// The values of these globals.
    Globals(Vec<String>),
    /// The fields of the last response.
    LastResponse,
    /// The parts of a value that was told before.
    Parts(u32),
}

/// A frame of a stopped user.
#[derive(Clone, Debug)]
pub struct FrameView {
    /// Name of the function; empty when it has none.
    pub function: String,
    /// Module as scripts name it.
    pub module: String,
    /// Where it is.
    pub position: Position,
    /// What it sees, where that is known.
    pub site: Option<Site>,
}

/// Why a user has stopped.
#[derive(Clone, Debug)]
pub struct Why {
    /// `breakpoint`, `step`, `pause`, `entry` or `exception`.
    pub reason: &'static str,
    /// The text of the exception.
    pub text: Option<String>,
}

/// What the users tell.
#[derive(Clone, Debug)]
pub enum DebugEvent {
    /// A user is there.
    Thread(u64),
    /// A user has stopped.
    Stopped {
        /// The number of its thread.
        thread: u64,
        /// What stopped it.
        why: Why,
    },
    /// A stopped user runs on although it was not told to: the test ends.
    Continued(u64),
}

/// The answer to a question, as JSON; or why there is none.
pub type InspectionResult = Result<String, String>;

/// Who gets an answer. Dropped without one, it says that the user has run on.
pub struct InspectionReply(Option<Box<dyn FnOnce(InspectionResult) + Send>>);

impl InspectionReply {
    /// Calls this with the answer.
    pub fn new(tell: impl FnOnce(InspectionResult) + Send + 'static) -> Self {
        InspectionReply(Some(Box::new(tell)))
    }

    pub(crate) fn send(mut self, answer: InspectionResult) {
        if let Some(tell) = self.0.take() {
            tell(answer);
        }
    }

    /// That no user of this number is stopped.
    fn refuse(self, thread: u64) {
        self.send(Err(format!("{} is not stopped", thread_name(thread))));
    }
}

impl Drop for InspectionReply {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|tell| tell(Err(String::from("the user has run on"))));
    }
}

/// What a stopped user is told.
pub(crate) enum StopCommand {
    /// To run on, so far.
    Go(Go),
    /// To answer, and stay.
    Ask(Inspection, InspectionReply),
}

struct Breakpoint {
    at: Position,
    condition: Option<String>,
}

/// The user that is stopped.
pub(crate) struct Stopped {
    /// The number of its thread.
    pub thread: u64,
    /// Its frames, from the innermost.
    pub frames: Vec<FrameView>,
    /// Where it is told what to do.
    pub commands: UnboundedSender<StopCommand>,
}

#[derive(Default)]
struct DebugState {
    breakpoints: HashMap<String, Vec<Breakpoint>>,
    threads: BTreeMap<u64, Thread>,
    stopped: Option<Stopped>,
    stops_at_uncaught: bool,
    stops_at_entry: bool,
    is_detached: bool,
}

#[derive(Default)]
struct Thread {
    is_to_pause: bool,
}

/// One debugger of one test.
pub struct Debugger {
    state: Mutex<DebugState>,
    places: Arc<SiteTable>,
    report: Box<dyn Fn(DebugEvent) + Send + Sync>,
}

impl std::fmt::Debug for Debugger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Debugger({} places)", self.places.all().len())
    }
}

/// The number of a user's thread in an editor, from 1.
pub(crate) fn thread_of(vu: u64) -> u64 {
    vu + 1
}

/// What a user is called.
pub fn thread_name(thread: u64) -> String {
    match thread {
        1 => String::from("outside of iterations"),
        _ => format!("user {}", thread - 1),
    }
}

impl Debugger {
    /// A debugger that tells what happens by this function; it is called from the threads of users.
    pub fn new(report: impl Fn(DebugEvent) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Debugger { state: Mutex::default(), places: Arc::default(), report: Box::new(report) })
    }

    fn state(&self) -> MutexGuard<'_, DebugState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the breakpoints of a file. Each goes to the first statement at or behind its line; the answer says
    /// where that is, or why there is none.
    pub fn set_breakpoints(&self, path: &Path, wanted: &[WantedBreakpoint]) -> Vec<Result<Position, String>> {
        let name = resolve::file_name(path);
        let starts = self.starts(&name, path);
        let mut breakpoints = Vec::new();
        let answers = wanted.iter().map(|wanted| {
            let starts = starts.as_ref().map_err(Clone::clone)?;
            let from = Position { line: wanted.line, column: wanted.column.unwrap_or(1) };
            // A column behind the last statement of its line means that one.
            let in_line = starts.iter().rfind(|start| start.line == from.line && wanted.column.is_some());
            let at = starts.iter().find(|start| start.line == from.line && **start >= from).or(in_line);
            let at = at.or_else(|| starts.iter().find(|start| **start >= from)).copied();
            let at = at.ok_or_else(|| format!("there is no statement in line {} or behind it", wanted.line))?;
            breakpoints.push(Breakpoint { at, condition: wanted.condition.clone() });
            Ok(at)
        });
        let answers = answers.collect();
        self.state().breakpoints.insert(name, breakpoints);
        answers
    }

    /// Where the statements of a file begin, in order.
    fn starts(&self, name: &str, path: &Path) -> Result<Vec<Position>, String> {
        let places = self.places.all();
        let known = places.iter().filter(|(module, _)| **module == *name);
        let mut starts: Vec<Position> = known.map(|(_, site)| site.start).collect();
        drop(places);
        if starts.is_empty() {
            let text =
                std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()));
            let languages = match transpile::is_typescript_name(name) {
                true => &[Language::TypeScript][..],
                false => &[Language::Module, Language::CommonJs, Language::TypeScript],
            };
            let text = text?;
            let found = languages.iter().find_map(|language| instrument(&text, *language, 0));
            let found = found.ok_or_else(|| format!("{} is no script that can be read", path.display()))?;
            starts = found.sites.iter().map(|site| site.start).collect();
        }
        starts.sort_unstable();
        Ok(starts)
    }

    /// Whether exceptions that the script does not catch stop their user.
    pub fn stop_at_uncaught(&self, stops: bool) {
        self.state().stops_at_uncaught = stops;
    }

    /// Has the first statement stop.
    pub fn stop_at_entry(&self) {
        self.state().stops_at_entry = true;
    }

    /// The numbers of all users so far.
    pub fn threads(&self) -> Vec<u64> {
        self.state().threads.keys().copied().collect()
    }

    /// Has a user stop at its next statement; whether there is such a user.
    pub fn pause(&self, thread: u64) -> bool {
        self.state().threads.get_mut(&thread).map(|thread| thread.is_to_pause = true).is_some()
    }

    /// Lets a stopped user run; whether it was stopped.
    pub fn go(&self, thread: u64, go: Go) -> bool {
        let mut state = self.state();
        if state.stopped.as_ref().is_none_or(|stopped| stopped.thread != thread) {
            return false;
        }
        let stopped = state.stopped.take();
        stopped.is_some_and(|stopped| stopped.commands.send(StopCommand::Go(go)).is_ok())
    }

    /// The frames of a stopped user, from the innermost.
    pub fn frames(&self, thread: u64) -> Option<Vec<FrameView>> {
        let state = self.state();
        state.stopped.as_ref().filter(|stopped| stopped.thread == thread).map(|stopped| stopped.frames.clone())
    }

    /// The user that is stopped.
    pub fn stopped(&self) -> Option<u64> {
        self.state().stopped.as_ref().map(|stopped| stopped.thread)
    }

    /// Asks a stopped user.
    pub fn ask(&self, thread: u64, question: Inspection, reply: InspectionReply) {
        let commands = {
            let state = self.state();
            let stopped = state.stopped.as_ref().filter(|stopped| stopped.thread == thread);
            stopped.map(|stopped| stopped.commands.clone())
        };
        match commands {
            Some(commands) => drop(commands.send(StopCommand::Ask(question, reply))),
            None => reply.refuse(thread),
        }
    }

    /// Stops nobody any more.
    pub fn detach(&self) {
        let mut state = self.state();
        state.is_detached = true;
        if let Some(stopped) = state.stopped.take() {
            let _gone = stopped.commands.send(StopCommand::Go(Go::On));
        }
    }

    /// Where it may stop.
    pub(crate) fn places(&self) -> &Arc<SiteTable> {
        &self.places
    }

    /// Whether exceptions that the script does not catch stop their user.
    pub(crate) fn stops_at_uncaught(&self) -> bool {
        self.state().stops_at_uncaught
    }

    /// A user is there.
    pub(crate) fn begin(&self, thread: u64) {
        let is_new = self.state().threads.insert(thread, Thread::default()).is_none();
        if is_new {
            (self.report)(DebugEvent::Thread(thread));
        }
    }

    /// Why a user has to stop before a statement, and on which condition.
    pub(crate) fn reason(&self, thread: u64, site: usize, is_step: bool) -> Option<(&'static str, Option<String>)> {
        let mut state = self.state();
        if state.is_detached || state.stopped.is_some() {
            return None;
        }
        if std::mem::take(&mut state.stops_at_entry) {
            return Some(("entry", None));
        }
        let is_paused = state.threads.get_mut(&thread).is_some_and(|thread| std::mem::take(&mut thread.is_to_pause));
        if is_step || is_paused {
            return Some((if is_step { "step" } else { "pause" }, None));
        }
        if state.breakpoints.is_empty() {
            return None;
        }
        let places = self.places.all();
        let (module, site) = places.get(site)?;
        let breakpoints = state.breakpoints.get(&**module)?;
        let hit = breakpoints.iter().find(|breakpoint| breakpoint.at == site.start)?;
        Some(("breakpoint", hit.condition.clone()))
    }

    /// Takes the place of the one user that is stopped; whether it was free.
    pub(crate) fn stop(&self, stopped: Stopped, why: Why) -> bool {
        let mut state = self.state();
        if state.is_detached || state.stopped.is_some() {
            return false;
        }
        let thread = stopped.thread;
        state.stopped = Some(stopped);
        drop(state);
        (self.report)(DebugEvent::Stopped { thread, why });
        true
    }

    /// A stopped user runs on by itself.
    pub(crate) fn ran_on(&self, thread: u64) {
        let mut state = self.state();
        if state.stopped.as_ref().is_some_and(|stopped| stopped.thread == thread) {
            state.stopped = None;
            drop(state);
            (self.report)(DebugEvent::Continued(thread));
        }
    }
}
