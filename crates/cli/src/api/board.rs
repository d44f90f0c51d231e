//! What the REST API and the run know of each other.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::{RunState, StopCause, Stopper};
use serde_json::Value;
use tokio::sync::oneshot;

/// How long the run waits for a wish before it looks whether it was stopped.
const LOOK: Duration = Duration::from_millis(50);

/// How far a run is; the numbers of k6's `status`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The script is loaded, users are made.
    #[default]
    Made = 1,
    /// It waits to be resumed.
    Paused = 4,
    /// `setup()`.
    Setup = 6,
    /// Scenarios.
    Running = 7,
    /// `teardown()` and the summary.
    Teardown = 8,
    /// Nothing runs any more.
    Ended = 9,
}

/// Whether what was wished for was done, or why not.
pub type Reply = oneshot::Sender<Result<(), String>>;

/// What a client wants of a run that has not begun.
pub enum Wish {
    /// Call `setup()`.
    SetUp(Reply),
    /// Take this JSON for what `setup()` returned.
    KeepSetup(String, Reply),
    /// Call `teardown()`.
    TearDown(Reply),
    /// Begin.
    Resume,
}

/// What is known of the run.
#[derive(Default)]
pub struct Seen {
    /// How far it is.
    pub stage: Stage,
    /// Users and iterations.
    pub state: Option<Arc<RunState>>,
    /// Users it will have at most.
    pub max_vus: u64,
    /// The data of `handleSummary`, as it would be now.
    pub summary: Value,
    /// What `setup()` returned.
    pub setup: Option<Value>,
}

/// Written by the run, read by the API.
pub struct Board {
    stopper: Stopper,
    seen: Mutex<Seen>,
    wishes: Sender<Wish>,
    heard: Mutex<Receiver<Wish>>,
}

impl Board {
    /// The board of a run that is ended by `stopper`.
    pub fn new(stopper: Stopper) -> Arc<Board> {
        let (wishes, heard) = mpsc::channel();
        Arc::new(Board { stopper, seen: Mutex::default(), wishes, heard: Mutex::new(heard) })
    }

    /// What is known, to be read or written. Not to be held while anything runs.
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run has come so far.
    pub fn enter(&self, stage: Stage) {
        self.seen().stage = stage;
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopper.is_stopped()
    }

    pub(super) fn stop(&self) {
        self.stopper.stop(StopCause::Api);
    }

    /// Asks the run for something and waits until it has done it.
    pub(super) async fn wish(&self, make: impl FnOnce(Reply) -> Wish) -> Result<(), String> {
        if self.seen().stage != Stage::Paused {
            return Err(String::from("the test is not waiting to begin: start it with --paused"));
        }
        let (reply, answer) = oneshot::channel();
        let gone = || String::from("the test has ended");
        self.wishes.send(make(reply)).map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    pub(super) fn set_paused(&self, paused: bool) -> Result<(), String> {
        match (self.seen().stage, paused) {
            (Stage::Paused, true) => Ok(()),
            (Stage::Paused, false) => {
                // Shown at once, though the run needs a moment to hear of it.
                let _heard = self.wishes.send(Wish::Resume);
                Ok(())
            }
            (_, false) => Err(String::from("the test is not paused")),
            (_, true) => Err(String::from("a test cannot be paused once it has begun: start it with --paused")),
        }
    }

    /// Waits until the run is resumed or stopped; `take` does what is wished for meanwhile.
    pub fn wait(&self, mut take: impl FnMut(Wish)) {
        self.enter(Stage::Paused);
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.stopper.is_stopped() {
            match heard.recv_timeout(LOOK) {
                Ok(Wish::Resume) => break,
                Ok(wish) => take(wish),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the board has a sender of its own"),
            }
        }
        drop(heard);
        self.enter(Stage::Made);
    }
}
