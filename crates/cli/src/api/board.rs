//! What the REST API and the run know of each other.
//!
//! The run writes once a second what clients may read; clients leave wishes, which the run hears while it waits. A stop
//! and a change of the load need nobody who listens: they reach the workers by themselves.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::clock::{Clock, Origin, RealClock};
use engine::{LoadChange, LoadWish, RunState, StopCause, Stopper};
use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;

use crate::process::descriptors;

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

/// Another load that a client wants of a test whose workers are agents.
pub struct LoadRequest {
    /// What is wanted.
    pub wish: LoadWish,
    /// What came of it.
    pub reply: oneshot::Sender<Result<Vec<LoadChange>, String>>,
}

/// What a client wants of a run that has not begun, or that has ended and lingers.
pub enum Wish {
    /// Call `setup()`.
    SetUp(Reply),
    /// Take this JSON for what `setup()` returned; none: it returned nothing.
    KeepSetup(Option<String>, Reply),
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
    /// Whether it waits for a client before it begins, or will when its users are made.
    pub is_paused: bool,
    /// Whether it has ended and does what it is asked for.
    pub lingers: bool,
    /// Users and iterations.
    pub state: Option<Arc<RunState>>,
    /// Where the run's time starts.
    pub origin: Option<Origin>,
    /// Who changes the load, where the workers are agents.
    pub agents: Option<Sender<LoadRequest>>,
    /// File descriptors that a user needs.
    pub descriptors_per_vu: u64,
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
    wishes: UnboundedSender<Wish>,
    heard: tokio::sync::Mutex<UnboundedReceiver<Wish>>,
}

impl Board {
    /// The board of a run that is ended by `stopper`.
    pub fn new(stopper: Stopper) -> Arc<Board> {
        let (wishes, heard) = mpsc::unbounded_channel();
        Arc::new(Board { stopper, seen: Mutex::default(), wishes, heard: tokio::sync::Mutex::new(heard) })
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
        let (reply, answer) = oneshot::channel();
        {
            // Sent under the lock: a wish never comes behind the one that resumes the run, where nobody would hear it.
            let seen = self.seen();
            if !seen.is_paused && !seen.lingers {
                return Err(String::from(
                    "the test is not waiting to begin: start it with --paused, or with --linger for after its end",
                ));
            }
            let _heard = self.wishes.send(make(reply));
        }
        answer.await.unwrap_or_else(|_| Err(String::from("the test has ended")))
    }

    /// Changes the load of the run.
    pub(super) async fn change_load(&self, wish: &LoadWish) -> Result<Vec<LoadChange>, String> {
        let answer = match self.agents()? {
            Some(agents) => ask_agents(&agents, wish.clone()).await,
            None => self.change_load_here(wish),
        };
        let mut seen = self.seen();
        if answer.is_ok() {
            seen.max_vus = seen.max_vus.max(wish.users.max(wish.most).unwrap_or(0));
        }
        answer
    }

    /// Who changes the load, where it is not this process; why it cannot change now, where it cannot.
    fn agents(&self) -> Result<Option<Sender<LoadRequest>>, String> {
        let seen = self.seen();
        match (&seen.state, seen.stage) {
            (None, _) => Err(String::from("the load cannot change yet: the scenarios have not begun")),
            (_, stage) if stage > Stage::Running => Err(String::from("the test has ended: there is nothing to change")),
            _ => Ok(seen.agents.clone()),
        }
    }

    fn change_load_here(&self, wish: &LoadWish) -> Result<Vec<LoadChange>, String> {
        let seen = self.seen();
        let (Some(state), Some(origin)) = (&seen.state, seen.origin) else {
            return Err(String::from("the load cannot change yet: the scenarios have not begun"));
        };
        let users = wish.users.max(wish.most).unwrap_or(0);
        descriptors::check(users, seen.descriptors_per_vu).map_err(|failure| failure.message)?;
        state.change_load(wish, RealClock::new(origin).now())
    }

    /// For a run whose workers are agents: what clients want of the load comes here.
    pub fn load_requests(&self) -> Receiver<LoadRequest> {
        let (sender, requests) = channel();
        self.seen().agents = Some(sender);
        requests
    }

    pub(super) fn set_paused(&self, paused: bool) -> Result<(), String> {
        let mut seen = self.seen();
        match (seen.is_paused, paused) {
            (true, true) => Ok(()),
            (true, false) => {
                seen.is_paused = false;
                let _heard = self.wishes.send(Wish::Resume);
                Ok(())
            }
            (false, false) => Err(String::from("the test is not paused")),
            (false, true) => Err(String::from("a test cannot be paused once it has begun: start it with --paused")),
        }
    }

    /// The next wish of a client. The run is its only reader.
    pub async fn next(&self) -> Wish {
        let mut heard = self.heard.lock().await;
        heard.recv().await.expect("the board has a sender of its own")
    }
}

async fn ask_agents(agents: &Sender<LoadRequest>, wish: LoadWish) -> Result<Vec<LoadChange>, String> {
    let ended = || String::from("the test has ended: there is nothing to change");
    let (reply, answer) = oneshot::channel();
    agents.send(LoadRequest { wish, reply }).map_err(|_| ended())?;
    answer.await.unwrap_or_else(|_| Err(ended()))
}
